/* pools [SEED]: stream-ordered allocation: the default pool, a pool of its own
 * with attributes, memory freed on one stream and asked for again. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 4096
#define SIZE (N * sizeof(float))

__global__ void put(float *x, float v, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = v + i;
}

__global__ void add(float *x, const float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += y[i];
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	static float out[N];
	float *x, *y, v = (float)(seed % 1000);
	int can = 0;
	uint64_t keep = 1 << 20, got = 0;
	hipMemPool_t pool, usual;
	hipMemPoolProps props;
	hipStream_t s;

	app_begin(argv[0], 1);
	CHECK(hipDeviceGetAttribute(&can, hipDeviceAttributeMemoryPoolsSupported, 0));
	if (!can)
		app_quit(77, "the device has no memory pools");
	CHECK(hipStreamCreate(&s));
	CHECK(hipDeviceGetDefaultMemPool(&usual, 0));
	memset(&props, 0, sizeof props);
	props.allocType = hipMemAllocationTypePinned;
	props.location.type = hipMemLocationTypeDevice;
	CHECK(hipMemPoolCreate(&pool, &props));
	CHECK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &keep));
	CHECK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, &got));
	app_equal("threshold", 0, (double)got, (double)keep);
	for (int r = 0; r < 3; r++) {
		CHECK(hipMallocAsync((void **)&x, SIZE, s));
		CHECK(hipMallocFromPoolAsync((void **)&y, SIZE, pool, s));
		put<<<N / 256, 256, 0, s>>>(x, v + r, N);
		put<<<N / 256, 256, 0, s>>>(y, v * 2, N);
		add<<<N / 256, 256, 0, s>>>(x, y, N);
		CHECK(hipGetLastError());
		CHECK(hipFreeAsync(y, s));
		CHECK(hipMemcpyAsync(out, x, SIZE, hipMemcpyDeviceToHost, s));
		CHECK(hipFreeAsync(x, s));
		CHECK(hipStreamSynchronize(s));
		for (int i = 0; i < N; i++)
			app_equal("x", i, out[i], v + r + i + v * 2 + i);
	}
	CHECK(hipMemPoolTrimTo(pool, 0));
	CHECK(hipMemPoolDestroy(pool));
	CHECK(hipStreamDestroy(s));
	printf("pools: three rounds of stream-ordered memory are right\n");
	return 0;
}
