/* threads [SEED]: four threads, a stream each, sharing one device buffer of
 * input; every thread allocates, copies, launches and frees on its own. */
#include <hip/hip_runtime.h>
#include "app.h"
#include <pthread.h>

#define THREADS 4
#define N 3000
#define ROUNDS 4

static float input[N], *shared_x;

__global__ void mul(float *y, const float *x, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = x[i] * a;
}

static void *work(void *arg)
{
	int me = (int)(intptr_t)arg;
	size_t size = N * sizeof(float);
	float *y, *out = (float *)malloc(size);
	hipStream_t s;

	CHECK(hipSetDevice(0));
	CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	for (int r = 0; r < ROUNDS; r++) {
		float a = (float)(me * ROUNDS + r + 1);

		CHECK(hipMalloc(&y, size));
		mul<<<(N + 127) / 128, 128, 0, s>>>(y, shared_x, a, N);
		CHECK(hipGetLastError());
		CHECK(hipMemcpyAsync(out, y, size, hipMemcpyDeviceToHost, s));
		CHECK(hipStreamSynchronize(s));
		for (int i = 0; i < N; i++)
			app_equal("y", i, out[i], input[i] * a);
		CHECK(hipFree(y));
	}
	CHECK(hipStreamDestroy(s));
	free(out);
	return NULL;
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	pthread_t t[THREADS];

	app_begin(argv[0], 1);
	app_numbers(input, N, seed);
	CHECK(hipMalloc(&shared_x, sizeof input));
	CHECK(hipMemcpy(shared_x, input, sizeof input, hipMemcpyHostToDevice));
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, work, (void *)(intptr_t)i))
			app_quit(2, "cannot start a thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	CHECK(hipFree(shared_x));
	printf("threads: %d threads of %d rounds are right\n", THREADS, ROUNDS);
	return 0;
}
