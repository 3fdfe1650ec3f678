/* Kernels that need the device libraries, or features away from the ordinary. */
#include "small.h"

#ifdef WITH_LIBS
extern "C" __global__ void mathf(const float *x, float *y, int n)
{
	int i = BID_X * BDIM_X + TID_X;
	float v = x[i], a = fabsf(v) + 0.001f;
	y[i] = expf(v);
	y[n + i] = logf(a);
	y[2 * n + i] = sinf(v);
	y[3 * n + i] = cosf(v * 1000.0f);
	y[4 * n + i] = powf(a, 1.7f);
	y[5 * n + i] = tanhf(v);
	y[6 * n + i] = sqrtf(a);
	y[7 * n + i] = erff(v);
	y[8 * n + i] = fmodf(v, 0.37f);
	y[9 * n + i] = atan2f(v, a);
	y[10 * n + i] = rsqrtf(a);
	y[11 * n + i] = cbrtf(v);
	y[12 * n + i] = sinf(v * 1e7f);
}
extern "C" __global__ void mathd(const double *x, double *y, int n)
{
	int i = BID_X * BDIM_X + TID_X;
	double v = x[i], a = fabs(v) + 0.001;
	y[i] = exp(v);
	y[n + i] = log(a);
	y[2 * n + i] = sin(v);
	y[3 * n + i] = cos(v * 1000.0);
	y[4 * n + i] = pow(a, 1.7);
	y[5 * n + i] = tanh(v);
	y[6 * n + i] = sqrt(a);
	y[7 * n + i] = erf(v);
	y[8 * n + i] = fmod(v, 0.37);
	y[9 * n + i] = atan2(v, a);
	y[10 * n + i] = rsqrt(a);
	y[11 * n + i] = cbrt(v);
	y[12 * n + i] = sin(v * 1e20);
}
extern "C" __global__ void shuffles(const int *x, int *y)
{
	int i = TID_X, v = x[i];
	y[i] = __shfl_xor(v, 5);
	y[64 + i] = __shfl_up(v, 3);
	y[128 + i] = __shfl_down(v, 7, 16);
	y[192 + i] = __shfl(v, (i * 11) & 63);
	y[256 + i] = (int)__popcll(__ballot(v & 1));
	y[320 + i] = __any(v == 7777) * 2 + __all(v >= 0);
	for (int o = 32; o > 0; o >>= 1)
		v += __shfl_down(v, o);
	y[384 + i] = v;
}
extern "C" __global__ void aborts(int *x)
{
	if (x[TID_X] == 5)
		abort();
	x[TID_X] = 1;
}
#endif
typedef float float8 __attribute__((ext_vector_type(16)));
extern "C" __global__ void indexed(const float *x, float *y, int k)
{
	/* a uniform index into registers: movrel or register index mode */
	float8 v;
	for (int i = 0; i < 16; i++)
		v[i] = x[i * 64 + TID_X];
	v[k & 15] += 1000.0f;
	v[(k + 3) & 15] *= 2.0f;
	y[TID_X] = v[(k + 1) & 15] + v[k & 15] * 10.0f + v[(k + 3) & 15] * 100.0f;
}
extern "C" __global__ void flushes(const float *x, const float *y, float *z)
{
	int i = TID_X;
	z[i] = x[i] * y[i];
	z[64 + i] = x[i] / y[i];
	z[128 + i] = x[i] + y[i];
}
extern "C" __global__ __launch_bounds__(64) void bytes(const unsigned char *b, const short *s,
						       unsigned char *ob, short *os, long *l)
{
	__shared__ long t[64];
	__shared__ unsigned char u[128];
	int i = TID_X;
	ob[i] = b[i] + 1;
	os[i] = s[i] * 3 - b[63 - i];
	t[i] = l[i] + s[i];
	u[2 * i] = b[i];
	u[2 * i + 1] = (unsigned char)s[i];
	SYNC;
	l[i] = t[63 - i] ^ *(unsigned short *)&u[2 * ((i + 1) & 63)];
}
