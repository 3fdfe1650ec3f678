#!/usr/bin/env bats
# The CPU run time: the programs of t/apps under every order of work, settings, and
# what it says when a program does wrong.
load helper

setup() {
	common_setup
	need_emu
}

# Programs that a machine with two devices runs; each checks its own result.
PROGRAMS="devmalloc devreset dlopen graphcap graphnodes graphsym gridsync hostback hostreg hsapool_copy hsapool_kernel managed
	managedvar mapped modgraph modlaunch multidev padding peer pitched polling pools ptds ring saxpy streams structarg
	symbols threads waitvalue zerocopy"

in_mode() {
	local p bad=
	for p in $PROGRAMS; do
		[ -x "$APPS/$p" ] || continue
		HRR_EMU_DEVICES=2 HRR_EMU_SCHED=$1 run_sep emu "$p"
		[ "$status" -eq 0 ] && [ ! -s "$T/.err" ] || bad="$bad $p($status)"
	done
	[ -z "$bad" ] || saw "HRR_EMU_SCHED=$1: $bad"
}

@test "emu: every program passes with work run at once" {
	need_apps saxpy
	in_mode eager
}

@test "emu: every program passes with work run as late as may be" {
	need_apps saxpy
	in_mode late
}

@test "emu: every program passes with work run in random order" {
	need_apps saxpy
	for seed in 1 2 3; do in_mode "random:$seed"; done
}

@test "emu: every program passes with streams on threads of their own" {
	need_apps saxpy
	in_mode async
}

@test "emu: one thread gives the same answer as several" {
	need_apps structarg saxpy
	HRR_EMU_THREADS=1 run_sep emu saxpy
	status_is 0
	cp .out one
	HRR_EMU_THREADS=5 run_sep emu saxpy
	status_is 0
	cmp .out one
}

@test "emu: no devices is said as a machine without a GPU says it" {
	need_apps saxpy
	HRR_EMU_DEVICES=0 run_sep emu saxpy
	status_is 2
	err_like "no device|NoDevice"
}

@test "emu: a wrong setting is said and ignored" {
	need_apps saxpy
	HRR_EMU_SCHED=never run_sep emu saxpy
	status_is 0
	err_is "hrr-emu: HRR_EMU_SCHED=never: not eager, late, random:SEED or async; taken as eager"
	HRR_EMU_FILL=x run_sep emu saxpy
	status_is 0
	err_is "hrr-emu: HRR_EMU_FILL=x: not a number, ignored"
	HRR_EMU_SIMD=mmx run_sep emu saxpy
	status_is 0
	err_is "hrr-emu: HRR_EMU_SIMD=mmx: not base, avx2 or avx512, ignored"
}

@test "emu: its manual page names every setting there is, and no other" {
	grep -rhoE '"(HRR_EMU_[A-Z]+|[A-Z]+_VISIBLE_DEVICES)"' "$ROOT"/lib/emu --include=*.c | tr -d '"' | sort -u >used
	sed -n 's/^\.It Ev //p' "$ROOT/man/hrr-emu.7" | sort >written
	diff used written
}

@test "emu: the same results with any vectors of the machine" {
	need_apps saxpy approx structarg
	for p in saxpy approx structarg; do
		run_sep emu "$p"
		status_is 0
		cp .out best
		for v in base avx2; do
			HRR_EMU_SIMD=$v run_sep emu "$p"
			status_is 0
			cmp .out best
		done
	done
}

@test "emu: an architecture the program has no code for is an error, not a crash" {
	need_apps saxpy
	HRR_EMU_VERBOSE=1 HRR_EMU_ARCH=gfx1100 run_sep emu saxpy
	status_is 1
	err_has "no code for gfx1100 in this binary"
}

@test "emu: too little device memory is out of memory" {
	need_apps saxpy
	HRR_EMU_MEMORY=16 run_sep emu saxpy
	status_is 1
	err_has "hipErrorOutOfMemory"
}

@test "emu: the instruction budget ends a launch" {
	need_apps saxpy
	HRR_EMU_BUDGET=10 run_sep emu saxpy
	status_is 1
	err_has "hrr-emu: "
	err_has "hipErrorLaunchTimeOut"
}

# What kernels print: compiled here, by the compiler the programs have.
@test "emu: printf of a kernel is on standard output, assert ends the program" {
	need_cmd hipcc
	cat >say.hip <<-'END'
		#include <hip/hip_runtime.h>
		#include <cassert>
		#include <cstdio>
		__global__ void say(int limit)
		{
			if (threadIdx.x == 3)
				printf("%s %d|%5.2f|%-4x|%c|%lld|%%|%.3s|%*d\n", "lane", (int)threadIdx.x,
				       1.5, 255, 'q', 123456789012345LL, "abcdef", 4, -7);
			assert((int)threadIdx.x < limit);
		}
		int main()
		{
			say<<<1, 64>>>(64);
			if (hipDeviceSynchronize() != hipSuccess)
				return 1;
			say<<<1, 64>>>(60);
			return hipDeviceSynchronize() == hipErrorLaunchFailure ? 3 : 4;
		}
	END
	hipcc --offload-arch=gfx90a -O1 say.hip -o say 2>log || { cat log; false; }
	run_sep emu ./say
	status_is 134
	[ "$(head -1 .out)" = "lane 3| 1.50|ff  |q|123456789012345|%|abc|  -7" ] || saw "printf"
	err_has "Device-side assertion"
	err_has "s_trap"
	HRR_EMU_TRAP=error run_sep emu ./say
	status_is 3
}

@test "emu: a kernel that ties what it asks of the host into a ring ends" {
	need_cmd hipcc
	cat >ring.hip <<-'END'
		#include <hip/hip_runtime.h>
		#include <cstdio>
		__global__ void ring(int never)
		{
			/* The hostcall buffer: headers, payloads, doorbell, free list, ready list. */
			unsigned long *b = *(unsigned long **)((char *)__builtin_amdgcn_implicitarg_ptr() + 24);
			if (never) {
				printf("%d\n", never);
				return;
			}
			((unsigned long *)(b[0] + 5 * 24))[0] = 5;
			((unsigned long *)(b[0] + 5 * 24))[1] = 0;
			b[4] = 5;
			__threadfence_system();
			__builtin_amdgcn_s_sendmsg(1, 0);
		}
		int main()
		{
			ring<<<1, 1>>>(0);
			return hipDeviceSynchronize() == hipSuccess ? 0 : 3;
		}
	END
	hipcc --offload-arch=gfx90a -O1 ring.hip -o ring 2>log || { cat log; false; }
	run_sep timeout 60 env LD_PRELOAD="${HRR_T_ASAN:-}" LD_LIBRARY_PATH="$BUILD/lib/hrr/emu" ./ring
	status_is 0
}

@test "emu: the stand-ins export the calls of their major, with their version nodes" {
	need_cmd objdump
	lib=$BUILD/lib/hrr/emu
	for m in 5 6 7; do
		[ "$(objdump -p "$lib/libamdhip64.so.$m" | awk '$1 == "SONAME" { print $2 }')" = libamdhip64.so.$m ]
		objdump -T "$lib/libamdhip64.so.$m" >names.$m
		grep -q ' hip_4.2 *hipMalloc$' names.$m
	done
	grep -q ' hip_6.0 *hipGetDevicePropertiesR0600$' names.6
	[ "$(grep -c hipGetDevicePropertiesR0600 names.5)" -eq 0 ]
	# Whatever Debian's own library has, ours has under the same node.
	deb=/usr/lib/x86_64-linux-gnu/libamdhip64.so.5
	[ -e "$deb" ] || skip "no $deb"
	objdump -T "$deb" | awk '/ hip_[0-9.]+ / { print $(NF-1), $NF }' | sed 's/[()]//g' |
		grep -v ' hip_[0-9.]*$' | sort -u >theirs
	awk '/ hip_[0-9.]+ / { print $(NF-1), $NF }' names.5 | sed 's/[()]//g' | sort -u >ours
	comm -23 theirs ours >missing
	[ ! -s missing ] || { cat missing; false; }
}
