#include "lib/base/mask.h"

#include <errno.h>

#include "lib/base/diag.h"
#include "lib/base/utf8.h"

/*
 * Is a character of two or three bytes one that a reader may not be shown as it is? C1 controls
 * (U+0080 to U+009F) steer terminals. U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069
 * turn around what follows, so that a text reads as another one; U+2028 and U+2029 end a line.
 */
static int turns(const unsigned char *s, size_t n)
{
	if (n == 2)
		return (s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xd8 && s[1] == 0x9c);
	if (n != 3 || s[0] != 0xe2)
		return 0;
	if (s[1] == 0x80)
		return s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae);
	return s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
}

/* Bytes of the character at s, and whether they are to be masked. */
static size_t look(const unsigned char *s, size_t len, int *ret_masked)
{
	size_t n = hrr_utf8_len(s, len);

	*ret_masked = n == 0 || (n == 1 ? s[0] < 0x20 || s[0] == 0x7f : turns(s, n));
	return n == 0 ? 1 : n;
}

static void put_byte(char *to, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	to[0] = '\\';
	to[1] = 'x';
	to[2] = hex[c >> 4];
	to[3] = hex[c & 15];
}

size_t hrr_mask(char *dst, size_t size, const char *src, size_t len)
{
	const unsigned char *s = (const unsigned char *)src;
	size_t o = 0;

	for (size_t i = 0; i < len;) {
		int masked;
		size_t n = look(s + i, len - i, &masked);
		if (!masked) {
			if (o + n >= size)
				break;
			memcpy(dst + o, s + i, n);
			o += n;
			i += n;
			continue;
		}
		for (size_t k = 0; k < n; k++, i++, o += 4) {
			if (o + 4 >= size)
				goto out;
			put_byte(dst + o, s[i]);
		}
	}
out:
	dst[o] = '\0';
	return o;
}

char *hrr_mask_odd(char *to, const char *s, size_t len)
{
	/* Room for the longest, and the NUL. */
	return to + hrr_mask(to, HRR_MASK_ROOM(len), s, len);
}

int hrr_mask_add(struct hrr_buf *b, const char *s, size_t len)
{
	if (len > SIZE_MAX / 8 || hrr_buf_reserve(b, HRR_MASK_ROOM(len)) < 0)
		return -ENOMEM;
	b->len = (size_t)(hrr_mask_put(b->data + b->len, s, len) - b->data);
	return 0;
}

int hrr_mask_lines(struct hrr_buf *b, const char *s, size_t len)
{
	int bad = 0;

	for (size_t i = 0; i < len; i++) {
		size_t from = i;
		while (i < len && s[i] != '\n' && s[i] != '\t' &&
		       !(s[i] == '\r' && i + 1 < len && s[i + 1] == '\n'))
			i++;
		bad |= hrr_mask_add(b, s + from, i - from);
		if (i < len)
			bad |= hrr_buf_addc(b, s[i]);
	}
	return bad ? -ENOMEM : 0;
}

int hrr_mask_from(struct hrr_buf *b, size_t from)
{
	struct hrr_buf text = {0};
	int rc = hrr_buf_add(&text, b->data + from, b->len - from);

	b->len = from;
	if (rc == 0)
		rc = hrr_mask_lines(b, text.data, text.len);
	hrr_buf_release(&text);
	return rc;
}
