/* hsapool_kernel [SEED]: HSA pool memory that HIP never saw, first touched by a
 * kernel that got its address as an argument, then by one that got it in a structure. */
#include <hip/hip_runtime.h>
#include "hsapool.h"

#define SIZE (1u << 18)
#define N (SIZE / sizeof(float))

struct where {
	int n;
	float *from, *to;
};

__global__ void fill(float *hidden, const float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		hidden[i] = x[i] + 1;
}

__global__ void drain(struct where w)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < w.n)
		w.to[i] = w.from[i] * 2;
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	static float in[N], out[N];
	float *hidden, *x;

	app_begin(argv[0], 1);
	CHECK(hipMalloc(&x, SIZE));
	app_numbers(in, N, seed);
	CHECK(hipMemcpy(x, in, SIZE, hipMemcpyHostToDevice));
	hidden = (float *)hsapool_get(SIZE);
	fill<<<N / 256, 256>>>(hidden, x, N);
	CHECK(hipGetLastError());
	struct where w = {(int)N, hidden, x};

	drain<<<N / 256, 256>>>(w);
	CHECK(hipGetLastError());
	CHECK(hipMemcpy(out, x, SIZE, hipMemcpyDeviceToHost));
	for (size_t i = 0; i < N; i++)
		app_equal("x", i, out[i], (in[i] + 1) * 2);
	CHECK(hipDeviceSynchronize());
	hsapool_put(hidden);
	CHECK(hipFree(x));
	printf("hsapool_kernel: %zu elements are right\n", (size_t)N);
	return 0;
}
