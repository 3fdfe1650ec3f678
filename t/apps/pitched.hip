/* pitched [SEED]: hipMallocPitch and copies of rectangles: 2D both ways, 2D
 * inside the device, 3D. Bytes between the rows must stay as they were. */
#include <hip/hip_runtime.h>
#include "app.h"

#define W 100
#define H 37

__global__ void negate(char *x, size_t pitch, int w, int h)
{
	int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;

	if (c < w && r < h) {
		float *p = (float *)(x + r * pitch) + c;

		*p = -*p;
	}
}

int main(int argc, char **argv)
{
	uint32_t seed = app_seed(argc, argv, 1, 1);
	static float in[H][W + 3], out[H][W + 5];
	char *x, *y;
	size_t pitch, pitch2;

	app_begin(argv[0], 1);
	app_numbers(&in[0][0], H * (W + 3), seed);
	CHECK(hipMallocPitch((void **)&x, &pitch, W * sizeof(float), H));
	CHECK(hipMallocPitch((void **)&y, &pitch2, W * sizeof(float), H));
	if (pitch < W * sizeof(float))
		app_wrong("pitch is %zu", pitch);
	CHECK(hipMemcpy2D(x, pitch, in, sizeof in[0], W * sizeof(float), H, hipMemcpyHostToDevice));
	negate<<<dim3((W + 63) / 64, H), 64>>>(x, pitch, W, H);
	CHECK(hipGetLastError());
	CHECK(hipMemset2D(y, pitch2, 0, W * sizeof(float), H));
	/* All but the first column and row. */
	CHECK(hipMemcpy2DAsync(y + pitch2 + 4, pitch2, x + pitch + 4, pitch,
			       (W - 1) * sizeof(float), H - 1, hipMemcpyDeviceToDevice, NULL));
	for (int r = 0; r < H; r++)
		for (int c = 0; c < W + 5; c++)
			out[r][c] = 12345;
	CHECK(hipMemcpy2D(out, sizeof out[0], y, pitch2, W * sizeof(float), H,
			  hipMemcpyDeviceToHost));
	for (int r = 0; r < H; r++)
		for (int c = 0; c < W + 5; c++)
			app_equal("2D", r * (W + 5) + c, out[r][c],
				  c >= W   ? 12345
				  : r && c ? -in[r][c]
					   : 0);

	/* The same device memory as a box of one slice, by a 3D copy. */
	hipMemcpy3DParms p;

	memset(&p, 0, sizeof p);
	p.srcPtr = make_hipPitchedPtr(x, pitch, W * sizeof(float), H);
	p.dstPtr = make_hipPitchedPtr(out, sizeof out[0], W * sizeof(float), H);
	p.srcPos = make_hipPos(0, 2, 0);
	p.dstPos = make_hipPos(0, 1, 0);
	p.extent = make_hipExtent(W * sizeof(float), H - 2, 1);
	p.kind = hipMemcpyDeviceToHost;
	CHECK(hipMemcpy3D(&p));
	for (int r = 2; r < H; r++)
		for (int c = 0; c < W; c++)
			app_equal("3D", r * W + c, out[r - 1][c], -in[r][c]);
	CHECK(hipFree(x));
	CHECK(hipFree(y));
	printf("pitched: rectangles of %d by %d are right\n", W, H);
	return 0;
}
