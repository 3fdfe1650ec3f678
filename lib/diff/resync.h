#ifndef HRR_DIFF_RESYNC_H
#define HRR_DIFF_RESYNC_H

#include "lib/diff/private.h"

/*
 * The nearest place where two rows go on alike: after as few calls as can be, of both together,
 * from which on a run of calls is equal and most of what follows. Of each row the first MOST are
 * looked at. It takes over where a window's alignment finds too little that is equal, because more
 * was taken out than a window holds.
 */
#define HRR_RESYNC_MOST ((size_t)1 << 15)
#define HRR_RESYNC_LEAST ((size_t)1 << 10) /* calls with which to try first */

struct hrr_meeting {
	const struct hrr_row *a, *b;
	bool ended[2];	  /* nothing more comes */
	size_t before[2]; /* FOUND: calls of each before the place */
};

enum hrr_meet { HRR_MEET_NONE, HRR_MEET_FOUND, HRR_MEET_WAIT };

/*
 * Of an alignment of some calls so many are the same; if that is little enough, looks for the
 * place. WAIT: not before each row has s->look calls. passed is the number of calls that are
 * through, by which a search that found nothing rests. Or -ENOMEM.
 */
int hrr_meet_again(struct hrr_search *s, struct hrr_meeting *m, size_t same, size_t of,
		   uint64_t passed);
/* Whether a search that has begun waits still: nothing need be aligned before it ends. */
bool hrr_meet_waits(const struct hrr_search *s, const struct hrr_meeting *m);
/* How many pairs of an alignment's operations are equal. */
size_t hrr_align_same(const unsigned char *ops, size_t n, const struct hrr_align_key *a,
		      const struct hrr_align_key *b);

#endif
