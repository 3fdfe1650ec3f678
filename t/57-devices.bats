#!/usr/bin/env bats
# What devices the CPU run time has: by the program's code, and at replay by the recording.
load helper
load play

# A kernel whose result tells the lanes of a wave, and what the device is called.
write_lanes() {
	cat >lanes.hip <<-'END'
		#include <hip/hip_runtime.h>
		#include <cstdio>
		#include <cstring>
		__global__ void lanes(unsigned long long *out) { out[threadIdx.x] = __ballot(1) + warpSize; }
		extern "C" int lanes_run()
		{
			unsigned long long *d, h[64];
			if (hipMalloc((void **)&d, sizeof h) != hipSuccess)
				return 1;
			lanes<<<1, 64>>>(d);
			if (hipMemcpy(h, d, sizeof h, hipMemcpyDeviceToHost) != hipSuccess)
				return 2;
			hipDeviceProp_t p;
			if (hipGetDeviceProperties(&p, 0) != hipSuccess)
				return 3;
			*strchrnul(p.gcnArchName, ':') = 0;
			printf("%s %llx\n", p.gcnArchName, h[0]);
			return hipGetLastError() != hipSuccess;
		}
	END
}

@test "emu: a library with more code than the program does not choose the device alone" {
	need_cmd hipcc
	write_lanes
	cat >main.hip <<-'END'
		#include <hip/hip_runtime.h>
		extern "C" int lanes_run();
		__global__ void one() {}
		int main()
		{
			one<<<1, 1>>>();
			return hipGetLastError() != hipSuccess ? 9 : lanes_run();
		}
	END
	hipcc --offload-arch=gfx1030 --offload-arch=gfx90a -O1 -fPIC -shared lanes.hip -o liblanes.so 2>log &&
		hipcc --offload-arch=gfx90a -O1 main.hip -o main -L. -llanes -Wl,-rpath,"$PWD" 2>>log || { cat log; false; }
	run_sep emu ./main
	status_is 0
	out_is 'gfx90a 3f'
	HRR_EMU_ARCH=gfx1030 run_sep emu ./main
	status_is 9
}

@test "hrr-play: the CPU run time's devices are of the recorded kind" {
	need_emu
	need_cmd hipcc
	write_lanes
	echo 'int main() { return lanes_run(); }' >>lanes.hip
	hipcc --offload-arch=gfx90a --offload-arch=gfx1030 -O1 lanes.hip -o lanes 2>log || { cat log; false; }
	HRR_EMU_ARCH=gfx1030 run_sep hrr-capture -d emu -o wave32.hrr -- ./lanes
	status_is 0
	out_is 'gfx1030 10000001f'
	HRR_EMU_ARCH=gfx90a run_sep hrr-capture -d emu -o wave64.hrr -- ./lanes
	out_is 'gfx90a 3f'
	for a in wave32 wave64; do
		play $a.hrr
		matched 1
		hrr-cat $a.hrr >$a
		play - <$a
		matched 1
	done
	# Who asks for another gets it.
	HRR_EMU_ARCH=gfx90a play wave32.hrr
	status_is 1
	err_has 'differs at offset'
	# What the run time cannot be changes nothing.
	sed -i 's/"arch":"gfx1030"/"arch":"gfx803"/' wave32.hrr/pid-*/events.jsonl
	HRR_EMU_ARCH=gfx1030 play wave32.hrr
	matched 1
}

@test "hrr-play: the CPU run time has as many devices as were recorded" {
	need_emu
	HRR_EMU_DEVICES=2 record peer
	play run.hrr
	matched 1
	hrr-cat run.hrr >lines
	play - <lines
	matched 1
	HRR_EMU_DEVICES=1 play -k run.hrr
	status_is 1
	err_has 'device 1: this run time has 1'
}

@test "hrr-play: the CPU run time is of the recorded HIP major" {
	need_emu
	need_apps pitched
	record pitched
	hrr-cat run.hrr >five
	# A value that HIP 5 does not have.
	sed 's/"hipMemcpyDeviceToDevice"/"hipMemcpyDeviceToDeviceNoCU"/' five >none
	! cmp -s five none || saw "pitched copies on the device"
	play - <none
	status_is 1
	err_has 'HIP 5 has no value for hipMemcpyDeviceToDeviceNoCU'
	for m in 6 7; do
		sed "s/\"major\":5/\"major\":$m/" none >later
		play - <later
		matched 2
	done
	# Who names a library gets that one.
	run_sep hrr-play -d "$BUILD/lib/hrr/emu/libamdhip64.so.5" - <later
	status_is 1
	err_has 'HIP 5 has no value'
	sed 's/"major":5/"major":9/' five >later
	play - <later
	matched 2
}
