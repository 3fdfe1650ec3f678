/* saxpy [A [N]]: y = A x + y, launched with <<<>>>, checked on the host. */
#include <hip/hip_runtime.h>
#include "app.h"

__global__ void saxpy(int n, float a, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv)
{
	float a = argc > 1 ? strtof(argv[1], NULL) : 2.0f;
	int n = argc > 2 ? atoi(argv[2]) : 10000;
	size_t size = n * sizeof(float);
	float *x, *y, *out, *dx, *dy;

	app_begin(argv[0], 1);
	x = (float *)malloc(size);
	y = (float *)malloc(size);
	out = (float *)malloc(size);
	app_numbers(x, n, 1);
	app_numbers(y, n, 2);
	CHECK(hipMalloc(&dx, size));
	CHECK(hipMalloc(&dy, size));
	CHECK(hipMemcpy(dx, x, size, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(dy, y, size, hipMemcpyHostToDevice));
	saxpy<<<(n + 255) / 256, 256>>>(n, a, dx, dy);
	CHECK(hipGetLastError());
	CHECK(hipMemcpy(out, dy, size, hipMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		app_equal("y", i, out[i], a * x[i] + y[i]);
	CHECK(hipFree(dx));
	CHECK(hipFree(dy));
	printf("saxpy: %d elements are right\n", n);
	free(x);
	free(y);
	free(out);
	return 0;
}
