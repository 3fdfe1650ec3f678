/* graphsym [SEED]: a graph that copies to a device variable and from it, by name, and no kernel:
 * nothing else says which variable that is. Its nodes' variable, and their place in it, change
 * later. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 64

__device__ float numbers[2 * N];
__constant__ float others[2 * N];

static float h[N], back[N];
static hipStream_t s;

static void launch(hipGraphExec_t exec, uint32_t seed)
{
	app_numbers(h, N, seed);
	memset(back, 0, sizeof back);
	CHECK(hipGraphLaunch(exec, s));
	CHECK(hipStreamSynchronize(s));
	for (int i = 0; i < N; i++)
		app_equal("through the variable", i, back[i], app_number(seed, i));
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	hipGraph_t graph;
	hipGraphExec_t exec, second;
	hipGraphNode_t to, from;

	app_begin(argv[0], 1);
	CHECK(hipStreamCreate(&s));
	CHECK(hipGraphCreate(&graph, 0));
	CHECK(hipGraphAddMemcpyNodeToSymbol(&to, graph, NULL, 0, HIP_SYMBOL(numbers), h, sizeof h,
					    0, hipMemcpyHostToDevice));
	CHECK(hipGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, back, HIP_SYMBOL(numbers),
					      sizeof h, 0, hipMemcpyDeviceToHost));
	CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	launch(exec, seed);

	/* the other variable, in the instance */
	CHECK(hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, HIP_SYMBOL(others), h, sizeof h,
						      sizeof h, hipMemcpyHostToDevice));
	CHECK(hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, back, HIP_SYMBOL(others),
							sizeof h, sizeof h, hipMemcpyDeviceToHost));
	launch(exec, seed + 1);

	/* the second half, in the graph */
	CHECK(hipGraphMemcpyNodeSetParamsToSymbol(to, HIP_SYMBOL(numbers), h, sizeof h, sizeof h,
						  hipMemcpyHostToDevice));
	CHECK(hipGraphMemcpyNodeSetParamsFromSymbol(from, back, HIP_SYMBOL(numbers), sizeof h,
						    sizeof h, hipMemcpyDeviceToHost));
	CHECK(hipGraphInstantiate(&second, graph, NULL, NULL, 0));
	launch(second, seed + 2);
	launch(exec, seed + 3);
	CHECK(hipGraphExecDestroy(second));
	CHECK(hipGraphExecDestroy(exec));
	CHECK(hipGraphDestroy(graph));
	CHECK(hipStreamDestroy(s));
	printf("graphsym: %d numbers went through variables in a graph, right\n", 4 * N);
	return 0;
}
