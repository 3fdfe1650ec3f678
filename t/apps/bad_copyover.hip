/* A pool inside one allocation, and a copy (with an argument: a set) of more than its block holds:
 * memory of the same allocation, so only who knows the blocks sees it. Planted: the lines marked
 * HERE. Prints the pool's address, so that a sidecar can be written. */
#include <hip/hip_runtime.h>

#include "app.h"

#define BLOCK 1024 /* of which the first 256 bytes are given out */

int main(int argc, char **argv)
{
	char *pool, in[512], out[256];

	app_begin(argv[0], 1);
	memset(in, 7, sizeof in);
	CHECK(hipMalloc(&pool, 4 * BLOCK));
	CHECK(hipMemset(pool, 0, 4 * BLOCK));
	if (argc > 1)
		CHECK(hipMemset2D(pool + BLOCK, 64, 7, 16, 5)); /* HERE */
	else
		CHECK(hipMemcpy(pool + BLOCK, in, 260, hipMemcpyHostToDevice)); /* HERE */
	CHECK(hipMemcpy(pool + 2 * BLOCK, in, 256, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(out, pool + BLOCK, sizeof out, hipMemcpyDeviceToHost));
	printf("%p\n", (void *)pool);
	return out[3] == 7 ? 0 : 1;
}
