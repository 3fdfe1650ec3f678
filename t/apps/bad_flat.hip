/* A pointer out of nowhere, taken from memory: a flat access.
 * Planted: the line marked HERE. Exit codes: 3 the run time said so, 0 it did not. */
#include <hip/hip_runtime.h>

#include "app.h"

__global__ void through(int **table)
{
	int *p = table[threadIdx.x & 1];

	*p = 7; /* HERE */
}

int main(int, char **argv)
{
	int **table, *host[2];

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&table, sizeof host));
	CHECK(hipMalloc(&host[0], sizeof(int)));
	host[1] = (int *)0x1238;
	CHECK(hipMemcpy(table, host, sizeof host, hipMemcpyHostToDevice));
	through<<<1, 64>>>(table);
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
