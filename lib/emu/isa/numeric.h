#ifndef HRR_EMU_ISA_NUMERIC_H
#define HRR_EMU_ISA_NUMERIC_H

#include <math.h>

#include "lib/emu/isa/internal.h"

/*
 * Scalar arithmetic of the ISA, free of branches where a lane loop uses it, so
 * that it vectorises. Rules are those of AMD's ISA documents (MI200, RDNA3).
 */
#define INLINE static inline __attribute__((always_inline, unused))

INLINE u32 f2u(float f)
{
	u32 u;
	memcpy(&u, &f, 4);
	return u;
}
INLINE float u2f(u32 u)
{
	float f;
	memcpy(&f, &u, 4);
	return f;
}
INLINE u64 d2u(double d)
{
	u64 u;
	memcpy(&u, &d, 8);
	return u;
}
INLINE double u2d(u64 u)
{
	double d;
	memcpy(&d, &u, 8);
	return d;
}

INLINE bool nan32(u32 a)
{
	return (a & 0x7fffffffu) > 0x7f800000u;
}
INLINE bool snan32(u32 a)
{
	return nan32(a) && !(a & 0x400000u);
}
INLINE bool nan64(u64 a)
{
	return (a & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}
INLINE bool snan64(u64 a)
{
	return nan64(a) && !(a & 0x8000000000000ull);
}
INLINE bool nan16(u32 a)
{
	return (a & 0x7fffu) > 0x7c00u;
}

/* --- half ------------------------------------------------------------------ */

INLINE u32 h2u(u32 h) /* half bits to float bits, exact */
{
	const u32 sign = (h & 0x8000u) << 16, em = h & 0x7fffu;
	/* normal: rebias; denormal: subtract 2^-14 from 2^-14 * 1.m; inf/nan: exponent to 255 */
	const u32 normal = (em << 13) + 0x38000000u;
	const u32 den = f2u(u2f((em << 13) + 0x38800000u) - u2f(0x38800000u));
	const u32 inf = (em << 13) + 0x70000000u;

	/* rounding down, 0 is -0 there */
	return sign | (em >= 0x7c00u ? inf : em < 0x400u ? den & 0x7fffffffu : normal);
}
INLINE float h2f(u32 h)
{
	return u2f(h2u(h));
}
INLINE u32 h_quiet(u32 h)
{
	return nan16(h) ? h | 0x200u : h;
}
/* float to half, nearest even. */
INLINE u32 f2h(float f)
{
	const u32 u = f2u(f), sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
	/* normal: round by adding; the carry may reach the exponent, up to infinity */
	const u32 normal = (a - 0x38000000u + 0xfffu + (a >> 13 & 1)) >> 13;
	/* denormal: let the adder round at 2^-24 */
	const u32 den = f2u(u2f(a) + 0.5f) - 0x3f000000u;
	const u32 nan = 0x7e00u | (a >> 13 & 0x3ffu);
	u32 r = a < 0x38800000u ? den : normal;

	r = a >= 0x477ff000u ? 0x7c00u : r;
	r = a > 0x7f800000u ? nan : r;
	return sign | r;
}
/* float to half in one of MODE's rounding modes: 0 even, 1 up, 2 down, 3 to zero. */
INLINE u32 f2h_mode(float f, u32 mode)
{
	const u32 u = f2u(f), sign = u >> 31, a = u & 0x7fffffffu;
	u32 e = a >> 23, m = a & 0x7fffffu, r, rest, up;

	if (a > 0x7f800000u)
		return sign << 15 | 0x7e00u | (a >> 13 & 0x3ffu);
	if (a == 0x7f800000u)
		return sign << 15 | 0x7c00u;
	if (e >= 113) { /* normal half */
		r = ((e - 112) << 10) | m >> 13;
		rest = (m & 0x1fff) << 3;
		rest = rest << 1 | 0; /* of 0x20000 */
	} else {
		const u32 shift = 113 - e + 13, full = e ? m | 0x800000u : m;
		if (shift > 31 || e == 0) {
			r = 0;
			rest = a ? 1 : 0;
		} else {
			const u64 wide = (u64)full << 17;
			r = full >> shift;
			rest = (u32)((wide >> shift) & 0x1ffffu);
			rest |= (wide & (((u64)1 << shift) - 1)) != 0;
		}
	}
	up = mode == 0	 ? rest > 0x10000u || (rest == 0x10000u && (r & 1))
	     : mode == 1 ? rest && !sign
	     : mode == 2 ? rest && sign
			 : 0;
	r += up;
	if (r >= 0x7c00u) {
		const bool to_inf = mode == 0 || (mode == 1 && !sign) || (mode == 2 && sign);
		r = to_inf ? 0x7c00u : 0x7bffu;
	}
	return sign << 15 | r;
}
/* double to float with the last bit set when inexact: rounding that to half rounds once. */
INLINE float d_to_odd(double d)
{
	float f = (float)d;
	const double back = (double)f;
	u32 u = f2u(f);

	if (back != d && d == d && (u & 0x7f800000u) != 0x7f800000u) {
		/* the neighbour towards zero */
		if (fabs(back) > fabs(d))
			u--;
		u |= 1;
	}
	return u2f(u);
}
INLINE u32 d2h(double d) /* nearest even */
{
	return f2h(d_to_odd(d));
}
INLINE float bf2f(u32 b)
{
	return u2f(b << 16);
}
INLINE u32 f2bf(float f)
{
	const u32 u = f2u(f);

	if (nan32(u))
		return u >> 16 | 0x40u;
	return (u + 0x7fffu + (u >> 16 & 1)) >> 16;
}

/* --- minimum and maximum ----------------------------------------------------- */

/* IEEE mode: a signalling NaN comes out quiet; a quiet one gives the other operand. */
INLINE u32 min_f32(u32 a, u32 b, bool ieee)
{
	const float x = u2f(a), y = u2f(b);
	u32 r = x < y ? a : y < x ? b : a | b;

	r = nan32(b) ? a : r;
	r = nan32(a) ? b : r;
	r = nan32(a) && nan32(b) ? a | 0x400000u : r;
	r = ieee && snan32(b) ? b | 0x400000u : r;
	r = ieee && snan32(a) ? a | 0x400000u : r;
	return r;
}
INLINE u32 max_f32(u32 a, u32 b, bool ieee)
{
	const float x = u2f(a), y = u2f(b);
	u32 r = x > y ? a : y > x ? b : a & b;

	r = nan32(b) ? a : r;
	r = nan32(a) ? b : r;
	r = nan32(a) && nan32(b) ? a | 0x400000u : r;
	r = ieee && snan32(b) ? b | 0x400000u : r;
	r = ieee && snan32(a) ? a | 0x400000u : r;
	return r;
}
INLINE u64 min_f64(u64 a, u64 b, bool ieee)
{
	const double x = u2d(a), y = u2d(b);
	u64 r = x < y ? a : y < x ? b : a | b;

	r = nan64(b) ? a : r;
	r = nan64(a) ? b : r;
	r = nan64(a) && nan64(b) ? a | 0x8000000000000ull : r;
	r = ieee && snan64(b) ? b | 0x8000000000000ull : r;
	r = ieee && snan64(a) ? a | 0x8000000000000ull : r;
	return r;
}
INLINE u64 max_f64(u64 a, u64 b, bool ieee)
{
	const double x = u2d(a), y = u2d(b);
	u64 r = x > y ? a : y > x ? b : a & b;

	r = nan64(b) ? a : r;
	r = nan64(a) ? b : r;
	r = nan64(a) && nan64(b) ? a | 0x8000000000000ull : r;
	r = ieee && snan64(b) ? b | 0x8000000000000ull : r;
	r = ieee && snan64(a) ? a | 0x8000000000000ull : r;
	return r;
}
INLINE u32 min_f16(u32 a, u32 b, bool ieee)
{
	const u32 r = min_f32(h2u(a), h2u(b), ieee);

	return nan32(r) ? (r >> 16 & 0x8000u) | 0x7e00u | (r >> 13 & 0x3ffu) : f2h(u2f(r));
}
INLINE u32 max_f16(u32 a, u32 b, bool ieee)
{
	const u32 r = max_f32(h2u(a), h2u(b), ieee);

	return nan32(r) ? (r >> 16 & 0x8000u) | 0x7e00u | (r >> 13 & 0x3ffu) : f2h(u2f(r));
}
/* med3: with a NaN among them the minimum of the three. */
INLINE u32 med3_f32(u32 a, u32 b, u32 c, bool ieee)
{
	const u32 lo = min_f32(a, b, ieee), hi = max_f32(a, b, ieee);
	const u32 r = max_f32(lo, min_f32(hi, c, ieee), ieee);

	return nan32(a) || nan32(b) || nan32(c) ? min_f32(lo, c, ieee) : r;
}
INLINE u32 med3_i32(i32 a, i32 b, i32 c)
{
	const i32 lo = a < b ? a : b, hi = a < b ? b : a, m = hi < c ? hi : c;

	return (u32)(lo > m ? lo : m);
}
INLINE u32 med3_u32(u32 a, u32 b, u32 c)
{
	const u32 lo = a < b ? a : b, hi = a < b ? b : a, m = hi < c ? hi : c;

	return lo > m ? lo : m;
}

/* --- conversions ------------------------------------------------------------- */

INLINE u32 f_to_i32(float f)
{
	const float c = f >= 2147483648.0f ? 0.0f : f <= -2147483648.0f ? 0.0f : f == f ? f : 0.0f;
	const u32 r = (u32)(i32)c;

	return f >= 2147483648.0f ? 0x7fffffffu : f <= -2147483648.0f ? 0x80000000u : r;
}
INLINE u32 f_to_u32(float f)
{
	/* through a signed conversion of the lower half of the range: vectorises */
	const bool big = f >= 2147483648.0f, over = f >= 4294967296.0f, none = !(f > 0.0f);
	const float c = over || none ? 0.0f : big ? f - 2147483648.0f : f;
	const u32 r = (u32)(i32)c + (big ? 0x80000000u : 0u);

	return over ? 0xffffffffu : none ? 0u : r;
}
INLINE u32 d_to_i32(double f)
{
	if (f != f)
		return 0;
	return f >= 2147483647.0 ? 0x7fffffffu : f <= -2147483648.0 ? 0x80000000u : (u32)(i32)f;
}
INLINE u32 d_to_u32(double f)
{
	if (!(f > 0))
		return 0;
	return f >= 4294967295.0 ? 0xffffffffu : (u32)f;
}
INLINE u32 sat_i16(i32 v)
{
	return (u32)(v < -32768 ? -32768 : v > 32767 ? 32767 : v) & 0xffffu;
}
INLINE u32 sat_u16(u32 v)
{
	return v > 65535u ? 65535u : v;
}
INLINE u32 norm_i16(float f)
{
	const float c = f != f ? 0.0f : f > 1.0f ? 1.0f : f < -1.0f ? -1.0f : f;

	return (u32)(i32)rintf(c * 32767.0f) & 0xffffu;
}
INLINE u32 norm_u16(float f)
{
	const float c = !(f > 0.0f) ? 0.0f : f > 1.0f ? 1.0f : f;

	return (u32)(i32)rintf(c * 65535.0f) & 0xffffu;
}

/* --- exponents ------------------------------------------------------------- */

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

/* --- approximated functions ------------------------------------------------ */

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

/* --- bits ------------------------------------------------------------------- */

INLINE u32 popc32(u32 v)
{
	v = v - (v >> 1 & 0x55555555u);
	v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
	v = (v + (v >> 4)) & 0x0f0f0f0fu;
	return v * 0x01010101u >> 24;
}
INLINE u32 brev32(u32 v)
{
	v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
	v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
	v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
	return __builtin_bswap32(v);
}
INLINE u32 clz32(u32 v) /* ~0 for 0, as the ISA has it */
{
	return v ? (u32)__builtin_clz(v) : ~0u;
}
INLINE u32 ctz32(u32 v)
{
	return v ? (u32)__builtin_ctz(v) : ~0u;
}
INLINE u32 cls32(u32 v) /* leading bits like the sign; ~0 for 0 and -1 */
{
	const u32 x = v & 0x80000000u ? ~v : v;

	return clz32(x);
}
INLINE u32 sext24(u32 v)
{
	return (u32)((i32)(v << 8) >> 8);
}
INLINE u32 bfe_u32(u32 a, u32 off, u32 width)
{
	const u32 n = width & 31;

	return (a >> (off & 31)) & ((1u << n) - 1);
}
INLINE u32 bfe_i32(u32 a, u32 off, u32 width)
{
	const u32 n = width & 31, s = (32 - n) & 31;
	const u32 part = (a >> (off & 31)) & ((1u << n) - 1);
	const u32 r = (u32)((i32)(part << s) >> s);

	return n ? r : 0;
}
INLINE u32 byte_of(u32 v, u32 n)
{
	return v >> (8 * n) & 0xff;
}
INLINE u32 absdiff(u32 a, u32 b)
{
	return a > b ? a - b : b - a;
}
INLINE u32 sad_u8(u32 a, u32 b, u32 c)
{
	return c + absdiff(byte_of(a, 0), byte_of(b, 0)) + absdiff(byte_of(a, 1), byte_of(b, 1)) +
	       absdiff(byte_of(a, 2), byte_of(b, 2)) + absdiff(byte_of(a, 3), byte_of(b, 3));
}
INLINE u32 msad_u8(u32 a, u32 b, u32 c)
{
	for (u32 n = 0; n < 4; n++)
		c += byte_of(b, n) ? absdiff(byte_of(a, n), byte_of(b, n)) : 0;
	return c;
}
INLINE u32 perm_byte(u64 src, u32 sel)
{
	if (sel >= 13)
		return 0xff;
	if (sel == 12)
		return 0;
	if (sel >= 8) /* sign of bytes 1, 3, 5, 7 */
		return src >> (16 * (sel - 8) + 15) & 1 ? 0xff : 0;
	return (u32)(src >> (8 * sel)) & 0xff;
}
INLINE u32 perm_b32(u32 a, u32 b, u32 c)
{
	const u64 src = (u64)a << 32 | b;
	u32 r = 0;

	for (u32 n = 0; n < 4; n++)
		r |= perm_byte(src, byte_of(c, n)) << (8 * n);
	return r;
}
INLINE u32 lerp_u8(u32 a, u32 b, u32 c)
{
	u32 r = 0;

	for (u32 n = 0; n < 4; n++)
		r |= ((byte_of(a, n) + byte_of(b, n) + (byte_of(c, n) & 1)) >> 1 & 0xff) << (8 * n);
	return r;
}

#endif
