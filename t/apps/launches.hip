/* launches [SEED]: the ways to launch a kernel: cooperative, with events, through a module handle,
 * with a buffer of arguments, without arguments, on the calling thread's default stream. */
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>
#include "app.h"

#define N 1024
#define SIZE (N * sizeof(float))

__device__ unsigned calls;

__global__ void scale(float *to, const float *from, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] = a * from[i];
}

__global__ void count()
{
	if (threadIdx.x == 0 && blockIdx.x == 0)
		calls++;
}

static float in[N], out[N];
static float *x, *y;

static void check(const char *what, float a)
{
	CHECK(hipMemcpy(out, y, SIZE, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		app_equal(what, i, out[i], a * in[i]);
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	hipEvent_t start, stop;
	hipFunction_t f;
	hipStream_t s;
	unsigned told;
	float a, ms;
	int n = N;

	app_begin(argv[0], 1);
	app_numbers(in, N, seed);
	CHECK(hipMalloc(&x, SIZE));
	CHECK(hipMalloc(&y, SIZE));
	CHECK(hipMemcpy(x, in, SIZE, hipMemcpyHostToDevice));
	CHECK(hipStreamCreate(&s));
	CHECK(hipEventCreate(&start));
	CHECK(hipEventCreate(&stop));

	void *args[] = {&y, &x, &a, &n};

	a = 2;
	CHECK(hipLaunchCooperativeKernel((void *)scale, dim3(4), dim3(256), args, 0, s));
	CHECK(hipStreamSynchronize(s));
	check("cooperative", 2);

	a = 3;
	CHECK(hipExtLaunchKernel((void *)scale, dim3(4), dim3(256), args, 0, s, start, stop, 0));
	CHECK(hipEventSynchronize(stop));
	CHECK(hipEventElapsedTime(&ms, start, stop));
	check("with events", 3);

	hipModule_t mod;
	void *image = app_beside("modkern.hsaco", NULL);

	CHECK(hipModuleLoadData(&mod, image));
	CHECK(hipModuleGetFunction(&f, mod, "scale")); /* y *= a */

	float by = 2;
	void *in_place[] = {&y, &by, &n};

	CHECK(hipModuleLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, s, in_place, NULL));
	CHECK(hipStreamSynchronize(s));
	check("handle", 6);

	struct {
		float *y;
		float by;
		int n;
	} buffer = {y, 2, N};
	size_t size = sizeof buffer;
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE,
			 &size, HIP_LAUNCH_PARAM_END};

	CHECK(hipExtModuleLaunchKernel(f, N, 1, 1, 256, 1, 1, 0, s, NULL, extra, start, stop, 0));
	CHECK(hipStreamSynchronize(s));
	check("buffer", 12);
	CHECK(hipModuleUnload(mod));
	free(image);

	a = 6;
	CHECK(hipLaunchKernel((void *)scale, dim3(2), dim3(512), args, 0, hipStreamPerThread));
	CHECK(hipStreamSynchronize(hipStreamPerThread));
	check("per thread", 6);

	for (int i = 0; i < 3; i++)
		count<<<1, 64, 0, s>>>();
	CHECK(hipStreamSynchronize(s));
	CHECK(hipMemcpyFromSymbol(&told, HIP_SYMBOL(calls), sizeof told));
	app_equal("calls", 0, told, 3);
	CHECK(hipEventDestroy(start));
	CHECK(hipEventDestroy(stop));
	CHECK(hipStreamDestroy(s));
	CHECK(hipFree(x));
	CHECK(hipFree(y));
	printf("launches: every way to launch is right\n");
	return 0;
}
