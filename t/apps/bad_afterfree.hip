/* A kernel on memory that was freed.
 * Planted: the line marked HERE. Exit codes: 3 the run time said so, 0 it did not. */
#include <hip/hip_runtime.h>

#include "app.h"

#define N 64

__global__ void fill(int *v)
{
	v[threadIdx.x] = threadIdx.x; /* HERE */
}

int main(int, char **argv)
{
	int *v, *other;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&v, N * sizeof *v));
	CHECK(hipMalloc(&other, N * sizeof *other));
	fill<<<1, N>>>(v);
	CHECK(hipFree(v));
	fill<<<1, N>>>(v);
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
