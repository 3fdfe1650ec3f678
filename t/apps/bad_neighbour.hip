/* A pool inside one allocation, and a kernel that runs over the end of its block
 * into the next one: memory of the same allocation, so only who knows the blocks
 * sees it. Planted: the line marked HERE. With an argument the free part between the
 * blocks is hit. Prints the pool's address, so that a sidecar can be written. */
#include <hip/hip_runtime.h>

#include "app.h"

#define BLOCK 1024 /* of which the first 256 bytes are given out */

__global__ void fill(int *v, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		v[i] = i; /* HERE */
}

int main(int argc, char **argv)
{
	char *pool;
	int out[BLOCK / 2];

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&pool, 4 * BLOCK));
	CHECK(hipMemset(pool, 0, 4 * BLOCK));
	/* block 1: 64 ints at BLOCK; block 2: 64 ints at 2 * BLOCK */
	fill<<<5, 64>>>((int *)(pool + BLOCK), argc > 1 ? 66 : BLOCK / 4 + 2);
	CHECK(hipMemcpy(out, pool + BLOCK, sizeof out, hipMemcpyDeviceToHost));
	printf("%p\n", (void *)pool);
	return out[3] == 3 ? 0 : 1;
}
