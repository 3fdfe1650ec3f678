/* An atomic on an address that is no multiple of its size.
 * Planted: the line marked HERE. Exit codes: 3 the run time said so, 0 it did not. */
#include <hip/hip_runtime.h>

#include "app.h"

__global__ void count(char *p)
{
	unsigned *c = (unsigned *)(p + 6);

	__hip_atomic_fetch_add(c, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); /* HERE */
}

int main(int, char **argv)
{
	char *p;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&p, 64));
	CHECK(hipMemset(p, 0, 64));
	count<<<1, 1>>>(p);
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
