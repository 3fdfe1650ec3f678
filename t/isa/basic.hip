/* Ordinary kernels; the unit test computes each on the host too. */
#include "small.h"

struct params {
	int n;
	float a;
	float *p;
	double d[3];
};

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
	int i = BID_X * BDIM_X + TID_X;
	if (i < n)
		y[i] = a * x[i] + y[i];
}
extern "C" __global__ void by_value(params s)
{
	int i = TID_X;
	if (i < s.n)
		s.p[i] = s.a * s.d[i % 3];
}
extern "C" __global__ __launch_bounds__(256) void reduce(const float *x, float *out)
{
	__shared__ float t[256];
	int l = TID_X;
	t[l] = x[BID_X * 256 + l];
	SYNC;
	for (int s = 128; s > 0; s >>= 1) {
		if (l < s)
			t[l] += t[l + s];
		SYNC;
	}
	if (!l)
		out[BID_X] = t[0];
}
extern "C" __global__ __launch_bounds__(256) void matmul(const float *A, const float *B, float *C,
							 int n)
{
	__shared__ float a[16][16], b[16][16];
	int tx = TID_X, ty = TID_Y, r = BID_Y * 16 + ty, c = BID_X * 16 + tx;
	float s = 0;
	for (int k = 0; k < n; k += 16) {
		a[ty][tx] = A[r * n + k + tx];
		b[ty][tx] = B[(k + ty) * n + c];
		SYNC;
		for (int j = 0; j < 16; j++)
			s += a[ty][j] * b[j][tx];
		SYNC;
	}
	C[r * n + c] = s;
}
extern "C" __global__ void transpose(const float *in, float *out, int n)
{
	__shared__ float t[16][17];
	int x = BID_X * 16 + TID_X, y = BID_Y * 16 + TID_Y;
	t[TID_Y][TID_X] = in[y * n + x];
	SYNC;
	x = BID_Y * 16 + TID_X;
	y = BID_X * 16 + TID_Y;
	out[y * n + x] = t[TID_X][TID_Y];
}
extern "C" __global__ void mandel(int *out, int w, int h, int iters)
{
	int x = BID_X * BDIM_X + TID_X, y = BID_Y * BDIM_Y + TID_Y;
	if (x >= w || y >= h)
		return;
	float cx = x * 3.0f / w - 2.0f, cy = y * 2.0f / h - 1.0f, zx = 0, zy = 0;
	int n = 0;
	for (; n < iters; n++) {
		float a = zx * zx, b = zy * zy;
		if (a + b > 4.0f)
			break;
		zy = 2.0f * zx * zy + cy;
		zx = a - b + cx;
	}
	out[y * w + x] = n;
}
extern "C" __global__ void integers(const int *x, int *y, long *z, unsigned *u)
{
	int i = BID_X * BDIM_X + TID_X;
	int a = x[i], b = y[i];
	long c = z[i];
	y[i] = a / b + a % 3 + __clz(a) + __popc(b) * 7 + (a >> (b & 31)) + (a << 3);
	z[i] = c / (long)b + c % ((long)a | 1) + c * a + (c >> (a & 63));
	u[i] =
	    ((unsigned)a / 7u) ^ ((unsigned)b % 1000u) ^ (unsigned)((unsigned long long)c / 12345u);
}
extern "C" __global__ void doubles(const double *x, double *y, float *f)
{
	int i = BID_X * BDIM_X + TID_X;
	double a = x[i], b = y[i];
	y[i] = a / b + a * b - b;
	f[i] = (float)a / (float)b;
}
extern "C" __global__ void atomics(int *x, unsigned *u, unsigned long long *q, int *lds_out)
{
	__shared__ int s;
	int i = TID_X;
	if (i == 0)
		s = 0;
	SYNC;
	atomicAdd(x, 1);
	atomicMax(x + 1, i);
	atomicMin(x + 2, -i);
	atomicOr(u, 1u << (i & 31));
	atomicXor(u + 1, (unsigned)i);
	atomicAdd(q, (unsigned long long)i);
	atomicCAS(q + 1, 5ull, 77ull);
	atomicAdd(&s, i);
	SYNC;
	if (i == 0)
		lds_out[BID_X] = s;
	u[2 + i] = atomicExch(x + 4 + i, i);
}
extern "C" __global__ void scratch(int *x, int k)
{
	int a[32];
	for (int i = 0; i < 32; i++)
		a[i] = x[i] * k;
	int s = 0;
	for (int i = 0; i < 32; i++)
		s += a[(i * x[i + 1] + TID_X) & 31];
	SYNC;
	x[64 + TID_X] = s;
}
extern "C" __global__ void halves(const _Float16 *x, _Float16 *y, float *f)
{
	int i = TID_X;
	_Float16 a = x[i], b = y[i];
	y[i] = a * b + (_Float16)1.5f;
	f[i] = (float)a - (float)b;
}
static __device__ __noinline__ int twice(int x)
{
	return 2 * x + 1;
}
static __device__ __noinline__ int square(int x)
{
	return x * x - 3;
}
extern "C" __global__ void calls(int *x, int which)
{
	int (*f)(int) = which ? twice : square;
	int v = x[TID_X];
	x[TID_X] = f(v) + twice(v);
}
extern "C" __global__ void flat(int *x, int which)
{
	__shared__ int s[64];
	int a[4];
	int i = TID_X;
	a[i & 3] = i;
	s[i] = 10 * i;
	SYNC;
	volatile int *p = i % 3 == 0 ? &x[i] : i % 3 == 1 ? &s[i] : &a[i & 3];
	x[64 + i] = *p + which;
}
extern "C" __global__ void ids(unsigned *out)
{
	unsigned lin = (TID_Z * 3 + TID_Y) * 5 + TID_X;
	unsigned g = (BID_Z * 2 + BID_Y) * 2 + BID_X;
	out[g * 30 + lin] =
	    TID_X | TID_Y << 4 | TID_Z << 8 | BID_X << 12 | BID_Y << 16 | BID_Z << 20;
}
extern "C" __global__ void past_end(int *x, int n)
{
	int i = BID_X * BDIM_X + TID_X;
	x[i + n] = i;
}
extern "C" __global__ void hang(volatile int *x)
{
	while (*x == 0)
		;
}
/* Every workgroup waits for all others. */
extern "C" __global__ void all_wait(int *count, int *out)
{
	if (TID_X == 0) {
		atomicAdd(count, 1);
		while (__hip_atomic_load(count, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) <
		       (int)GDIM_X)
			;
		out[BID_X] = 1;
	}
}
/* After 1000 workgroups that end at once, each 16th waits for one that comes after it. */
extern "C" __global__ void wait_later(int *flags, int *out)
{
	int g = (int)BID_X;

	if (TID_X != 0)
		return;
	if (g >= 1000 && g % 16 == 0)
		while (!__hip_atomic_load(&flags[g + 15], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
			;
	__hip_atomic_store(&flags[g], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
	out[g] = 1;
}
extern "C" __global__ void astray(int *x, unsigned long to)
{
	int (*f)(int) = (int (*)(int))to;
	x[TID_X] = f(x[TID_X]);
}
/* Rounds of all workgroups together, by the instruction that counts them. */
extern "C" __global__ void grid_rounds(int *cell, int *out, int rounds)
{
#ifndef __gfx1201__
	int n = (int)GDIM_X, sum = 0;

	for (int r = 0; r < rounds; r++) {
		if (TID_X == 0)
			__hip_atomic_store(&cell[r % 2 * n + (int)BID_X], r * 100 + (int)BID_X,
					   __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
		__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
		SYNC;
		if (TID_X == 0)
			__builtin_amdgcn_ds_gws_barrier((unsigned)n - 1, 0);
		SYNC;
		for (int i = 0; i < n; i++)
			sum += __hip_atomic_load(&cell[r % 2 * n + i], __ATOMIC_RELAXED,
						 __HIP_MEMORY_SCOPE_AGENT) -
			       r * 100 - i;
		sum++;
		SYNC;
		if (TID_X == 0) /* before the cells of this round are written again */
			__builtin_amdgcn_ds_gws_barrier((unsigned)n - 1, 0);
		SYNC;
	}
	if (TID_X == 0)
		out[BID_X] = sum;
#endif
}
/* A private word that nothing wrote, as a program reads it and as a compiler that spills does. */
extern "C" __global__ void spilled(int *out, int whole)
{
#if defined(__gfx942__)
#define SPILL(on, off) on "scratch_load_dword %0, off, off offset:64\n" off
#define ALL_ON "s_or_saveexec_b64 s[20:21], -1\n"
#define AS_BEFORE "s_mov_b64 exec, s[20:21]\n"
#elif defined(__gfx1100__) || defined(__gfx1201__)
#define SPILL(on, off) on "scratch_load_b32 %0, off, off offset:64\n" off
#define ALL_ON "s_or_saveexec_b64 s[20:21], -1\n"
#define AS_BEFORE "s_mov_b64 exec, s[20:21]\n"
#endif
#ifdef SPILL
	volatile int room[64];
	int v;

	room[out[0]] = 1;
	if (whole)
		asm volatile(SPILL(ALL_ON, AS_BEFORE) : "=v"(v) : : "s20", "s21");
	else
		asm volatile(SPILL("s_nop 0\n", "") : "=v"(v));
	asm volatile("" : : "v"(v));
	out[1] = room[out[0]];
#endif
}
