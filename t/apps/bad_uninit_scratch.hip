/* A private array whose later half nothing wrote.
 * Planted: the line marked HERE. Exit codes: 0 it ran, whatever was said. */
#include <hip/hip_runtime.h>

#include "app.h"

__global__ void pick(int *out, int at)
{
	volatile int a[32];

	for (int i = 0; i < 16; i++)
		a[i] = out[i];
	out[threadIdx.x] = a[(at + threadIdx.x) & 31]; /* HERE */
}

int main(int, char **argv)
{
	int *out;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&out, 64 * sizeof *out));
	CHECK(hipMemset(out, 0, 64 * sizeof *out));
	pick<<<1, 64>>>(out, 4);
	CHECK(hipDeviceSynchronize());
	return 0;
}
