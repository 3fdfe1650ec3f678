/* peer [SEED]: two devices: copies between them, peer access, a kernel on one
 * that reads memory of the other. */
#include <hip/hip_runtime.h>
#include "app.h"

#define N 4096

__global__ void sum(float *to, const float *a, const float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	static float in[N], out[N];
	float *x, *y, *z;
	int can = 0;

	app_begin(argv[0], 2);
	app_numbers(in, N, seed);
	CHECK(hipSetDevice(0));
	CHECK(hipMalloc(&x, sizeof in));
	CHECK(hipMemcpy(x, in, sizeof in, hipMemcpyHostToDevice));
	CHECK(hipSetDevice(1));
	CHECK(hipMalloc(&y, sizeof in));
	CHECK(hipMalloc(&z, sizeof in));
	CHECK(hipMemset(y, 0, sizeof in));
	CHECK(hipMemcpyPeer(y, 1, x, 0, sizeof in));
	CHECK(hipMemcpyPeerAsync(z, 1, x, 0, sizeof in, NULL));
	CHECK(hipDeviceSynchronize());
	CHECK(hipDeviceCanAccessPeer(&can, 1, 0));
	if (can)
		CHECK(hipDeviceEnablePeerAccess(0, 0));
	sum<<<N / 256, 256>>>(z, y, can ? x : z, N);
	CHECK(hipGetLastError());
	CHECK(hipMemcpy(out, z, sizeof out, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		app_equal("z", i, out[i], 2 * in[i]);
	if (can)
		CHECK(hipDeviceDisablePeerAccess(0));
	CHECK(hipFree(y));
	CHECK(hipFree(z));
	CHECK(hipSetDevice(0));
	CHECK(hipFree(x));
	printf("peer: two devices are right, peer access %s\n", can ? "used" : "not there");
	return 0;
}
