/* ctxs [SEED]: contexts on two devices, each thread with a stack of its own. */
#include <hip/hip_runtime.h>
#include <pthread.h>
#include "app.h"
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

#define N 1024
#define SIZE (N * sizeof(float))

__global__ void add(float *to, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] += a;
}

static hipCtx_t ctx[2];
static float in[N];
static pthread_barrier_t turn;

static void on_device(int want)
{
	int d = -1;

	CHECK(hipCtxGetDevice(&d));
	if (d != want)
		app_wrong("device %d is current, %d is due", d, want);
}

/* Something on the current device that only works there. */
static void work(float a, const char *what)
{
	float *p, out[N];

	CHECK(hipMalloc(&p, SIZE));
	CHECK(hipMemcpy(p, in, SIZE, hipMemcpyHostToDevice));
	add<<<N / 256, 256>>>(p, a, N);
	CHECK(hipGetLastError());
	CHECK(hipMemcpy(out, p, SIZE, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		app_equal(what, i, out[i], in[i] + a);
	CHECK(hipFree(p));
}

/* Both threads push and pop, in turns: neither sees the other's. */
static void *thread(void *arg)
{
	int me = *(int *)arg;
	hipCtx_t popped;

	CHECK(hipCtxSetCurrent(ctx[me]));
	pthread_barrier_wait(&turn);
	on_device(me);
	work(1, "set");
	pthread_barrier_wait(&turn);
	CHECK(hipCtxPushCurrent(ctx[1 - me]));
	pthread_barrier_wait(&turn);
	on_device(1 - me);
	work(2, "pushed");
	pthread_barrier_wait(&turn);
	CHECK(hipCtxPopCurrent(&popped));
	CHECK(hipCtxSetCurrent(ctx[me]));
	pthread_barrier_wait(&turn);
	on_device(me);
	work(3, "popped");
	return NULL;
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	int id[2] = {0, 1};
	pthread_t t[2];

	app_begin(argv[0], 2);
	app_numbers(in, N, seed);
	CHECK(hipCtxCreate(&ctx[0], 0, 0));
	CHECK(hipCtxCreate(&ctx[1], 0, 1));
	CHECK(hipCtxSetCurrent(ctx[1]));
	work(4, "second device");
	pthread_barrier_init(&turn, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread, &id[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	CHECK(hipCtxSetCurrent(ctx[0]));
	work(5, "first device");
	CHECK(hipCtxDestroy(ctx[1]));
	CHECK(hipCtxDestroy(ctx[0]));
	CHECK(hipSetDevice(1));
	on_device(1);
	work(6, "after contexts");
	printf("ctxs: contexts of two threads are right\n");
	return 0;
}
