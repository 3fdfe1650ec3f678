#ifndef HRR_T_UNIT_ISA_REF_H
#define HRR_T_UNIT_ISA_REF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * What each instruction does to one lane, written from the ISA documents and
 * apart from the interpreter: straight C, branches welcome, no shared helper.
 *
 * a b c  sources as 64 bits (narrow types use the lower ones), old the register
 * before, vcc this lane's bit. The result and, through *carry, the lane's bit of
 * the mask written.
 */
struct ref_in {
	uint64_t a, b, c, old;
	bool vcc;
	unsigned lane;
};

struct ref_op {
	const char *name;
	const char *spec;  /* as in lib/emu/isa/table.h */
	const char *archs; /* NULL: all; else names of those that have it, spaces between */
	uint64_t (*fn)(const struct ref_in *in, bool *carry);
	double ulp; /* error allowed, in units of the last place; 0 exact */
};

static float rf(uint64_t v)
{
	const uint32_t u = (uint32_t)v;
	float f;
	memcpy(&f, &u, 4);
	return f;
}
static uint64_t fr(float f)
{
	uint32_t u;
	memcpy(&u, &f, 4);
	return u;
}
static double rd(uint64_t v)
{
	double d;
	memcpy(&d, &v, 8);
	return d;
}
static uint64_t dr(double d)
{
	uint64_t u;
	memcpy(&u, &d, 8);
	return u;
}
/* Half by its definition. */
static double rh(uint64_t v)
{
	const int s = v >> 15 & 1, e = v >> 10 & 31, m = v & 1023;
	const double x = e == 31 ? (m ? NAN : INFINITY)
			 : e	 ? ldexp(1024 + m, e - 25)
				 : ldexp(m, -24);

	return s ? -x : x;
}
/* To half by looking for the neighbours: MODE's rounding of halves, 0 even, 1 up, 2 down, 3 to 0.
 */
static int ref_round16;
static uint64_t hr(double d)
{
	const uint64_t s = signbit(d) ? 0x8000 : 0;
	const double x = fabs(d);
	int e;
	double q, r;
	bool up;

	if (isnan(d))
		return 0x7e00;
	if (isinf(d))
		return s | 0x7c00;
	if (x == 0)
		return s;
	frexp(x, &e);
	if (e < -13)
		e = -13; /* denormal: steps of 2^-24 */
	q = ldexp(x, 11 - e);
	r = floor(q);
	up = ref_round16 == 0	? q - r > 0.5 || (q - r == 0.5 && fmod(r, 2) != 0)
	     : ref_round16 == 1 ? q > r && !s
	     : ref_round16 == 2 ? q > r && s
				: false;
	r += up;
	if (ldexp(r, e - 11) >= 65536) /* beyond the greatest, which stays when rounding inwards */
		return s | (ref_round16 == 0 || ref_round16 == (s ? 2 : 1) ? 0x7c00 : 0x7bff);
	q = ldexp(r, e - 11);
	if (q == 0)
		return s;
	frexp(q, &e);
	if (e < -13)
		return s | (uint64_t)ldexp(q, 24);
	return s | (uint64_t)(e + 14) << 10 | ((uint64_t)ldexp(q, 11 - e) & 1023);
}

#define I(x) ((int32_t)(uint32_t)(x))
#define W(x) ((uint32_t)(x))
#define L(x) ((int64_t)(x))
#define H16(x) ((uint16_t)(x))
#define S16(x) ((int16_t)(uint16_t)(x))
#define F(name, ...)                                                           \
	static uint64_t name(const struct ref_in *in, bool *carry)             \
	{                                                                      \
		const uint64_t a = in->a, b = in->b, c = in->c, old = in->old; \
		(void)a, (void)b, (void)c, (void)old, (void)carry;             \
		__VA_ARGS__                                                    \
	}

/* --- 32-bit integers --- */
F(r_mov, return W(a);)
F(r_not, return W(~a);)
F(r_bfrev, uint32_t r = 0; for (int i = 0; i < 32; i++) if (a >> i & 1) r |= 1u << (31 - i);
  return r;)
F(r_ffbh_u, for (int i = 31; i >= 0; i--) if (W(a) >> i & 1) return (uint64_t)(31 - i);
  return W(-1);)
F(r_ffbl, for (int i = 0; i < 32; i++) if (W(a) >> i & 1) return (uint64_t)i; return W(-1);)
F(r_ffbh_i,
  for (int i = 1; i < 32; i++) if ((W(a) >> (31 - i) & 1) != W(a) >> 31) return (uint64_t)i;
  return W(-1);)
F(r_add, return W(W(a) + W(b));)
F(r_sub, return W(W(a) - W(b));)
F(r_subrev, return W(W(b) - W(a));)
F(r_and, return W(a & b);)
F(r_or, return W(a | b);)
F(r_xor, return W(a ^ b);)
F(r_xnor, return W(~(a ^ b));)
F(r_lshlrev, return W(W(b) << (a % 32));)
F(r_lshrrev, return W(b) >> (a % 32);)
F(r_ashrrev, return W(L(I(b)) >> (a % 32));)
F(r_min_i, return W(I(a) < I(b) ? a : b);)
F(r_max_i, return W(I(a) < I(b) ? b : a);)
F(r_min_u, return W(a) < W(b) ? W(a) : W(b);)
F(r_max_u, return W(a) < W(b) ? W(b) : W(a);)
F(r_mul_lo, return W((uint64_t)W(a) * W(b));)
F(r_mul_hi_u, return (uint64_t)W(a) * W(b) >> 32;)
F(r_mul_hi_i, return W((uint64_t)(L(I(a)) * I(b)) >> 32);)
static int64_t s24(uint64_t v)
{
	v &= 0xffffff;
	return v & 0x800000 ? (int64_t)v - 0x1000000 : (int64_t)v;
}
F(r_mul_i24, return W(s24(a) * s24(b));)
F(r_mul_hi_i24, return W((uint64_t)(s24(a) * s24(b)) >> 32);)
F(r_mul_u24, return W((a & 0xffffff) * (b & 0xffffff));)
F(r_mul_hi_u24, return (a & 0xffffff) * (b & 0xffffff) >> 32;)
F(r_mad_i24, return W(s24(a) * s24(b) + I(c));)
F(r_mad_u24, return W((a & 0xffffff) * (b & 0xffffff) + c);)
F(r_mad_u32_u16, return W((uint64_t)H16(a) * H16(b) + W(c));)
F(r_mad_i32_i16, return W(L(S16(a)) * S16(b) + I(c));)
F(r_bfe_u, uint32_t r = 0; for (unsigned i = 0; i < (c & 31); i++) if ((b & 31) + i < 32) r |=
			   (W(a) >> ((b & 31) + i) & 1) << i;
  return r;)
F(
    r_bfe_i, const unsigned o = b & 31, n = c & 31; if (!n) return 0; uint32_t r = 0;
    for (unsigned i = 0; i < 32; i++) {
	    const unsigned k = i < n ? o + i : o + n - 1;
	    const uint32_t bit = k < 32 ? W(a) >> k & 1 : 0;
	    r |= bit << i;
    } return r;)
F(r_bfi, return W((a & b) | (~a & c));)
F(r_bfm, return W(((1ull << (a & 31)) - 1) << (b & 31));)
F(r_alignbit, return W((W(a) * 0x100000000ull + W(b)) >> (c & 31));)
F(r_alignbyte, return W((W(a) * 0x100000000ull + W(b)) >> (8 * (c & 3)));)
static int32_t mini(int32_t x, int32_t y)
{
	return x < y ? x : y;
}
static int32_t maxi(int32_t x, int32_t y)
{
	return x > y ? x : y;
}
static uint32_t minu(uint32_t x, uint32_t y)
{
	return x < y ? x : y;
}
static uint32_t maxu(uint32_t x, uint32_t y)
{
	return x > y ? x : y;
}
F(r_min3_i, return W(mini(mini(I(a), I(b)), I(c)));)
F(r_max3_i, return W(maxi(maxi(I(a), I(b)), I(c)));)
F(r_med3_i, const int32_t x = I(a), y = I(b), z = I(c);
  return W(maxi(mini(x, y), mini(maxi(x, y), z)));)
F(r_min3_u, return minu(minu(W(a), W(b)), W(c));)
F(r_max3_u, return maxu(maxu(W(a), W(b)), W(c));)
F(r_med3_u, const uint32_t x = W(a), y = W(b), z = W(c);
  return maxu(minu(x, y), minu(maxu(x, y), z));)
F(r_add3, return W(a + b + c);)
F(r_lshl_add, return W((W(a) << (b & 31)) + W(c));)
F(r_add_lshl, return W(W(a + b) << (c & 31));)
F(r_lshl_or, return W((W(a) << (b & 31)) | W(c));)
F(r_and_or, return W((a & b) | c);)
F(r_or3, return W(a | b | c);)
F(r_xad, return W(W(a ^ b) + W(c));)
F(r_xor3, return W(a ^ b ^ c);)
F(r_bcnt, uint32_t n = 0; for (int i = 0; i < 32; i++) n += W(a) >> i & 1; return W(n + b);)
F(
    r_sad_u8, uint32_t s = W(c); for (int i = 0; i < 32; i += 8) {
	    const int x = W(a) >> i & 255, y = W(b) >> i & 255;
	    s += (uint32_t)(x > y ? x - y : y - x);
    } return s;)
F(
    r_sad_u16, uint32_t s = W(c); for (int i = 0; i < 32; i += 16) {
	    const int x = W(a) >> i & 65535, y = W(b) >> i & 65535;
	    s += (uint32_t)(x > y ? x - y : y - x);
    } return s;)
F(r_sad_u32, const uint32_t x = W(a), y = W(b); return W((x > y ? x - y : y - x) + W(c));)
F(
    r_perm, uint32_t r = 0; for (int i = 0; i < 4; i++) {
	    const unsigned s = W(c) >> (8 * i) & 255;
	    uint32_t v;
	    const uint64_t q = W(a) * 0x100000000ull + W(b);
	    if (s < 8)
		    v = q >> (8 * s) & 255;
	    else if (s == 8)
		    v = q >> 15 & 1 ? 255 : 0;
	    else if (s == 9)
		    v = q >> 31 & 1 ? 255 : 0;
	    else if (s == 10)
		    v = q >> 47 & 1 ? 255 : 0;
	    else if (s == 11)
		    v = q >> 63 ? 255 : 0;
	    else if (s == 12)
		    v = 0;
	    else
		    v = 255;
	    r |= v << (8 * i);
    } return r;)
F(r_lshlrev64, return b << (a & 63);)
F(r_lshrrev64, return b >> (a & 63);)
F(r_ashrrev64, return (uint64_t)(L(b) >> (a & 63));)
F(r_mov64, return a;)
F(r_lshl_add64, return (a << (b & 7)) + c;)
F(r_add_co, *carry = (uint64_t)W(a) + W(b) > 0xffffffffu; return W(a + b);)
F(r_sub_co, *carry = W(a) < W(b); return W(a - b);)
F(r_subrev_co, *carry = W(b) < W(a); return W(b - a);)
F(r_addc, *carry = (uint64_t)W(a) + W(b) + in->vcc > 0xffffffffu; return W(a + b + in->vcc);)
F(r_subb, *carry = W(a) < (uint64_t)W(b) + in->vcc; return W(a - b - in->vcc);)
F(r_subbrev, *carry = W(b) < (uint64_t)W(a) + in->vcc; return W(b - a - in->vcc);)
F(r_cndmask, return in->vcc ? W(b) : W(a);)
F(r_mad_u64, const unsigned __int128 s = (unsigned __int128)((uint64_t)W(a) * W(b)) + c;
  *carry = s >> 64 != 0; return (uint64_t)s;)
F(r_cvt_pk_u16, return (W(a) > 65535 ? 65535u : W(a)) | (W(b) > 65535 ? 65535u : W(b)) << 16;)
F(r_cvt_pk_i16,
  const int32_t x = I(a) > 32767    ? 32767
		    : I(a) < -32768 ? -32768
				    : I(a),
  y = I(b) > 32767    ? 32767
      : I(b) < -32768 ? -32768
		      : I(b);
  return (uint32_t)(x & 65535) | (uint32_t)y << 16;)

/* --- 16-bit integers: zero above on gfx9 --- */
F(r_add16, return H16(a + b);)
F(r_sub16, return H16(a - b);)
F(r_mul16, return H16(a * b);)
F(r_lshl16, return H16(b << (a & 15));)
F(r_lshr16, return H16(b) >> (a & 15);)
F(r_ashr16, return H16(S16(b) >> (a & 15));)
F(r_maxu16, return H16(a) > H16(b) ? H16(a) : H16(b);)
F(r_minu16, return H16(a) < H16(b) ? H16(a) : H16(b);)
F(r_maxi16, return H16(S16(a) > S16(b) ? a : b);)
F(r_mini16, return H16(S16(a) < S16(b) ? a : b);)
#define PAIR(lo, hi) ((uint32_t)H16(lo) | (uint32_t)H16(hi) << 16)
#define HI(x) (W(x) >> 16)
F(r_pk_add, return PAIR(a + b, HI(a) + HI(b));)
F(r_pk_sub, return PAIR(a - b, HI(a) - HI(b));)
F(r_pk_mul, return PAIR(a * b, HI(a) * HI(b));)
F(r_pk_mad, return PAIR(a * b + c, HI(a) * HI(b) + HI(c));)
F(r_pk_lshl, return PAIR(b << (a & 15), HI(b) << (HI(a) & 15));)
F(r_pk_ashr, return PAIR(S16(b) >> (a & 15), S16(HI(b)) >> (HI(a) & 15));)
F(r_pk_maxi, return PAIR(S16(a) > S16(b) ? a : b, S16(HI(a)) > S16(HI(b)) ? HI(a) : HI(b));)

/* --- floats --- */
F(r_addf, return fr(rf(a) + rf(b));)
F(r_subf, return fr(rf(a) - rf(b));)
F(r_subrevf, return fr(rf(b) - rf(a));)
F(r_mulf, return fr(rf(a) * rf(b));)
F(r_mul_legacy, return rf(a) == 0 || rf(b) == 0 ? 0 : fr(rf(a) * rf(b));)
F(r_fmaf, return fr(fmaf(rf(a), rf(b), rf(c)));)
F(r_fmacf, return fr(fmaf(rf(a), rf(b), rf(old)));)
static bool snan(uint64_t v)
{
	return (v & 0x7f800000) == 0x7f800000 && (v & 0x3fffff) && !(v & 0x400000);
}
/* MODE.IEEE: a signalling NaN comes out quiet; else (and on gfx12) it gives the other operand */
static bool ref_ieee = true;
static uint64_t ref_min(uint64_t a, uint64_t b, bool max)
{
	const float x = rf(a), y = rf(b);

	if (!ref_ieee && isnan(x) != isnan(y))
		return isnan(x) ? W(b) : W(a);
	if (snan(a))
		return W(a | 0x400000);
	if (snan(b))
		return W(b | 0x400000);
	if (isnan(x))
		return W(b);
	if (isnan(y))
		return W(a);
	if (x == 0 && y == 0) /* minus zero is the smaller */
		return max ? W(a & b) : W(a | b);
	return (x < y) != max ? W(a) : W(b);
}
F(r_minf, return ref_min(a, b, false);)
F(r_maxf, return ref_min(a, b, true);)
F(r_min3f, return ref_min(ref_min(a, b, false), c, false);)
F(r_max3f, return ref_min(ref_min(a, b, true), c, true);)
F(r_floorf, return fr(floorf(rf(a)));)
F(r_ceilf, return fr(ceilf(rf(a)));)
F(r_truncf, return fr(truncf(rf(a)));)
F(r_rndnef, return fr(rintf(rf(a)));)
F(r_fractf, const float x = rf(a); if (isnan(x) || isinf(x)) return fr(NAN);
  const float r = (float)(x - floorf(x)); return fr(r < 1 ? r : 0x1.fffffep-1f);)
/* the approximating unit knows no denormals */
static float norm_f(float x)
{
	return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}
F(r_sqrtf, return fr(norm_f((float)sqrtl(norm_f(rf(a)))));)
F(r_rcpf, return fr(norm_f((float)(1 / (long double)norm_f(rf(a)))));)
F(r_rsqf, const float x = norm_f(rf(a));
  return x == 0 ? fr(copysignf(INFINITY, x)) : fr((float)(1 / sqrtl(x)));)
F(r_expf, return fr(norm_f((float)exp2l(norm_f(rf(a)))));)
F(r_logf, return fr(norm_f((float)log2l(norm_f(rf(a)))));)
F(r_sinf, const float x = rf(a); if (isnan(x) || isinf(x)) return fr(NAN);
  if (fabsf(x) > 256) return 0; const long double t = x - rintl(x); if (fabsl(t) == 0.5L) return 0;
  return fr((float)(x == 0 ? x : sinl(t * 6.283185307179586476925L)));)
F(r_cosf, const float x = rf(a); if (isnan(x) || isinf(x)) return fr(NAN);
  if (fabsf(x) > 256) return fr(1); const long double t = x - rintl(x);
  return fr(fabsl(t) == 0.25L ? 0 : (float)cosl(t * 6.283185307179586476925L));)
F(r_ldexpf, return fr(ldexpf(rf(a), I(b) > 2000 ? 2000 : I(b) < -2000 ? -2000 : I(b)));)
F(r_frexp_exp, int e; if (!isfinite(rf(a)) || rf(a) == 0) return 0; frexpf(rf(a), &e); return W(e);)
F(r_frexp_mant, int e; return isfinite(rf(a)) ? fr(frexpf(rf(a), &e)) : a & 0xffffffff;)
static int32_t to_i32(double x)
{
	return isnan(x)		    ? 0
	       : x >= 2147483647.0  ? INT32_MAX
	       : x <= -2147483648.0 ? INT32_MIN
				    : (int32_t)x;
}
static uint32_t to_u32(double x)
{
	return !(x > 0) ? 0 : x >= 4294967295.0 ? UINT32_MAX : (uint32_t)x;
}
F(r_cvt_i32_f32, return W(to_i32((double)rf(a)));)
F(r_cvt_u32_f32, return to_u32((double)rf(a));)
F(r_cvt_rpi, return W(to_i32(floor((double)(rf(a) + 0.5f))));)
F(r_cvt_flr, return W(to_i32(floor((double)rf(a))));)
F(r_cvt_f32_i32, return fr((float)I(a));)
F(r_cvt_f32_u32, return fr((float)W(a));)
F(r_ubyte0, return fr((float)(a & 255));)
F(r_ubyte1, return fr((float)(a >> 8 & 255));)
F(r_ubyte2, return fr((float)(a >> 16 & 255));)
F(r_ubyte3, return fr((float)(a >> 24 & 255));)
F(r_pk_addf, return (uint64_t)fr(rf(a >> 32) + rf(b >> 32)) << 32 | fr(rf(a) + rf(b));)
F(r_pk_mulf, return (uint64_t)fr(rf(a >> 32) * rf(b >> 32)) << 32 | fr(rf(a) * rf(b));)
F(r_pk_fmaf, return (uint64_t)fr(fmaf(rf(a >> 32), rf(b >> 32), rf(c >> 32))) << 32 |
		    fr(fmaf(rf(a), rf(b), rf(c)));)

/* --- doubles --- */
F(r_addd, return dr(rd(a) + rd(b));)
F(r_muld, return dr(rd(a) * rd(b));)
F(r_fmad, return dr(fma(rd(a), rd(b), rd(c)));)
F(r_fmacd, return dr(fma(rd(a), rd(b), rd(old)));)
static uint64_t ref_mind(uint64_t a, uint64_t b, bool max)
{
	const double x = rd(a), y = rd(b);
	const uint64_t q = 0x8000000000000ull, m = 0x7ff0000000000000ull;

	if (!ref_ieee && isnan(x) != isnan(y))
		return isnan(x) ? b : a;
	if ((a & m) == m && (a & (q - 1)) && !(a & q))
		return a | q;
	if ((b & m) == m && (b & (q - 1)) && !(b & q))
		return b | q;
	if (isnan(x))
		return b;
	if (isnan(y))
		return a;
	if (x == 0 && y == 0)
		return max ? a & b : a | b;
	return (x < y) != max ? a : b;
}
F(r_mind, return ref_mind(a, b, false);)
F(r_maxd, return ref_mind(a, b, true);)
F(r_floord, return dr(floor(rd(a)));)
F(r_ceild, return dr(ceil(rd(a)));)
F(r_truncd, return dr(trunc(rd(a)));)
F(r_rndned, return dr(rint(rd(a)));)
F(r_fractd, const double x = rd(a); if (!isfinite(x)) return dr(NAN); const double r = x - floor(x);
  return dr(r < 1 ? r : 0x1.fffffffffffffp-1);)
F(r_sqrtd, return dr(sqrt(rd(a)));)
F(r_rcpd, return dr(1 / rd(a));)
F(r_rsqd, return dr((double)(1 / sqrtl(rd(a))));)
F(r_ldexpd, return dr(ldexp(rd(a), I(b) > 9000 ? 9000 : I(b) < -9000 ? -9000 : I(b)));)
F(r_frexp_expd, int e; if (!isfinite(rd(a)) || rd(a) == 0) return 0; frexp(rd(a), &e); return W(e);)
F(r_frexp_mantd, int e; return isfinite(rd(a)) ? dr(frexp(rd(a), &e)) : a;)
F(r_cvt_i32_f64, return W(to_i32(rd(a)));)
F(r_cvt_u32_f64, return to_u32(rd(a));)
F(r_cvt_f64_i32, return dr(I(a));)
F(r_cvt_f64_u32, return dr(W(a));)
F(r_cvt_f32_f64, return fr((float)rd(a));)
F(r_cvt_f64_f32, return dr((double)rf(a));)

/* --- halves --- */
F(r_addh, return hr(rh(a) + rh(b));)
F(r_subh, return hr(rh(a) - rh(b));)
F(r_mulh, return hr(rh(a) * rh(b));)
F(r_fmah, return hr((double)((long double)rh(a) * rh(b) + rh(c)));)
F(r_floorh, return hr(floor(rh(a)));)
F(r_ceilh, return hr(ceil(rh(a)));)
F(r_trunch, return hr(trunc(rh(a)));)
F(r_rndneh, return hr(rint(rh(a)));)
F(r_sqrth, return hr(sqrt(rh(a)));)
F(r_rcph, return hr(1 / rh(a));)
F(r_cvt_f16_f32, return hr((double)rf(a));)
F(r_cvt_f32_f16, return fr((float)rh(a));)
F(r_cvt_f16_u16, return hr(H16(a));)
F(r_cvt_f16_i16, return hr(S16(a));)
F(r_cvt_u16_f16, const double x = rh(a); return !(x > 0) ? 0 : x >= 65535 ? 65535 : (uint64_t)x;)
F(r_cvt_i16_f16, const double x = rh(a); return H16(isnan(x)	  ? 0
						    : x >= 32767  ? 32767
						    : x <= -32768 ? -32768
								  : (int)x);)
F(r_pk_addh, return PAIR(hr(rh(a) + rh(b)), hr(rh(HI(a)) + rh(HI(b))));)
F(r_pk_mulh, return PAIR(hr(rh(a) * rh(b)), hr(rh(HI(a)) * rh(HI(b))));)
F(r_pk_fmah, return PAIR(hr((double)((long double)rh(a) * rh(b) + rh(c))),
			 hr((double)((long double)rh(HI(a)) * rh(HI(b)) + rh(HI(c)))));)

/* --- comparisons --- */
#define CMP(type, conv)                                        \
	F(r_lt_##type, *carry = conv(a) < conv(b); return 0;)  \
	F(r_eq_##type, *carry = conv(a) == conv(b); return 0;) \
	F(r_le_##type, *carry = conv(a) <= conv(b); return 0;) \
	F(r_gt_##type, *carry = conv(a) > conv(b); return 0;)  \
	F(r_ne_##type, *carry = conv(a) != conv(b); return 0;) \
	F(r_ge_##type, *carry = conv(a) >= conv(b); return 0;)
#define FCMP(type, conv)                                                       \
	CMP(type, conv)                                                        \
	F(r_lg_##type, *carry = islessgreater(conv(a), conv(b)); return 0;)    \
	F(r_o_##type, *carry = !isunordered(conv(a), conv(b)); return 0;)      \
	F(r_u_##type, *carry = isunordered(conv(a), conv(b)); return 0;)       \
	F(r_nge_##type, *carry = !isgreaterequal(conv(a), conv(b)); return 0;) \
	F(r_nlg_##type, *carry = !islessgreater(conv(a), conv(b)); return 0;)  \
	F(r_ngt_##type, *carry = !isgreater(conv(a), conv(b)); return 0;)      \
	F(r_nle_##type, *carry = !islessequal(conv(a), conv(b)); return 0;)    \
	F(r_nlt_##type, *carry = !isless(conv(a), conv(b)); return 0;)
FCMP(f32, rf)
FCMP(f64, rd)
FCMP(f16, rh)
CMP(i32, I)
CMP(u32, W)
CMP(i64, L)
CMP(u64, (uint64_t))
CMP(i16, S16)
CMP(u16, H16)
static bool ref_class(uint64_t mask, int kind, bool sign, bool quiet)
{
	switch (kind) {
	case FP_NAN:
		return mask >> (quiet ? 1 : 0) & 1;
	case FP_INFINITE:
		return mask >> (sign ? 2 : 9) & 1;
	case FP_NORMAL:
		return mask >> (sign ? 3 : 8) & 1;
	case FP_SUBNORMAL:
		return mask >> (sign ? 4 : 7) & 1;
	default:
		return mask >> (sign ? 5 : 6) & 1;
	}
}
F(r_class_f32, *carry = ref_class(b, fpclassify(rf(a)), a >> 31 & 1, a >> 22 & 1); return 0;)
F(r_class_f64, *carry = ref_class(b, fpclassify(rd(a)), a >> 63, a >> 51 & 1); return 0;)

/* --- the scalar unit: carry is SCC, in->vcc SCC before --- */
F(q_add_u32, *carry = ((uint64_t)W(a) + W(b)) >> 32; return W(a + b);)
F(q_sub_u32, *carry = W(b) > W(a); return W(a - b);)
F(q_add_i32, const int64_t s = L(I(a)) + I(b); *carry = s != I(s); return W(s);)
F(q_sub_i32, const int64_t s = L(I(a)) - I(b); *carry = s != I(s); return W(s);)
F(q_addc, *carry = ((uint64_t)W(a) + W(b) + in->vcc) >> 32; return W(a + b + in->vcc);)
F(q_subb, *carry = (uint64_t)W(b) + in->vcc > W(a); return W(a - b - in->vcc);)
F(q_min_i, *carry = I(a) < I(b); return W(I(a) < I(b) ? a : b);)
F(q_max_u, *carry = W(a) > W(b); return W(a) > W(b) ? W(a) : W(b);)
F(q_cselect, *carry = in->vcc; return in->vcc ? W(a) : W(b);)
F(q_cselect64, *carry = in->vcc; return in->vcc ? a : b;)
#define NZ(name, expr) F(name, const uint64_t r = (expr); *carry = r != 0; return r;)
NZ(q_and, W(a &b))
NZ(q_and64, a &b)
NZ(q_andn2, W(a & ~b))
NZ(q_andn2_64, a & ~b)
NZ(q_orn2_64, a | ~b)
NZ(q_nand64, ~(a &b))
NZ(q_nor, W(~(a | b)))
NZ(q_xnor64, ~(a ^ b))
NZ(q_lshl, W(W(a) << (b & 31)))
NZ(q_lshl64, a << (b & 63))
NZ(q_lshr64, a >> (b & 63))
NZ(q_ashr, W(I(a) >> (b & 31)))
NZ(q_ashr64, (uint64_t)(L(a) >> (b & 63)))
NZ(q_not, W(~a))
NZ(q_bcnt1_64, (uint64_t)__builtin_popcountll(a))
NZ(q_bcnt0, 32u - (uint32_t)__builtin_popcount(W(a)))
NZ(q_abs, W(I(a) < 0 ? -(int64_t)I(a) : I(a)))
static uint64_t field(uint64_t v, unsigned bits, uint64_t b, bool sign)
{
	const unsigned off = (unsigned)(b & (bits - 1)), n = (unsigned)(b >> 16 & 127);
	const unsigned width = n > bits - off ? bits - off : n;
	uint64_t r = 0;

	for (unsigned i = 0; i < width; i++)
		r |= (v >> (off + i) & 1) << i;
	if (sign && width && (r >> (width - 1) & 1))
		for (unsigned i = width; i < bits; i++)
			r |= 1ull << i;
	return r;
}
NZ(q_bfe_u32, field(W(a), 32, b, false))
NZ(q_bfe_i32, W(field(W(a), 32, b, true)))
NZ(q_bfe_u64, field(a, 64, b, false))
NZ(q_bfe_i64, field(a, 64, b, true))
#define SAME(name, expr) F(name, *carry = in->vcc; return (expr);)
SAME(q_mov, W(a))
SAME(q_mov64, a)
SAME(q_mul, W((uint64_t)W(a) * W(b)))
SAME(q_mul_hi_u, (uint64_t)W(a) * W(b) >> 32)
SAME(q_mul_hi_i, W((uint64_t)(L(I(a)) * I(b)) >> 32))
SAME(q_bfm, W(((1ull << (a & 31)) - 1) << (b & 31)))
SAME(q_ff1, W(a) ? (uint64_t)__builtin_ctz(W(a)) : W(-1))
SAME(q_ff1_64, a ? (uint64_t)__builtin_ctzll(a) : W(-1))
SAME(q_flbit, W(a) ? (uint64_t)__builtin_clz(W(a)) : W(-1))
SAME(q_sext8, W((int32_t)(int8_t)(uint8_t)a))
SAME(q_sext16, W((int32_t)S16(a)))
SAME(q_pack_ll, (a & 65535) | W(b << 16))
SAME(q_pack_lh, (a & 65535) | (b & 0xffff0000))
SAME(q_pack_hh, (a >> 16 & 65535) | (b & 0xffff0000))

#endif
