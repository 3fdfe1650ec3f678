#ifndef HRR_BASE_BUF_H
#define HRR_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/diag.h"

/*
 * The one growable memory. A zeroed struct is an empty buffer. data is owned;
 * it is not ended by NUL unless hrr_buf_str put one there. Functions return 0
 * or -ENOMEM and leave the buffer as it was on failure.
 */
struct hrr_buf {
	char *data;
	size_t len, cap;
	bool failed; /* something did not fit: for those who ask once, behind many appends */
};

void hrr_buf_release(struct hrr_buf *b);
/* Room for n more bytes behind len. */
int hrr_buf_reserve(struct hrr_buf *b, size_t n);
int hrr_buf_add(struct hrr_buf *b, const void *data, size_t n);
int hrr_buf_addc(struct hrr_buf *b, char c);
int hrr_buf_adds(struct hrr_buf *b, const char *s);
int hrr_buf_addf(struct hrr_buf *b, const char *fmt, ...) HRR_PRINTF(2, 3);
int hrr_buf_addu(struct hrr_buf *b, uint64_t v);	      /* decimal */
int hrr_buf_add_dims(struct hrr_buf *b, const uint32_t v[3]); /* "[1,2,3]" */
int hrr_buf_addx(struct hrr_buf *b, uint64_t v); /* "0x…" without quotes, no leading zeros */
/* The contents ended by a NUL that is not counted in len; NULL when out of memory. */
char *hrr_buf_str(struct hrr_buf *b);

#endif
