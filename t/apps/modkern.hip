/* Kernels for the programs that load a code object themselves. */
#include <hip/hip_runtime.h>

__device__ int scale_by = 1;

extern "C" __global__ void scale(float *x, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= a * scale_by;
}

/* Arguments of several sizes and alignments, dynamic LDS. */
extern "C" __global__ void mixed(char c, double d, short s, int *out, unsigned long long u)
{
	extern __shared__ int part[];

	part[threadIdx.x] = c + s + (int)d + (int)u + threadIdx.x;
	__syncthreads();
	out[blockIdx.x * blockDim.x + threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}
