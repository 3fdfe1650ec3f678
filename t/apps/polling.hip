/* polling [SEED]: waits by asking: hipStreamQuery and hipEventQuery in loops,
 * and a pinned flag that a kernel sets and the host watches. */
#include <hip/hip_runtime.h>
#include "app.h"
#include <time.h>

#define N 4096

__global__ void work(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		for (int k = 0; k < 50; k++)
			x[i] += 1;
}

__global__ void raise(volatile int *flag, int to)
{
	__threadfence_system();
	*flag = to;
}

/* One step of a loop that must end within ten seconds. */
static void tick(const char *what, int *count)
{
	static const struct timespec wait = {0, 100000};

	if (++*count > 100000)
		app_wrong("%s: still not done", what);
	nanosleep(&wait, NULL);
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	static float in[N], out[N];
	float *x;
	int asked = 0;
	volatile int *flag;
	int *dflag;
	hipStream_t s;
	hipEvent_t e;
	hipError_t q;

	app_begin(argv[0], 1);
	app_numbers(in, N, seed);
	CHECK(hipStreamCreate(&s));
	CHECK(hipEventCreateWithFlags(&e, hipEventDisableTiming));
	CHECK(hipMalloc(&x, sizeof in));
	CHECK(hipHostMalloc((void **)&flag, sizeof *flag,
			    hipHostMallocMapped | hipHostMallocCoherent));
	CHECK(hipHostGetDevicePointer((void **)&dflag, (void *)flag, 0));
	*flag = 0;
	CHECK(hipMemcpyAsync(x, in, sizeof in, hipMemcpyHostToDevice, s));
	work<<<N / 256, 256, 0, s>>>(x, N);
	while ((q = hipStreamQuery(s)) == hipErrorNotReady)
		tick("hipStreamQuery", &asked);
	CHECK(q);
	work<<<N / 256, 256, 0, s>>>(x, N);
	CHECK(hipEventRecord(e, s));
	asked = 0;
	while ((q = hipEventQuery(e)) == hipErrorNotReady)
		tick("hipEventQuery", &asked);
	CHECK(q);
	raise<<<1, 1, 0, s>>>(dflag, 5);
	/* A run time that runs queued work only when asked has to be asked. */
	asked = 0;
	while (*flag != 5) {
		q = hipStreamQuery(s);
		if (q != hipErrorNotReady)
			CHECK(q);
		tick("flag", &asked);
	}
	(void)hipGetLastError(); /* hipErrorNotReady stays there */
	CHECK(hipMemcpy(out, x, sizeof out, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		app_equal("x", i, out[i], in[i] + 100);
	CHECK(hipEventDestroy(e));
	CHECK(hipStreamDestroy(s));
	CHECK(hipHostFree((void *)flag));
	CHECK(hipFree(x));
	printf("polling: a stream, an event and a flag were waited for by asking\n");
	return 0;
}
