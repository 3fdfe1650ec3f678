#ifndef HRR_T_UNIT_ISA_REF_SAT_H
#define HRR_T_UNIT_ISA_REF_SAT_H

#include "t/unit/isa_ref.h"

/* Dot products, and integers that stop at the ends of their range; the same rules as isa_ref.h. */

static int64_t clip(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}
static int64_t part_of(uint64_t v, int n, int bits, bool sign)
{
	const int64_t x = (int64_t)(v >> n * bits & ((1u << bits) - 1));

	return sign && x >> (bits - 1) ? x - (1 << bits) : x;
}
static int64_t dot_int(uint64_t a, uint64_t b, int bits, bool sa, bool sb)
{
	int64_t s = 0;

	for (int n = 0; n < 32 / bits; n++)
		s += part_of(a, n, bits, sa) * part_of(b, n, bits, sb);
	return s;
}
F(r_dot2_i, return W((uint64_t)dot_int(a, b, 16, true, true) + c);)
F(r_dot2_u, return W((uint64_t)dot_int(a, b, 16, false, false) + c);)
F(r_dot4_i, return W((uint64_t)dot_int(a, b, 8, true, true) + c);)
F(r_dot4_u, return W((uint64_t)dot_int(a, b, 8, false, false) + c);)
F(r_dot8_i, return W((uint64_t)dot_int(a, b, 4, true, true) + c);)
F(r_dot8_u, return W((uint64_t)dot_int(a, b, 4, false, false) + c);)
F(r_dot2c_i, return W((uint64_t)dot_int(a, b, 16, true, true) + old);)
F(r_dot4c_i, return W((uint64_t)dot_int(a, b, 8, true, true) + old);)
F(r_dot8c_i, return W((uint64_t)dot_int(a, b, 4, true, true) + old);)
/* neg_lo:[1,0,0]: source 0 is signed, source 1 not */
F(r_dot4_iu, return W((uint64_t)dot_int(a, b, 8, true, false) + c);)
F(r_dot8_iu, return W((uint64_t)dot_int(a, b, 4, true, false) + c);)
F(r_dot4_sat, return W((uint64_t)clip(dot_int(a, b, 8, true, true) + I(c), INT32_MIN, INT32_MAX));)
static uint64_t top(int64_t s)
{
	return s > 0xffffffff ? 0xffffffff : W(s);
}
F(r_dot2_sat, return W((uint64_t)clip(dot_int(a, b, 16, true, true) + I(c), INT32_MIN, INT32_MAX));)
F(r_dot4u_sat, return top(dot_int(a, b, 8, false, false) + W(c));)
F(r_dot2u_sat, return top(dot_int(a, b, 16, false, false) + W(c));)
F(r_dot8_sat, return W((uint64_t)clip(dot_int(a, b, 4, true, true) + I(c), INT32_MIN, INT32_MAX));)
F(r_dot8u_sat, return top(dot_int(a, b, 4, false, false) + W(c));)
F(r_dot4iu_sat,
  return W((uint64_t)clip(dot_int(a, b, 8, true, false) + I(c), INT32_MIN, INT32_MAX));)
F(r_dot8iu_sat,
  return W((uint64_t)clip(dot_int(a, b, 4, true, false) + I(c), INT32_MIN, INT32_MAX));)
F(r_add_sat_u, return (uint64_t)W(a) + W(b) > 0xffffffff ? 0xffffffff : W(a + b);)
F(r_sub_sat_u, return W(a) < W(b) ? 0 : W(a - b);)
F(r_add_sat_i, return W((uint64_t)clip(L(I(a)) + I(b), INT32_MIN, INT32_MAX));)
F(r_sub_sat_i, return W((uint64_t)clip(L(I(a)) - I(b), INT32_MIN, INT32_MAX));)
F(r_add_sat_u16, return H16(H16(a) + H16(b) > 65535 ? 65535 : a + b);)
F(r_sub_sat_u16, return H16(a) < H16(b) ? 0 : H16(a - b);)
F(r_subrev_sat_u16, return H16(b) < H16(a) ? 0 : H16(b - a);)
F(r_add_sat_i16, return H16(clip(S16(a) + S16(b), -32768, 32767));)
F(r_sub_sat_i16, return H16(clip(S16(a) - S16(b), -32768, 32767));)
F(r_pk_add_sat, return PAIR(H16(a) + H16(b) > 65535 ? 65535 : a + b,
			    HI(a) + HI(b) > 65535 ? 65535 : HI(a) + HI(b));)
F(r_pk_sub_sat, return PAIR(H16(a) < H16(b) ? 0 : a - b, HI(a) < HI(b) ? 0 : HI(a) - HI(b));)
F(r_pk_add_sat_i,
  return PAIR(clip(S16(a) + S16(b), -32768, 32767), clip(S16(HI(a)) + S16(HI(b)), -32768, 32767));)
F(r_pk_sub_sat_i,
  return PAIR(clip(S16(a) - S16(b), -32768, 32767), clip(S16(HI(a)) - S16(HI(b)), -32768, 32767));)
F(r_mad_u24_sat, const uint64_t s = (a & 0xffffff) * (b & 0xffffff) + W(c);
  return s > 0xffffffff ? 0xffffffff : s;)
F(r_mad_i24_sat, return W((uint64_t)clip(s24(a) * s24(b) + I(c), INT32_MIN, INT32_MAX));)
F(r_mad_u16_sat, const uint64_t s = (uint64_t)H16(a) * H16(b) + H16(c);
  return s > 65535 ? 65535 : s;)
F(r_mad_i16_sat, return H16(clip(L(S16(a)) * S16(b) + S16(c), -32768, 32767));)

#endif
