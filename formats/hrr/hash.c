#include "formats/hrr/hash.h"

#define LO_START UINT64_C(0xcbf29ce484222325)
#define HI_START UINT64_C(0x00000100000001b3)

struct hrr_fnv hrr_fnv_start(void)
{
	return (struct hrr_fnv){LO_START, HI_START};
}

void hrr_fnv_add(struct hrr_fnv *h, const void *data, size_t len)
{
	const unsigned char *s = data;
	uint64_t lo = h->lo, hi = h->hi;

	/* Each lane multiplies by what the other one starts from. */
	for (size_t i = 0; i < len; i++) {
		lo = (lo ^ s[i]) * HI_START;
		hi = (hi ^ s[i]) * LO_START;
	}
	h->lo = lo;
	h->hi = hi;
}

struct hrr_fnv hrr_fnv_of(const void *data, size_t len)
{
	struct hrr_fnv h = hrr_fnv_start();

	hrr_fnv_add(&h, data, len);
	return h;
}

void hrr_fnv_text(struct hrr_fnv h, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < 16; i++) {
		text[i] = digits[(h.lo >> (60 - 4 * i)) & 15];
		text[16 + i] = digits[(h.hi >> (60 - 4 * i)) & 15];
	}
	text[HRR_FNV_HEX] = '\0';
}

bool hrr_fnv_parse(const char *text, size_t len, struct hrr_fnv *ret)
{
	uint64_t w[2] = {0, 0};

	if (len != HRR_FNV_HEX)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		unsigned v;
		if (c >= '0' && c <= '9')
			v = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = (unsigned)(c - 'a' + 10);
		else
			return false;
		w[i / 16] = w[i / 16] << 4 | v;
	}
	*ret = (struct hrr_fnv){w[0], w[1]};
	return true;
}
