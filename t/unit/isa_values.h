#ifndef HRR_T_UNIT_ISA_VALUES_H
#define HRR_T_UNIT_ISA_VALUES_H

#include <stdint.h>

/* Odd values for operands: zeros, infinities, NaNs, denormals, limits, and random ones. */

static const uint32_t edge32[] = {
    0,		0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
    0xffc12345, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f7fffff,
    0x40490fdb, 0x4b000000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x3effffff, 0xbf000000,
    0xffffffff, 0x7fffffff, 31,		32,	    0x0000ffff, 0xffff0000, 0x00ff00ff, 0x12345678,
    0x3fc00000, 0x40200000, 0x43800000, 0xc3820000, 0x0004ffff, 0x001f0003};
#define N32 (sizeof(edge32) / sizeof(edge32[0]))
static const uint64_t edge64[] = {0,
				  0x8000000000000000,
				  0x3ff0000000000000,
				  0xbff8000000000000,
				  0x7ff0000000000000,
				  0xfff0000000000000,
				  0x7ff8000000000000,
				  0x7ff0000000000001,
				  1,
				  0x000fffffffffffff,
				  0x0010000000000000,
				  0x7fefffffffffffff,
				  0x3fefffffffffffff,
				  0x41dfffffffc00000,
				  0xc1e0000000000000,
				  0x41efffffffe00000,
				  0x4330000000000000,
				  0x3fe0000000000000,
				  0x4004000000000000,
				  0xffffffffffffffff,
				  0x7fffffffffffffff,
				  0x00000000ffffffff,
				  0xffffffff00000000,
				  0x47efffffe0000000,
				  0x36a0000000000000};
#define N64 (sizeof(edge64) / sizeof(edge64[0]))
static const uint16_t edge16[] = {0,	  0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00,
				  0x7c01, 0x0001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x3bff,
				  0x3555, 0x4248, 0x6400, 0x3800, 0xffff, 0x7fff, 0x0010,
				  0x1234, 0x5678, 0x4100, 0x4300};
#define N16 (sizeof(edge16) / sizeof(edge16[0]))

static uint32_t seed = 99;
static uint64_t rnd64(void)
{
	uint64_t r = 0;

	for (int i = 0; i < 4; i++) {
		seed = seed * 1664525u + 1013904223u;
		r = r << 16 ^ seed >> 12;
	}
	return r;
}

/* The n-th value for an operand of this type (letters of isa_ops.c). */
static inline uint64_t value(char type, unsigned n)
{
	switch (type) {
	case 'd':
	case 'q':
	case 'U':
	case 'K':
		return n < N64 ? edge64[n] : rnd64() >> (rnd64() % 3 ? 0 : rnd64() % 64);
	case 'F':
		return (uint64_t)edge32[n % N32] << 32 | edge32[(n * 7 + 3) % N32];
	case 'b':
		return (uint64_t)(edge32[n % N32] & 0xffff0000) | edge32[(n * 7 + 3) % N32] >> 16;
	case 'h':
	case 'H':
	case 's':
	case 'S':
	case 'p':
	case 'P':
	case 'y':
		return (uint64_t)edge16[(n * 5 + 1) % N16] << 16 |
		       (n < N16 ? edge16[n] : (uint16_t)rnd64());
	default:
		return n < N32 ? edge32[n] : (uint32_t)rnd64() >> (rnd64() % 3 ? 0 : rnd64() % 32);
	}
}

#endif
