#ifndef HRR_T_UNIT_ISA_REF_MORE_H
#define HRR_T_UNIT_ISA_REF_MORE_H

#include "t/unit/isa_ref_sat.h"

/* The rarer instructions; the same rules as isa_ref.h. */

static unsigned u8at(uint64_t v, int n)
{
	return v >> 8 * n & 255;
}
static unsigned diff8(unsigned x, unsigned y)
{
	return x > y ? x - y : y - x;
}

/* --- 32-bit integers --- */
F(r_sad_hi_u8, uint32_t s = 0; for (int i = 0; i < 4; i++) s += diff8(u8at(a, i), u8at(b, i));
  return W((s << 16) + W(c));)
F(r_msad_u8, uint32_t s = W(c);
  for (int i = 0; i < 4; i++) if (u8at(b, i)) s += diff8(u8at(a, i), u8at(b, i)); return s;)
F(r_lerp_u8, uint32_t r = 0;
  for (int i = 0; i < 4; i++) r |= ((u8at(a, i) + u8at(b, i) + (u8at(c, i) & 1)) / 2) << 8 * i;
  return r;)
static uint64_t quad_sad(uint64_t a, uint64_t b, uint64_t c, bool masked)
{
	uint64_t r = 0;

	for (int n = 0; n < 4; n++) {
		uint64_t s = c >> 16 * n & 65535;
		for (int i = 0; i < 4; i++)
			if (!masked || u8at(b, i))
				s += diff8(u8at(a, n + i), u8at(b, i));
		r |= (s > 65535 ? 65535 : s) << 16 * n;
	}
	return r;
}
F(r_qsad, return quad_sad(a, b, c, false);)
F(r_mqsad, return quad_sad(a, b, c, true);)
F(r_sat_pk_u8_i16, return (uint64_t)clip(S16(a), 0, 255) | (uint64_t)clip(S16(HI(a)), 0, 255) << 8;)
F(r_mad_i64, const __int128 s = (__int128)(L(I(a)) * I(b)) + L(c);
      /* bit 64 of the sum */
	  *carry = s < 0;
  return (uint64_t)s;)
F(r_minmax_i, return W(maxi(mini(I(a), I(b)), I(c)));)
F(r_maxmin_i, return W(mini(maxi(I(a), I(b)), I(c)));)
F(r_minmax_u, return maxu(minu(W(a), W(b)), W(c));)
F(r_maxmin_u, return minu(maxu(W(a), W(b)), W(c));)
F(r_cvt_i32_i16, return W((int32_t)S16(a));)
F(r_cvt_u32_u16, return H16(a);)
F(r_pack_f16, return H16(a) | (uint64_t)H16(b) << 16;)
static uint64_t table3(uint64_t a, uint64_t b, uint64_t c, unsigned table)
{
	uint64_t r = 0;

	for (int i = 0; i < 32; i++)
		r |= (uint64_t)(table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1)
		     << i;
	return r;
}
F(r_bitop, return table3(a, b, c, 0xca);)
F(r_bitop16, return H16(table3(a, b, c, 0x1d));)
static unsigned ashr_pk(uint64_t a, uint64_t b, uint64_t c, int lo, int hi)
{
	const int x = (int)clip(I(a) >> (c & 31), lo, hi), y = (int)clip(I(b) >> (c & 31), lo, hi);

	return ((unsigned)x & 255) | ((unsigned)y & 255) << 8;
}
F(r_ashr_pk_i8, return ashr_pk(a, b, c, -128, 127);)
F(r_ashr_pk_u8, return ashr_pk(a, b, c, 0, 255);)

/* --- dot products of integers: parts of `bits` bits --- */
/* --- 16-bit integers --- */
F(r_subrev16, return H16(b - a);)
F(r_mad16, return H16(a * b + c);)
F(r_min3_i16, return H16(mini(mini(S16(a), S16(b)), S16(c)));)
F(r_max3_i16, return H16(maxi(maxi(S16(a), S16(b)), S16(c)));)
F(r_med3_i16, const int x = S16(a), y = S16(b), z = S16(c);
  return H16(maxi(mini(x, y), mini(maxi(x, y), z)));)
F(r_min3_u16, return minu(minu(H16(a), H16(b)), H16(c));)
F(r_max3_u16, return maxu(maxu(H16(a), H16(b)), H16(c));)
F(r_med3_u16, const unsigned x = H16(a), y = H16(b), z = H16(c);
  return maxu(minu(x, y), minu(maxu(x, y), z));)
F(r_and16, return H16(a & b);)
F(r_or16, return H16(a | b);)
F(r_xor16, return H16(a ^ b);)
F(r_not16, return H16(~a);)
F(r_cndmask16, return in->vcc ? H16(b) : H16(a);)
F(r_pk_lshr, return PAIR(H16(b) >> (a & 15), HI(b) >> (HI(a) & 15));)
F(r_pk_mini, return PAIR(S16(a) < S16(b) ? a : b, S16(HI(a)) < S16(HI(b)) ? HI(a) : HI(b));)
F(r_pk_maxu, return PAIR(H16(a) > H16(b) ? a : b, HI(a) > HI(b) ? HI(a) : HI(b));)
F(r_pk_minu, return PAIR(H16(a) < H16(b) ? a : b, HI(a) < HI(b) ? HI(a) : HI(b));)
/* op_sel chooses for each half; not given, the lower one */
F(r_pk_mov, return W(a) | b << 32;)
F(r_pk_mov_01, return W(a) | (b & 0xffffffff00000000u);)
F(r_pk_mov_10, return a >> 32 | b << 32;)

/* --- floats --- */
F(r_macf, const float p = rf(a) * rf(b); return fr(p + rf(old));)
F(r_madf, const float p = rf(a) * rf(b); return fr(p + rf(c));)
F(r_mad_legacy, const float p = rf(a) == 0 || rf(b) == 0 ? 0.0f : rf(a) * rf(b);
  return fr(p + rf(c));)
F(r_fma_legacy, return rf(a) == 0 || rf(b) == 0 ? fr(0.0f + rf(c)) : fr(fmaf(rf(a), rf(b), rf(c)));)
F(r_fmac_legacy,
  return rf(a) == 0 || rf(b) == 0 ? fr(0.0f + rf(old)) : fr(fmaf(rf(a), rf(b), rf(old)));)
/* with a NaN the minimum of the three, else the one in the middle */
static uint64_t ref_med3(uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t top = ref_min(ref_min(a, b, true), c, true);

	if (isnan(rf(a)) || isnan(rf(b)) || isnan(rf(c)))
		return ref_min(ref_min(a, b, false), c, false);
	if (top == W(a))
		return ref_min(b, c, true);
	if (top == W(b))
		return ref_min(a, c, true);
	return ref_min(a, b, true);
}
F(r_med3f, return ref_med3(a, b, c);)
F(r_minmaxf, return ref_min(ref_min(a, b, false), c, true);)
F(r_maxminf, return ref_min(ref_min(a, b, true), c, false);)
static uint64_t ref_minimum(uint64_t a, uint64_t b, bool max)
{
	if (isnan(rf(a)))
		return W(a | 0x400000);
	if (isnan(rf(b)))
		return W(b | 0x400000);
	return ref_min(a, b, max);
}
F(r_minimumf, return ref_minimum(a, b, false);)
F(r_maximumf, return ref_minimum(a, b, true);)
F(r_minimum3f, return ref_minimum(ref_minimum(a, b, false), c, false);)
F(r_maximum3f, return ref_minimum(ref_minimum(a, b, true), c, true);)
F(r_minimummaximumf, return ref_minimum(ref_minimum(a, b, false), c, true);)
F(r_maximumminimumf, return ref_minimum(ref_minimum(a, b, true), c, false);)
static uint64_t ref_minimumd(uint64_t a, uint64_t b, bool max)
{
	if (isnan(rd(a)))
		return a | 0x8000000000000ull;
	if (isnan(rd(b)))
		return b | 0x8000000000000ull;
	return ref_mind(a, b, max);
}
F(r_minimumd, return ref_minimumd(a, b, false);)
F(r_maximumd, return ref_minimumd(a, b, true);)
F(r_off_i4, return fr((float)((int)(a & 15) - ((a & 8) ? 16 : 0)) / 16);)
static unsigned norm(double x, bool sign)
{
	const double top = sign ? 32767 : 65535, low = sign ? -1 : 0;

	if (isnan(x))
		x = 0;
	x = x > 1 ? 1 : x < low ? low : x;
	return (unsigned)(int)rint((double)(float)(x * top)) & 65535;
}
F(r_pknorm_i16, return norm((double)rf(a), true) | (uint64_t)norm((double)rf(b), true) << 16;)
F(r_pknorm_u16, return norm((double)rf(a), false) | (uint64_t)norm((double)rf(b), false) << 16;)
F(r_pknorm_i16h, return norm(rh(a), true) | (uint64_t)norm(rh(b), true) << 16;)
F(r_pknorm_u16h, return norm(rh(a), false) | (uint64_t)norm(rh(b), false) << 16;)
F(r_norm_i16h, return norm(rh(a), true);)
F(r_norm_u16h, return norm(rh(a), false);)
F(r_cvt_pk_i16_f32,
  return (uint64_t)(to_i32(fmax(fmin((double)rf(a), 32767), -32768)) & 65535) * !isnan(rf(a)) |
	 (uint64_t)(to_i32(fmax(fmin((double)rf(b), 32767), -32768)) & 65535) * !isnan(rf(b))
	     << 16;)
F(r_cvt_pk_u16_f32, const uint32_t x = to_u32((double)rf(a)), y = to_u32((double)rf(b));
  return (x > 65535 ? 65535 : x) | (uint64_t)(y > 65535 ? 65535 : y) << 16;)
F(r_cvt_pk_u8, const double x = rint((double)rf(a)); const unsigned at = 8 * (b & 3);
  const uint64_t v = !(x > 0)  ? 0
		     : x > 255 ? 255
			       : (uint64_t)x;
  return W((c & ~(255ull << at)) | v << at);)
/* a float cut to half, towards zero */
static uint64_t cut16(float f)
{
	const uint64_t s = signbit(f) ? 0x8000 : 0;
	const double x = fabs((double)f);
	int e;
	double q;

	if (isnan(f))
		return 0x7e00;
	if (isinf(f))
		return s | 0x7c00;
	if (x >= 65504)
		return s | 0x7bff;
	if (x == 0)
		return s;
	frexp(x, &e);
	if (e < -13)
		return s | (uint64_t)floor(ldexp(x, 24));
	q = floor(ldexp(x, 11 - e));
	return s | (uint64_t)(e + 14) << 10 | ((uint64_t)q & 1023);
}
F(r_cvt_pkrtz, return cut16(rf(a)) | cut16(rf(b)) << 16;)
/* the face of a cube: the axis that is longest, ties to z, then y */
static int face(uint64_t a, uint64_t b, uint64_t c)
{
	const float x = rf(a), y = rf(b), z = rf(c);

	if (fabsf(z) >= fabsf(x) && fabsf(z) >= fabsf(y))
		return z < 0 ? 5 : 4;
	if (fabsf(y) >= fabsf(x))
		return y < 0 ? 3 : 2;
	return x < 0 ? 1 : 0;
}
F(r_cubeid, return fr((float)face(a, b, c));)
F(r_cubema, const int f = face(a, b, c); return fr(2 * rf(f >= 4 ? c : f >= 2 ? b : a));)
F(
    r_cubesc, switch (face(a, b, c)) {
case 0:
	return W(c ^ 0x80000000);
case 1:
	return W(c);
case 5:
	return W(a ^ 0x80000000);
default:
	return W(a);
    })
F(
    r_cubetc, switch (face(a, b, c)) {
case 2:
	return W(c);
case 3:
	return W(c ^ 0x80000000);
default:
	return W(b ^ 0x80000000);
    })
/* division: a quotient, b denominator, c numerator */
F(r_div_fixupf, const float d = rf(b), n = rf(c); const uint64_t sign = (b ^ c) & 0x80000000;
  if (isnan(n)) return W(c | 0x400000); if (isnan(d)) return W(b | 0x400000);
  if ((n == 0 && d == 0) || (isinf(n) && isinf(d))) return 0xffc00000;
  if (d == 0 || isinf(n)) return sign | 0x7f800000; if (isinf(d) || n == 0) return sign;
  const int en = (int)(c >> 23 & 255), ed = (int)(b >> 23 & 255); if (en - ed < -150) return sign;
  if (ed == 255) return sign | 0x7f800000; if (isnan(rf(a))) return sign | 0x7f800000;
  return sign | (a & 0x7fffffff);)
F(r_div_fixuph, const double d = rh(b), n = rh(c); const uint64_t sign = (b ^ c) & 0x8000;
  if (isnan(n)) return H16(c | 0x200); if (isnan(d)) return H16(b | 0x200);
  if ((n == 0 && d == 0) || (isinf(n) && isinf(d))) return 0xfe00;
  if (d == 0 || isinf(n)) return sign | 0x7c00; if (isinf(d) || n == 0) return sign;
  return sign | (a & 0x7fff);)
F(r_div_fixupd, const double d = rd(b), n = rd(c); const uint64_t top = 1ull << 63;
  const uint64_t sign = (b ^ c) & top, q = 1ull << 51, inf = 0x7ffull << 52;
  if (isnan(n)) return c | q; if (isnan(d)) return b | q;
  if ((n == 0 && d == 0) || (isinf(n) && isinf(d))) return top | inf | q;
  if (d == 0 || isinf(n)) return sign | inf; if (isinf(d) || n == 0) return sign;
  const int en = (int)(c >> 52 & 2047), ed = (int)(b >> 52 & 2047);
  if (en - ed < -1075) return sign; if (ed == 2047) return sign | inf;
  if (isnan(rd(a))) return sign | inf; return sign | (a & ~top);)
/* the scaling of numerator (a == c) or denominator (a == b) */
static bool tiny(double x, double least)
{
	return x != 0 && fabs(x) < least;
}
F(
    r_div_scalef, const float d = rf(b), n = rf(c); float r = rf(a); const uint32_t s0 = W(a);
    const int en = (int)(c >> 23 & 255), ed = (int)(b >> 23 & 255); *carry = false;
    const float inv = 1 / d, q = n / d; if (n == 0 || d == 0) return fr(NAN); if (en - ed >= 96) {
	    *carry = true;
	    if (s0 == W(b))
		    r = ldexpf(r, 64);
    } else if (tiny((double)d, 0x1p-126)) r = ldexpf(r, 64);
    else if (tiny((double)inv, 0x1p-126) && tiny((double)q, 0x1p-126)) {
	    *carry = true;
	    if (s0 == W(b))
		    r = ldexpf(r, -64);
    } else if (tiny((double)inv, 0x1p-126)) r = ldexpf(r, -64);
    else if (tiny((double)q, 0x1p-126)) {
	    *carry = true;
	    if (s0 == W(c))
		    r = ldexpf(r, 64);
    } else if (en <= 23) r = ldexpf(r, 64);
    return fr(r);)
F(
    r_div_scaled, const double d = rd(b), n = rd(c); double r = rd(a);
    const int en = (int)(c >> 52 & 2047), ed = (int)(b >> 52 & 2047); *carry = false;
    const double inv = 1 / d, q = n / d; if (n == 0 || d == 0) return dr(NAN); if (en - ed >= 768) {
	    *carry = true;
	    if (a == b)
		    r = ldexp(r, 128);
    } else if (tiny(d, 0x1p-1022)) r = ldexp(r, 128);
    else if (tiny(inv, 0x1p-1022) && tiny(q, 0x1p-1022)) {
	    *carry = true;
	    if (a == b)
		    r = ldexp(r, -128);
    } else if (tiny(inv, 0x1p-1022)) r = ldexp(r, -128);
    else if (tiny(q, 0x1p-1022)) {
	    *carry = true;
	    if (a == c)
		    r = ldexp(r, 128);
    } else if (en <= 53) r = ldexp(r, 128);
    return dr(r);)
/* the sum of an exact product and d, right enough to be rounded once more */
static __float128 exact_sum(__float128 p, __float128 d)
{
	const __float128 s = p + d;

	/* one far below the other: only its sign matters */
	if (d != 0 && s == p && isfinite((double)p))
		return p + (d > 0 ? 1 : -1) * (p < 0 ? -p : p) * (__float128)0x1p-112;
	if (p != 0 && s == d && isfinite((double)d))
		return d + (p > 0 ? 1 : -1) * (d < 0 ? -d : d) * (__float128)0x1p-112;
	return s;
}
F(r_div_fmasf, if (!in->vcc) return fr(fmaf(rf(a), rf(b), rf(c)));
  const __float128 s = exact_sum((__float128)rf(a) * rf(b), (__float128)rf(c));
  return fr((float)(s * (__float128)((c >> 23 & 255) > 127 ? 0x1p64 : 0x1p-64)));)
F(r_div_fmasd, if (!in->vcc) return dr(fma(rd(a), rd(b), rd(c)));
  const __float128 s = exact_sum((__float128)rd(a) * (__float128)rd(b), (__float128)rd(c));
  return dr((double)(s * (__float128)((c >> 52 & 2047) > 1023 ? 0x1p128 : 0x1p-128)));)

/* --- halves --- */
F(r_subrevh, return hr(rh(b) - rh(a));)
F(r_madh, return hr(rh(hr(rh(a) * rh(b))) + rh(c));)
F(r_mach, return hr(rh(hr(rh(a) * rh(b))) + rh(old));)
F(r_fmach, return hr((double)((long double)rh(a) * rh(b) + rh(old)));)
static uint64_t ref_minh(uint64_t a, uint64_t b, bool max)
{
	const double x = rh(a), y = rh(b);

	a = H16(a), b = H16(b);
	if (!ref_ieee && isnan(x) != isnan(y))
		return isnan(x) ? b : a;
	if (isnan(x) && !(a & 0x200))
		return a | 0x200;
	if (isnan(y) && !(b & 0x200))
		return b | 0x200;
	if (isnan(x))
		return b;
	if (isnan(y))
		return a;
	if (x == 0 && y == 0)
		return max ? a & b : a | b;
	return (x < y) != max ? a : b;
}
static uint64_t ref_minimumh(uint64_t a, uint64_t b, bool max)
{
	return isnan(rh(a)) ? H16(a | 0x200) : isnan(rh(b)) ? H16(b | 0x200) : ref_minh(a, b, max);
}
static uint64_t ref_med3h(uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t top = ref_minh(ref_minh(a, b, true), c, true);

	if (isnan(rh(a)) || isnan(rh(b)) || isnan(rh(c)))
		return ref_minh(ref_minh(a, b, false), c, false);
	if (top == H16(a))
		return ref_minh(b, c, true);
	if (top == H16(b))
		return ref_minh(a, c, true);
	return ref_minh(a, b, true);
}
F(r_minh, return ref_minh(a, b, false);)
F(r_maxh, return ref_minh(a, b, true);)
F(r_min3h, return ref_minh(ref_minh(a, b, false), c, false);)
F(r_max3h, return ref_minh(ref_minh(a, b, true), c, true);)
F(r_med3h, return ref_med3h(a, b, c);)
F(r_minmaxh, return ref_minh(ref_minh(a, b, false), c, true);)
F(r_maxminh, return ref_minh(ref_minh(a, b, true), c, false);)
F(r_minimumh, return ref_minimumh(a, b, false);)
F(r_maximumh, return ref_minimumh(a, b, true);)
F(r_minimum3h, return ref_minimumh(ref_minimumh(a, b, false), c, false);)
F(r_maximum3h, return ref_minimumh(ref_minimumh(a, b, true), c, true);)
F(r_minimummaximumh, return ref_minimumh(ref_minimumh(a, b, false), c, true);)
F(r_maximumminimumh, return ref_minimumh(ref_minimumh(a, b, true), c, false);)
F(r_pk_minh, return PAIR(ref_minh(a, b, false), ref_minh(HI(a), HI(b), false));)
F(r_pk_maxh, return PAIR(ref_minh(a, b, true), ref_minh(HI(a), HI(b), true));)
F(r_pk_minimumh, return PAIR(ref_minimumh(a, b, false), ref_minimumh(HI(a), HI(b), false));)
F(r_pk_maximumh, return PAIR(ref_minimumh(a, b, true), ref_minimumh(HI(a), HI(b), true));)
F(r_pk_minimum3h, return PAIR(ref_minimumh(ref_minimumh(a, b, false), c, false),
			      ref_minimumh(ref_minimumh(HI(a), HI(b), false), HI(c), false));)
F(r_pk_maximum3h, return PAIR(ref_minimumh(ref_minimumh(a, b, true), c, true),
			      ref_minimumh(ref_minimumh(HI(a), HI(b), true), HI(c), true));)
F(r_pk_fmach, return PAIR(hr((double)((long double)rh(a) * rh(b) + rh(old))),
			  hr((double)((long double)rh(HI(a)) * rh(HI(b)) + rh(HI(old)))));)
F(r_fracth, const double x = rh(a); if (!isfinite(x)) return 0x7e00; const double r = x - floor(x);
  const uint64_t v = hr(r); return v >= 0x3c00 ? 0x3bff : v;)
F(r_rsqh, return rh(a) == 0 ? hr(copysign(INFINITY, rh(a))) : hr(1 / sqrt(rh(a)));)
F(r_exph, return hr(exp2(rh(a)));)
F(r_logh, return hr(log2(rh(a)));)
F(r_sinh, const double x = rh(a); if (!isfinite(x)) return 0x7e00; if (fabs(x) > 256) return 0;
  if (x == 0) return H16(a); const double t = x - rint(x);
  return hr(fabs(t) == 0.5 ? 0 : sin(t * 6.283185307179586));)
F(r_cosh, const double x = rh(a); if (!isfinite(x)) return 0x7e00; if (fabs(x) > 256) return 0x3c00;
  const double t = x - rint(x); return hr(fabs(t) == 0.25 ? 0 : cos(t * 6.283185307179586));)
F(r_ldexph, return hr(ldexp(rh(a), S16(b)));)
F(r_frexp_exph, int e; if (!isfinite(rh(a)) || rh(a) == 0) return 0; frexp(rh(a), &e);
  return H16(e);)
F(r_frexp_manth, int e; if (isnan(rh(a))) return H16(a | 0x200);
  return isfinite(rh(a)) ? hr(frexp(rh(a), &e)) : H16(a);)
/* mixed: op_sel_hi not set, all sources floats */
F(r_fma_mixlo, return hr((double)fmaf(rf(a), rf(b), rf(c)));)
F(r_fma_mixhi, return H16(old) | hr((double)fmaf(rf(a), rf(b), rf(c))) << 16;)
/* one product after the other, as the RDNA documents write it */
static float dot2(float a0, float b0, float a1, float b1, float c)
{
	return fmaf(a1, b1, fmaf(a0, b0, c));
}
#define DOT2(conv, c) \
	fr(dot2((float)conv(a), (float)conv(b), (float)conv(HI(a)), (float)conv(HI(b)), rf(c)))
F(r_dot2f, return DOT2(rh, c);)
F(r_dot2cf, return DOT2(rh, old);)
static float bf(uint64_t v)
{
	return rf((v & 65535) << 16);
}
F(r_dot2bf, return DOT2(bf, c);)
F(r_dot2cbf, return DOT2(bf, old);)
/* float to bf16, nearest even, by trying both neighbours */
static uint64_t bfr(float f)
{
	const uint32_t u = (uint32_t)fr(f), lo = u >> 16;
	const double x = (double)f;
	double d0, d1;

	if (isnan(f))
		return lo | 0x40;
	if (isinf(f))
		return lo;
	d0 = fabs((double)bf(lo) - x);
	d1 = isinf(bf(lo + 1)) ? fabs(copysign(0x1p128, x) - x) : fabs((double)bf(lo + 1) - x);
	return d0 < d1 ? lo : d1 < d0 ? lo + 1 : lo & 1 ? lo + 1 : lo;
}
F(r_cvt_pk_bf16, return bfr(rf(a)) | bfr(rf(b)) << 16;)
F(r_cvt_f32_bf16, return fr(bf(a));)
F(r_cvt_pk_f16, return hr((double)rf(a)) | hr((double)rf(b)) << 16;)
F(r_class_f16, const double x = rh(a); const bool den = x != 0 && fabs(x) < 0x1p-14;
  *carry = ref_class(b, den ? FP_SUBNORMAL : fpclassify(x), a >> 15 & 1, a >> 9 & 1); return 0;)

/* --- comparisons that always say the same --- */
F(r_never, *carry = false; return 0;)
F(r_always, *carry = true; return 0;)

#endif
