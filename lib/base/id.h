#ifndef HRR_BASE_ID_H
#define HRR_BASE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of a blob: XXH3-128 of its bytes in canonical (big-endian) byte order. */
struct hrr_id {
	unsigned char b[16];
};

#define HRR_ID_HEX 32		     /* hex digits */
#define HRR_ID_TEXT (7 + HRR_ID_HEX) /* "xxh128:" and the digits, without NUL */

struct hrr_id hrr_id_of(const void *data, size_t len);
/* text (HRR_ID_TEXT + 1 bytes) gets "xxh128:…" and NUL. */
void hrr_id_text(const struct hrr_id *id, char *text);
/* The one place where an id is parsed. Exactly "xxh128:" and 32 lower-case hex digits; else
 * -EINVAL. */
int hrr_id_parse(const char *text, size_t len, struct hrr_id *ret_id);
bool hrr_id_equal(const struct hrr_id *a, const struct hrr_id *b);

/* Hash of bytes that come in pieces. Owned state; new returns NULL when out of memory. */
struct hrr_hasher;
struct hrr_hasher *hrr_hasher_new(void);
void hrr_hasher_add(struct hrr_hasher *h, const void *data, size_t len);
struct hrr_id hrr_hasher_end(struct hrr_hasher *h); /* and starts anew */
void hrr_hasher_free(struct hrr_hasher *h);

#endif
