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

#endif
