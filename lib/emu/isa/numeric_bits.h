#ifndef HRR_EMU_ISA_NUMERIC_BITS_H
#define HRR_EMU_ISA_NUMERIC_BITS_H

#include "lib/emu/isa/numeric.h"

/* Counts, fields, bytes. */

INLINE u32 popc32(u32 v)
{
	v = v - (v >> 1 & 0x55555555u);
	v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
	v = (v + (v >> 4)) & 0x0f0f0f0fu;
	return v * 0x01010101u >> 24;
}
INLINE u32 brev32(u32 v)
{
	v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
	v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
	v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
	return __builtin_bswap32(v);
}
INLINE u32 clz32(u32 v) /* ~0 for 0, as the ISA has it */
{
	return v ? (u32)__builtin_clz(v) : ~0u;
}
INLINE u32 ctz32(u32 v)
{
	return v ? (u32)__builtin_ctz(v) : ~0u;
}
INLINE u32 cls32(u32 v) /* leading bits like the sign; ~0 for 0 and -1 */
{
	const u32 x = v & 0x80000000u ? ~v : v;

	return clz32(x);
}
INLINE u32 sext24(u32 v)
{
	return (u32)((i32)(v << 8) >> 8);
}
INLINE u32 bfe_u32(u32 a, u32 off, u32 width)
{
	const u32 n = width & 31;

	return (a >> (off & 31)) & ((1u << n) - 1);
}
INLINE u32 bfe_i32(u32 a, u32 off, u32 width)
{
	const u32 n = width & 31, s = (32 - n) & 31;
	const u32 part = (a >> (off & 31)) & ((1u << n) - 1);
	const u32 r = (u32)((i32)(part << s) >> s);

	return n ? r : 0;
}
INLINE u32 byte_of(u32 v, u32 n)
{
	return v >> (8 * n) & 0xff;
}
INLINE u32 absdiff(u32 a, u32 b)
{
	return a > b ? a - b : b - a;
}
INLINE u32 sad_u8(u32 a, u32 b, u32 c)
{
	return c + absdiff(byte_of(a, 0), byte_of(b, 0)) + absdiff(byte_of(a, 1), byte_of(b, 1)) +
	       absdiff(byte_of(a, 2), byte_of(b, 2)) + absdiff(byte_of(a, 3), byte_of(b, 3));
}
INLINE u32 msad_u8(u32 a, u32 b, u32 c)
{
	for (u32 n = 0; n < 4; n++)
		c += byte_of(b, n) ? absdiff(byte_of(a, n), byte_of(b, n)) : 0;
	return c;
}
INLINE u32 perm_byte(u64 src, u32 sel)
{
	if (sel >= 13)
		return 0xff;
	if (sel == 12)
		return 0;
	if (sel >= 8) /* sign of bytes 1, 3, 5, 7 */
		return src >> (16 * (sel - 8) + 15) & 1 ? 0xff : 0;
	return (u32)(src >> (8 * sel)) & 0xff;
}
INLINE u32 perm_b32(u32 a, u32 b, u32 c)
{
	const u64 src = (u64)a << 32 | b;
	u32 r = 0;

	for (u32 n = 0; n < 4; n++)
		r |= perm_byte(src, byte_of(c, n)) << (8 * n);
	return r;
}
INLINE u32 lerp_u8(u32 a, u32 b, u32 c)
{
	u32 r = 0;

	for (u32 n = 0; n < 4; n++)
		r |= ((byte_of(a, n) + byte_of(b, n) + (byte_of(c, n) & 1)) >> 1 & 0xff) << (8 * n);
	return r;
}

#endif
