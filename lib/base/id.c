#include "lib/base/id.h"

#include <errno.h>
#include <string.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* xxhash.h, by what the processor can do */
#else
#include <xxhash.h>
#endif

#include "lib/base/digits.h"

_Static_assert(sizeof(struct hrr_id) == sizeof(XXH128_canonical_t), "an id is a canonical hash");

static struct hrr_id canonical(XXH128_hash_t hash)
{
	XXH128_canonical_t c;
	struct hrr_id id;

	XXH128_canonicalFromHash(&c, hash);
	memcpy(id.b, c.digest, sizeof id.b);
	return id;
}

struct hrr_id hrr_id_of(const void *data, size_t len)
{
	return canonical(XXH3_128bits(data, len));
}

void hrr_id_text(const struct hrr_id *id, char *text)
{
	memcpy(text, "xxh128:", 7);
	hrr_hex_put(text + 7, id->b, sizeof id->b);
	text[HRR_ID_TEXT] = '\0';
}

/* Value of a lower-case hex digit, or -1. */
static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int hrr_id_parse(const char *text, size_t len, struct hrr_id *ret_id)
{
	struct hrr_id id;

	if (len != HRR_ID_TEXT || memcmp(text, "xxh128:", 7) != 0)
		return -EINVAL;
	text += 7;
	for (size_t i = 0; i < sizeof id.b; i++) {
		int hi = digit(text[2 * i]), lo = digit(text[2 * i + 1]);
		if (hi < 0 || lo < 0)
			return -EINVAL;
		id.b[i] = (unsigned char)(hi << 4 | lo);
	}
	*ret_id = id;
	return 0;
}

bool hrr_id_equal(const struct hrr_id *a, const struct hrr_id *b)
{
	return memcmp(a->b, b->b, sizeof a->b) == 0;
}

/* The state is over-aligned, so it comes from xxHash's own allocator; the type is ours in name
 * only. */
struct hrr_hasher *hrr_hasher_new(void)
{
	XXH3_state_t *state = XXH3_createState();

	if (state != NULL)
		XXH3_128bits_reset(state);
	return (struct hrr_hasher *)state;
}

void hrr_hasher_add(struct hrr_hasher *h, const void *data, size_t len)
{
	if (len > 0)
		XXH3_128bits_update((XXH3_state_t *)h, data, len);
}

struct hrr_id hrr_hasher_end(struct hrr_hasher *h)
{
	struct hrr_id id = canonical(XXH3_128bits_digest((XXH3_state_t *)h));

	XXH3_128bits_reset((XXH3_state_t *)h);
	return id;
}

void hrr_hasher_free(struct hrr_hasher *h)
{
	XXH3_freeState((XXH3_state_t *)h);
}
