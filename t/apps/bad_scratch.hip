/* A private array indexed far beyond its end.
 * Planted: the line marked HERE. Exit codes: 3 the run time said so, 0 it did not. */
#include <hip/hip_runtime.h>

#include "app.h"

__global__ void pick(int *out, int at)
{
	int a[32];

	for (int i = 0; i < 32; i++)
		a[i] = out[i];
	out[threadIdx.x] = a[(at + threadIdx.x) & 0xffff]; /* HERE */
}

int main(int, char **argv)
{
	int *out;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&out, 64 * sizeof *out));
	CHECK(hipMemset(out, 0, 64 * sizeof *out));
	pick<<<1, 64>>>(out, 5000);
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
