#ifndef HRR_EMU_ISA_SMALL_H
#define HRR_EMU_ISA_SMALL_H

#include "lib/emu/isa/numeric.h"

/*
 * Floats of 8, 6 and 4 bits: sign, exponent, mantissa. fp8 is e4m3, bf8 e5m2, fp6 e2m3, bf6 e3m2,
 * fp4 e2m1. gfx942 has the "fnuz" kind of the first two (bias one more, no infinity, no minus
 * zero: 0x80 is NaN); gfx950 and gfx12 those of OCP: of fp8 only the greatest number is a NaN,
 * bf8 has infinity and NaN as IEEE has, the narrow ones have neither.
 */
enum small {
	SMALL_FP8,
	SMALL_BF8,
	SMALL_FP8_FNUZ,
	SMALL_BF8_FNUZ,
	SMALL_FP6,
	SMALL_BF6,
	SMALL_FP4
};

struct small_kind {
	u8 bits, man, bias;
	u8 top; /* greatest finite magnitude */
	u8 inf; /* what infinity becomes; a NaN where there is none; 0: the greatest number */
	u8 nan; /* 0: the greatest number */
	bool fnuz;
};
static const struct small_kind small_kinds[] = {
    [SMALL_FP8] = {8, 3, 7, 0x7e, 0x7f, 0x7f, false},
    [SMALL_BF8] = {8, 2, 15, 0x7b, 0x7c, 0x7f, false},
    [SMALL_FP8_FNUZ] = {8, 3, 8, 0x7f, 0x80, 0x80, true},
    [SMALL_BF8_FNUZ] = {8, 2, 16, 0x7f, 0x80, 0x80, true},
    [SMALL_FP6] = {6, 3, 1, 0x1f, 0, 0, false},
    [SMALL_BF6] = {6, 2, 3, 0x1f, 0, 0, false},
    [SMALL_FP4] = {4, 1, 1, 0x07, 0, 0, false},
};

INLINE float small_to_f(u32 v, enum small kind)
{
	const struct small_kind k = small_kinds[kind];
	const u32 low = (1u << (k.bits - 1)) - 1, sign = (v >> (k.bits - 1) & 1) << 31;
	const u32 e = (v & low) >> k.man, m = v & ((1u << k.man) - 1);

	if (k.fnuz ? v == 0x80 : k.nan && (v & low) > (kind == SMALL_BF8 ? 0x7cu : 0x7eu))
		return u2f(0x7fc00000u);
	if (kind == SMALL_BF8 && (v & low) == 0x7c)
		return u2f(sign | 0x7f800000u);
	if (!e) /* m * 2^(1 - bias - man), a float like any other */
		return u2f(f2u((float)m * u2f((128u - k.bias - k.man) << 23)) | sign);
	return u2f(sign | (e + 127u - k.bias) << 23 | m << (23 - k.man));
}

/* How a float is shortened. */
struct small_how {
	i32 scale;  /* the float is divided by two to this power first */
	bool clamp; /* MODE.FP16_OVFL: what is too great is the greatest number */
	bool stochastic;
	u32 random; /* added in place of the bits cut off, which are then dropped */
};

/*
 * The nearest number (of two, the even one), or with random bits added the one below. What is too
 * great becomes infinity or NaN, or the greatest number (clamp, or where there is neither).
 */
INLINE u32 small_from_f(float f, enum small kind, struct small_how how)
{
	const struct small_kind k = small_kinds[kind];
	const u32 u = f2u(f), a = u & 0x7fffffffu, top = k.top;
	const u32 sign = u >> 31 << (k.bits - 1);
	const i32 least = 1 - (i32)k.bias; /* exponent of the smallest normal number */
	i32 e = (i32)(a >> 23) - 127;
	u32 m = a & 0x7fffffu, r;
	i32 shift;

	if (a > 0x7f800000u)
		return k.nan == 0x80 ? 0x80 : k.nan ? sign | k.nan : sign | top;
	if (a == 0x7f800000u)
		return k.inf == 0x80 ? 0x80 : k.inf ? sign | k.inf : sign | top;
	if (!a)
		return k.fnuz ? 0 : sign;
	if (a < 0x800000u) { /* a denormal: its first bit in front */
		const i32 by = (i32)__builtin_clz(m) - 8;
		m <<= by;
		e = -126 - by;
	} else {
		m |= 0x800000u;
	}
	e -= how.scale;
	if (how.stochastic) {
		m += how.random & ((1u << (23 - k.man)) - 1);
		if (m >> 24) {
			m >>= 1;
			e++;
		}
	}
	shift = 23 - (i32)k.man + (e < least ? least - e : 0);
	if (shift > 25) {
		r = 0;
	} else if (how.stochastic) {
		r = m >> shift;
	} else {
		const u32 rest = m & ((1u << shift) - 1), half = 1u << (shift - 1);

		r = m >> shift;
		r += rest > half || (rest == half && (r & 1));
	}
	if (e > 200)
		r = 0xffff;
	else if (e > least) /* r has the first bit of normal numbers */
		r += (u32)(e - least) << k.man;
	if (r > top)
		r = how.clamp || !k.inf ? top : k.inf == 0x80 ? 0x80 : k.inf;
	return k.fnuz && (r == 0 || r == 0x80) ? r : sign | r;
}

#define MODE_FP16_OVFL 0x800000u

INLINE float fp8_to_f(u32 v, bool fnuz)
{
	return small_to_f(v, fnuz ? SMALL_FP8_FNUZ : SMALL_FP8);
}
INLINE float bf8_to_f(u32 v, bool fnuz)
{
	return small_to_f(v, fnuz ? SMALL_BF8_FNUZ : SMALL_BF8);
}
INLINE u32 f_to_fp8(float f, u32 mode, bool fnuz)
{
	return small_from_f(f, fnuz ? SMALL_FP8_FNUZ : SMALL_FP8,
			    (struct small_how){.clamp = mode & MODE_FP16_OVFL});
}
INLINE u32 f_to_bf8(float f, u32 mode, bool fnuz)
{
	return small_from_f(f, fnuz ? SMALL_BF8_FNUZ : SMALL_BF8,
			    (struct small_how){.clamp = mode & MODE_FP16_OVFL});
}
/* The upper bits of random, as many as are cut off. */
INLINE u32 f_to_fp8_sr(float f, u32 random, u32 mode, bool fnuz)
{
	return small_from_f(f, fnuz ? SMALL_FP8_FNUZ : SMALL_FP8,
			    (struct small_how){.clamp = mode & MODE_FP16_OVFL,
					       .stochastic = true,
					       .random = random >> 12});
}
INLINE u32 f_to_bf8_sr(float f, u32 random, u32 mode, bool fnuz)
{
	return small_from_f(f, fnuz ? SMALL_BF8_FNUZ : SMALL_BF8,
			    (struct small_how){.clamp = mode & MODE_FP16_OVFL,
					       .stochastic = true,
					       .random = random >> 11});
}
/* One product after the other, each a float. */
INLINE float dot4_f8(u32 a, u32 b, float c, enum small ka, enum small kb)
{
	for (u32 i = 0; i < 32; i += 8)
		c += small_to_f(a >> i & 0xff, ka) * small_to_f(b >> i & 0xff, kb);
	return c;
}

#endif
