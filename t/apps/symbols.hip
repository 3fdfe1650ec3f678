/* symbols [SEED]: device variables and constant memory by name: copies to and
 * from symbols, their address and size, a kernel that reads and writes them. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 256

__constant__ float factors[N];
__device__ float table[N];
__device__ int runs;

__global__ void apply(int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		table[i] = table[i] * factors[i] + 1;
	if (i == 0)
		runs++;
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	static float f[N], t[N], out[N];
	int n = -1;
	float *p;
	size_t size;

	app_begin(argv[0], 1);
	app_numbers(f, N, seed);
	app_numbers(t, N, seed + 1);
	CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factors), f, sizeof f, 0, hipMemcpyHostToDevice));
	CHECK(hipMemcpyToSymbol(HIP_SYMBOL(table), t, sizeof t / 2, 0, hipMemcpyHostToDevice));
	CHECK(hipGetSymbolAddress((void **)&p, HIP_SYMBOL(table)));
	CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(table)));
	if (size != sizeof t)
		app_wrong("table has %zu bytes", size);
	CHECK(hipMemcpy(p + N / 2, t + N / 2, sizeof t / 2, hipMemcpyHostToDevice));
	apply<<<1, N>>>(N);
	apply<<<1, N>>>(N);
	CHECK(hipGetLastError());
	CHECK(hipMemcpyFromSymbol(out, HIP_SYMBOL(table), sizeof out, 0, hipMemcpyDeviceToHost));
	CHECK(hipMemcpyFromSymbol(&n, HIP_SYMBOL(runs), sizeof n, 0, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		app_equal("table", i, out[i], (t[i] * f[i] + 1) * f[i] + 1);
	app_equal("runs", 0, n, 2);
	printf("symbols: %d elements are right\n", N);
	return 0;
}
