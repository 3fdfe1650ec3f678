/* A kernel on host memory that is no longer registered.
 * Planted: the line marked HERE. Exit codes: 3 the run time said so, 0 it did not. */
#include <hip/hip_runtime.h>

#include "app.h"

#define N 1024

__global__ void fill(int *v)
{
	v[threadIdx.x] = threadIdx.x; /* HERE */
}

int main(int, char **argv)
{
	int *host, *v;

	app_begin(argv[0], 1);
	host = (int *)aligned_alloc(4096, N * sizeof *host);
	CHECK(hipHostRegister(host, N * sizeof *host, hipHostRegisterMapped));
	CHECK(hipHostGetDevicePointer((void **)&v, host, 0));
	fill<<<1, 64>>>(v);
	CHECK(hipHostUnregister(host));
	fill<<<1, 64>>>(v);
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
