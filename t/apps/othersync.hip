/* othersync: a thread waits for the device while another one queues work that ends the wait: what
 * that work brings is known when its own thread has waited. */
#include <hip/hip_runtime.h>
#include <pthread.h>
#include "app.h"

__global__ void add(int *x)
{
	x[threadIdx.x]++;
}

static void *waits(void *self)
{
	(void)self;
	CHECK(hipDeviceSynchronize());
	return NULL;
}

int main(int argc, char **argv)
{
	int can = 0, *x;
	uint32_t *flag;
	hipStream_t a, b;
	pthread_t t;

	app_begin(argv[0], 1);
	(void)argc;
	CHECK(hipDeviceGetAttribute(&can, hipDeviceAttributeCanUseStreamWaitValue, 0));
	if (!can)
		app_quit(77, "the device's streams do not wait for values");
	CHECK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
	CHECK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
	CHECK(hipHostMalloc((void **)&x, 64 * sizeof *x, 0));
	CHECK(hipExtMallocWithFlags((void **)&flag, 8, hipMallocSignalMemory));
	CHECK(hipStreamWriteValue32(a, flag, 0, 0));
	CHECK(hipStreamSynchronize(a));
	for (int i = 0; i < 64; i++)
		x[i] = i;
	CHECK(hipStreamWaitValue32(b, flag, 7, hipStreamWaitValueEq, 0xffffffff));
	if (pthread_create(&t, NULL, waits, NULL) != 0)
		app_quit(77, "no thread");
	usleep(200000); /* it waits by now */
	add<<<1, 64, 0, a>>>(x);
	CHECK(hipGetLastError());
	CHECK(hipStreamWriteValue32(a, flag, 7, 0));
	pthread_join(t, NULL);
	CHECK(hipStreamSynchronize(a));
	for (int i = 0; i < 64; i++)
		app_equal("x", i, x[i], i + 1);
	printf("othersync: waited for by both, right\n");
	return 0;
}
