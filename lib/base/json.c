#include "lib/base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "lib/base/json_private.h"
#include "lib/base/utf8.h"

/*
 * The fast path: what our writers print. Wherever the text is not plainly that,
 * it gives up with -EAGAIN and the general path decides, so that this file
 * never has to word an error.
 */

#define MANY_MEMBERS \
	256 /* duplicates are looked for by walking; beyond this jansson's table does */

void hrr_json_release(struct hrr_json *j)
{
	hrr_buf_release(&j->mem);
	hrr_buf_release(&j->own);
	*j = (struct hrr_json){0};
}

int hrr_json_more(struct hrr_json *j)
{
	uint32_t cap = j->cap ? j->cap * 2 : 64;

	if (j->n >= HRR_JSON_MAX_NODES)
		return -E2BIG;
	if (cap > HRR_JSON_MAX_NODES)
		cap = HRR_JSON_MAX_NODES;
	j->mem.len = (size_t)j->n * sizeof *j->nodes;
	if (hrr_buf_reserve(&j->mem, (size_t)cap * sizeof *j->nodes - j->mem.len) < 0)
		return -ENOMEM;
	j->nodes = (struct hrr_json_node *)(void *)j->mem.data;
	j->cap = cap;
	return 0;
}

/* First byte at or after i that does not simply belong to a string: quote, backslash, control
 * character or the start of a longer UTF-8 sequence. */
static size_t plain_end(const char *s, size_t i, size_t len)
{
#ifdef __SSE2__
	while (len - i >= 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(s + i));
		/* Signed: bytes from 0x80 are negative and so below 0x20 as well. */
		__m128i odd = _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
					   _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
							_mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));
		unsigned mask = (unsigned)_mm_movemask_epi8(odd);
		if (mask != 0)
			return i + (size_t)__builtin_ctz(mask);
		i += 16;
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

/* i is behind the opening quote; returns the place of the closing one, or 0 to give up. */
static size_t string_end(const char *s, size_t i, size_t len, bool printed, bool *ret_escaped)
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
			 * characters only. What jansson printed is known to be good. */
			if (len - i < 2 || s[i + 1] == '\0' ||
			    strchr(printed ? "\"\\/bfnrtu" : "\"\\/bfnrt", s[i + 1]) == NULL)
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

/* A number our writers print: -?[0-9]{1,18} without leading zero. Returns its end, or 0. */
static size_t int_end(const char *s, size_t i, size_t len)
{
	size_t from = i;

	if (s[i] == '-')
		i++;
	size_t digits = i;
	while (i < len && s[i] >= '0' && s[i] <= '9')
		i++;
	if (i == digits || i - digits > 18)
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

	for (; i < len && strchr("+-.eE0123456789", s[i]) != NULL && s[i] != '\0'; i++)
		if (s[i] == '.' || s[i] == 'e' || s[i] == 'E')
			*ret_real = true;
	return i > from ? i : 0;
}

struct open_container {
	uint32_t node;
	uint32_t members;
	uint64_t seen; /* one bit per key met, by hash: most objects need no walk */
};

static unsigned key_bit(const char *key, size_t len)
{
	uint64_t h = len * 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)key[i]) * 0x100000001b3u;
	return (unsigned)(h >> 40 & 63);
}

/* Is the newest key of o there already? */
static bool duplicate(const struct hrr_json *j, const struct open_container *o, uint32_t key)
{
	const struct hrr_json_node *k = &j->nodes[key];

	for (uint32_t i = o->node + 1; i < key; i = j->nodes[i + 1].next)
		if (j->nodes[i].len == k->len &&
		    memcmp(j->text + j->nodes[i].off, j->text + k->off, k->len) == 0)
			return true;
	return false;
}

static bool literal(const char *s, size_t i, size_t len, const char *word, size_t n)
{
	return len - i >= n && memcmp(s + i, word, n) == 0;
}

#define PUSH(TYPE, ESC, KEY, OFF, LEN)                                           \
	do {                                                                     \
		int rc_ = j->n < j->cap ? 0 : hrr_json_more(j);                  \
		if (rc_ < 0)                                                     \
			return rc_;                                              \
		j->nodes[j->n] = (struct hrr_json_node){.type = (uint8_t)(TYPE), \
							.escaped = (ESC),        \
							.key = (KEY),            \
							.off = (uint32_t)(OFF),  \
							.len = (uint32_t)(LEN),  \
							.next = j->n + 1};       \
		j->n++;                                                          \
	} while (0)

static int scan(struct hrr_json *j, const char *s, size_t len, bool printed)
{
	struct open_container stack[HRR_JSON_MAX_DEPTH];
	size_t depth = 0, i = 0;

	j->text = s;
	j->len = len;
	j->n = 0;
	j->general = printed;
	if (len > HRR_JSON_MAX_LINE)
		return -E2BIG;
	if (len == 0 || (s[0] != '{' && s[0] != '['))
		return -EAGAIN;

	/* Each turn reads one value, and before it, in an object, its key. */
	for (;;) {
		bool escaped = false, real = false;
		size_t end;

		if (depth > 0 && j->nodes[stack[depth - 1].node].type == HRR_JSON_OBJECT) {
			struct open_container *o = &stack[depth - 1];
			if (i >= len || s[i] != '"')
				return -EAGAIN;
			end = string_end(s, i + 1, len, printed, &escaped);
			/* Two spellings of one key are duplicates too: left to jansson. */
			if (end == 0 || (escaped && !printed) || end + 1 >= len ||
			    s[end + 1] != ':')
				return -EAGAIN;
			PUSH(HRR_JSON_STRING, escaped, true, i + 1, end - i - 1);
			uint64_t bit = (uint64_t)1 << key_bit(s + i + 1, end - i - 1);
			if ((o->seen & bit) != 0 && !printed &&
			    (o->members >= MANY_MEMBERS || duplicate(j, o, j->n - 1)))
				return -EAGAIN;
			o->seen |= bit;
			o->members++;
			i = end + 2;
		}
		if (i >= len)
			return -EAGAIN;
		switch (s[i]) {
		case '{':
		case '[':
			if (depth == HRR_JSON_MAX_DEPTH)
				return -E2BIG;
			PUSH(s[i] == '{' ? HRR_JSON_OBJECT : HRR_JSON_ARRAY, false, false, i, 0);
			if (i + 1 < len && s[i + 1] == s[i] + 2) { /* {} or [] */
				j->nodes[j->n - 1].len = 2;
				i += 2;
				break;
			}
			stack[depth++] = (struct open_container){.node = j->n - 1};
			i++;
			continue;
		case '"':
			end = string_end(s, i + 1, len, printed, &escaped);
			if (end == 0)
				return -EAGAIN;
			PUSH(HRR_JSON_STRING, escaped, false, i + 1, end - i - 1);
			i = end + 1;
			break;
		case 't':
			if (!literal(s, i, len, "true", 4))
				return -EAGAIN;
			PUSH(HRR_JSON_TRUE, false, false, i, 4);
			i += 4;
			break;
		case 'f':
			if (!literal(s, i, len, "false", 5))
				return -EAGAIN;
			PUSH(HRR_JSON_FALSE, false, false, i, 5);
			i += 5;
			break;
		case 'n':
			if (!literal(s, i, len, "null", 4))
				return -EAGAIN;
			PUSH(HRR_JSON_NULL, false, false, i, 4);
			i += 4;
			break;
		default:
			end = printed ? number_end(s, i, len, &real) : int_end(s, i, len);
			if (end == 0)
				return -EAGAIN;
			PUSH(real ? HRR_JSON_REAL : HRR_JSON_INT, false, false, i, end - i);
			i = end;
		}
		/* A value is complete; close what it completes. */
		for (;;) {
			if (depth == 0)
				return i == len ? 0 : -EAGAIN;
			if (i >= len)
				return -EAGAIN;
			struct hrr_json_node *c = &j->nodes[stack[depth - 1].node];
			if (s[i] == ',') {
				i++;
				break;
			}
			if (s[i] != (c->type == HRR_JSON_OBJECT ? '}' : ']'))
				return -EAGAIN;
			i++;
			c->len = (uint32_t)(i - c->off);
			c->next = j->n;
			depth--;
		}
	}
}

int hrr_json_scan(struct hrr_json *j, const char *text, size_t len)
{
	return scan(j, text, len, false);
}

int hrr_json_scan_printed(struct hrr_json *j, const char *text, size_t len)
{
	return scan(j, text, len, true);
}

int hrr_json_parse(struct hrr_json *j, const char *text, size_t len, struct hrr_diag *diag)
{
	int rc = hrr_json_scan(j, text, len);

	if (rc == -EAGAIN)
		return hrr_json_parse_general(j, text, len, diag);
	if (rc == -E2BIG)
		return hrr_json_too_big(j, len, diag);
	if (rc < 0)
		return hrr_diag_set(diag, rc, "out of memory");
	return rc;
}

int hrr_json_too_big(const struct hrr_json *j, size_t len, struct hrr_diag *diag)
{
	if (len > HRR_JSON_MAX_LINE)
		return hrr_diag_set(diag, -E2BIG, "line too long: %zu bytes, the limit is %zu", len,
				    HRR_JSON_MAX_LINE);
	if (j->n >= HRR_JSON_MAX_NODES)
		return hrr_diag_set(diag, -E2BIG, "too many values in a line: the limit is %d",
				    HRR_JSON_MAX_NODES);
	return hrr_diag_set(diag, -E2BIG, "nested too deep: the limit is %d", HRR_JSON_MAX_DEPTH);
}
