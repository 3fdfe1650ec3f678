/* devreset [SEED]: hipDeviceReset with memory, a stream and an event still
 * there, then everything anew. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 3000

__device__ int calls;

__global__ void mark(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += 3;
	if (i == 0)
		calls++;
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	static float in[N], out[N];

	app_begin(argv[0], 1);
	app_numbers(in, N, seed);
	for (int r = 0; r < 2; r++) {
		hipStream_t s;
		hipEvent_t e;
		float *x;

		CHECK(hipStreamCreate(&s));
		CHECK(hipEventCreate(&e));
		CHECK(hipMalloc(&x, sizeof in));
		CHECK(hipMemcpy(x, in, sizeof in, hipMemcpyHostToDevice));
		mark<<<(N + 255) / 256, 256, 0, s>>>(x, N);
		CHECK(hipGetLastError());
		CHECK(hipEventRecord(e, s));
		CHECK(hipEventSynchronize(e));
		CHECK(hipMemcpy(out, x, sizeof out, hipMemcpyDeviceToHost));
		for (int i = 0; i < N; i++)
			app_equal("x", i, out[i], in[i] + 3);
		/* None of the three is released: the reset does. */
		if (r == 0)
			CHECK(hipDeviceReset());
	}
	printf("devreset: right before and after the reset\n");
	return 0;
}
