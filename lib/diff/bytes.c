#include "lib/diff/bytes.h"

#include <string.h>

#define BLOCK 4096

/* First differing byte at or after from; len when there is none. */
static size_t skip_equal(const unsigned char *a, const unsigned char *b, size_t len, size_t from)
{
	/* memcmp is as fast as the machine; it only does not say where. */
	while (len - from >= BLOCK && memcmp(a + from, b + from, BLOCK) == 0)
		from += BLOCK;
	while (len - from >= 8) {
		uint64_t x, y;

		memcpy(&x, a + from, 8);
		memcpy(&y, b + from, 8);
		if (x != y)
			break;
		from += 8;
	}
	while (from < len && a[from] == b[from])
		from++;
	return from;
}

bool hrr_bytes_next(const void *va, const void *vb, size_t len, size_t from, size_t gap,
		    struct hrr_bytes_range *ret)
{
	const unsigned char *a = va, *b = vb;
	size_t at = from < len ? skip_equal(a, b, len, from) : len;

	if (at == len)
		return false;
	*ret = (struct hrr_bytes_range){.at = at, .size = 1, .differing = 1};
	for (size_t i = at + 1; i < len && i - (at + ret->size) < gap; i++)
		if (a[i] != b[i]) {
			ret->size = i - at + 1;
			ret->differing++;
		}
	return true;
}
