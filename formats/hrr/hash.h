#ifndef HRR_FORMATS_HRR_HASH_H
#define HRR_FORMATS_HRR_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The name upstream archives give a blob: two 64-bit lanes over the same bytes.
 * No integrity check worth the name; it finds accidents, not intent. lo 0 and
 * hi 0 mean "no blob".
 */
struct hrr_fnv {
	uint64_t lo, hi;
};

#define HRR_FNV_HEX 32

struct hrr_fnv hrr_fnv_start(void);
void hrr_fnv_add(struct hrr_fnv *h, const void *data, size_t len);
struct hrr_fnv hrr_fnv_of(const void *data, size_t len);
/* text (HRR_FNV_HEX + 1 bytes): 16 lower-case digits of lo, 16 of hi, NUL. */
void hrr_fnv_text(struct hrr_fnv h, char *text);
/* Exactly 32 lower-case hex digits; else false. */
bool hrr_fnv_parse(const char *text, size_t len, struct hrr_fnv *ret);
static inline bool hrr_fnv_none(struct hrr_fnv h)
{
	return h.lo == 0 && h.hi == 0;
}
static inline bool hrr_fnv_equal(struct hrr_fnv a, struct hrr_fnv b)
{
	return a.lo == b.lo && a.hi == b.hi;
}

#endif
