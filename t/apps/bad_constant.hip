/* A constant table indexed beyond everything that was loaded.
 * Planted: the line marked HERE. Exit codes: 3 the run time said so, 0 it did not. */
#include <hip/hip_runtime.h>

#include "app.h"

__constant__ int table[4] = {1, 2, 3, 4};

__global__ void lookup(int *out, int at)
{
	out[threadIdx.x] = table[at]; /* HERE */
}

int main(int, char **argv)
{
	int *out;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&out, 64 * sizeof *out));
	lookup<<<1, 64>>>(out, 1 << 28);
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
