/* An instruction the CPU run time refuses; on a GPU it needs what this program has not asked for: a
 * fault of its own. Planted: the line marked HERE. Exit codes: 3 the run time said so, 0 it did
 * not. */
#include <hip/hip_runtime.h>

#include "app.h"

__global__ void first(int *v)
{
	v[threadIdx.x] = threadIdx.x;
}

__global__ void strange(int *v, int n)
{
	if (n > 0)
		asm volatile("ds_gws_sema_v gds"); /* HERE */
	v[threadIdx.x] = n;
}

int main(int, char **argv)
{
	int *v, h[64];

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&v, sizeof h));
	first<<<1, 64>>>(v);
	CHECK(hipMemcpy(h, v, sizeof h, hipMemcpyDeviceToHost));
	strange<<<1, 64>>>(v, 5);
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
