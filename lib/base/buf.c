#include "lib/base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/digits.h"

void hrr_buf_release(struct hrr_buf *b)
{
	free(b->data);
	*b = (struct hrr_buf){0};
}

int hrr_buf_reserve(struct hrr_buf *b, size_t n)
{
	if (n <= b->cap - b->len)
		return 0;
	if (n > SIZE_MAX / 2 - b->len) {
		b->failed = true;
		return -ENOMEM;
	}
	size_t cap = b->cap ? b->cap : 64;
	while (cap < b->len + n)
		cap *= 2;
	char *p = realloc(b->data, cap);
	if (p == NULL) {
		b->failed = true;
		return -ENOMEM;
	}
	b->data = p;
	b->cap = cap;
	return 0;
}

int hrr_buf_add(struct hrr_buf *b, const void *data, size_t n)
{
	if (n == 0)
		return 0;
	if (hrr_buf_reserve(b, n) < 0)
		return -ENOMEM;
	memcpy(b->data + b->len, data, n);
	b->len += n;
	return 0;
}

int hrr_buf_addc(struct hrr_buf *b, char c)
{
	return hrr_buf_add(b, &c, 1);
}

int hrr_buf_adds(struct hrr_buf *b, const char *s)
{
	return hrr_buf_add(b, s, strlen(s));
}

int hrr_buf_addf(struct hrr_buf *b, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(b->data ? b->data + b->len : NULL, b->cap - b->len, fmt, ap);
	va_end(ap);
	int rc = n < 0 ? -ENOMEM : 0;
	if (rc == 0 && (size_t)n >= b->cap - b->len) {
		rc = hrr_buf_reserve(b, (size_t)n + 1);
		if (rc == 0)
			vsnprintf(b->data + b->len, b->cap - b->len, fmt, again);
	}
	va_end(again);
	if (rc == 0)
		b->len += (size_t)n;
	return rc;
}

int hrr_buf_addu(struct hrr_buf *b, uint64_t v)
{
	if (hrr_buf_reserve(b, HRR_DEC_ROOM) < 0)
		return -ENOMEM;
	b->len += hrr_dec_put(b->data + b->len, v);
	return 0;
}

int hrr_buf_add_dims(struct hrr_buf *b, const uint32_t v[3])
{
	for (int i = 0; i < 3; i++)
		if (hrr_buf_addc(b, i == 0 ? '[' : ',') < 0 || hrr_buf_addu(b, v[i]) < 0)
			return -ENOMEM;
	return hrr_buf_addc(b, ']');
}

int hrr_buf_addx(struct hrr_buf *b, uint64_t v)
{
	if (hrr_buf_reserve(b, HRR_ADDR_ROOM) < 0)
		return -ENOMEM;
	b->len += hrr_addr_put(b->data + b->len, v);
	return 0;
}

char *hrr_buf_str(struct hrr_buf *b)
{
	if (hrr_buf_reserve(b, 1) < 0)
		return NULL;
	b->data[b->len] = '\0';
	return b->data;
}
