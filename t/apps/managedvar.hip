/* managedvar: a __managed__ variable, written by host and kernel in turn. Apart
 * from managed.hip: the run time of Debian 12 crashes while it registers such a
 * variable, before main, where there is no device. */
#include <hip/hip_runtime.h>
#include "app.h"

__managed__ int count = 3, table[64];

__global__ void next(int n)
{
	int i = threadIdx.x;

	if (i < n)
		table[i] += i * count;
	__syncthreads();
	if (i == 0)
		count++;
}

int main(int argc, char **argv)
{
	app_begin(argv[0], 1);
	for (int i = 0; i < 64; i++)
		table[i] = 100;
	count += 1;
	next<<<1, 64>>>(64);
	CHECK(hipGetLastError());
	CHECK(hipDeviceSynchronize());
	app_equal("count", 0, count, 5);
	for (int i = 0; i < 64; i++)
		app_equal("table", i, table[i], 100 + 4 * i);
	if (argc > 1) { /* a record of the second launch may hold what the first one did */
		next<<<1, 64>>>(64);
		next<<<1, 64>>>(64);
		CHECK(hipGetLastError());
		CHECK(hipDeviceSynchronize());
		app_equal("count", 1, count, 7);
		for (int i = 0; i < 64; i++)
			app_equal("table", i, table[i], 100 + 15 * i);
	}
	printf("managedvar: host and kernel took turns, right\n");
	return 0;
}
