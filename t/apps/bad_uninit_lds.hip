/* LDS that nothing in the workgroup wrote.
 * Planted: the line marked HERE. Exit codes: 0 it ran, whatever was said. */
#include <hip/hip_runtime.h>

#include "app.h"

#define N 64

__global__ void reverse(int *out)
{
	__shared__ int s[N];
	int i = threadIdx.x;

	if (i < N - 8)
		s[i] = i;
	__syncthreads();
	out[i] = s[N - 1 - i]; /* HERE */
}

int main(int, char **argv)
{
	int *out;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&out, N * sizeof *out));
	reverse<<<1, N>>>(out);
	CHECK(hipDeviceSynchronize());
	return 0;
}
