/* An assertion in a kernel: the program ends inside the launch, or in what waits for it.
 * Planted: the line marked HERE. Exit codes: 134 it ended there, 0 it did not. */
#include <hip/hip_runtime.h>

#include "app.h"

__global__ void positive(const int *x, int *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n && x[i] < 0)
		__builtin_trap(); /* HERE */
	if (i < n)
		y[i] = x[i] + 1;
}

int main(int, char **argv)
{
	enum { N = 256 };
	static int in[N];
	int *x, *y;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&x, sizeof in));
	CHECK(hipMalloc(&y, sizeof in));
	in[100] = -1;
	CHECK(hipMemcpy(x, in, sizeof in, hipMemcpyHostToDevice));
	positive<<<4, 64>>>(x, y, N);
	CHECK(hipDeviceSynchronize());
	return 0;
}
