/* ptds [SEED]: built with -fgpu-default-stream=per-thread: the default stream
 * is each thread's own, in launches and in copies. */
#include <hip/hip_runtime.h>
#include "app.h"
#include <pthread.h>

#define THREADS 3
#define N 2048

static uint32_t seed;

__global__ void shift(float *x, float by, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += by;
}

static void *work(void *arg)
{
	int me = (int)(intptr_t)arg;
	size_t size = N * sizeof(float);
	float *x, *in = (float *)malloc(size), *out = (float *)malloc(size);

	app_numbers(in, N, seed + me);
	CHECK(hipMalloc(&x, size));
	for (int r = 0; r < 3; r++) {
		CHECK(hipMemcpyAsync(x, in, size, hipMemcpyHostToDevice, 0));
		shift<<<N / 256, 256>>>(x, (float)(me + r), N);
		CHECK(hipGetLastError());
		CHECK(hipMemcpyAsync(out, x, size, hipMemcpyDeviceToHost, 0));
		CHECK(hipStreamSynchronize(0));
		for (int i = 0; i < N; i++)
			app_equal("x", i, out[i], in[i] + me + r);
	}
	/* The stream by its own name. */
	shift<<<N / 256, 256, 0, hipStreamPerThread>>>(x, 1, N);
	CHECK(hipStreamSynchronize(hipStreamPerThread));
	CHECK(hipMemcpy(out, x, size, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		app_equal("x by name", i, out[i], in[i] + me + 3);
	CHECK(hipFree(x));
	free(in);
	free(out);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	seed = app_seed(argc, argv, 1, 1);
	app_begin(argv[0], 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, work, (void *)(intptr_t)i))
			app_quit(2, "cannot start a thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("ptds: %d default streams are right\n", THREADS);
	return 0;
}
