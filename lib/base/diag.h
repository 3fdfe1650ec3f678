#ifndef HRR_BASE_DIAG_H
#define HRR_BASE_DIAG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The text of a failure. Library functions return 0 or more on success and a
 * negative errno on failure; what a person should read goes here. The caller
 * owns the struct, which holds no allocation; every function takes a NULL diag.
 *
 * operand  borrowed: the file or argument at fault; NULL when there is none
 * line     1-based line in operand; 0 when there is none
 * what     "what: why", lower case, no full stop, control characters masked
 */
struct hrr_diag {
	char operand[256];
	uint64_t line;
	char what[768];
};

#if defined(__GNUC__)
#define HRR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define HRR_PRINTF(f, a)
#endif

/* Sets what; keeps operand and line. Returns err, so that "return hrr_diag_set(d, -EINVAL, ...)"
 * works. */
int hrr_diag_set(struct hrr_diag *diag, int err, const char *fmt, ...) HRR_PRINTF(3, 4);
/* Sets operand and line (a copy, cut to fit). */
void hrr_diag_at(struct hrr_diag *diag, const char *operand, uint64_t line);
/*
 * Copies src (len bytes) to dst (size > 0) with control characters (C1 too), DEL, characters that
 * turn the direction of text or end a line, and invalid UTF-8 written as \xNN, cut to fit, always
 * ended by NUL. Returns the length written. Whatever comes from an archive goes through here before
 * a terminal sees it.
 */
size_t hrr_mask(char *dst, size_t size, const char *src, size_t len);

#endif
