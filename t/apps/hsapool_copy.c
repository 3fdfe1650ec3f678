/* hsapool_copy [SEED]: HSA pool memory that HIP never saw, first touched by
 * hipMemcpy; then through a HIP allocation and back. */
#include "hsapool.h"

#define SIZE (1u << 18)
#define N (SIZE / sizeof(float))

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	static float in[N], out[N];
	float *hidden, *plain;

	app_begin(argv[0], 1);
	CHECK(hipMalloc((void **)&plain, SIZE));
	hidden = (float *)hsapool_get(SIZE);
	app_numbers(in, N, seed);
	CHECK(hipMemcpy(hidden, in, SIZE, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(plain, hidden + 16, SIZE - 64, hipMemcpyDeviceToDevice));
	CHECK(hipMemcpy(out, plain, SIZE - 64, hipMemcpyDeviceToHost));
	for (size_t i = 0; i < N - 16; i++)
		app_equal("copied twice", i, out[i], in[i + 16]);
	CHECK(hipMemcpy(out, hidden, SIZE, hipMemcpyDeviceToHost));
	for (size_t i = 0; i < N; i++)
		app_equal("copied", i, out[i], in[i]);
	CHECK(hipDeviceSynchronize());
	hsapool_put(hidden);
	CHECK(hipFree(plain));
	printf("hsapool_copy: %zu elements are right\n", N);
	return 0;
}
