#include "lib/diff/align.h"

enum cost {
	SAME = 0,
	ALIKE = 6,    /* same call, kernel, direction, result: other values */
	RELATED = 7,  /* same call */
	FOREIGN = 100 /* two calls that have nothing in common are never one that changed */
};

static int between(const struct hrr_align_key *a, const struct hrr_align_key *b)
{
	return a->content == b->content ? SAME
	       : a->shape == b->shape	? ALIKE
	       : a->family == b->family ? RELATED
					: FOREIGN;
}

size_t hrr_align(struct hrr_align *w, const struct hrr_align_key *a, size_t na,
		 const struct hrr_align_key *b, size_t nb)
{
	/* cost[i][j]: of what is left from a[i] and b[j] on, so that the path reads forward. */
	for (size_t i = na + 1; i-- > 0;)
		for (size_t j = nb + 1; j-- > 0;) {
			int best = UINT16_MAX;

			if (i == na && j == nb)
				best = 0;
			if (i < na && w->cost[i + 1][j] + a[i].alone < best)
				best = w->cost[i + 1][j] + a[i].alone;
			if (j < nb && w->cost[i][j + 1] + b[j].alone < best)
				best = w->cost[i][j + 1] + b[j].alone;
			if (i < na && j < nb) {
				int c = w->cost[i + 1][j + 1] + between(&a[i], &b[j]);

				if (c < best)
					best = c;
			}
			w->cost[i][j] = (uint16_t)best;
		}
	size_t n = 0, i = 0, j = 0;

	while (i < na || j < nb) {
		int left = w->cost[i][j];

		if (i < na && j < nb && w->cost[i + 1][j + 1] + between(&a[i], &b[j]) == left) {
			w->ops[n++] = HRR_ALIGN_BOTH;
			i++;
			j++;
		} else if (i < na && w->cost[i + 1][j] + a[i].alone == left) {
			w->ops[n++] = HRR_ALIGN_A;
			i++;
		} else {
			w->ops[n++] = HRR_ALIGN_B;
			j++;
		}
	}
	return n;
}
