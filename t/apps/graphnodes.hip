/* graphnodes [SEED]: a graph of explicit nodes (memset, copies both ways,
 * kernels in a diamond), launched twice; its source changes in between. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 4000

__global__ void axpy(float *y, const float *x, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] += a * x[i];
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	size_t size = N * sizeof(float);
	hipGraph_t graph;
	hipGraphExec_t exec;
	hipGraphNode_t fill, in, left, right, out;
	hipStream_t s;
	float *h, *back, *x, *y, *z;

	app_begin(argv[0], 1);
	h = (float *)malloc(size);
	back = (float *)malloc(size);
	CHECK(hipMalloc(&x, size));
	CHECK(hipMalloc(&y, size));
	CHECK(hipMalloc(&z, size));
	CHECK(hipMemset(z, 0, size));
	CHECK(hipStreamCreate(&s));
	CHECK(hipGraphCreate(&graph, 0));

	hipMemsetParams set;

	memset(&set, 0, sizeof set);
	set.dst = y;
	set.elementSize = 4;
	set.value = 0x3f800000; /* 1.0f */
	set.width = N;
	set.height = 1;
	CHECK(hipGraphAddMemsetNode(&fill, graph, NULL, 0, &set));
	CHECK(hipGraphAddMemcpyNode1D(&in, graph, NULL, 0, x, h, size, hipMemcpyHostToDevice));

	int n = N;
	float two = 2, three = 3;
	hipKernelNodeParams k;
	void *left_args[] = {&y, &x, &two, &n};
	void *right_args[] = {&z, &x, &three, &n};
	hipGraphNode_t before[] = {fill, in};

	memset(&k, 0, sizeof k);
	k.func = (void *)axpy;
	k.gridDim = dim3((N + 255) / 256);
	k.blockDim = dim3(256);
	k.kernelParams = left_args;
	CHECK(hipGraphAddKernelNode(&left, graph, before, 2, &k));
	k.kernelParams = right_args;
	CHECK(hipGraphAddKernelNode(&right, graph, &in, 1, &k));

	hipGraphNode_t join, both[] = {left, right};
	void *join_args[] = {&z, &y, &two, &n};

	k.kernelParams = join_args;
	CHECK(hipGraphAddKernelNode(&join, graph, both, 2, &k));

	hipMemcpy3DParms copy;

	memset(&copy, 0, sizeof copy);
	copy.srcPtr = make_hipPitchedPtr(z, size, size, 1);
	copy.dstPtr = make_hipPitchedPtr(back, size, size, 1);
	copy.extent = make_hipExtent(size, 1, 1);
	copy.kind = hipMemcpyDeviceToHost;
	CHECK(hipGraphAddMemcpyNode(&out, graph, &join, 1, &copy));
	CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));

	/* y = 1 + 2x, z += 3x + 2y */
	float *want = (float *)calloc(N, sizeof *want);

	for (int launch = 0; launch < 2; launch++) {
		app_numbers(h, N, seed + launch);
		CHECK(hipGraphLaunch(exec, s));
		CHECK(hipStreamSynchronize(s));
		for (int i = 0; i < N; i++) {
			want[i] += 3 * h[i] + 2 * (1 + 2 * h[i]);
			app_equal("z", i, back[i], want[i]);
		}
	}
	CHECK(hipGraphExecDestroy(exec));
	CHECK(hipGraphDestroy(graph));
	CHECK(hipStreamDestroy(s));
	CHECK(hipFree(x));
	CHECK(hipFree(y));
	CHECK(hipFree(z));
	free(h);
	free(back);
	free(want);
	printf("graphnodes: two launches of a graph of explicit nodes are right\n");
	return 0;
}
