#ifndef HRR_T_UNIT_ISA_REF_SMALL_H
#define HRR_T_UNIT_ISA_REF_SMALL_H

#include "t/unit/isa_codes.h"
#include "t/unit/isa_ref_more.h"

/* Floats of eight bits, of the kind the arch has. */
static bool ref_fnuz;

static float from8(uint64_t v, const char *kind)
{
	return (float)code_value(code_of(kind, ref_fnuz), v & 255);
}
static uint64_t to8(float f, const char *kind)
{
	return code_nearest(code_of(kind, ref_fnuz), (double)f);
}
/* Random bits below the last that is kept, then the next code towards zero. */
static uint64_t to8_random(float f, uint64_t random, const char *kind)
{
	const struct code c = code_of(kind, ref_fnuz);
	double x = fabs((double)f);
	int best = 0, e;

	if (!isfinite(f) || f == 0)
		return to8(f, kind);
	frexp(x, &e);
	x += ldexp((double)(W(random) >> (9 + c.man)), e - 24);
	while (best <= c.top && code_worth(c, best + 1) <= x)
		best++;
	return code_signed(c, best, signbit(f));
}

F(r_cvt_f32_fp8, return fr(from8(a, "fp8"));)
F(r_cvt_f32_bf8, return fr(from8(a, "bf8"));)
F(r_cvt_f32_fp8_1, return fr(from8(a >> 8, "fp8"));)
F(r_cvt_f32_bf8_2, return fr(from8(a >> 16, "bf8"));)
F(r_cvt_f32_fp8_3, return fr(from8(a >> 24, "fp8"));)
F(r_cvt_pk_f32_fp8, return fr(from8(a, "fp8")) | fr(from8(a >> 8, "fp8")) << 32;)
F(r_cvt_pk_f32_bf8, return fr(from8(a, "bf8")) | fr(from8(a >> 8, "bf8")) << 32;)
F(r_cvt_pk_f32_fp8_hi, return fr(from8(a >> 16, "fp8")) | fr(from8(a >> 24, "fp8")) << 32;)
F(r_cvt_pk_fp8, return to8(rf(a), "fp8") | to8(rf(b), "fp8") << 8;)
F(r_cvt_pk_bf8, return to8(rf(a), "bf8") | to8(rf(b), "bf8") << 8;)
F(r_cvt_pk_bf8_hi, return H16(old) | (to8(rf(a), "bf8") | to8(rf(b), "bf8") << 8) << 16;)
F(r_cvt_sr_fp8, return (W(old) & ~255ull) | to8_random(rf(a), b, "fp8");)
F(r_cvt_sr_bf8, return (W(old) & ~255ull) | to8_random(rf(a), b, "bf8");)
F(r_cvt_sr_fp8_1, return (W(old) & ~0xff00ull) | to8_random(rf(a), b, "fp8") << 8;)
F(r_cvt_sr_bf8_3, return (W(old) & 0xffffff) | to8_random(rf(a), b, "bf8") << 24;)
static float dot4(uint64_t a, uint64_t b, float c, const char *ka, const char *kb)
{
	for (int i = 0; i < 32; i += 8)
		c = c + from8(a >> i, ka) * from8(b >> i, kb);
	return c;
}
F(r_dot4_ff, return fr(dot4(a, b, rf(c), "fp8", "fp8"));)
F(r_dot4_fb, return fr(dot4(a, b, rf(c), "fp8", "bf8"));)
F(r_dot4_bf, return fr(dot4(a, b, rf(c), "bf8", "fp8"));)
F(r_dot4_bb, return fr(dot4(a, b, rf(c), "bf8", "bf8"));)
F(r_prng, return W(a << 1) ^ (a >> 31 & 1 ? 0xc5 : 0);)
F(r_dot2h, return hr((double)dot2((float)rh(a), (float)rh(b), (float)rh(HI(a)), (float)rh(HI(b)),
				  (float)rh(c)));)
F(r_dot2bb, return bfr(dot2(bf(a), bf(b), bf(HI(a)), bf(HI(b)), bf(c))) | (old & 0xffff0000u);)

#endif
