// Device code of the fixtures here; build.sh makes them. No headers, so that any clang for AMDGPU compiles it.
#ifndef __global__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#endif

struct pair {
	const float *in;
	float *out;
	int n;
	float s;
};

__device__ int counter = 7;
__device__ float table[16];
__device__ int *where = &counter + 3; // a relocation with an addend
__constant__ float weights[4] = {1, 2, 3, 4};

__device__ __attribute__((noinline)) float twice(float x)
{
	return x + x;
}
__device__ __attribute__((noinline)) float thrice(float x)
{
	return x * 3;
}
__device__ float (*const volatile functions[2])(float) = {twice, thrice};

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
	int i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
		__builtin_amdgcn_workitem_id_x();

	if (i < n)
		y[i] = a * x[i] + y[i];
}

__global__ void pair_scale(pair p)
{
	int i = __builtin_amdgcn_workitem_id_x();

	if (i < p.n)
		p.out[i] = p.s * p.in[i] * weights[i & 3];
}

extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(64, 256))) void
lds(char c, short s, double d, float *out)
{
	__shared__ float tile[32];
	int i = __builtin_amdgcn_workitem_id_x();

	tile[i & 31] = c + s + (float)d;
	__builtin_amdgcn_s_barrier();
	out[i] = tile[(i + 1) & 31];
}

extern "C" __global__ void calls(float *p)
{
	p[0] = functions[__builtin_amdgcn_workitem_id_x() & 1](p[1]);
	*where += 1;
	table[1] = p[2];
}
