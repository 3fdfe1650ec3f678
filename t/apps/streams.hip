/* streams [SEED]: two streams, asynchronous copies from and to pinned memory,
 * an event that orders one stream after the other, timing events. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 20000
#define ROUNDS 3

__global__ void twice(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= 2;
}

__global__ void add(float *y, const float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] += x[i];
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	size_t size = N * sizeof(float);
	float *in, *out, *pageable, *x, *y, ms = -1;
	hipStream_t a, b;
	hipEvent_t start, ready, done, stop;

	app_begin(argv[0], 1);
	CHECK(hipStreamCreate(&a));
	CHECK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
	CHECK(hipEventCreate(&start));
	CHECK(hipEventCreateWithFlags(&ready, hipEventDisableTiming));
	CHECK(hipEventCreateWithFlags(&done, hipEventDisableTiming));
	CHECK(hipEventCreate(&stop));
	CHECK(hipHostMalloc((void **)&in, size, hipHostMallocDefault));
	CHECK(hipHostMalloc((void **)&out, size, hipHostMallocDefault));
	pageable = (float *)malloc(size);
	CHECK(hipMalloc(&x, size));
	CHECK(hipMalloc(&y, size));
	CHECK(hipMemsetAsync(y, 0, size, b));
	CHECK(hipEventRecord(done, b));
	CHECK(hipEventRecord(start, a));
	for (int r = 0; r < ROUNDS; r++) {
		/* x may be filled again once b has read it, and `in` once a has. */
		CHECK(hipStreamSynchronize(a));
		app_numbers(in, N, seed + r);
		CHECK(hipStreamWaitEvent(a, done, 0));
		CHECK(hipMemcpyAsync(x, in, size, hipMemcpyHostToDevice, a));
		twice<<<(N + 255) / 256, 256, 0, a>>>(x, N);
		CHECK(hipEventRecord(ready, a));
		CHECK(hipStreamWaitEvent(b, ready, 0));
		add<<<(N + 255) / 256, 256, 0, b>>>(y, x, N);
		CHECK(hipEventRecord(done, b));
	}
	CHECK(hipGetLastError());
	CHECK(hipMemcpyAsync(out, y, size, hipMemcpyDeviceToHost, b));
	CHECK(hipMemcpyAsync(pageable, x, size, hipMemcpyDeviceToHost, a));
	CHECK(hipEventRecord(stop, a));
	CHECK(hipStreamSynchronize(b));
	CHECK(hipEventSynchronize(stop));
	CHECK(hipEventElapsedTime(&ms, start, stop));
	if (!(ms >= 0 && ms < 60000))
		app_wrong("the events are %g ms apart", ms);
	for (int i = 0; i < N; i++) {
		float sum = 0;

		for (int r = 0; r < ROUNDS; r++)
			sum += 2 * app_number(seed + r, i);
		app_equal("y", i, out[i], sum);
		app_equal("x", i, pageable[i], 2 * app_number(seed + ROUNDS - 1, i));
	}
	CHECK(hipDeviceSynchronize());
	CHECK(hipEventDestroy(start));
	CHECK(hipEventDestroy(ready));
	CHECK(hipEventDestroy(done));
	CHECK(hipEventDestroy(stop));
	CHECK(hipFree(x));
	CHECK(hipFree(y));
	CHECK(hipHostFree(in));
	CHECK(hipHostFree(out));
	CHECK(hipStreamDestroy(a));
	CHECK(hipStreamDestroy(b));
	free(pageable);
	printf("streams: %d rounds over two streams are right\n", ROUNDS);
	return 0;
}
