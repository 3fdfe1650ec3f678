#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"

int hrr_json_first(const struct hrr_json *j, int parent)
{
	const struct hrr_json_node *p = &j->nodes[parent];

	return p->next > (uint32_t)parent + 1 && !p->key ? parent + 1 : -1;
}

int hrr_json_next(const struct hrr_json *j, int parent, int node)
{
	const struct hrr_json_node *n = &j->nodes[node];
	uint32_t next = n->key ? n[1].next : n->next;

	return next < j->nodes[parent].next ? (int)next : -1;
}

uint32_t hrr_json_count(const struct hrr_json *j, int parent)
{
	uint32_t count = 0;

	for (int i = hrr_json_first(j, parent); i >= 0; i = hrr_json_next(j, parent, i))
		count++;
	return count;
}

int hrr_json_get(const struct hrr_json *j, int object, const char *key)
{
	size_t len = strlen(key);

	if (object < 0 || j->nodes[object].type != HRR_JSON_OBJECT)
		return -1;
	for (int i = hrr_json_first(j, object); i >= 0; i = hrr_json_next(j, object, i))
		if (!j->nodes[i].escaped && j->nodes[i].len == len &&
		    memcmp(j->text + j->nodes[i].off, key, len) == 0)
			return i + 1;
	return -1;
}

const char *hrr_json_raw(const struct hrr_json *j, int node, size_t *ret_len)
{
	if (node < 0 || j->nodes[node].type != HRR_JSON_STRING || j->nodes[node].escaped)
		return NULL;
	*ret_len = j->nodes[node].len;
	return j->text + j->nodes[node].off;
}

bool hrr_json_is(const struct hrr_json *j, int node, const char *string)
{
	size_t len;
	const char *s = hrr_json_raw(j, node, &len);

	return s != NULL && len == strlen(string) && memcmp(s, string, len) == 0;
}

/* Sign and magnitude of an integer; at most 19 digits get here. */
static int integer(const char *s, size_t len, bool *ret_negative, uint64_t *ret)
{
	size_t i = s[0] == '-';
	uint64_t v = 0;

	*ret_negative = i;
	for (size_t sure = len < 18 ? len : 18; i < sure; i++)
		v = v * 10 + (uint64_t)(s[i] - '0');
	for (; i < len; i++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
			return -EINVAL;
	*ret = v;
	return 0;
}

static bool is_integer(const struct hrr_json *j, int node)
{
	return node >= 0 && j->nodes[node].type == HRR_JSON_INT;
}

int hrr_json_text_u64(const char *s, size_t len, uint64_t *ret)
{
	bool negative;
	uint64_t v;

	if (integer(s, len, &negative, &v) < 0 || negative)
		return -EINVAL;
	*ret = v;
	return 0;
}

int hrr_json_u64(const struct hrr_json *j, int node, uint64_t *ret)
{
	return is_integer(j, node)
		   ? hrr_json_text_u64(j->text + j->nodes[node].off, j->nodes[node].len, ret)
		   : -EINVAL;
}

int hrr_json_i64(const struct hrr_json *j, int node, int64_t *ret)
{
	bool negative;
	uint64_t v;

	if (!is_integer(j, node) ||
	    integer(j->text + j->nodes[node].off, j->nodes[node].len, &negative, &v) < 0 ||
	    v > (uint64_t)INT64_MAX + negative)
		return -EINVAL;
	*ret = negative ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

int hrr_json_f64(const struct hrr_json *j, int node, double *ret)
{
	char text[64];

	if (node < 0 ||
	    (j->nodes[node].type != HRR_JSON_INT && j->nodes[node].type != HRR_JSON_REAL))
		return -EINVAL;
	size_t len = j->nodes[node].len;
	if (len >= sizeof text)
		return -EINVAL;
	memcpy(text, j->text + j->nodes[node].off, len);
	text[len] = '\0';
	*ret = strtod(text, NULL);
	return 0;
}

/* One above what a digit stands for; 0 is none. */
static const unsigned char hex_digits[256] = {
    ['0'] = 1,	['1'] = 2,  ['2'] = 3,	['3'] = 4,  ['4'] = 5,	['5'] = 6,  ['6'] = 7,	['7'] = 8,
    ['8'] = 9,	['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static inline int hex_digit(char c)
{
	return (int)hex_digits[(unsigned char)c] - 1;
}

int hrr_json_text_addr(const char *s, size_t len, uint64_t *ret)
{
	uint64_t v = 0;

	if (len < 3 || len > 18 || s[0] != '0' || s[1] != 'x')
		return -EINVAL;
	for (size_t i = 2; i < len; i++) {
		int d = hex_digit(s[i]);
		if (d < 0)
			return -EINVAL;
		v = v << 4 | (unsigned)d;
	}
	*ret = v;
	return 0;
}

int hrr_json_addr(const struct hrr_json *j, int node, uint64_t *ret)
{
	size_t len;
	const char *s = hrr_json_raw(j, node, &len);

	return s != NULL ? hrr_json_text_addr(s, len, ret) : hrr_json_u64(j, node, ret);
}

uint64_t hrr_json_decimal(const struct hrr_json *j, const char *key)
{
	size_t len;
	const char *s = hrr_json_raw(j, hrr_json_get(j, 0, key), &len);
	uint64_t v = 0;

	for (size_t i = 0; s != NULL && i < len; i++)
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
			return 0;
	return v;
}

int hrr_json_hex(const struct hrr_json *j, int node, struct hrr_buf *b)
{
	size_t len;
	const char *s = hrr_json_raw(j, node, &len);

	if (s == NULL || len % 2 != 0)
		return -EINVAL;
	if (len == 0)
		return 0;
	if (hrr_buf_reserve(b, len / 2) < 0)
		return -ENOMEM;
	char *out = b->data + b->len;
	for (size_t i = 0; i < len; i += 2) {
		int hi = hex_digit(s[i]), lo = hex_digit(s[i + 1]);
		if (hi < 0 || lo < 0)
			return -EINVAL;
		*out++ = (char)(hi << 4 | lo);
	}
	b->len += len / 2;
	return 0;
}

/* Four hex digits, checked by the parser. */
static uint32_t unit(const char *s)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++)
		v = v << 4 | (unsigned)hex_digit(s[i]);
	return v;
}

static size_t utf8_put(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

static int decode(const char *s, size_t len, struct hrr_buf *b)
{
	/* An escape is never shorter than what it stands for. */
	if (hrr_buf_reserve(b, len) < 0)
		return -ENOMEM;
	char *out = b->data + b->len;
	for (size_t i = 0; i < len; i++) {
		if (s[i] != '\\') {
			*out++ = s[i];
			continue;
		}
		char c = s[++i];
		if (c == 'u') {
			uint32_t u = unit(s + i + 1);
			i += 4;
			if (u >= 0xd800 && u < 0xdc00) {
				u = 0x10000 + ((u - 0xd800) << 10) + (unit(s + i + 3) - 0xdc00);
				i += 6;
			}
			out += utf8_put(out, u);
			continue;
		}
		static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
		const char *at = strchr(from, c);
		*out++ = at != NULL ? to[at - from] : c;
	}
	b->len = (size_t)(out - b->data);
	return 0;
}

int hrr_json_str(const struct hrr_json *j, int node, struct hrr_buf *b)
{
	if (node < 0)
		return -EINVAL;
	const struct hrr_json_node *n = &j->nodes[node];
	if (n->type == HRR_JSON_OBJECT) {
		int hex = hrr_json_get(j, node, "hex");
		if (hex < 0 || hrr_json_count(j, node) != 1)
			return -EINVAL;
		return hrr_json_hex(j, hex, b);
	}
	if (n->type != HRR_JSON_STRING)
		return -EINVAL;
	if (!n->escaped)
		return hrr_buf_add(b, j->text + n->off, n->len);
	return decode(j->text + n->off, n->len, b);
}
