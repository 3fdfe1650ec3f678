#ifndef HRR_BASE_MASK_H
#define HRR_BASE_MASK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "lib/base/buf.h"

/*
 * Text from elsewhere as a terminal may see it: hrr_mask (diag.h) says what is masked. Here without
 * a limit, for those who show whole streams.
 */
#define HRR_MASK_ROOM(len) (4 * (len) + 16)

/* To where HRR_MASK_ROOM(len) bytes are; returns the place behind what was written, no NUL. */
char *hrr_mask_odd(char *to, const char *s, size_t len);

/* The same; most texts hold nothing but printable ASCII. */
static inline char *hrr_mask_put(char *to, const char *s, size_t len)
{
#ifdef __SSE2__
	for (; len >= 16; s += 16, to += 16, len -= 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)s);
		/* Signed: bytes from 0x80 are below a blank too. */
		__m128i odd = _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
					   _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f)));
		if (_mm_movemask_epi8(odd) != 0)
			return hrr_mask_odd(to, s, len);
		_mm_storeu_si128((__m128i *)(void *)to, v);
	}
#endif
	for (; len > 0; len--) {
		if ((unsigned char)(*s - 0x20) >= 0x7f - 0x20)
			return hrr_mask_odd(to, s, len);
		*to++ = *s++;
	}
	return to;
}

/* Appends. -ENOMEM. */
int hrr_mask_add(struct hrr_buf *b, const char *s, size_t len);
/* Appends text of several lines: their ends, and tabs, stay. -ENOMEM. */
int hrr_mask_lines(struct hrr_buf *b, const char *s, size_t len);
/* Masks so what stands in b from a place on. -ENOMEM. */
int hrr_mask_from(struct hrr_buf *b, size_t from);

#endif
