/* A store one element past the end of an allocation.
 * Planted: the line marked HERE. Exit codes: 3 the run time said so, 0 it did not. */
#include <hip/hip_runtime.h>

#include "app.h"

#define N 256

__global__ void scale(float *v, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i <= n)
		v[i] = 2.0f * i; /* HERE */
}

int main(int, char **argv)
{
	float *v;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&v, N * sizeof *v));
	scale<<<N / 64 + 1, 64>>>(v, N);
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
