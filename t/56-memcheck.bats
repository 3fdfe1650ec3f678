#!/usr/bin/env bats
# Memory checking: programs with one planted fault each, what the CPU run time says, and
# hrr-play --memcheck on what was recorded of them.
load helper

setup() {
	common_setup
	need_emu
}

# The line of the source that is wrong.
here() {
	grep -n '/\* HERE' "$ROOT/t/apps/$1.hip" | tail -1 | cut -d: -f1
}

# What differs from machine to machine and compiler to compiler goes.
normal() {
	sed -E -e 's/^  pc 0x[0-9a-f]+ \(kernel \+ 0x[0-9a-f]+\): ([a-z0-9_]+).*/  pc: \1/' \
		-e 's/0x[0-9a-f]{9,}/X/g' -e 's,source .*/,source ,' \
		-e 's/(code object #.*) \+[0-9]+/\1 +N/'
}

# report PROGRAM: runs it, its report has to be standard input (SOURCE stands for the line).
report() {
	need_apps "$1"
	run_sep emu "$1"
	sed "s/SOURCE/source $1.hip:$(here "$1")/" >want
	normal <.err >got
	diff want got || saw "another report is due"
}

@test "memcheck: a store one past the end" {
	report bad_pastend <<-'END'
		hrr-emu: _Z5scalePfi: store of 4 bytes (global) at X
		  pc: global_store_dword
		  SOURCE
		  workgroup (4,0,0) wave 0 lane 0 work-item (0,0,0); 1 lane
		  0 bytes after the end of device memory #1 X +1024 (hipMalloc)
		  7168 bytes before the start of code object #2 X +N (code object)
	END
	status_is 3
}

@test "memcheck: a negative index" {
	report bad_negative <<-'END'
		hrr-emu: _Z11differencesPKiPi: load of 4 bytes (global) at X
		  pc: global_load_dword
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 0 work-item (0,0,0); 1 lane
		  4 bytes before the start of device memory #1 X +1024 (hipMalloc)
	END
	status_is 3
}

@test "memcheck: use after free says who freed it and when" {
	report bad_afterfree <<-'END'
		hrr-emu: _Z4fillPi: store of 4 bytes (global) at X
		  pc: global_store_dword
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 0 work-item (0,0,0); 64 lanes
		  at byte 0 of freed device memory #1 X +256 (hipMalloc): hipFree, 1 calls ago
		  8192 bytes before the start of device memory #2 X +256 (hipMalloc)
	END
	status_is 3
}

@test "memcheck: a misaligned atomic" {
	report bad_atomic <<-'END'
		hrr-emu: _Z5countPc: atomic of 4 bytes (global) at X: misaligned atomic
		  pc: global_atomic_add
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 0 work-item (0,0,0); 1 lane
		  at byte 6 of device memory #1 X +64 (hipMalloc)
		  8186 bytes before the start of code object #2 X +N (code object)
	END
	status_is 3
}

@test "memcheck: LDS overrun" {
	report bad_lds <<-'END'
		hrr-emu: _Z5shiftPii: load of 4 bytes (LDS) at 0x100: outside the workgroup's LDS
		  pc: ds_read_b32
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 63 work-item (63,0,0); 1 lane
		  0 bytes after the end of 256
	END
	status_is 3
}

@test "memcheck: a private array far beyond its end" {
	report bad_scratch <<-'END'
		hrr-emu: _Z4pickPii: load of 4 bytes (scratch) at 0x4e30: outside the work-item's private segment
		  pc: buffer_load_dword
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 0 work-item (0,0,0); 64 lanes
		  19872 bytes after the end of 144
	END
	status_is 3
}

@test "memcheck: a constant table beyond all that was loaded" {
	report bad_constant <<-'END'
		hrr-emu: _Z6lookupPii: load of 4 bytes (constant) at X
		  pc: s_load_dword
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 0 work-item (0,0,0); 64 lanes
		  1073740528 bytes after the end of code object #2 X +N (code object)
	END
	status_is 3
}

@test "memcheck: a wild pointer through flat memory" {
	report bad_flat <<-'END'
		hrr-emu: _Z7throughPPi: store of 4 bytes (flat) at 0x1238
		  pc: flat_store_dword
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 1 work-item (1,0,0); 32 lanes
		  no device memory: pageable host memory, or a number out of nowhere
	END
	status_is 3
}

@test "memcheck: a read of what nothing wrote, when asked for" {
	need_apps bad_uninit
	run_sep emu bad_uninit
	status_is 0
	no_err
	HRR_EMU_MEMCHECK=init report bad_uninit <<-'END'
		hrr-emu: _Z5twicePKiPi: load of 4 bytes (global) at X: memory that nothing wrote
		  pc: global_load_dword
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 32 work-item (32,0,0); 32 lanes
		  at byte 128 of device memory #1 X +256 (hipMalloc)
		  8064 bytes before the start of device memory #2 X +256 (hipMalloc)
	END
	status_is 0
}

@test "memcheck: correct programs have no such reads" {
	need_apps saxpy
	for p in saxpy structarg streams hostreg graphcap graphnodes pitched symbols mapped managed pools peer; do
		HRR_EMU_DEVICES=2 HRR_EMU_MEMCHECK=init run_sep emu "$p"
		echo "$p"
		status_is 0
		no_err
	done
}

@test "memcheck: launches go on past wrong accesses when told to" {
	need_apps bad_pastend
	for p in pastend negative lds scratch constant flat atomic afterfree; do
		HRR_EMU_MEMCHECK=continue run_sep emu "bad_$p"
		echo "$p"
		status_is 0
		[ "$(grep -c '^hrr-emu: ' .err)" -eq 1 ] || saw "one report is due"
		HRR_EMU_THREADS=1 HRR_EMU_MEMCHECK=continue run_sep emu "bad_$p"
		[ "$(grep -c '^hrr-emu: ' .err)" -eq 1 ] || saw "one report is due"
	done
}

@test "memcheck: a kernel on memory no longer registered, in every order of work" {
	need_apps bad_unregister
	for mode in eager late random:3 async; do
		HRR_EMU_SCHED=$mode run_sep emu bad_unregister
		echo "$mode"
		status_is 3
		err_has "store of 4 bytes (global)"
		err_has "source $ROOT/t/apps/bad_unregister.hip:$(here bad_unregister)"
		err_like "at byte 0 of freed registered host memory #1 0x[0-9a-f]+ \+4096 \(hipHostRegister\): hipHostUnregister"
	done
}

@test "memcheck: an asynchronous copy from pinned memory freed too early, in every order of work" {
	need_apps bad_hostfree
	for mode in eager late random:3 async; do
		HRR_EMU_SCHED=$mode run_sep emu bad_hostfree
		echo "$mode"
		status_is 3
		out_is hipErrorIllegalAddress
		err_like "^hrr-emu: copy: cannot read 0x[0-9a-f]+ "
		err_like "at byte 0 of freed pinned host memory #1 0x[0-9a-f]+ \+16384 \(hipHostMalloc\): hipHostFree"
	done
}

# Right by luck where work runs at once: late, or some seed, shows it.
unlucky() {
	local seed
	need_apps "$1"
	run_sep emu "$1"
	status_is 0
	HRR_EMU_SCHED=late run_sep emu "$1"
	status_is 1
	err_has "$2"
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
		HRR_EMU_SCHED=random:$seed run_sep emu "$1"
		[ "$status" -eq 0 ] || break
	done
	status_is 1
	err_has "$2"
}

@test "memcheck: a result read before its event is wrong when work runs late" {
	unlucky bad_event "bad_event: result read before its event is 0, 42 is due"
}

@test "memcheck: a missing dependency between streams is wrong when work runs late" {
	unlucky bad_dependency "bad_dependency: sum[0] is "
}

@test "memcheck: an unknown word of HRR_EMU_MEMCHECK is said" {
	need_apps saxpy
	HRR_EMU_MEMCHECK=init,leaks run_sep emu saxpy
	status_is 0
	err_is "hrr-emu: HRR_EMU_MEMCHECK: leaks: not blocks, init or continue, ignored"
}
