/* waitvalue [SEED]: one stream waits for a value in memory that another writes
 * when its kernel is done; 32 and 64 bits, equal and greater-or-equal. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 2048

__global__ void put(float *x, float v, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = x[i] * 2 + v;
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	static float in[N], out[N];
	float *x;
	void *flag;
	uint32_t now = 0;
	uint64_t wide = 0;
	int can = 0;
	hipStream_t a, b;

	app_begin(argv[0], 1);
	CHECK(hipDeviceGetAttribute(&can, hipDeviceAttributeCanUseStreamWaitValue, 0));
	if (!can)
		app_quit(77, "the device has no stream wait");
	app_numbers(in, N, seed);
	CHECK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
	CHECK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
	CHECK(hipMalloc(&x, sizeof in));
	CHECK(hipMemcpy(x, in, sizeof in, hipMemcpyHostToDevice));
	CHECK(hipExtMallocWithFlags(&flag, 8, hipMallocSignalMemory));
	CHECK(hipStreamWriteValue64(a, flag, 0, 0));
	CHECK(hipStreamSynchronize(a));

	/* b's kernel comes second although it is queued first. */
	CHECK(hipStreamWaitValue32(b, flag, 7, hipStreamWaitValueEq, 0xffffffff));
	put<<<N / 256, 256, 0, b>>>(x, 10, N);
	put<<<N / 256, 256, 0, a>>>(x, 1, N);
	CHECK(hipStreamWriteValue32(a, flag, 7, 0));
	CHECK(hipStreamSynchronize(b));
	CHECK(hipMemcpy(&now, flag, sizeof now, hipMemcpyDeviceToHost));
	app_equal("flag", 0, now, 7);

	CHECK(hipStreamWaitValue64(a, flag, 100, hipStreamWaitValueGte, ~0ull));
	put<<<N / 256, 256, 0, a>>>(x, 1000, N);
	put<<<N / 256, 256, 0, b>>>(x, 100, N);
	CHECK(hipStreamWriteValue64(b, flag, 101, 0));
	CHECK(hipStreamSynchronize(a));
	CHECK(hipMemcpy(&wide, flag, sizeof wide, hipMemcpyDeviceToHost));
	app_equal("wide flag", 0, (double)wide, 101);
	CHECK(hipGetLastError());
	CHECK(hipMemcpy(out, x, sizeof out, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		app_equal("x", i, out[i], (((in[i] * 2 + 1) * 2 + 10) * 2 + 100) * 2 + 1000);
	CHECK(hipFree(flag));
	CHECK(hipFree(x));
	CHECK(hipStreamDestroy(a));
	CHECK(hipStreamDestroy(b));
	printf("waitvalue: four kernels ran in the order the values give\n");
	return 0;
}
