/* hostreg [SEED]: ordinary memory registered, read and written by kernels
 * through its device address, at an odd place inside its page, twice. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 6000
#define SKEW 40 /* bytes into the page: a block must keep it */

__global__ void plus(float *to, const float *from, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] = from[i] + a;
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	size_t size = 2 * N * sizeof(float);
	char *area;
	float *h, *d, *x, *back;

	app_begin(argv[0], 1);
	if (posix_memalign((void **)&area, 4096, size + 8192))
		return 2;
	memset(area, 0, size + 8192);
	h = (float *)(area + SKEW);
	app_numbers(h, N, seed);
	CHECK(hipMalloc(&x, N * sizeof(float)));
	back = (float *)malloc(N * sizeof(float));

	/* Two registrations of one buffer, one after the other. */
	for (int round = 0; round < 2; round++) {
		CHECK(hipHostRegister(h, size, hipHostRegisterMapped));
		CHECK(hipHostGetDevicePointer((void **)&d, h, 0));
		/* From one half of the registered buffer into the other. */
		plus<<<(N + 255) / 256, 256>>>(d + N, d, 1 + round, N);
		CHECK(hipGetLastError());
		CHECK(hipDeviceSynchronize());
		for (int i = 0; i < N; i++)
			app_equal("host", i, h[N + i], app_number(seed + round, i) + 1 + round);
		/* And through a copy whose source is registered memory. */
		CHECK(hipMemcpyAsync(x, h + N, N * sizeof(float), hipMemcpyHostToDevice, NULL));
		plus<<<(N + 255) / 256, 256>>>(x, x, 100, N);
		CHECK(hipGetLastError());
		CHECK(hipMemcpy(back, x, N * sizeof(float), hipMemcpyDeviceToHost));
		for (int i = 0; i < N; i++)
			app_equal("copied", i, back[i], h[N + i] + 100);
		CHECK(hipHostUnregister(h));
		app_numbers(h, N, seed + 1);
	}
	CHECK_FAILS(hipHostUnregister(h), hipErrorHostMemoryNotRegistered);
	(void)hipGetLastError();
	CHECK(hipFree(x));
	free(area);
	free(back);
	printf("hostreg: a kernel wrote registered memory twice, right\n");
	return 0;
}
