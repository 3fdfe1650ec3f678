#ifndef HRR_DIFF_WORK_H
#define HRR_DIFF_WORK_H

#include "lib/base/buf.h"
#include "lib/diff/call.h"
#include "lib/diff/map.h"

/*
 * What calls did, by their names, for as long as their outputs may come: a call itself is let go
 * when it has its answer. Calls of one shape (call.h) share an entry, so there are few. Zeroed is
 * empty. Past HRR_DIFF_MAX_WORKS bytes of names no new ones are kept.
 */
#define HRR_DIFF_MAX_WORKS ((size_t)4 << 20)

struct hrr_diff_work;

struct hrr_diff_works {
	struct hrr_map by_shape;      /* to an index */
	struct hrr_diff_work **works; /* owned */
	size_t n, bytes;
};

/* Of a call; good until the release. *ret is NULL when it has no name or too many were kept.
 * -ENOMEM. */
int hrr_diff_work_of(struct hrr_diff_works *w, const struct hrr_diff_call *c,
		     const struct hrr_diff_work **ret);
void hrr_diff_works_release(struct hrr_diff_works *w);

#endif
