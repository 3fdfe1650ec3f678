/* Loads of 16 bytes from memory that nothing wrote, the last of them half behind its end: two
 * faults of one instruction. Planted: the line marked HERE. Exit codes: 3 said so, 0 not. */
#include <hip/hip_runtime.h>

#include "app.h"

#define N 64

typedef float four __attribute__((ext_vector_type(4)));

__global__ void copy(const four *from, four *to)
{
	to[threadIdx.x] = from[threadIdx.x]; /* HERE */
}

int main(int, char **argv)
{
	four *from, *to;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&from, N * sizeof *from - 8));
	CHECK(hipMalloc(&to, N * sizeof *to));
	copy<<<1, N>>>(from, to);
	hipError_t e = hipDeviceSynchronize();

	printf("%s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}
