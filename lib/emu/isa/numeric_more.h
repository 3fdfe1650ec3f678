#ifndef HRR_EMU_ISA_NUMERIC_MORE_H
#define HRR_EMU_ISA_NUMERIC_MORE_H

#include "lib/emu/isa/numeric_approx.h"
#include "lib/emu/isa/numeric_bits.h"
#include "lib/emu/isa/numeric_div.h"

/* The rarer half of the scalar arithmetic. */

INLINE u32 sat_i32(i64 v)
{
	return v > INT32_MAX ? 0x7fffffffu : v < INT32_MIN ? 0x80000000u : (u32)(i32)v;
}
INLINE u32 sat_u8(i32 v)
{
	return (u32)(v < 0 ? 0 : v > 255 ? 255 : v);
}
INLINE u32 sat_u8f(float f)
{
	return !(f > 0.0f) ? 0 : f >= 255.0f ? 255 : (u32)(i32)rintf(f);
}
INLINE u32 sat_i8(i32 v)
{
	return (u32)(v < -128 ? -128 : v > 127 ? 127 : v);
}
INLINE u32 sat_u32(u64 v)
{
	return v > 0xffffffffu ? ~0u : (u32)v;
}
/* Any function of three bits: bit (4a + 2b + c) of the table. */
INLINE u32 bitop3(u32 a, u32 b, u32 c, u32 table)
{
	u32 r = 0;

	for (u32 n = 0; n < 8; n++)
		r |= table >> n & 1 ? (n & 4 ? a : ~a) & (n & 2 ? b : ~b) & (n & 1 ? c : ~c) : 0;
	return r;
}
INLINE i32 dot4_iu8(u32 a, u32 b, u32 sign)
{
	i32 r = 0;

	for (u32 n = 0; n < 4; n++) {
		const i32 x = sign & 1 ? (i8)(a >> 8 * n) : (i32)(u8)(a >> 8 * n);
		const i32 y = sign & 2 ? (i8)(b >> 8 * n) : (i32)(u8)(b >> 8 * n);
		r += x * y;
	}
	return r;
}
INLINE i32 dot8_iu4(u32 a, u32 b, u32 sign)
{
	i32 r = 0;

	for (u32 n = 0; n < 8; n++) {
		const i32 x = sign & 1 ? (i32)(a << (28 - 4 * n)) >> 28 : (i32)(a >> 4 * n & 15);
		const i32 y = sign & 2 ? (i32)(b << (28 - 4 * n)) >> 28 : (i32)(b >> 4 * n & 15);
		r += x * y;
	}
	return r;
}
INLINE u32 min_u32(u32 a, u32 b)
{
	return a < b ? a : b;
}
INLINE u32 max_u32(u32 a, u32 b)
{
	return a > b ? a : b;
}
INLINE u32 min_s32(u32 a, u32 b)
{
	return (i32)a < (i32)b ? a : b;
}
INLINE u32 max_s32(u32 a, u32 b)
{
	return (i32)a > (i32)b ? a : b;
}
INLINE u32 min3_i32(u32 a, u32 b, u32 c)
{
	return min_s32(min_s32(a, b), c);
}
INLINE u32 max3_i32(u32 a, u32 b, u32 c)
{
	return max_s32(max_s32(a, b), c);
}
INLINE u32 max3_2_i32(u32 a, u32 b, u32 c)
{
	return max_s32(min_s32(a, b), c);
}
INLINE u32 min3_2_i32(u32 a, u32 b, u32 c)
{
	return min_s32(max_s32(a, b), c);
}
INLINE u32 min3_u32(u32 a, u32 b, u32 c)
{
	return min_u32(min_u32(a, b), c);
}
INLINE u32 max3_u32(u32 a, u32 b, u32 c)
{
	return max_u32(max_u32(a, b), c);
}
INLINE float u32_to_f32(u32 a)
{
	/* through double, exact: one rounding, and it vectorises through signed halves */
	return (float)((double)(i32)(a >> 1) * 2.0 + (double)(i32)(a & 1));
}
INLINE float rint_even_f32(float f)
{
	/* nearest even whatever the rounding mode is */
	const float a = fabsf(f), t = truncf(a), rest = a - t;
	const float half = t * 0.5f, up = t + 1.0f;
	const float r = rest > 0.5f || (rest == 0.5f && truncf(half) != half) ? up : t;

	return a < 8388608.0f ? copysignf(r, f) : f != f ? f + f : f;
}
INLINE double rint_even_f64(double f)
{
	const double a = fabs(f), t = trunc(a), rest = a - t;
	const double half = t * 0.5, up = t + 1.0;
	const double r = rest > 0.5 || (rest == 0.5 && trunc(half) != half) ? up : t;

	return a < 4503599627370496.0 ? copysign(r, f) : f != f ? f + f : f;
}
/* IEEE 754-2019 minimum and maximum: any NaN wins. */
INLINE u32 minimum_f32(u32 a, u32 b)
{
	return nan32(a) ? a | 0x400000u : nan32(b) ? b | 0x400000u : min_f32(a, b, true);
}
INLINE u32 maximum_f32(u32 a, u32 b)
{
	return nan32(a) ? a | 0x400000u : nan32(b) ? b | 0x400000u : max_f32(a, b, true);
}
INLINE u64 minimum_f64(u64 a, u64 b)
{
	const u64 q = 0x8000000000000ull;

	return nan64(a) ? a | q : nan64(b) ? b | q : min_f64(a, b, true);
}
INLINE u64 maximum_f64(u64 a, u64 b)
{
	const u64 q = 0x8000000000000ull;

	return nan64(a) ? a | q : nan64(b) ? b | q : max_f64(a, b, true);
}

/* v_cmp_class: the bit of the class a number belongs to. */
INLINE u32 class_bits(bool sign, bool nan, bool quiet, bool inf, bool den, bool zero)
{
	if (nan)
		return quiet ? 2 : 1;
	if (inf)
		return sign ? 4 : 0x200;
	if (zero)
		return sign ? 0x20 : 0x40;
	if (den)
		return sign ? 0x10 : 0x80;
	return sign ? 8 : 0x100;
}
INLINE u32 class_f32(u32 a)
{
	const u32 m = a & 0x7fffffffu;

	return class_bits(a >> 31, m > 0x7f800000u, a & 0x400000u, m == 0x7f800000u, m < 0x800000u,
			  !m);
}
INLINE u32 class_f64(u64 a)
{
	const u64 m = a & 0x7fffffffffffffffull;

	return class_bits(a >> 63, nan64(a), a & 0x8000000000000ull, m == 0x7ff0000000000000ull,
			  m < 0x10000000000000ull, !m);
}
INLINE u32 class_f16(u32 a)
{
	const u32 m = a & 0x7fffu;

	return class_bits(a >> 15 & 1, m > 0x7c00u, a & 0x200u, m == 0x7c00u, m < 0x400u, !m);
}

INLINE double widen_f32(u32 a)
{
	return (double)u2f(a);
}
INLINE u32 fma_f16(u32 a, u32 b, u32 c)
{
	/* the product is exact in float, the sum of it in double where it matters */
	return d2h((double)(h2f(a) * h2f(b)) + (double)h2f(c));
}
INLINE u32 fma_mix(float a, float b, float c)
{
	return f2h(fmaf(a, b, c));
}
INLINE float fract_f16(float x)
{
	const float f = x - floorf(x);

	return f > 0.99951171875f ? 0.99951171875f : f; /* the greatest half below 1 */
}
INLINE u32 div_fixup_f16(u32 q, u32 d, u32 n)
{
	const u32 sign = (d ^ n) & 0x8000u, ad = d & 0x7fffu, an = n & 0x7fffu;
	u32 r = sign | (q & 0x7fffu);

	r = ad == 0x7c00u || an == 0 ? sign : r;
	r = ad == 0 || an == 0x7c00u ? sign | 0x7c00u : r;
	r = (ad == 0x7c00u && an == 0x7c00u) || (ad == 0 && an == 0) ? 0xfe00u : r;
	r = ad > 0x7c00u ? d | 0x200u : r;
	r = an > 0x7c00u ? n | 0x200u : r;
	return r & 0xffffu;
}

INLINE u32 dot2_i32(u32 a, u32 b)
{
	return (u32)((i32)(i16)a * (i32)(i16)b) + (u32)((i32)(i16)(a >> 16) * (i32)(i16)(b >> 16));
}
INLINE u32 dot2_u32(u32 a, u32 b)
{
	return (a & 0xffffu) * (b & 0xffffu) + (a >> 16) * (b >> 16);
}
INLINE u32 dot4_i32(u32 a, u32 b)
{
	u32 r = 0;

	for (u32 n = 0; n < 4; n++)
		r += (u32)((i32)(i8)(a >> 8 * n) * (i32)(i8)(b >> 8 * n));
	return r;
}
INLINE u32 dot4_u32(u32 a, u32 b)
{
	u32 r = 0;

	for (u32 n = 0; n < 4; n++)
		r += byte_of(a, n) * byte_of(b, n);
	return r;
}
INLINE u32 dot8_i32(u32 a, u32 b)
{
	u32 r = 0;

	for (u32 n = 0; n < 8; n++)
		r += (u32)(((i32)(a << (28 - 4 * n)) >> 28) * ((i32)(b << (28 - 4 * n)) >> 28));
	return r;
}
INLINE u32 dot8_u32(u32 a, u32 b)
{
	u32 r = 0;

	for (u32 n = 0; n < 8; n++)
		r += (a >> 4 * n & 15) * (b >> 4 * n & 15);
	return r;
}
INLINE float dot2_f32_f16(u32 a, u32 b, float c)
{
	/* products of halves are exact in float; two fused additions */
	return fmaf(h2f(a >> 16), h2f(b >> 16), fmaf(h2f(a & 0xffffu), h2f(b & 0xffffu), c));
}
INLINE float dot2_f32_bf16(u32 a, u32 b, float c)
{
	return fmaf(bf2f(a >> 16), bf2f(b >> 16), fmaf(bf2f(a & 0xffffu), bf2f(b & 0xffffu), c));
}

/* Cube maps: face, major axis and coordinates of a direction (x, y, z). */
INLINE float cube_id(float x, float y, float z)
{
	const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);

	if (az >= ax && az >= ay)
		return z < 0 ? 5.0f : 4.0f;
	if (ay >= ax)
		return y < 0 ? 3.0f : 2.0f;
	return x < 0 ? 1.0f : 0.0f;
}
INLINE float cube_major(float x, float y, float z)
{
	const float f = cube_id(x, y, z);

	return f >= 4 ? z : f >= 2 ? y : x;
}
INLINE float cube_sc(float x, float y, float z)
{
	const float f = cube_id(x, y, z);

	return f >= 4 ? (z < 0 ? -x : x) : f >= 2 ? x : x < 0 ? z : -z;
}
INLINE float cube_tc(float x, float y, float z)
{
	const float f = cube_id(x, y, z);

	return f >= 4 ? -y : f >= 2 ? (y < 0 ? -z : z) : -y;
}

/* 2/pi, 1216 bits behind the point. */
static const u64 two_over_pi[19] __attribute__((unused)) = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
    0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
    0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
    0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
    0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull,
};

/* 53 bits of 2/pi for the reduction of a big angle, scaled to their weight. */
static inline __attribute__((unused)) double trig_preop(u64 a, u32 segment)
{
	const i32 e = exp_f64(a);
	u32 shift = (segment & 31) * 53 + (e > 1077 ? (u32)(e - 1077) : 0);
	const u32 word = shift / 64, bit = shift % 64;
	u64 top = word < 19 ? two_over_pi[word] : 0;
	i32 scale = -53 - (i32)shift;

	if (bit)
		top = top << bit | (word + 1 < 19 ? two_over_pi[word + 1] >> (64 - bit) : 0);
	if (e >= 1968)
		scale += 128;
	return ldexp_f64((double)(top >> 11), scale);
}

#endif
