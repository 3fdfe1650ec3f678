#include "t/unit/emu_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

/* HRR_EMU_SCHED=async: four threads with streams of their own, memory that comes and goes. */

#define ROUNDS 100
#define N 4096

static atomic_int wrong;

static void expect(hipError_t e)
{
	if (e != hipSuccess)
		atomic_fetch_add(&wrong, 1);
}

static void round_trip(hipStream_t s, hipStream_t t, hipEvent_t e, int value)
{
	char *a = NULL, *b = NULL, *pinned = NULL, page[64];

	expect(HIP(hipMalloc, (void **)&a, N));
	expect(HIP(hipMallocAsync, (void **)&b, N, s));
	expect(HIP(hipHostMalloc, (void **)&pinned, N, 0));
	expect(HIP(hipMemsetAsync, a, value, N, s));
	expect(HIP(hipEventRecord, e, s));
	expect(HIP(hipStreamWaitEvent, t, e, 0));
	expect(HIP(hipMemcpyAsync, b, a, N, hipMemcpyDeviceToDevice, t));
	expect(HIP(hipMemcpyAsync, pinned, b, N, hipMemcpyDeviceToHost, t));
	expect(HIP(hipEventRecord, e, t));
	while (HIP(hipEventQuery, e) == hipErrorNotReady)
		;
	for (unsigned i = 0; i < N; i++)
		if (pinned[i] != (char)value) {
			atomic_fetch_add(&wrong, 1);
			break;
		}
	expect(HIP(hipMemcpyAsync, page, b, 64, hipMemcpyDeviceToHost, t));
	if (page[63] != (char)value)
		atomic_fetch_add(&wrong, 1);
	expect(HIP(hipFreeAsync, b, t));
	expect(HIP(hipHostFree, pinned));
	expect(HIP(hipFree, a));
}

static void *work(void *arg)
{
	int id = (int)(intptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		hipStream_t s = NULL, t = NULL;
		hipEvent_t e = NULL;
		expect(HIP(hipStreamCreate, &s));
		expect(HIP(hipStreamCreateWithFlags, &t, 1));
		expect(HIP(hipEventCreateWithFlags, &e, 2));
		round_trip(i % 3 == 0 ? NULL : i % 3 == 1 ? (hipStream_t)2 : s, t, e, id * 31 + i);
		expect(HIP(hipEventDestroy, e));
		expect(HIP(hipStreamDestroy, t));
		expect(HIP(hipStreamDestroy, s));
	}
	return NULL;
}

int main(void)
{
	pthread_t t[4];
	size_t free_bytes = 0, total = 0;

	setenv("HRR_EMU_SCHED", "async", 1);
	if (!emu_open())
		return done_testing();
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)(intptr_t)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	is(atomic_load(&wrong), 0, "nothing went wrong");
	is(HIP(hipDeviceSynchronize), hipSuccess, "all is done");
	is(HIP(hipMemGetInfo, &free_bytes, &total), hipSuccess, "memory");
	is(free_bytes, total, "all came back");
	is(n_faults, 0, "no faults");
	diag("%s", last_fault);
	return done_testing();
}
