#include "lib/base/diag.h"

#include <stdio.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at s, or 0. */
static size_t utf8_len(const unsigned char *s, size_t n)
{
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf && n >= 2 && (s[1] & 0xc0) == 0x80)
		return 2;
	if ((s[0] & 0xf0) == 0xe0 && n >= 3 && (s[1] & 0xc0) == 0x80 && (s[2] & 0xc0) == 0x80) {
		if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))
			return 0;
		return 3;
	}
	if (s[0] >= 0xf0 && s[0] <= 0xf4 && n >= 4 && (s[1] & 0xc0) == 0x80 &&
	    (s[2] & 0xc0) == 0x80 && (s[3] & 0xc0) == 0x80) {
		if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
			return 0;
		return 4;
	}
	return 0;
}

size_t hrr_mask(char *dst, size_t size, const char *src, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)src;
	size_t o = 0;

	for (size_t i = 0; i < len;) {
		size_t n = utf8_len(s + i, len - i);
		/* C0, DEL and C1 (U+0080..U+009F) can steer a terminal. */
		int bad = n == 0 || (n == 1 && (s[i] < 0x20 || s[i] == 0x7f)) ||
			  (n == 2 && s[i] == 0xc2 && s[i + 1] < 0xa0);
		if (!bad) {
			if (o + n >= size)
				break;
			memcpy(dst + o, s + i, n);
			o += n;
			i += n;
			continue;
		}
		if (n == 0)
			n = 1;
		for (size_t k = 0; k < n; k++, i++) {
			if (o + 4 >= size)
				goto out;
			dst[o++] = '\\';
			dst[o++] = 'x';
			dst[o++] = hex[s[i] >> 4];
			dst[o++] = hex[s[i] & 15];
		}
	}
out:
	dst[o] = '\0';
	return o;
}

int hrr_diag_set(struct hrr_diag *diag, int err, const char *fmt, ...)
{
	char raw[768];
	va_list ap;

	if (diag == NULL)
		return err;
	va_start(ap, fmt);
	int n = vsnprintf(raw, sizeof raw, fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	if ((size_t)n >= sizeof raw)
		n = (int)sizeof raw - 1;
	hrr_mask(diag->what, sizeof diag->what, raw, (size_t)n);
	return err;
}

void hrr_diag_at(struct hrr_diag *diag, const char *operand, uint64_t line)
{
	if (diag == NULL)
		return;
	if (operand == NULL)
		operand = "";
	hrr_mask(diag->operand, sizeof diag->operand, operand, strlen(operand));
	diag->line = line;
}
