#ifndef HRR_DIFF_TYPED_BLOCK_H
#define HRR_DIFF_TYPED_BLOCK_H

#include "lib/diff/typed.h"

/* Inside lib/diff: BLOCK pairs of numbers at once, by vectors of the machine. */
#define HRR_TYPED_BLOCK 256 /* pairs */

struct hrr_typed_sums {
	uint32_t exact;			   /* equal bits */
	uint32_t within;		   /* not equal bits, within tolerance */
	uint32_t nan[2], inf[2], both_nan; /* the last: of other bits */
	uint32_t finite;		   /* pairs of finite numbers */
	bool worse;  /* some pair is worse than the worst there was: to be looked for */
	bool unsure; /* in: the short way is not worth a try; out: it was not taken */
};

/* Counts by binary digits of the distance, in four parts to be added up. Zeroed is empty. */
struct hrr_typed_bins {
	size_t n[4][HRR_TYPED_BINS];
};

/*
 * Bit for bit what typed.c finds pair by pair (the same arithmetic in binary64), but
 * for the worst, which are only seen to be there: worst is what there was before. Bins are
 * added to bins, unless it is NULL.
 */
void hrr_typed_block(enum hrr_type type, const void *a, const void *b,
		     const struct hrr_tolerance *tol, const struct hrr_typed *worst,
		     struct hrr_typed_sums *ret, struct hrr_typed_bins *bins);

#endif
