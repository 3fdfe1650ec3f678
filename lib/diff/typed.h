#ifndef HRR_DIFF_TYPED_H
#define HRR_DIFF_TYPED_H

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/base/type.h"

/*
 * Bytes compared as numbers. Two are equal when their bits are, and beside that, when they are
 * finite, if |a - b| <= atol + rtol * |a| in binary64 or they are at most ulp steps apart: a step
 * of floats is to the next one of their type, of integers 1, and the distance of integers is exact.
 * NaN is equal to nothing but the same bits, unless equal_nan.
 */
struct hrr_tolerance {
	double atol, rtol;
	uint64_t ulp;
	bool equal_nan;
};

struct hrr_typed_worst {
	double value;
	uint64_t ulp; /* for the worst by ulp */
	size_t index; /* the first of equal ones */
};

/* Distances are counted by the binary digits of their steps: 0, 1, 2-3, 4-7, … */
#define HRR_TYPED_BINS 65

struct hrr_typed {
	size_t n;	  /* elements compared */
	size_t exact;	  /* equal bits */
	size_t within;	  /* not equal bits, within tolerance */
	size_t differing; /* beyond it */
	size_t first;	  /* index of the first that differs; n when none */
	size_t nan[2], inf[2];
	/* Over pairs of finite numbers. */
	struct hrr_typed_worst abs, rel, ulp;
	size_t bins[HRR_TYPED_BINS];
};

/* len bytes of each; what does not fill an element at the end is not looked at. */
void hrr_typed_compare(enum hrr_type type, const void *a, const void *b, size_t len,
		       const struct hrr_tolerance *tol, struct hrr_typed *ret);
/* Whether every element is equal under tol: the answer alone, fast. */
bool hrr_typed_within(enum hrr_type type, const void *a, const void *b, size_t len,
		      const struct hrr_tolerance *tol);
/* The element at p as text, enough digits to tell any two apart. */
int hrr_typed_put(enum hrr_type type, const void *p, struct hrr_buf *b);
/* Whether one pair is equal under tol. */
bool hrr_typed_equal(enum hrr_type type, const void *a, const void *b,
		     const struct hrr_tolerance *tol);

#endif
