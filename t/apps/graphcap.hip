/* graphcap [SEED]: a graph made by stream capture, with copies from and to host
 * memory as nodes, launched twice; its source changes in between. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 8000

__global__ void step(float *sum, const float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		sum[i] += 2 * x[i];
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	size_t size = N * sizeof(float);
	hipStream_t s;
	hipGraph_t graph;
	hipGraphExec_t exec;
	float *in, *out, *x, *sum;
	size_t nodes = 0;

	app_begin(argv[0], 1);
	CHECK(hipStreamCreate(&s));
	CHECK(hipHostMalloc((void **)&in, size, hipHostMallocDefault));
	out = (float *)malloc(size);
	CHECK(hipMalloc(&x, size));
	CHECK(hipMalloc(&sum, size));
	CHECK(hipMemset(sum, 0, size));
	CHECK(hipDeviceSynchronize());

	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	CHECK(hipMemcpyAsync(x, in, size, hipMemcpyHostToDevice, s));
	step<<<(N + 255) / 256, 256, 0, s>>>(sum, x, N);
	CHECK(hipGetLastError());
	CHECK(hipMemcpyAsync(out, sum, size, hipMemcpyDeviceToHost, s));
	CHECK(hipStreamEndCapture(s, &graph));
	CHECK(hipGraphGetNodes(graph, NULL, &nodes));
	if (nodes != 3)
		app_wrong("the graph has %zu nodes", nodes);
	CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));

	for (int launch = 0; launch < 2; launch++) {
		app_numbers(in, N, seed + launch);
		CHECK(hipGraphLaunch(exec, s));
		CHECK(hipStreamSynchronize(s));
		for (int i = 0; i < N; i++)
			app_equal("sum", i, out[i],
				  2 * app_number(seed, i) +
				      (launch ? 2 * app_number(seed + 1, i) : 0));
	}
	CHECK(hipGraphExecDestroy(exec));
	CHECK(hipGraphDestroy(graph));
	CHECK(hipFree(x));
	CHECK(hipFree(sum));
	CHECK(hipHostFree(in));
	CHECK(hipStreamDestroy(s));
	free(out);
	printf("graphcap: two launches of a captured graph are right\n");
	return 0;
}
