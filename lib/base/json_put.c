#include <errno.h>
#include <string.h>

#include "lib/base/digits.h"
#include "lib/base/json.h"
#include "lib/base/utf8.h"

static const char digits[] = "0123456789abcdef";

int hrr_json_put_hex(struct hrr_buf *b, const void *data, size_t len)
{
	if (len > SIZE_MAX / 4 || hrr_buf_reserve(b, 2 * len + 2) < 0)
		return -ENOMEM;
	char *out = b->data + b->len;
	out[0] = '"';
	hrr_hex_put(out + 1, data, len);
	out[2 * len + 1] = '"';
	b->len += 2 * len + 2;
	return 0;
}

int hrr_json_put_addr(struct hrr_buf *b, uint64_t v)
{
	if (hrr_buf_reserve(b, HRR_ADDR_ROOM + 2) < 0)
		return -ENOMEM;
	char *out = b->data + b->len;
	size_t n = hrr_addr_put(out + 1, v);
	out[0] = out[n + 1] = '"';
	b->len += n + 2;
	return 0;
}

int hrr_json_put_str(struct hrr_buf *b, const char *s, size_t len)
{
	size_t before = b->len;

	if (len > 0 && (memchr(s, 0, len) != NULL || !hrr_utf8_ok(s, len))) {
		if (hrr_buf_adds(b, "{\"hex\":") < 0 || hrr_json_put_hex(b, s, len) < 0 ||
		    hrr_buf_addc(b, '}') < 0)
			goto no_memory;
		return 0;
	}
	if (len > SIZE_MAX / 8 || hrr_buf_reserve(b, 6 * len + 2) < 0)
		return -ENOMEM;
	char *out = b->data + b->len;
	*out++ = '"';
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
		const char *at = c < 0x20 || c == '"' || c == '\\' ? strchr(from, c) : NULL;
		if (at != NULL) {
			*out++ = '\\';
			*out++ = to[at - from];
		} else if (c < 0x20) {
			memcpy(out, "\\u00", 4);
			out[4] = digits[c >> 4];
			out[5] = digits[c & 15];
			out += 6;
		} else {
			*out++ = (char)c;
		}
	}
	*out++ = '"';
	b->len = (size_t)(out - b->data);
	return 0;
no_memory:
	b->len = before;
	return -ENOMEM;
}
