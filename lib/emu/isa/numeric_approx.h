#ifndef HRR_EMU_ISA_NUMERIC_APPROX_H
#define HRR_EMU_ISA_NUMERIC_APPROX_H

#include "lib/emu/isa/numeric.h"

/* Functions that hardware approximates; how far off it may be: approx.c. */

/*
 * Hardware approximates these to about one unit in the last place. We compute
 * in double with plain operations (no libm, whose results differ by machine)
 * and round once: within 0.51 units in the last place of float.
 */
INLINE double poly_exp2(double f) /* 2^f, |f| <= 0.5 */
{
	double p = 7.054911620801121e-9;
	p = p * f + 1.0178086009239699e-7;
	p = p * f + 1.3215486790144307e-6;
	p = p * f + 1.5252733804059841e-5;
	p = p * f + 1.5403530393381609e-4;
	p = p * f + 1.3333558146428443e-3;
	p = p * f + 9.6181291076284772e-3;
	p = p * f + 5.5504108664821580e-2;
	p = p * f + 2.4022650695910071e-1;
	p = p * f + 6.9314718055994531e-1;
	return p * f + 1.0;
}
INLINE float approx_exp2(float x)
{
	const float c = x > 129.0f ? 129.0f : x < -151.0f ? -151.0f : x;
	const double n = (double)rintf(c == c ? c : 0.0f);
	const double r = poly_exp2((double)c - n) * u2d((u64)(i64)((i32)n + 1023) << 52);

	return x != x ? x + x : (float)r;
}
INLINE double double_log2(double x) /* x positive, normal */
{
	u64 u = d2u(x);
	i32 e = (i32)(u >> 52) - 1023;
	double m = u2d((u & 0xfffffffffffffull) | 0x3ff0000000000000ull), z, z2, p;
	const bool big = m > 1.4142135623730951;

	m = big ? m * 0.5 : m;
	e = big ? e + 1 : e;
	/* log2(m) = 2/ln2 * atanh((m-1)/(m+1)) */
	z = (m - 1.0) / (m + 1.0);
	z2 = z * z;
	p = 1.0 / 19;
	p = p * z2 + 1.0 / 17;
	p = p * z2 + 1.0 / 15;
	p = p * z2 + 1.0 / 13;
	p = p * z2 + 1.0 / 11;
	p = p * z2 + 1.0 / 9;
	p = p * z2 + 1.0 / 7;
	p = p * z2 + 1.0 / 5;
	p = p * z2 + 1.0 / 3;
	p = p * z2 + 1.0;
	return (double)e + 2.8853900817779268 * z * p;
}
INLINE float approx_log2(float x)
{
	const u32 u = f2u(x);
	const bool ok = x > 0.0f && u < 0x7f800000u;
	const float r = (float)double_log2(ok ? (double)x : 1.0);

	return ok ? r : x != x ? x + x : x == 0.0f ? -INFINITY : x < 0.0f ? u2f(0xffc00000u) : x;
}
/* sin(2 pi t) for |t| <= 0.25 */
INLINE double poly_sin(double t)
{
	const double x = t * 6.283185307179586, z = x * x;
	double p = 1.0 / 355687428096000.0;

	p = p * z - 1.0 / 1307674368000.0;
	p = p * z + 1.0 / 6227020800.0;
	p = p * z - 1.0 / 39916800.0;
	p = p * z + 1.0 / 362880.0;
	p = p * z - 1.0 / 5040.0;
	p = p * z + 1.0 / 120.0;
	p = p * z - 1.0 / 6.0;
	p = p * z + 1.0;
	return x * p;
}
/* The operand is in revolutions; valid for |x| <= 256, else 0 (sin) or 1 (cos) as on gfx9. */
INLINE float approx_sin(float x)
{
	const bool in = fabsf(x) <= 256.0f;
	const double t = in ? (double)x : 0.0, f = t - rint(t), a = fabs(f);
	const double g = a > 0.25 ? (f < 0 ? -0.5 - f : 0.5 - f) : f;
	const float r = (float)poly_sin(g);

	return x != x || fabsf(x) == INFINITY ? u2f(0xffc00000u) : in ? (t == 0 ? x : r) : 0.0f;
}
INLINE float approx_cos(float x)
{
	const bool in = fabsf(x) <= 256.0f;
	const double t = in ? (double)x : 0.0, f = t - rint(t), a = fabs(f);
	const float r = (float)poly_sin(0.25 - a);

	return x != x || fabsf(x) == INFINITY ? u2f(0xffc00000u) : in ? r : 1.0f;
}
/* These take and give no denormals, whatever MODE says (except sin and cos). */
INLINE float no_den_f32(float x)
{
	return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}
INLINE float approx_rcp(float x)
{
	return 1.0f / x;
}
INLINE float approx_rsq(float x)
{
	return (float)(1.0 / sqrt((double)x));
}

#endif
