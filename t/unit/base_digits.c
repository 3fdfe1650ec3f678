#include "lib/base/digits.h"

#include <inttypes.h>
#include <stdio.h>

#include "t/unit/tap.h"

/* Both forms of a number against printf's; what they may write besides is inside their room. */
static bool right(uint64_t v)
{
	char got[HRR_DEC_ROOM + 1], want[32];
	size_t n;

	memset(got, '#', sizeof got);
	n = hrr_dec_put(got, v);
	if (n != (size_t)snprintf(want, sizeof want, "%" PRIu64, v) || memcmp(got, want, n) != 0 ||
	    got[HRR_DEC_ROOM] != '#')
		return false;
	memset(got, '#', sizeof got);
	n = hrr_addr_put(got, v);
	return n == (size_t)snprintf(want, sizeof want, "0x%" PRIx64, v) &&
	       memcmp(got, want, n) == 0 && got[HRR_ADDR_ROOM] == '#';
}

int main(void)
{
	unsigned char bytes[256];
	uint64_t ten = 1, seed = 7;
	int wrong = 0;

	for (int bit = 0; bit < 64; bit++)
		for (uint64_t d = 0; d < 7; d++)
			wrong += !right((UINT64_C(1) << bit) + d - 3);
	is(wrong, 0, "numbers around the powers of two");
	for (int k = 0; k < 20; k++, ten *= 10)
		for (uint64_t d = 0; d < 5; d++)
			wrong += !right(ten + d - 2);
	is(wrong, 0, "numbers around the powers of ten");
	for (int i = 0; i < 100000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		wrong += !right(seed >> i % 64);
	}
	is(wrong, 0, "100000 others");

	for (int i = 0; i < 256; i++)
		bytes[i] = (unsigned char)i;
	for (size_t n = 0; n <= sizeof bytes; n++) {
		char got[2 * sizeof bytes + 1], want[2 * sizeof bytes + 1];
		memset(got, '#', sizeof got);
		hrr_hex_put(got, bytes + sizeof bytes - n, n);
		for (size_t i = 0; i < n; i++)
			snprintf(want + 2 * i, 3, "%02x", bytes[sizeof bytes - n + i]);
		wrong += memcmp(got, want, 2 * n) != 0 || got[2 * n] != '#';
	}
	is(wrong, 0, "bytes as hex digits, of every length up to 256");
	return done_testing();
}
