#ifndef HRR_DIFF_ALIGN_H
#define HRR_DIFF_ALIGN_H

#include <stddef.h>
#include <stdint.h>

/*
 * The cheapest way to make one row of calls out of another: calls that are
 * equal cost nothing, a call changed costs less than one taken out and one put
 * in, and the less the more the two have in common. Quadratic, so the rows are
 * windows.
 */
#define HRR_ALIGN_WINDOW 256

struct hrr_align_key {
	uint64_t content, shape, family;
	uint8_t alone; /* what it costs to take it out, or to put it in */
};
#define HRR_ALIGN_ALONE 4
/* Of what is aligned again elsewhere: two of those that differ are never one that changed. */
#define HRR_ALIGN_WORK 1

enum hrr_align_op { HRR_ALIGN_BOTH, HRR_ALIGN_A, HRR_ALIGN_B };

struct hrr_align {
	uint16_t cost[HRR_ALIGN_WINDOW + 1][HRR_ALIGN_WINDOW + 1];
	uint8_t ops[2 * HRR_ALIGN_WINDOW];
};

/* na, nb at most HRR_ALIGN_WINDOW. Returns the number of operations in w->ops, first one first. */
size_t hrr_align(struct hrr_align *w, const struct hrr_align_key *a, size_t na,
		 const struct hrr_align_key *b, size_t nb);

#endif
