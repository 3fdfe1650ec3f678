#ifndef HRR_BASE_DIGITS_H
#define HRR_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Numbers as digits, for writers that print millions: several digits at a time. */

#define HRR_DEC_ROOM 20	 /* bytes hrr_dec_put may write */
#define HRR_ADDR_ROOM 18 /* bytes hrr_addr_put may write, also where it returns less */

/* Eight hex digits, the first of them in the lowest byte, of four bytes of memory. */
static inline uint64_t hrr_hex_of4(uint32_t v)
{
	const uint64_t each = 0x0101010101010101u;
	uint64_t x = v;

	x = (x | x << 16) & 0x0000ffff0000ffffu;
	x = (x | x << 8) & 0x00ff00ff00ff00ffu;
	x = (x >> 4 & 0x000f000f000f000fu) | (x & 0x000f000f000f000fu) << 8;
	return x + '0' * each + ((x + 6 * each) >> 4 & each) * ('a' - '0' - 10);
}

/* Two lower-case digits for each of n bytes. */
static inline void hrr_hex_put(char *to, const void *data, size_t n)
{
	const unsigned char *s = data;
	size_t i = 0;

	for (; n - i >= 4; i += 4, to += 8) {
		uint32_t v;
		memcpy(&v, s + i, sizeof v);
		const uint64_t x = hrr_hex_of4(v);
		memcpy(to, &x, sizeof x);
	}
	for (; i < n; i++, to += 2) {
		const uint64_t x = hrr_hex_of4(s[i]);
		memcpy(to, &x, 2);
	}
}

/* 0x and the digits that count; returns how many bytes that are. */
static inline size_t hrr_addr_put(char *to, uint64_t v)
{
	size_t n = v == 0 ? 1 : (size_t)(67 - __builtin_clzll(v)) / 4;
	const uint64_t bytes = __builtin_bswap64(v);
	char all[32] = {0};

	hrr_hex_put(all, &bytes, sizeof bytes);
	memcpy(to, "0x", 2);
	memcpy(to + 2, all + 16 - n, 16);
	return n + 2;
}

/* Decimal digits; returns how many. */
static inline size_t hrr_dec_put(char *to, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	static const uint64_t powers[] = {0,
					  10,
					  100,
					  1000,
					  10000,
					  100000,
					  1000000,
					  10000000,
					  100000000,
					  1000000000,
					  10000000000,
					  100000000000,
					  1000000000000,
					  10000000000000,
					  100000000000000,
					  1000000000000000,
					  10000000000000000,
					  100000000000000000,
					  1000000000000000000,
					  10000000000000000000u};
	if (v < 10) { /* most are */
		*to = (char)('0' + v);
		return 1;
	}
	/* Bits times log10(2), at most one too few. */
	size_t n = (size_t)(64 - __builtin_clzll(v)) * 1233 >> 12;

	n += v >= powers[n];
	for (char *p = to + n;;) {
		if (v < 10) {
			p[-1] = (char)('0' + v);
			return n;
		}
		p -= 2;
		memcpy(p, pairs + 2 * (v % 100), 2);
		v /= 100;
		if (v == 0)
			return n;
	}
}

#endif
