/* mapped [SEED]: pinned memory that kernels read and write in place, by the
 * host's own address and by the device pointer, the host writing between launches. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 5000

__global__ void addto(float *to, const float *from, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] += from[i];
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	size_t size = N * sizeof(float);
	float *in, *sum, *dsum;
	unsigned flags = 0;

	app_begin(argv[0], 1);
	CHECK(hipHostMalloc((void **)&in, size, hipHostMallocMapped));
	CHECK(hipHostMalloc((void **)&sum, size, hipHostMallocMapped | hipHostMallocPortable));
	CHECK(hipHostGetFlags(&flags, sum));
	if (!(flags & hipHostMallocMapped))
		app_wrong("flags are 0x%x", flags);
	CHECK(hipHostGetDevicePointer((void **)&dsum, sum, 0));
	memset(sum, 0, size);
	for (int r = 0; r < 3; r++) {
		app_numbers(in, N, seed + r);
		addto<<<(N + 255) / 256, 256>>>(r & 1 ? sum : dsum, in, N);
		CHECK(hipGetLastError());
		CHECK(hipDeviceSynchronize());
		sum[r] += 1000; /* the host writes too */
	}
	for (int i = 0; i < N; i++) {
		float want = i < 3 ? 1000 : 0;

		for (int r = 0; r < 3; r++)
			want += app_number(seed + r, i);
		app_equal("sum", i, sum[i], want);
	}
	CHECK(hipHostFree(in));
	CHECK(hipHostFree(sum));
	printf("mapped: three launches on pinned memory are right\n");
	return 0;
}
