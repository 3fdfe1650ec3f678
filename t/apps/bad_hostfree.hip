/* An asynchronous copy from a pinned buffer that was freed too early.
 * Planted: the line marked HERE. Exit codes: 3 the run time said so, 0 it did not. */
#include <hip/hip_runtime.h>

#include "app.h"

#define N 4096

int main(int, char **argv)
{
	int *pinned, *v;
	hipStream_t s;

	app_begin(argv[0], 1);
	CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	CHECK(hipHostMalloc((void **)&pinned, N * sizeof *pinned, 0));
	CHECK(hipMalloc(&v, N * sizeof *v));
	for (int i = 0; i < 2; i++) {
		hipError_t c =
		    hipMemcpyAsync(v, pinned, N * sizeof *v, hipMemcpyHostToDevice, s); /* HERE */
		if (c != hipSuccess) {
			printf("%s\n", hipGetErrorName(c));
			return 3;
		}
		if (i == 0)
			CHECK(hipHostFree(pinned)); /* once too early */
	}
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
