#ifndef HRR_BASE_HALF_H
#define HRR_BASE_HALF_H

#include <stdint.h>
#include <string.h>

/* Numbers of 16 bits, as IEEE 754 binary16 and bfloat16 have them, as the binary32 they equal. */

static inline float hrr_float_of_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

static inline float hrr_of_bfloat16(uint16_t h)
{
	return hrr_float_of_bits((uint32_t)h << 16);
}

/* A finite half: its exponent is moved by a multiplication, which is exact, of small ones too. */
static inline float hrr_of_finite_half(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000u) << 16, size = h & 0x7fffu;

	return hrr_float_of_bits(sign | size << 13) * 0x1p112f;
}

/* Any half; the bits of a NaN stay its highest ones. */
static inline float hrr_of_half(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000u) << 16, size = h & 0x7fffu;

	return size < 0x7c00 ? hrr_of_finite_half(h)
			     : hrr_float_of_bits(sign | 0x7f800000u | (size & 0x3ffu) << 13);
}

#endif
