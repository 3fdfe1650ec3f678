/* zerocopy [SEED]: kernels read and add up slots of one mapped buffer while the host fills the
 * next ones, without a wait. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 256
#define SLOTS 8

__global__ void add(float *sum, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		sum[i] += in[i];
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	float *buf, *sum;
	hipStream_t s;

	app_begin(argv[0], 1);
	CHECK(hipStreamCreate(&s));
	CHECK(hipHostMalloc((void **)&buf, (SLOTS + 1) * N * sizeof(float), hipHostMallocMapped));
	sum = buf + SLOTS * N;
	memset(sum, 0, N * sizeof(float));
	for (int r = 0; r < SLOTS; r++) {
		app_numbers(buf + r * N, N, seed + r);
		add<<<1, N, 0, s>>>(sum, buf + r * N, N);
		CHECK(hipGetLastError());
	}
	CHECK(hipStreamSynchronize(s));
	for (int i = 0; i < N; i++) {
		float want = 0;

		for (int r = 0; r < SLOTS; r++)
			want += app_number(seed + r, i);
		app_equal("sum", i, sum[i], want);
	}
	CHECK(hipHostFree(buf));
	CHECK(hipStreamDestroy(s));
	printf("zerocopy: the sum over slots of one buffer is right\n");
	return 0;
}
