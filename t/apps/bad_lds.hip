/* LDS beyond what the workgroup has.
 * Planted: the line marked HERE. Exit codes: 3 the run time said so, 0 it did not. */
#include <hip/hip_runtime.h>

#include "app.h"

#define N 64

__global__ void shift(int *out, int by)
{
	__shared__ int s[N];
	int i = threadIdx.x;

	s[i] = i;
	__syncthreads();
	out[i] = s[i + by]; /* HERE */
}

int main(int, char **argv)
{
	int *out;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&out, N * sizeof *out));
	shift<<<1, N>>>(out, 1);
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
