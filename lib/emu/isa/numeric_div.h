#ifndef HRR_EMU_ISA_NUMERIC_DIV_H
#define HRR_EMU_ISA_NUMERIC_DIV_H

#include "lib/emu/isa/numeric.h"

/* Exponents, and the steps of division. */

INLINE float ldexp_f32(float x, i32 e)
{
	/*
	 * Two factors, one rounding: scaling up is exact before the last step, scaling down
	 * goes through a double, which holds every scaled float exactly.
	 */
	const i32 c = e > 300 ? 300 : e < -300 ? -300 : e;
	const double r = (double)x * u2d((u64)(i64)(c + 1023) << 52);

	return (float)r;
}
INLINE double ldexp_f64(double x, i32 e)
{
	return x == 0 || !isfinite(x) ? x + x : scalbn(x, e > 5000 ? 5000 : e < -5000 ? -5000 : e);
}
INLINE u32 frexp_exp_f32(u32 a)
{
	const u32 m = a & 0x7fffffffu;
	const u32 n = m < 0x800000u ? f2u(u2f(m) * 8388608.0f) : m; /* 2^23 */
	const i32 e = (i32)(n >> 23) - 126 - (m < 0x800000u ? 23 : 0);

	return m == 0 || m >= 0x7f800000u ? 0u : (u32)e;
}
INLINE u32 frexp_mant_f32(u32 a)
{
	const u32 m = a & 0x7fffffffu;
	const u32 n = m < 0x800000u ? f2u(u2f(m) * 8388608.0f) : m;
	const u32 r = (a & 0x80000000u) | 0x3f000000u | (n & 0x7fffffu);

	return m > 0x7f800000u ? a | 0x400000u : m == 0 || m == 0x7f800000u ? a : r;
}
INLINE u32 frexp_exp_f64(u64 a)
{
	const u64 m = a & 0x7fffffffffffffffull;
	const bool den = m < 0x10000000000000ull;
	const u64 n = den ? d2u(u2d(m) * 4503599627370496.0) : m;
	const i32 e = (i32)(n >> 52) - 1022 - (den ? 52 : 0);

	return m == 0 || m >= 0x7ff0000000000000ull ? 0u : (u32)e;
}
INLINE u64 frexp_mant_f64(u64 a)
{
	const u64 m = a & 0x7fffffffffffffffull;
	const u64 n = m < 0x10000000000000ull ? d2u(u2d(m) * 4503599627370496.0) : m;
	const u64 r =
	    (a & 0x8000000000000000ull) | 0x3fe0000000000000ull | (n & 0xfffffffffffffull);

	return nan64(a) ? a | 0x8000000000000ull : m == 0 || m == 0x7ff0000000000000ull ? a : r;
}
INLINE float fract_f32(float x)
{
	const float f = x - floorf(x);

	return f >= 1.0f ? u2f(0x3f7fffffu) : f;
}
INLINE double fract_f64(double x)
{
	const double f = x - floor(x);

	return f >= 1.0 ? u2d(0x3fefffffffffffffull) : f;
}

/* --- division helpers ------------------------------------------------------ */

INLINE i32 exp_f32(u32 a)
{
	return (i32)(a >> 23 & 0xff);
}
INLINE i32 exp_f64(u64 a)
{
	return (i32)(a >> 52 & 0x7ff);
}
INLINE bool den_f32(float f)
{
	return f != 0 && fabsf(f) < 0x1p-126f;
}
INLINE bool den_f64(double f)
{
	return f != 0 && fabs(f) < 0x1p-1022;
}
/* One of numerator n and denominator d, scaled so that the sequence does not leave the range. */
INLINE u32 div_scale_f32(u32 s0, u32 s1, u32 s2, u32 *vcc)
{
	const float den = u2f(s1), num = u2f(s2), x = u2f(s0);
	float r = x;
	u32 v = 0;

	if (num == 0 || den == 0) {
		r = u2f(0x7fc00000u);
	} else if (exp_f32(s2) - exp_f32(s1) >= 96) {
		v = ~0u;
		if (s0 == s1)
			r = ldexp_f32(x, 64);
	} else if (den_f32(den)) {
		r = ldexp_f32(x, 64);
	} else if (den_f32(1.0f / den) && den_f32(num / den)) {
		v = ~0u;
		if (s0 == s1)
			r = ldexp_f32(x, -64);
	} else if (den_f32(1.0f / den)) {
		r = ldexp_f32(x, -64);
	} else if (den_f32(num / den)) {
		v = ~0u;
		if (s0 == s2)
			r = ldexp_f32(x, 64);
	} else if (exp_f32(s2) <= 23) {
		r = ldexp_f32(x, 64);
	}
	*vcc = v;
	return f2u(r);
}
INLINE u64 div_scale_f64(u64 s0, u64 s1, u64 s2, u32 *vcc)
{
	const double den = u2d(s1), num = u2d(s2), x = u2d(s0);
	double r = x;
	u32 v = 0;

	if (num == 0 || den == 0) {
		r = u2d(0x7ff8000000000000ull);
	} else if (exp_f64(s2) - exp_f64(s1) >= 768) {
		v = ~0u;
		if (s0 == s1)
			r = ldexp_f64(x, 128);
	} else if (den_f64(den)) {
		r = ldexp_f64(x, 128);
	} else if (den_f64(1.0 / den) && den_f64(num / den)) {
		v = ~0u;
		if (s0 == s1)
			r = ldexp_f64(x, -128);
	} else if (den_f64(1.0 / den)) {
		r = ldexp_f64(x, -128);
	} else if (den_f64(num / den)) {
		v = ~0u;
		if (s0 == s2)
			r = ldexp_f64(x, 128);
	} else if (exp_f64(s2) <= 53) {
		r = ldexp_f64(x, 128);
	}
	*vcc = v;
	return d2u(r);
}
/*
 * fma, scaled by 2^64 up or down where div_scale said so. The result is rounded
 * once, after scaling: the quotient may be denormal, and must be the right one.
 */
INLINE u32 div_fmas_f32(float a, float b, float c, bool vcc)
{
	const double p = (double)a * (double)b, d = (double)c; /* p is exact */
	const double s = p + d, back = s - p, err = (p - (s - back)) + (d - back);
	u64 u = d2u(s);

	if (!vcc)
		return f2u(fmaf(a, b, c));
	if (isfinite(s) && err != 0 &&
	    !(u & 1)) /* to odd: the neighbour on the side of the error */
		u += (err > 0) == (s > 0) ? 1 : -(u64)1;
	return f2u((float)(u2d(u) * (exp_f32(f2u(c)) > 127 ? 0x1p64 : 0x1p-64)));
}
__extension__ typedef __float128 isa_quad;
INLINE u64 div_fmas_f64(double a, double b, double c, bool vcc)
{
	const isa_quad p = (isa_quad)a * (isa_quad)b, d = (isa_quad)c; /* p is exact */
	isa_quad s = p + d, back, err;
	__extension__ unsigned __int128 u;

	if (!vcc)
		return d2u(fma(a, b, c));
	back = s - p;
	err = (p - (s - back)) + (d - back);
	memcpy(&u, &s, sizeof(u));
	if (isfinite((double)s) && err != 0 && !(u & 1)) /* to odd, as above */
		u = (err > 0) == (s > 0) ? u + 1 : u - 1;
	memcpy(&s, &u, sizeof(u));
	return d2u((double)(s * (isa_quad)(exp_f64(d2u(c)) > 1023 ? 0x1p128 : 0x1p-128)));
}
INLINE u32 div_fixup_f32(u32 q, u32 d, u32 n)
{
	const u32 sign = (d ^ n) & 0x80000000u, ad = d & 0x7fffffffu, an = n & 0x7fffffffu;
	const u32 inf = 0x7f800000u;
	u32 r = sign | (q & 0x7fffffffu);

	/* the quotient of two finite numbers is no NaN: the sequence overflowed */
	r = (q & 0x7fffffffu) > inf ? sign | inf : r;
	r = exp_f32(n) - exp_f32(d) < -150 ? sign : r; /* underflow */
	r = exp_f32(d) == 255 ? sign | inf : r;	       /* overflow; overridden below */
	r = ad == inf || an == 0 ? sign : r;
	r = ad == 0 || an == inf ? sign | inf : r;
	r = (ad == inf && an == inf) || (ad == 0 && an == 0) ? 0xffc00000u : r;
	r = ad > inf ? d | 0x400000u : r;
	r = an > inf ? n | 0x400000u : r;
	return r;
}
INLINE u64 div_fixup_f64(u64 q, u64 d, u64 n)
{
	const u64 top = 0x8000000000000000ull, inf = 0x7ff0000000000000ull;
	const u64 sign = (d ^ n) & top, ad = d & ~top, an = n & ~top;
	u64 r = sign | (q & ~top);

	r = (q & ~top) > inf ? sign | inf : r;
	r = exp_f64(n) - exp_f64(d) < -1075 ? sign : r;
	r = exp_f64(d) == 2047 ? sign | inf : r;
	r = ad == inf || an == 0 ? sign : r;
	r = ad == 0 || an == inf ? sign | inf : r;
	r = (ad == inf && an == inf) || (ad == 0 && an == 0) ? 0xfff8000000000000ull : r;
	r = ad > inf ? d | 0x8000000000000ull : r;
	r = an > inf ? n | 0x8000000000000ull : r;
	return r;
}

#endif
