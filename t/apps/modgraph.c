/* modgraph [SEED]: a graph's kernel node by the function of a module, which reads that module's
 * own variable; then the node with another scale, in the graph and in the executable. In C. */
#include "app.h"

#define N 5000

static float got[N];

static void check(const char *what, float *x, const float *in, float times)
{
	CHECK(hipMemcpyDtoH(got, (hipDeviceptr_t)x, sizeof got));
	for (size_t i = 0; i < N; i++)
		app_equal(what, i, got[i], in[i] * times);
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	static float in[N];
	hipModule_t mod;
	hipFunction_t scale;
	hipDeviceptr_t global;
	hipKernelNodeParams p;
	hipGraph_t g;
	hipGraphExec_t e;
	hipGraphNode_t node;
	size_t global_size;
	float *x, a = 3;
	int n = N, by = 2;
	void *params[] = {&x, &a, &n};

	app_begin(argv[0], 1);
	void *image = app_beside("modkern.hsaco", NULL);

	CHECK(hipModuleLoadData(&mod, image));
	free(image);
	CHECK(hipModuleGetFunction(&scale, mod, "scale"));
	CHECK(hipModuleGetGlobal(&global, &global_size, mod, "scale_by"));
	CHECK(hipMemcpyHtoD(global, &by, sizeof by));
	app_numbers(in, N, seed);
	CHECK(hipMalloc((void **)&x, sizeof in));
	CHECK(hipMemcpyHtoD((hipDeviceptr_t)x, in, sizeof in));

	memset(&p, 0, sizeof p);
	p.func = (void *)scale;
	p.gridDim = (dim3){(N + 127) / 128, 1, 1};
	p.blockDim = (dim3){128, 1, 1};
	p.kernelParams = params;
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddKernelNode(&node, g, NULL, 0, &p));
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	CHECK(hipGraphLaunch(e, 0));
	check("added", x, in, 6);
	a = 1;
	CHECK(hipGraphExecKernelNodeSetParams(e, node, &p));
	CHECK(hipGraphLaunch(e, 0));
	check("set in the executable", x, in, 12);
	a = 2;
	CHECK(hipGraphKernelNodeSetParams(node, &p));
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	CHECK(hipGraphLaunch(e, 0));
	check("set in the graph", x, in, 48);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipModuleUnload(mod));
	CHECK(hipFree(x));
	printf("modgraph: nodes ran their module's kernel\n");
	return 0;
}
