#include "lib/base/diag.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/utf8.h"

size_t hrr_mask(char *dst, size_t size, const char *src, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)src;
	size_t o = 0;

	for (size_t i = 0; i < len;) {
		size_t n = hrr_utf8_len(s + i, len - i);
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
