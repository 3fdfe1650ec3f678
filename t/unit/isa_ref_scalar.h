#ifndef HRR_T_UNIT_ISA_REF_SCALAR_H
#define HRR_T_UNIT_ISA_REF_SCALAR_H

#include "t/unit/isa_ref_more.h"

/*
 * The scalar unit: carry is SCC after, in->vcc SCC before, old the destination
 * before. An immediate comes as b, its 16 bits sign-extended.
 */
#undef NZ
#undef SAME
#define NZ(name, expr) F(name, const uint64_t r = (expr); *carry = r != 0; return r;)
#define SAME(name, expr) F(name, *carry = in->vcc; return (expr);)

SAME(q_cmov, in->vcc ? W(a) : W(old))
SAME(q_cmov64, in->vcc ? a : old)
NZ(q_not64, ~a)
static uint64_t reversed(uint64_t v, int bits)
{
	uint64_t r = 0;

	for (int i = 0; i < bits; i++)
		r |= (v >> i & 1) << (bits - 1 - i);
	return r;
}
SAME(q_brev, reversed(W(a), 32))
SAME(q_brev64, reversed(a, 64))
static uint64_t ones(uint64_t v, int bits, unsigned what)
{
	uint64_t n = 0;

	for (int i = 0; i < bits; i++)
		n += (v >> i & 1) == what;
	return n;
}
NZ(q_bcnt0_64, ones(a, 64, 0))
NZ(q_bcnt1, ones(a, 32, 1))
/* the first bit, from below or from above, that is what; ~0 when there is none */
static uint64_t first(uint64_t v, int bits, unsigned what, bool above)
{
	for (int i = 0; i < bits; i++)
		if ((v >> (above ? bits - 1 - i : i) & 1) == what)
			return (uint64_t)i;
	return 0xffffffff;
}
SAME(q_ff0, first(a, 32, 0, false))
SAME(q_ff0_64, first(a, 64, 0, false))
SAME(q_flbit64, first(a, 64, 1, true))
SAME(q_flbit_i, first(a, 32, W(a) >> 31 ? 0 : 1, true))
SAME(q_flbit_i64, first(a, 64, a >> 63 ? 0 : 1, true))
SAME(q_bitset0, W(old & ~(1ull << (a & 31))))
SAME(q_bitset0_64, old & ~(1ull << (a & 63)))
SAME(q_bitset1, W(old | 1ull << (a & 31)))
SAME(q_bitset1_64, old | 1ull << (a & 63))
F(q_replicate, uint64_t r = 0; *carry = in->vcc;
  for (int i = 0; i < 32; i++) if (a >> i & 1) r |= 3ull << 2 * i; return r;)
static uint64_t quads(uint64_t v, int bits, bool whole)
{
	uint64_t r = 0;

	for (int i = 0; i < bits / 4; i++)
		if (v >> 4 * i & 15)
			r |= whole ? 15ull << 4 * i : 1ull << i;
	return r;
}
NZ(q_wqm, quads(W(a), 32, true))
NZ(q_wqm64, quads(a, 64, true))
NZ(q_quadmask, quads(W(a), 32, false))
NZ(q_quadmask64, quads(a, 64, false))
/* the difference wraps before its sign is looked at */
F(q_absdiff, uint32_t d = W(a - b); if (d >> 31) d = -d; *carry = d != 0; return d;)
F(q_min_u, *carry = W(a) < W(b); return W(a) < W(b) ? W(a) : W(b);)
F(q_max_i, *carry = I(a) > I(b); return W(I(a) > I(b) ? a : b);)
NZ(q_or, W(a | b))
NZ(q_or64, a | b)
NZ(q_xor, W(a ^ b))
NZ(q_xor64, a ^ b)
NZ(q_orn2, W(a | ~b))
NZ(q_nand, W(~(a &b)))
NZ(q_nor64, ~(a | b))
NZ(q_xnor, W(~(a ^ b)))
NZ(q_lshr, W(a) >> (b & 31))
SAME(q_bfm64, ((1ull << (a & 63)) - 1) << (b & 63))
static uint64_t shift_add(uint64_t a, uint64_t b, int n, bool *carry)
{
	const uint64_t s = ((uint64_t)W(a) << n) + W(b);

	*carry = s >> 32 != 0;
	return W(s);
}
F(q_lshl1_add, return shift_add(a, b, 1, carry);)
F(q_lshl2_add, return shift_add(a, b, 2, carry);)
F(q_lshl3_add, return shift_add(a, b, 3, carry);)
F(q_lshl4_add, return shift_add(a, b, 4, carry);)
SAME(q_pack_hl, (a >> 16 & 65535) | W(b << 16))
SAME(q_add64, a + b)
SAME(q_sub64, a - b)
SAME(q_mul64, a *b)
/* with an immediate */
SAME(q_movk, W(a))
SAME(q_cmovk, in->vcc ? W(a) : W(old))
F(q_addk, const int64_t s = L(I(old)) + I(a); *carry = s != I(s); return W(s);)
SAME(q_mulk, W((uint64_t)W(old) * W(a)))
#define COMPARE(name, expr) F(name, *carry = (expr); return 0;)
COMPARE(q_keq_i, I(a) == I(b))
COMPARE(q_klg_i, I(a) != I(b))
COMPARE(q_kgt_i, I(a) > I(b))
COMPARE(q_kge_i, I(a) >= I(b))
COMPARE(q_klt_i, I(a) < I(b))
COMPARE(q_kle_i, I(a) <= I(b))
COMPARE(q_keq_u, W(a) == H16(b))
COMPARE(q_klg_u, W(a) != H16(b))
COMPARE(q_kgt_u, W(a) > H16(b))
COMPARE(q_kge_u, W(a) >= H16(b))
COMPARE(q_klt_u, W(a) < H16(b))
COMPARE(q_kle_u, W(a) <= H16(b))
COMPARE(q_gt_u, W(a) > W(b))
COMPARE(q_ge_u, W(a) >= W(b))
COMPARE(q_lt_u, W(a) < W(b))
COMPARE(q_le_u, W(a) <= W(b))
COMPARE(q_eq64, a == b)
COMPARE(q_lg64, a != b)
COMPARE(q_bit0, !(a >> (b & 31) & 1))
COMPARE(q_bit1, a >> (b & 31) & 1)
COMPARE(q_bit0_64, !(a >> (b & 63) & 1))
COMPARE(q_bit1_64, a >> (b & 63) & 1)
/* floats of gfx12 */
SAME(q_addf, fr(rf(a) + rf(b)))
SAME(q_subf, fr(rf(a) - rf(b)))
SAME(q_mulf, fr(rf(a) * rf(b)))
SAME(q_fmacf, fr(fmaf(rf(a), rf(b), rf(old))))
SAME(q_fmaf, fr(fmaf(rf(a), rf(b), rf(c))))
SAME(q_minf, ref_min(a, b, false))
SAME(q_maxf, ref_min(a, b, true))
SAME(q_minimumf, ref_minimum(a, b, false))
SAME(q_maximumf, ref_minimum(a, b, true))
SAME(q_ceilf, fr(ceilf(rf(a))))
SAME(q_floorf, fr(floorf(rf(a))))
SAME(q_truncf, fr(truncf(rf(a))))
SAME(q_rndnef, fr(rintf(rf(a))))
SAME(q_f_i, fr((float)I(a)))
SAME(q_f_u, fr((float)W(a)))
SAME(q_i_f, W(to_i32((double)rf(a))))
SAME(q_u_f, to_u32((double)rf(a)))
SAME(q_h_f, hr((double)rf(a)))
SAME(q_f_h, fr((float)rh(a)))
SAME(q_f_hh, fr((float)rh(HI(a))))
SAME(q_pkrtz, cut16(rf(a)) | cut16(rf(b)) << 16)
SAME(q_addh, hr(rh(a) + rh(b)))
SAME(q_subh, hr(rh(a) - rh(b)))
SAME(q_mulh, hr(rh(a) * rh(b)))
SAME(q_fmach, hr((double)((long double)rh(a) * rh(b) + rh(old))))
SAME(q_minh, ref_minh(a, b, false))
SAME(q_maxh, ref_minh(a, b, true))
SAME(q_minimumh, ref_minimumh(a, b, false))
SAME(q_maximumh, ref_minimumh(a, b, true))
SAME(q_ceilh, hr(ceil(rh(a))))
SAME(q_floorh, hr(floor(rh(a))))
SAME(q_trunch, hr(trunc(rh(a))))
SAME(q_rndneh, hr(rint(rh(a))))
SAME(q_expf, fr(norm_f((float)exp2l((long double)norm_f(rf(a))))))
SAME(q_logf, fr(norm_f((float)log2l((long double)norm_f(rf(a))))))
SAME(q_rcpf, fr(norm_f((float)(1 / (long double)norm_f(rf(a))))))
F(q_rsqf, *carry = in->vcc; return r_rsqf(in, &(bool){false});)
SAME(q_sqrtf, fr((float)sqrtl((long double)norm_f(rf(a)))))
SAME(q_exph, hr(exp2(rh(a))))
SAME(q_logh, hr(log2(rh(a))))
SAME(q_rcph, hr(1 / rh(a)))
F(q_rsqh, *carry = in->vcc; return r_rsqh(in, &(bool){false});)
SAME(q_sqrth, hr(sqrt(rh(a))))
#undef NZ
#undef SAME
#undef COMPARE

#endif
