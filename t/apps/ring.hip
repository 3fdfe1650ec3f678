/* ring [SEED]: one pinned buffer of many slots, as programs stage with: while copies to the host
 * are queued for some slots, the host fills others and uploads from them, without a wait. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 1024
#define SIZE (N * sizeof(float))
#define SLOTS 24

__global__ void twice(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= 2;
}

static float *ring, *x[SLOTS];

static float *slot(int i)
{
	return ring + (size_t)i * N;
}

/* Slots from on are filled, go up, are doubled and come back into the next SLOTS / 2. */
static void round_trip(hipStream_t s, int from, uint32_t seed)
{
	for (int i = 0; i < SLOTS / 2; i++) {
		int up = (from + i) % SLOTS, down = (from + SLOTS / 2 + i) % SLOTS;

		app_numbers(slot(up), N, seed + i);
		CHECK(hipMemcpyAsync(x[i], slot(up), SIZE, hipMemcpyHostToDevice, s));
		twice<<<N / 256, 256, 0, s>>>(x[i], N);
		CHECK(hipGetLastError());
		CHECK(hipMemcpyAsync(slot(down), x[i], SIZE, hipMemcpyDeviceToHost, s));
	}
	CHECK(hipStreamSynchronize(s));
	for (int i = 0; i < SLOTS / 2; i++)
		for (int k = 0; k < N; k++)
			app_equal("slot", k, slot((from + SLOTS / 2 + i) % SLOTS)[k],
				  2 * app_number(seed + i, k));
}

/* The same buffer in a graph: what it captures is not queued yet when the host fills its source. */
static void in_graph(hipStream_t s, uint32_t seed)
{
	hipGraph_t g;
	hipGraphExec_t e;

	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	CHECK(hipMemcpyAsync(x[0], slot(0), SIZE, hipMemcpyHostToDevice, s));
	twice<<<N / 256, 256, 0, s>>>(x[0], N);
	CHECK(hipGetLastError());
	CHECK(hipMemcpyAsync(slot(1), x[0], SIZE, hipMemcpyDeviceToHost, s));
	CHECK(hipStreamEndCapture(s, &g));
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	app_numbers(slot(0), N, seed);
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
	for (int k = 0; k < N; k++)
		app_equal("graph", k, slot(1)[k], 2 * app_number(seed, k));
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	hipStream_t s;

	app_begin(argv[0], 1);
	CHECK(hipStreamCreate(&s));
	CHECK(hipHostMalloc((void **)&ring, SLOTS * SIZE, hipHostMallocDefault));
	for (int i = 0; i < SLOTS; i++)
		CHECK(hipMalloc((void **)&x[i], SIZE));
	round_trip(s, 0, seed);
	round_trip(s, SLOTS / 4, seed + 100);
	in_graph(s, seed + 200);
	for (int i = 0; i < SLOTS; i++)
		CHECK(hipFree(x[i]));
	CHECK(hipHostFree(ring));
	CHECK(hipStreamDestroy(s));
	printf("ring: what went up and came down through one buffer is right\n");
	return 0;
}
