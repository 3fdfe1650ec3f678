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

# unasked PROG: what was reported let it go on, and without the check it says nothing.
unasked() {
	status_is 0
	run_sep emu "$1"
	status_is 0
	no_err
}

@test "memcheck: a read of what nothing wrote, when asked for" {
	HRR_EMU_MEMCHECK=init report bad_uninit <<-'END'
		hrr-emu: _Z5twicePKiPi: load of 4 bytes (global) at X: memory that nothing wrote
		  pc: global_load_dword
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 32 work-item (32,0,0); 32 lanes
		  at byte 128 of device memory #1 X +256 (hipMalloc)
		  8064 bytes before the start of device memory #2 X +256 (hipMalloc)
	END
	unasked bad_uninit
}

@test "memcheck: a read of LDS that nothing wrote, when asked for" {
	HRR_EMU_MEMCHECK=init report bad_uninit_lds <<-'END'
		hrr-emu: _Z7reversePi: load of 4 bytes (LDS) at 0xfc: memory that nothing wrote
		  pc: ds_read_b32
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 0 work-item (0,0,0); 8 lanes
	END
	unasked bad_uninit_lds
}

@test "memcheck: a read of a private array that nothing wrote, when asked for" {
	HRR_EMU_MEMCHECK=init report bad_uninit_scratch <<-'END'
		hrr-emu: _Z4pickPii: load of 4 bytes (scratch) at 0x50: memory that nothing wrote
		  pc: flat_load_dword
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 12 work-item (12,0,0); 32 lanes
	END
	unasked bad_uninit_scratch
}

@test "memcheck: correct programs have no such reads" {
	need_apps saxpy
	for p in saxpy structarg streams hostreg graphcap graphnodes graphsym gridsync padding pitched symbols mapped managed pools peer; do
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
		err_has "source $SOURCES/t/apps/bad_unregister.hip:$(here bad_unregister)"
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

# unlucky_order ORDER MESSAGE: an order of bad_late
unlucky_order() {
	local seed
	need_apps bad_late
	run_sep emu bad_late "$1"
	status_is 0
	HRR_EMU_SCHED=late run_sep emu bad_late "$1"
	[ "$status" -ne 0 ] || saw "late: $1 is not seen"
	err_has "$2"
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		HRR_EMU_SCHED=random:$seed run_sep emu bad_late "$1"
		[ "$status" -eq 0 ] || break
	done
	[ "$status" -ne 0 ] || saw "random: $1 is not seen"
	err_has "$2"
}

@test "memcheck: an event recorded again before it is waited for" {
	unlucky_order reuse "bad_late: h[0] is 0, 5 is due"
}

@test "memcheck: an event recorded before the work it stands for" {
	unlucky_order early "bad_late: h[0] is 0, 5 is due"
}

@test "memcheck: a non-blocking stream does not wait for the null stream" {
	unlucky_order null "bad_late: h[0] is 0, 5 is due"
}

@test "memcheck: a pinned source changed before its copy is done" {
	unlucky_order pinned "bad_late: v[0] is 6, 5 is due"
}

@test "memcheck: stream-ordered memory that another stream still uses when it goes" {
	unlucky_order freed "hrr-emu: _Z3addPKiPi: load of 4 bytes (global) at 0x"
	status_is 3
	err_like "at byte 0 of freed pool memory #[0-9]+ 0x[0-9a-f]+ \\+256 \\(hipMallocAsync\\): hipFreeAsync"
}

@test "memcheck: a graph launched after its pinned source went" {
	need_apps bad_late
	for mode in eager late random:1; do
		HRR_EMU_SCHED=$mode run_sep emu bad_late graph
		status_is 3
		err_like "^hrr-emu: copy: cannot read 0x[0-9a-f]+ "
		err_like "at byte 0 of freed pinned host memory #[0-9]+ 0x[0-9a-f]+ \\+256 \\(hipHostMalloc\\): hipHostFree"
	done
}

@test "memcheck: an instruction that does wrong in two ways is told of twice" {
	HRR_EMU_MEMCHECK=init report bad_twice <<-'END'
		hrr-emu: _Z4copyPKDv4_fPS_: load of 16 bytes (global) at X: memory that nothing wrote
		  pc: global_load_dwordx4
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 0 work-item (0,0,0); 63 lanes
		  at byte 0 of device memory #1 X +1016 (hipMalloc)
		  8192 bytes before the start of device memory #2 X +1024 (hipMalloc)
		hrr-emu: _Z4copyPKDv4_fPS_: load of 16 bytes (global) at X
		  pc: global_load_dwordx4
		  SOURCE
		  workgroup (0,0,0) wave 0 lane 63 work-item (63,0,0); 1 lane
		  at byte 1008 of device memory #1 X +1016 (hipMalloc), 8 bytes past its end
		  7184 bytes before the start of device memory #2 X +1024 (hipMalloc)
	END
	status_is 3
}

@test "memcheck: an unknown word of HRR_EMU_MEMCHECK is said" {
	need_apps saxpy
	HRR_EMU_MEMCHECK=init,leaks run_sep emu saxpy
	status_is 0
	err_is "hrr-emu: HRR_EMU_MEMCHECK: leaks: not blocks, init or continue, ignored"
}

# --- recorded programs ---------------------------------------------------------------

# record PROGRAM: run.hrr, whatever the program comes to; its output in app.out
record() {
	need_prog hrr-play hrr-capture hrr-regions
	need_apps "$1"
	HRR_EMU_MEMCHECK=continue hrr-capture -d emu -q -o run.hrr -- "$@" >app.out 2>app.err ||
		{ cat app.out app.err && false; }
}
check() {
	run_sep hrr-play -d emu --memcheck"$1" -r results run.hrr
}

@test "hrr-play --memcheck: a store one past the end of placed memory, by its recorded size" {
	record bad_pastend
	check ''
	status_is 1
	no_out
	normal <.err | head -6 >got
	cat >want <<-END
		hrr-play: run.hrr:10: call 7 (hipLaunchKernel): _Z5scalePfi: store of 4 bytes (global) at X
		  pc: global_store_dword
		  source bad_pastend.hip:$(here bad_pastend)
		  workgroup (4,0,0) wave 0 lane 0 work-item (0,0,0); 1 lane
		  at byte 1024 of mapped device memory #1 X +4096 (hipMemMap)
		  0 bytes after the end of recorded memory X +1024
	END
	diff want got || saw "another report is due"
	err_has "Verdict : memory faults"
	err_has "Memory : 1 wrong accesses at 1 place"
	need_cmd jq
	[ "$(jq -c 'select(.outcome == "memory") | [.line, .seq, .api, .kernel, .access, .space, .bytes, .instruction[:18],
		(.file | split("/")[-1]), .sourceLine, .workgroup, .workitem, .wave, .lane, .lanes]' results)" = \
		"[10,7,\"hipLaunchKernel\",\"_Z5scalePfi\",\"store\",\"global\",4,\"global_store_dword\",\"bad_pastend.hip\",$(here bad_pastend),[4,0,0],[0,0,0],0,0,1]" ] ||
		{ cat results && false; }
	[ "$(jq -c 'select(.verdict) | [.verdict, .exit, .memory, .accesses]' results)" = '["memory faults",1,1,1]' ] ||
		{ tail -1 results && false; }
}

@test "hrr-play --memcheck: the launch is named however late it runs" {
	record bad_pastend
	for mode in late random:5 async; do
		HRR_EMU_SCHED=$mode run_sep hrr-play -d emu --memcheck run.hrr
		echo "$mode"
		status_is 1
		err_has "hrr-play: run.hrr:10: call 7 (hipLaunchKernel): _Z5scalePfi: store of 4 bytes"
	done
}

@test "hrr-play --memcheck: without placement it is found too" {
	record bad_pastend
	run_sep hrr-play -d emu --no-placement --memcheck run.hrr
	status_is 1
	err_has "0 bytes after the end of recorded memory 0x7d0000001000 +1024"
}

@test "hrr-play --memcheck: use after free and after unregistering names the lane, and when" {
	record bad_afterfree
	check ''
	status_is 1
	err_has "_Z4fillPi: store of 4 bytes (global) at 0x7d0000001000"
	err_has "source $SOURCES/t/apps/bad_afterfree.hip:$(here bad_afterfree)"
	err_has "  at byte 0 of freed recorded memory 0x7d0000001000 +256
  freed: line "
	err_has "(hipFree)"
	# Without it the argument is refused.
	run_sep hrr-play -d emu run.hrr
	status_is 1
	err_has "is not mapped: no allocation, no live segment; it was device memory"
	rm -rf run.hrr
	record bad_unregister
	check ''
	status_is 1
	err_has "Verdict : memory faults"
	err_has "source $SOURCES/t/apps/bad_unregister.hip:$(here bad_unregister)"
	err_like "  in the recording; it was registered host memory 0x[0-9a-f]+ \+ 4096 until call [0-9]+"
}

@test "hrr-play: a wrong access ends replay without --memcheck" {
	record bad_pastend
	run_sep hrr-play -d emu run.hrr
	status_is 1
	err_has "hrr-emu: _Z5scalePfi: store of 4 bytes (global)"
	err_has "hipErrorIllegalAddress"
	err_lacks "memory faults"
}

@test "hrr-play --memcheck=init: a read of what nothing wrote, although fresh memory is filled" {
	record bad_uninit
	check ''
	status_is 0
	check =init
	status_is 1
	err_has "_Z5twicePKiPi: load of 4 bytes (global)"
	err_has ": memory that nothing wrote"
	err_has "at byte 128 of recorded memory"
	need_cmd jq
	[ "$(jq -c 'select(.outcome == "memory") | [.why, .lane, .lanes]' results)" = '["memory that nothing wrote",32,32]' ]
}

# The pool of bad_neighbour: two blocks of 256 bytes, 1024 apart.
pool() {
	local base
	base=$(cat app.out)
	hrr-regions add -a run.hrr --kind block --base "$(printf 0x%x $((base + 1024)))" --size 256 --tag first
	hrr-regions add -a run.hrr --kind block --base "$(printf 0x%x $((base + 2048)))" --size 256 --tag second
}

@test "hrr-play --memcheck=blocks: an overrun into the free part of a pool" {
	record bad_neighbour free
	check =blocks
	status_is 0
	pool
	check ''
	status_is 0
	err_has "Verdict : matched"
	check =blocks
	status_is 1
	err_has "source $SOURCES/t/apps/bad_neighbour.hip:$(here bad_neighbour)"
	err_has "workgroup (1,0,0) wave 0 lane 0 work-item (0,0,0); 2 lanes"
	err_has "  in no live block
  an argument leads to block \"first\" 0x7d0000001400 +256"
	err_has "  0 bytes after the end of block \"first\" 0x7d0000001400 +256
  768 bytes before the start of block \"second\" 0x7d0000001800 +256"
	# The access is done all the same: outputs stay what they were.
	err_has "1 compared of 1: 1 exact"
	err_has "Memory : 2 wrong accesses at 1 place"
	need_cmd jq
	[ "$(jq -c 'select(.outcome == "memory") | [.before.tag, .before.distance, .after.tag, .after.distance]' results)" = '["first",0,"second",768]' ] ||
		{ cat results && false; }
}

@test "hrr-play --memcheck=blocks: an overrun into the neighbouring block, its tag and whose it is" {
	record bad_neighbour
	# Without a gap between the two.
	base=$(cat app.out)
	hrr-regions add -a run.hrr --kind block --base "$(printf 0x%x $((base + 1024)))" --size 256 --tag first
	hrr-regions add -a run.hrr --kind block --base "$(printf 0x%x $((base + 1280)))" --size 1024 --tag second
	check =blocks
	status_is 1
	err_has "store of 4 bytes (global) at 0x7d0000001500"
	err_has "  no argument of the launch leads to that block
  an argument leads to block \"first\" 0x7d0000001400 +256"
	err_has "  at byte 0 of block \"second\" 0x7d0000001500 +1024
  0 bytes after the end of block \"first\" 0x7d0000001400 +256"
	err_has "1 compared of 1: 1 exact"
	need_cmd jq
	[ "$(jq -c 'select(.outcome == "memory") | [.block.tag, .block.offset, .before.tag, .recordedAddr]' results)" = '["second",0,"first","0x7d0000001500"]' ] ||
		{ cat results && false; }
}

@test "hrr-play --memcheck=blocks: a copy and a set of more than their block holds" {
	for how in copy set; do
		rm -rf run.hrr
		if [ $how = copy ]; then record bad_copyover; else record bad_copyover set; fi
		check =blocks
		status_is 0
		pool
		check ''
		status_is 0
		check =blocks
		status_is 1
		err_has "$how: cannot write 0x7d0000001500"
		err_has "  0 bytes after the end of block \"first\" 0x7d0000001400 +256
  768 bytes before the start of block \"second\" 0x7d0000001800 +256"
		err_has "1 compared of 1: 1 exact"
		need_cmd jq
		[ "$(jq -c 'select(.outcome == "memory") | [.operation, .before.tag, .before.distance, .after.tag]' results)" = \
			"[\"$how\",\"first\",0,\"second\"]" ] || { cat results && false; }
	done
}

@test "hrr-play --memcheck=blocks: a block that was freed, and when" {
	record bad_neighbour
	need_cmd jq
	base=$(printf 0x%x $(($(cat app.out) + 1024)))
	launch=$(jq -r 'select(.api == "hipLaunchKernel") | .seq' run.hrr/pid-*/events.jsonl)
	hrr-regions add -a run.hrr --kind block --base "$base" --size 2048 --tag mine
	hrr-regions del -a run.hrr --kind block --base "$base" --at "$launch"
	check =blocks
	status_is 1
	err_has "  in no live block"
	err_has "  at byte 0 of freed block \"mine\" 0x7d0000001400 +2048
  freed: line "
	[ "$(jq -c 'select(.outcome == "memory") | [.block.tag, .block.freed]' results)" = '["mine",true]' ] ||
		{ cat results && false; }
}

@test "hrr-play --memcheck=blocks: a pool described by a snapshot of PyTorch" {
	record bad_neighbour
	need_cmd python3 jq
	python3 - "$(cat app.out)" <<-'END'
		import pickle, sys
		base = int(sys.argv[1], 16)
		def block(at, size, asked, state, line):
		    return {"address": base + at, "size": size, "requested_size": asked, "state": state,
		            "frames": [{"name": "forward", "filename": "net.py", "line": line}]}
		snapshot = {"segments": [{"device": 0, "address": base, "total_size": 4096, "stream": 0,
		    "blocks": [block(0, 1024, 0, "inactive", 1), block(1024, 512, 260, "active_allocated", 7),
		               block(1536, 2560, 2560, "active_allocated", 8)]}], "device_traces": [[]]}
		pickle.dump(snapshot, open("snapshot.pickle", "wb"), protocol=4)
	END
	hrr-regions import --torch snapshot.pickle --frames 1 -a run.hrr
	check =blocks
	status_is 1
	# Beyond what was asked for, although the allocator rounded it up.
	err_has "store of 4 bytes (global) at 0x7d0000001504"
	err_has "  0 bytes after the end of block \"forward net.py:7\" 0x7d0000001400 +260
  252 bytes before the start of block \"forward net.py:8\" 0x7d0000001600 +2560"
}

@test "hrr-play --memcheck: what it cannot do is said" {
	need_prog hrr-play hrr-capture
	run_sep hrr-play --memcheck=leaks run.hrr
	status_is 2
	err_has "hrr-play: --memcheck: not blocks, init or both: leaks"
	need_cmd gcc
	record bad_uninit
	# A run time that has a device, but tells nothing.
	cat >silent.c <<-'END'
		int hipInit(unsigned flags) { return (int)flags; }
		int hipGetDeviceCount(int *n) { *n = 1; return 0; }
		int hipGetDevice(int *d) { *d = 0; return 0; }
		int hipSetDevice(int d) { return d; }
	END
	gcc -shared -fPIC -o libamdhip64.so.5 silent.c
	run_sep hrr-play -d ./libamdhip64.so.5 --memcheck run.hrr
	status_is 2
	err_has "memory can be checked on the CPU run time only (-d emu)"
}

# --- fidelity --------------------------------------------------------------------------

@test "hrr-play: fidelity is exact where every instruction is" {
	record saxpy
	run_sep hrr-play -d emu -r results run.hrr
	status_is 0
	err_has "Fidelity : exact"
	need_cmd jq
	[ "$(jq -c 'select(.verdict) | [.verdict, .fidelity, .instructions]' results)" = '["matched","exact",{}]' ]
}

@test "hrr-play: fidelity names approximate instructions, and a difference they may cause stays one" {
	record approx 1.000001
	run_sep hrr-play -d emu -r results run.hrr
	status_is 0
	err_has "Verdict : matched"
	err_like "Fidelity : approximate: v_[a-z0-9_]+ [0-9]+, v_[a-z0-9_]+ [0-9]+ wave-instructions"
	need_cmd jq
	[ "$(jq -c 'select(.launch) | [.launch, .kernel, .fidelity, (.instructions | keys)]' results)" = \
		'[8,"_Z6squashPff","approximate",["v_exp_f32","v_rcp_f32"]]' ] || { cat results && false; }
	# Ten units in the last place less.
	sed -i 's/"hex":"0800803f"/"hex":"0000803f"/' run.hrr/pid-*/events.jsonl
	run_sep hrr-play -d emu -r results run.hrr
	status_is 1
	err_has "within what approximate instructions may cause, and still a difference"
	err_has "Verdict : differs"
	need_cmd jq
	[ "$(jq -c 'select(.outcome == "differs") | .approximate' results)" = true ]
	# A quarter more is none they can cause.
	sed -i 's/"hex":"0000803f"/"hex":"0000a03f"/' run.hrr/pid-*/events.jsonl
	run_sep hrr-play -d emu run.hrr
	status_is 1
	err_has "Verdict : differs"
	err_lacks "approximate instructions may cause"
}

@test "hrr-play: a launch that was refused is no match" {
	record bad_refused || [ -e run.hrr ]
	for o in -k --memcheck; do
		run_sep hrr-play -d emu $o -r results run.hrr
		status_is 1
		err_has "Fidelity : refused"
		err_has "Refused : 1 launches hold instructions the CPU run time lacks"
		err_lacks "Verdict : matched"
		grep -q '"launch":.*"kernel":"_Z7strangePii","launches":1,"refused":1,"fidelity":"refused"' results
		grep -q '"deviceRefused":1,.*"fidelity":"refused"' results
	done
}
