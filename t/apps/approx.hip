/* Instructions whose results hardware approximates: exponential and reciprocal. */
#include <hip/hip_runtime.h>
#include <math.h>

#include "app.h"

#define N 256

__global__ void squash(float *v, float by)
{
	int i = threadIdx.x;

	v[i] = by * __frcp_rn(1.0f + __expf(-v[i]));
}

int main(int argc, char **argv)
{
	float *v, h[N], in[N];
	float by = argc > 1 ? strtof(argv[1], NULL) : 1.0f;

	app_begin(argv[0], 1);
	for (int i = 0; i < N; i++)
		in[i] = (i - N / 2) / 16.0f;
	CHECK(hipMalloc(&v, sizeof h));
	CHECK(hipMemcpy(v, in, sizeof h, hipMemcpyHostToDevice));
	squash<<<1, N>>>(v, by);
	CHECK(hipMemcpy(h, v, sizeof h, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		double want = by / (1 + exp(-(double)in[i]));
		if (!(fabs(h[i] - want) <= 1e-5 * fabs(want)))
			app_wrong("v[%d] is %g, %g is due", i, h[i], want);
	}
	printf("%s: %d values are right\n", app_name, N);
	CHECK(hipFree(v));
	return 0;
}
