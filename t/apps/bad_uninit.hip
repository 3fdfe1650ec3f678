/* A sum over memory of which only the first half was written.
 * Planted: the line marked HERE. Exit codes: 3 the run time said so, 0 it did not. */
#include <hip/hip_runtime.h>

#include "app.h"

#define N 64

__global__ void twice(const int *in, int *out)
{
	int i = threadIdx.x;

	out[i] = 2 * in[i]; /* HERE */
}

int main(int, char **argv)
{
	int *in, *out;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&in, N * sizeof *in));
	CHECK(hipMalloc(&out, N * sizeof *out));
	CHECK(hipMemset(in, 1, N / 2 * sizeof *in));
	twice<<<1, N>>>(in, out);
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
