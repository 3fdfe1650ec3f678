#include <errno.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "lib/base/json_private.h"
#include "lib/base/utf8.h"

/*
 * The fast path: what our writers print. Wherever the text is not plainly that,
 * it gives up with -EAGAIN and the general path decides, so that this file
 * never has to word an error. The same scanner reads what jansson printed
 * ("printed"), with everything allowed that jansson may print.
 */

#define MANY_MEMBERS \
	256 /* duplicates are looked for by walking; beyond this jansson's table does */

#ifdef __SSE2__
/* One bit per byte of the 16 at s that does not simply belong to a string. Signed: bytes from 0x80
 * are negative and so below 0x20 as well. */
static inline unsigned odd_bytes(const char *s)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)s);
	__m128i odd = _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
				   _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
						_mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));
	return (unsigned)_mm_movemask_epi8(odd);
}
#endif

/* First byte at or after i that does not simply belong to a string: quote, backslash, control
 * character or the start of a longer UTF-8 sequence. */
static inline size_t plain_end(const char *s, size_t i, size_t len)
{
#ifdef __SSE2__
	for (; len - i >= 16; i += 16) {
		unsigned mask = odd_bytes(s + i);
		if (mask != 0)
			return i + (size_t)__builtin_ctz(mask);
	}
#endif
	while (i < len) {
		unsigned char c = (unsigned char)s[i];
		if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
			break;
		i++;
	}
	return i;
}

static size_t odd_string_end(const char *s, size_t i, size_t len, bool printed, bool *ret_escaped)
{
	for (;;) {
		i = plain_end(s, i, len);
		if (i >= len)
			return 0;
		unsigned char c = (unsigned char)s[i];
		if (c == '"')
			return i;
		if (c == '\\') {
			/* \u needs surrogates looked at; our writers use it for control
			 * characters only. What jansson printed is known to be good. It does
			 * not escape slashes: the general way has another text then. */
			if (len - i < 2 || s[i + 1] == '\0' ||
			    strchr(printed ? "\"\\bfnrtu" : "\"\\bfnrt", s[i + 1]) == NULL)
				return 0;
			*ret_escaped = true;
			i += 2;
			continue;
		}
		size_t n = c < 0x80 ? 0 : hrr_utf8_len((const unsigned char *)s + i, len - i);
		if (n == 0)
			return 0;
		i += n;
	}
}

/* i is behind the opening quote; returns the place of the closing one, or 0 to give up. */
static inline size_t string_end(const char *s, size_t i, size_t len, bool printed,
				bool *ret_escaped)
{
	i = plain_end(s, i, len);
	if (i < len && s[i] == '"')
		return i;
	return odd_string_end(s, i, len, printed, ret_escaped);
}

/* A number our writers print: -?[0-9]{1,18} without leading zero. Returns its end, or 0. */
static inline size_t int_end(const char *s, size_t i, size_t len)
{
	size_t from = i;

	if (s[i] == '-')
		i++;
	size_t digits = i;
	while (i < len && (unsigned char)(s[i] - '0') <= 9)
		i++;
	if (i - digits - 1 > 17) /* none, or too many */
		return 0;
	if (s[digits] == '0' && (i - digits > 1 || from != digits))
		return 0;
	if (i < len && (s[i] == '.' || s[i] == 'e' || s[i] == 'E'))
		return 0;
	return i;
}

/* A number that jansson printed. */
static size_t number_end(const char *s, size_t i, size_t len, bool *ret_real)
{
	size_t from = i;

	for (; i < len && s[i] != '\0' && strchr("+-.eE0123456789", s[i]) != NULL; i++)
		if (s[i] == '.' || s[i] == 'e' || s[i] == 'E')
			*ret_real = true;
	return i > from ? i : 0;
}

struct container {
	uint32_t node, members;
	uint64_t seen; /* one bit per key met, by hash: most objects need no walk */
};

static inline uint64_t load8(const char *s)
{
	uint64_t v;

	memcpy(&v, s, sizeof v);
	return v;
}

/*
 * Only spreads: equal bits lead to a comparison, so that a key has the same wherever it stands.
 * room: bytes that may be read from key on.
 */
static inline unsigned key_bit(const char *key, size_t len, size_t room)
{
	uint64_t h = 0;

	if (len > 8)
		h = load8(key) ^ load8(key + len - 8) << 1;
	else if (room >= 8)
		h = len == 8 ? load8(key) : load8(key) & (((uint64_t)1 << len * 8) - 1);
	else
		for (size_t i = 0; i < len; i++)
			h |= (uint64_t)(unsigned char)key[i] << 8 * i; /* as load8 */
	return (unsigned)(((h ^ len) * 0x9e3779b97f4a7c15u) >> 58);
}

/* Is the newest key of o there already? */
static bool duplicate(const struct hrr_json *j, const struct container *o, uint32_t key)
{
	const struct hrr_json_node *k = &j->nodes[key];

	for (uint32_t i = o->node + 1; i < key; i = j->nodes[i + 1].next)
		if (j->nodes[i].len == k->len &&
		    memcmp(j->text + j->nodes[i].off, j->text + k->off, k->len) == 0)
			return true;
	return false;
}

static inline int push(struct hrr_json *j, unsigned type, bool escaped, bool key, size_t off,
		       size_t len)
{
	if (__builtin_expect(j->n == j->cap, 0)) {
		int rc = hrr_json_more(j);
		if (rc < 0)
			return rc;
	}
	struct hrr_json_node *n = &j->nodes[j->n++];
	n->type = (uint8_t)type;
	n->escaped = escaped;
	n->key = key;
	n->off = (uint32_t)off;
	n->len = (uint32_t)len;
	n->next = j->n;
	return 0;
}

static const struct {
	const char *text;
	unsigned len, type;
} literals[] = {
    {"true", 4, HRR_JSON_TRUE},
    {"false", 5, HRR_JSON_FALSE},
    {"null", 4, HRR_JSON_NULL},
};

static inline int scan(struct hrr_json *j, const char *s, size_t len, bool printed)
{
	/* One below the first stands for none: a pointer there has to have a place. */
	struct container room[HRR_JSON_MAX_DEPTH + 1], *stack = room + 1, *top = room;
	bool in_object = false;
	size_t i = 0, end;
	int rc;

	j->text = s;
	j->len = len;
	j->n = 0;
	j->general = printed;
	if (len > HRR_JSON_MAX_LINE)
		return -E2BIG;
	if (len == 0 || (s[0] != '{' && s[0] != '['))
		return -EAGAIN;
	goto value;

key:
	if (i >= len || s[i] != '"')
		return -EAGAIN;
	{
		bool escaped = false;
		i++;
		end = string_end(s, i, len, printed, &escaped);
		/* Two spellings of one key are duplicates too: left to jansson. */
		if (end == 0 || (escaped && !printed) || end + 2 >= len || s[end + 1] != ':')
			return -EAGAIN;
		rc = push(j, HRR_JSON_STRING, escaped, true, i, end - i);
		if (rc < 0)
			return rc;
	}
	if (!printed) {
		uint64_t bit = (uint64_t)1 << key_bit(s + i, end - i, len - i);
		if ((top->seen & bit) != 0 &&
		    (top->members >= MANY_MEMBERS || duplicate(j, top, j->n - 1)))
			return -EAGAIN;
		top->seen |= bit;
		top->members++;
	}
	i = end + 2;

value:
	if (i >= len)
		return -EAGAIN;
	switch (s[i]) {
	case '"': {
		bool escaped = false;
		end = string_end(s, i + 1, len, printed, &escaped);
		if (end == 0)
			return -EAGAIN;
		rc = push(j, HRR_JSON_STRING, escaped, false, i + 1, end - i - 1);
		i = end + 1;
		break;
	}
	case '{':
	case '[':
		if (top == stack + HRR_JSON_MAX_DEPTH - 1)
			return -E2BIG;
		in_object = s[i] == '{';
		rc = push(j, in_object ? HRR_JSON_OBJECT : HRR_JSON_ARRAY, false, false, i, 2);
		if (rc < 0)
			return rc;
		if (i + 1 < len && s[i + 1] == s[i] + 2) { /* {} or [] */
			i += 2;
			in_object = top >= stack && j->nodes[top->node].type == HRR_JSON_OBJECT;
			break;
		}
		top++;
		top->node = j->n - 1;
		top->members = 0;
		top->seen = 0;
		i++;
		if (in_object)
			goto key;
		goto value;
	case 't':
	case 'f':
	case 'n': {
		unsigned k = s[i] == 't' ? 0 : s[i] == 'f' ? 1 : 2;
		if (len - i < literals[k].len ||
		    memcmp(s + i, literals[k].text, literals[k].len) != 0)
			return -EAGAIN;
		rc = push(j, literals[k].type, false, false, i, literals[k].len);
		i += literals[k].len;
		break;
	}
	default: {
		bool real = false;
		end = printed ? number_end(s, i, len, &real) : int_end(s, i, len);
		if (end == 0)
			return -EAGAIN;
		rc = push(j, real ? HRR_JSON_REAL : HRR_JSON_INT, false, false, i, end - i);
		i = end;
	}
	}
	if (rc < 0)
		return rc;

	/* A value is complete; close what it completes. */
	while (top >= stack) {
		if (i >= len)
			return -EAGAIN;
		char c = s[i++];
		if (c == ',') {
			if (in_object)
				goto key;
			goto value;
		}
		if (c != (in_object ? '}' : ']'))
			return -EAGAIN;
		struct hrr_json_node *n = &j->nodes[top->node];
		n->len = (uint32_t)(i - n->off);
		n->next = j->n;
		top--;
		in_object = top >= stack && j->nodes[top->node].type == HRR_JSON_OBJECT;
	}
	return i == len ? 0 : -EAGAIN;
}

int hrr_json_scan(struct hrr_json *j, const char *text, size_t len)
{
	return scan(j, text, len, false);
}

int hrr_json_scan_printed(struct hrr_json *j, const char *text, size_t len)
{
	return scan(j, text, len, true);
}
