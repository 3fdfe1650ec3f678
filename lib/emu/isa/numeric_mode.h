#ifndef HRR_EMU_ISA_NUMERIC_MODE_H
#define HRR_EMU_ISA_NUMERIC_MODE_H

#include "lib/emu/isa/numeric_more.h"

/*
 * Rounding and denormals as MODE asks for, where the machine's own control register
 * does not do it: halves, and instructions that look at bits. Denormal fields: bit 0
 * lets sources be denormal, bit 1 results. Zeros keep the sign.
 */
INLINE u32 flush16(u32 h)
{
	return h & 0x7c00u ? h : h & 0xffff8000u;
}
INLINE u32 flush_pair(u32 v)
{
	const u32 hi = v & 0x7c000000u ? v & 0xffff0000u : v & 0x80000000u;

	return hi | (v & 0x7c00u ? v & 0xffffu : v & 0x8000u);
}
INLINE u32 flush32(u32 v)
{
	return v & 0x7f800000u ? v : v & 0x80000000u;
}
INLINE u64 flush64(u64 v)
{
	return v & 0x7ff0000000000000ull ? v : v & 0x8000000000000000ull;
}
/* A value of a spec's type, when the bit of its field says so. */
INLINE u32 flush_as(u32 v, char type, u32 mode, u32 bit)
{
	if (type == 'f' && !(MODE_DENORM32(mode) & bit))
		return flush32(v);
	if (type == 'h' && !(MODE_DENORM64(mode) & bit))
		return flush16(v);
	if (type == 'p' && !(MODE_DENORM64(mode) & bit))
		return flush_pair(v);
	return v;
}
INLINE u32 flush_in32(u32 v, char type, u32 mode)
{
	return flush_as(v, type, mode, 1);
}
INLINE u32 flush_out32(u32 v, char type, u32 mode)
{
	return flush_as(v, type, mode, 2);
}
INLINE u64 flush_in64(u64 v, char type, u32 mode)
{
	return type == 'd' && !(MODE_DENORM64(mode) & 1) ? flush64(v) : v;
}
/* Results of doubles have the letter q too. */
INLINE u64 flush_out64(u64 v, char type, u32 mode)
{
	return (type == 'd' || type == 'q') && !(MODE_DENORM64(mode) & 2) ? flush64(v) : v;
}
/* Not inlined: a vectorizer makes nothing of it, and every row of halves would have its own. */
static __attribute__((noinline, const)) u32 f2h_to(float f, u32 mode)
{
	const u32 r = f2h_mode(f, MODE_ROUND64(mode));

	return MODE_DENORM64(mode) & 2 ? r : flush16(r);
}
INLINE u32 d2h_to(double d, u32 mode)
{
	return f2h_to(d_to_odd(d), mode);
}
/* float to double where the machine's own conversion would take denormals for 0 */
INLINE double widen_f32_to(u32 a)
{
	const double d = (double)(i32)(a & 0x7fffffu) * 0x1p-149;

	return a & 0x7f800000u ? (double)u2f(a) : a >> 31 ? -d : d;
}
INLINE u32 fma_f16_to(u32 a, u32 b, u32 c, u32 mode)
{
	return d2h_to((double)(h2f(a) * h2f(b)) + (double)h2f(c), mode);
}

#endif
