/* A load from before the beginning of an allocation: index -1.
 * Planted: the line marked HERE. Exit codes: 3 the run time said so, 0 it did not. */
#include <hip/hip_runtime.h>

#include "app.h"

#define N 256

__global__ void differences(const int *in, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = i - in[i - 1]; /* HERE */
}

int main(int, char **argv)
{
	int *in, *out;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&in, N * sizeof *in));
	CHECK(hipMalloc(&out, N * sizeof *out));
	CHECK(hipMemset(in, 0, N * sizeof *in));
	differences<<<N / 64, 64>>>(in, out);
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
