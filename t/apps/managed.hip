/* managed [SEED]: hipMallocManaged memory, written by host and kernels in turn;
 * advice and prefetch. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 5000

__global__ void next(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = x[i] * 2 + 1;
}

/* What the host wrote is what the device copies, by a call and by a graph's node. */
static void copies(float *x, size_t size)
{
	static float out[N];
	float *dev;
	hipGraph_t g;
	hipGraphNode_t node;
	hipGraphExec_t e;

	CHECK(hipMalloc((void **)&dev, size));
	x[1] = 70;
	CHECK(hipMemcpy(dev, x, size, hipMemcpyDeviceToDevice));
	CHECK(hipMemcpy(out, dev, size, hipMemcpyDeviceToHost));
	app_equal("copied", 1, out[1], 70);
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddMemcpyNode1D(&node, g, NULL, 0, dev, x, size, hipMemcpyDeviceToDevice));
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	x[2] = 80;
	CHECK(hipGraphLaunch(e, NULL));
	CHECK(hipMemcpy(out, dev, size, hipMemcpyDeviceToHost));
	app_equal("copied by a node", 2, out[2], 80);
	x[3] = 90;
	CHECK(hipMemcpy(out, x, size, hipMemcpyDefault));
	app_equal("copied to the host", 3, out[3], 90);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipFree(dev));
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	size_t size = N * sizeof(float);
	float *x;
	int can = 0, where = 77, mostly = 77;
	void *data[] = {&where, &mostly};
	size_t sizes[] = {sizeof where, sizeof mostly};
	hipMemRangeAttribute which[] = {hipMemRangeAttributePreferredLocation,
					hipMemRangeAttributeReadMostly};

	app_begin(argv[0], 1);
	CHECK(hipDeviceGetAttribute(&can, hipDeviceAttributeManagedMemory, 0));
	if (!can)
		app_quit(77, "the device has no managed memory");
	CHECK(hipMallocManaged((void **)&x, size, hipMemAttachGlobal));
	app_numbers(x, N, seed);
	CHECK(hipMemAdvise(x, size, hipMemAdviseSetPreferredLocation, 0));
	CHECK(hipMemPrefetchAsync(x, size, 0, NULL));
	/* A machine without HMM has no answer. */
	if (hipMemRangeGetAttribute(&where, sizeof where, hipMemRangeAttributeLastPrefetchLocation,
				    x, size) == hipSuccess &&
	    hipMemRangeGetAttributes(data, sizes, which, 2, x, size) == hipSuccess) {
		app_equal("place", 0, where, 0);
		app_equal("mostly read", 0, mostly, 0);
	}
	hipGetLastError();
	next<<<(N + 255) / 256, 256>>>(x, N);
	CHECK(hipGetLastError());
	CHECK(hipDeviceSynchronize());
	for (int i = 0; i < N; i++)
		app_equal("x", i, x[i], app_number(seed, i) * 2 + 1);
	x[0] = 50;
	next<<<(N + 255) / 256, 256>>>(x, N);
	CHECK(hipGetLastError());
	CHECK(hipDeviceSynchronize());
	app_equal("x", 0, x[0], 101);
	copies(x, size);
	CHECK(hipFree(x));
	printf("managed: host and kernels took turns, right\n");
	return 0;
}
