/* Two streams, the second needs what the first makes and does not wait for it.
 * Planted: the line marked HERE. Exit codes: 0 lucky, 1 wrong result. */
#include <hip/hip_runtime.h>

#include "app.h"

#define N 256

__global__ void produce(int *v)
{
	v[threadIdx.x] = threadIdx.x + 1;
}

__global__ void consume(const int *v, int *sum)
{
	atomicAdd(sum, v[threadIdx.x]);
}

int main(int, char **argv)
{
	hipStream_t a, b;
	int *v, *sum, out = 0;

	app_begin(argv[0], 1);
	CHECK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
	CHECK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
	CHECK(hipMalloc(&v, N * sizeof *v));
	CHECK(hipMalloc(&sum, sizeof *sum));
	CHECK(hipMemset(v, 0, N * sizeof *v));
	CHECK(hipMemset(sum, 0, sizeof *sum));
	CHECK(hipDeviceSynchronize());
	produce<<<1, N, 0, a>>>(v);
	/* HERE: hipEventRecord on a and hipStreamWaitEvent on b are missing */
	consume<<<1, N, 0, b>>>(v, sum);
	CHECK(hipMemcpyAsync(&out, sum, sizeof out, hipMemcpyDeviceToHost, b));
	CHECK(hipStreamSynchronize(b));
	app_equal("sum", 0, out, N * (N + 1) / 2);
	return 0;
}
