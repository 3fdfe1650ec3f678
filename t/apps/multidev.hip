/* multidev [SEED]: kernels launched on two devices with one call: different ones, cooperative ones
 * that wait for one another within their grid, with and without the waits around the call. */
#include <hip/hip_runtime.h>
#include <hip/hip_ext.h>
#include "app.h"

#define N 1024
#define SIZE (N * sizeof(float))
#define BLOCKS 4

__global__ void scale(float *to, const float *from, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] = a * from[i];
}

__global__ void shift(float *to, float by)
{
	to[blockIdx.x * blockDim.x + threadIdx.x] += by;
}

/* Each block leaves its first number; all have, when any reads those of the others: without all of
 * them on the device together it would wait for ever. */
__global__ void gather(float *to, const float *from, float *firsts)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (threadIdx.x == 0) {
		firsts[blockIdx.x] = from[i];
		__threadfence();
		atomicAdd(&firsts[BLOCKS], 1);
		while (atomicAdd(&firsts[BLOCKS], 0) < BLOCKS)
			;
	}
	__syncthreads();
	for (int b = 0; b < BLOCKS; b++)
		sum += firsts[b];
	to[i] = from[i] + sum;
}

static float in[2][N], out[N];
static float *x[2], *y[2], *firsts[2];
static hipStream_t s[2];

static void check(const char *what, int d, float a, float by)
{
	CHECK(hipSetDevice(d));
	CHECK(hipMemcpy(out, y[d], SIZE, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		app_equal(what, i, out[i], a * in[d][i] + by);
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	float a = 2, by = 5, sums[2] = {0, 0};
	int n = N;

	app_begin(argv[0], 2);
	for (int d = 0; d < 2; d++) {
		app_numbers(in[d], N, seed + d);
		for (int b = 0; b < BLOCKS; b++)
			sums[d] += in[d][b * (N / BLOCKS)];
		CHECK(hipSetDevice(d));
		CHECK(hipStreamCreateWithFlags(&s[d], hipStreamNonBlocking));
		CHECK(hipMalloc(&x[d], SIZE));
		CHECK(hipMalloc(&y[d], SIZE));
		CHECK(hipMalloc(&firsts[d], (BLOCKS + 1) * sizeof(float)));
		CHECK(hipMemset(firsts[d], 0, (BLOCKS + 1) * sizeof(float)));
		CHECK(hipMemcpyAsync(x[d], in[d], SIZE, hipMemcpyHostToDevice, s[d]));
	}

	/* Two kernels: the call waits for the copies before and for both behind. */
	void *args0[] = {&y[0], &x[0], &a, &n}, *args1[] = {&y[1], &x[1], &a, &n};
	hipLaunchParams both[2] = {{(void *)scale, dim3(4), dim3(256), args0, 0, s[0]},
				   {(void *)scale, dim3(2), dim3(512), args1, 0, s[1]}};

	CHECK(hipExtLaunchMultiKernelMultiDevice(both, 2, 0));
	check("scaled", 0, 2, 0);
	check("scaled", 1, 2, 0);

	/* Without those waits streams are streams. */
	void *more[] = {&y[1], &by};

	a = 3;
	both[1] = {(void *)shift, dim3(4), dim3(256), more, 0, s[1]};
	CHECK(hipExtLaunchMultiKernelMultiDevice(both, 2,
						 hipCooperativeLaunchMultiDeviceNoPreSync |
						     hipCooperativeLaunchMultiDeviceNoPostSync));
	CHECK(hipStreamSynchronize(s[0]));
	CHECK(hipStreamSynchronize(s[1]));
	check("alone", 0, 3, 0);
	check("alone", 1, 2, 5);

	void *co0[] = {&y[0], &x[0], &firsts[0]}, *co1[] = {&y[1], &x[1], &firsts[1]};
	hipLaunchParams grids[2] = {{(void *)gather, dim3(BLOCKS), dim3(N / BLOCKS), co0, 0, s[0]},
				    {(void *)gather, dim3(BLOCKS), dim3(N / BLOCKS), co1, 0, s[1]}};

	CHECK(hipLaunchCooperativeKernelMultiDevice(grids, 2, 0));
	check("gathered", 0, 1, sums[0]);
	check("gathered", 1, 1, sums[1]);

	/* No device twice, no null stream, and no list of none. */
	grids[1].stream = s[0];
	CHECK_FAILS(hipLaunchCooperativeKernelMultiDevice(grids, 2, 0), hipErrorInvalidDevice);
	grids[1].stream = NULL;
	CHECK_FAILS(hipExtLaunchMultiKernelMultiDevice(grids, 2, 0), hipErrorInvalidResourceHandle);
	CHECK_FAILS(hipExtLaunchMultiKernelMultiDevice(NULL, 2, 0), hipErrorInvalidValue);
	(void)hipGetLastError();

	for (int d = 0; d < 2; d++) {
		CHECK(hipSetDevice(d));
		CHECK(hipStreamDestroy(s[d]));
		CHECK(hipFree(x[d]));
		CHECK(hipFree(y[d]));
		CHECK(hipFree(firsts[d]));
	}
	printf("multidev: kernels of two devices are right\n");
	return 0;
}
