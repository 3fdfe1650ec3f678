#ifndef HRR_EMU_ISA_FP8_H
#define HRR_EMU_ISA_FP8_H

#include "lib/emu/isa/numeric.h"

/*
 * 8-bit floats: fp8 is e4m3, bf8 is e5m2. gfx942 has the "fnuz" kind (bias one
 * more, no infinity, no minus zero: 0x80 is NaN), gfx950 and gfx12 the OCP kind.
 */
INLINE float fp8_to_f(u32 v, bool fnuz)
{
	const u32 sign = (v & 0x80) << 24, e = v >> 3 & 15, m = v & 7;
	const i32 bias = fnuz ? 8 : 7;

	if (fnuz ? v == 0x80 : (v & 0x7f) == 0x7f)
		return u2f(0x7fc00000u);
	if (!e)
		return u2f(f2u((float)m * (fnuz ? 0x1p-10f : 0x1p-9f)) | sign);
	return u2f(sign | (u32)((i32)e - bias + 127) << 23 | m << 20);
}
INLINE float bf8_to_f(u32 v, bool fnuz)
{
	const u32 sign = (v & 0x80) << 24, e = v >> 2 & 31, m = v & 3;
	const i32 bias = fnuz ? 16 : 15;

	if (fnuz) {
		if (v == 0x80)
			return u2f(0x7fc00000u);
	} else if (e == 31) {
		return m ? u2f(0x7fc00000u) : u2f(sign | 0x7f800000u);
	}
	if (!e)
		return u2f(f2u((float)m * (fnuz ? 0x1p-17f : 0x1p-16f)) | sign);
	return u2f(sign | (u32)((i32)e - bias + 127) << 23 | m << 21);
}
/*
 * Float to 8 bits: mantissa bits mb, exponent bias, nearest even, or stochastic
 * with the upper bits of random added below the mantissa. Overflow saturates for
 * the fnuz kind and fp8 of OCP gives NaN, bf8 of OCP infinity (no clamping mode).
 */
INLINE u32 f_to_8(float f, u32 mb, i32 bias, bool fnuz, bool stochastic, u32 random)
{
	const u32 u = f2u(f), sign = u >> 24 & 0x80, a = u & 0x7fffffffu;
	const u32 top = fnuz ? 0x7f : mb == 3 ? 0x7e : 0x7b; /* greatest finite */
	i32 e = (i32)(a >> 23) - 127 + bias;
	u32 m = (a & 0x7fffffu) | (a >= 0x800000u ? 0x800000u : 0), shift = 23 - mb, r, rest;

	if (a > 0x7f800000u)
		return fnuz ? 0x80 : sign | 0x7f;
	if (a == 0x7f800000u)
		return fnuz ? 0x80 : mb == 3 ? sign | 0x7f : sign | 0x7c;
	if (e <= 0) {
		shift += (u32)(1 - e);
		e = 0;
	}
	if (shift > 31)
		return fnuz ? 0 : sign;
	if (stochastic) {
		const u64 v =
		    ((u64)m << 8) + ((u64)(random) >> (32 - (shift > 24 ? 24 : shift) - 0) << 8);
		r = (u32)((v >> 8) >> shift);
	} else {
		rest = m & ((1u << shift) - 1);
		r = m >> shift;
		r += rest > (1u << (shift - 1)) || (rest == (1u << (shift - 1)) && (r & 1));
	}
	/* r carries the hidden bit for normal numbers */
	r = e > 0 ? ((u32)(e - 1) << mb) + r : r;
	if (r > top)
		return fnuz ? sign | top : mb == 3 ? sign | 0x7f : sign | 0x7c;
	return fnuz && !r ? 0 : sign | r;
}
INLINE u32 f_to_fp8(float f, bool fnuz)
{
	return f_to_8(f, 3, fnuz ? 8 : 7, fnuz, false, 0);
}
INLINE u32 f_to_bf8(float f, bool fnuz)
{
	return f_to_8(f, 2, fnuz ? 16 : 15, fnuz, false, 0);
}

#endif
