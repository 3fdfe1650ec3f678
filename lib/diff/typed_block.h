#ifndef HRR_DIFF_TYPED_BLOCK_H
#define HRR_DIFF_TYPED_BLOCK_H

#include "lib/diff/typed.h"

/* Inside lib/diff: BLOCK pairs of numbers at once, by vectors of the machine. */
#define HRR_TYPED_BLOCK 256 /* pairs */

struct hrr_typed_sums {
	uint32_t exact;		 /* equal bits */
	uint32_t within;	 /* not equal bits, within tolerance */
	uint32_t nan[2], inf[2]; /* of each side */
	uint32_t both_nan;	 /* pairs of NaN of other bits */
	uint32_t finite;	 /* pairs of finite numbers */
	bool worse;		 /* some pair is worse than the worst there was: to be looked for */
};

/* Counts by binary digits of the distance, in four parts to be added up. Zeroed is empty. */
struct hrr_typed_bins {
	size_t n[4][HRR_TYPED_BINS];
};

/*
 * What a comparison is by, and the shortcuts it allows. Types of 8 and 16 bits are first looked at
 * in binary32, which is sure unless a pair lies at the edge of the tolerance or is perhaps the
 * worst.
 */
struct hrr_typed_plan {
	const struct hrr_tolerance *tol; /* finite */
	struct hrr_typed_worst abs, rel, ulp;
	bool fast;
	float atol, rtol, beyond; /* sure to be within; so many times that, sure to be outside */
	float steps;		  /* of integers, whose distances are steps, in tol->ulp */
	/* Distances from least on may be worse than abs; so may be d of v with
	 * d * rel_v > rel_d * v. Of pairs near each other, whose distances are exact, and of any.
	 */
	float least[2], rel_d[2], rel_v;
};
enum { HRR_TYPED_NEAR, HRR_TYPED_FAR };

/* For n pairs of one type, none of which has been looked at. tol is borrowed. */
void hrr_typed_plan(struct hrr_typed_plan *p, enum hrr_type type, const struct hrr_tolerance *tol,
		    size_t n);
/* The worst there are now; that by rel is v from a number of size v, steps away. */
void hrr_typed_plan_worst(struct hrr_typed_plan *p, enum hrr_type type, const struct hrr_typed *t,
			  double d, double v, uint64_t steps);

/*
 * Bit for bit what typed.c finds pair by pair, but for the worst, which are only seen to be there.
 * Bins are added to bins.
 */
void hrr_typed_block(enum hrr_type type, const void *a, const void *b,
		     const struct hrr_typed_plan *p, struct hrr_typed_sums *ret,
		     struct hrr_typed_bins *bins);

enum hrr_typed_level { HRR_TYPED_PORTABLE, HRR_TYPED_AVX2, HRR_TYPED_AVX512 };

/* For tests: vectors of at most this level from now on, in all threads. The level that is used. */
enum hrr_typed_level hrr_typed_limit(enum hrr_typed_level most);

#endif
