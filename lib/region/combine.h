#ifndef HRR_REGION_COMBINE_H
#define HRR_REGION_COMBINE_H

#include "lib/region/timeline.h"
#include "lib/store/sidecar.h"

/* Several sidecars as one, or a part of them. */
struct hrr_combine_options {
	/* Of the stream they belong to; t0 0: not known. Then all have to have one clock. */
	struct hrr_sidecar_clock clock;
	/* What is kept: regions that live at some moment from..to (ns since the result's t0) and
	 * touch [base, base + size). Their lines stay as they are: a region that began before
	 * keeps its time. */
	uint64_t from, to;
	uint64_t base, size; /* size 0: wherever */
};
#define HRR_COMBINE_ALL           \
	{                         \
		.to = HRR_NO_TIME \
	}

struct hrr_combine_stats {
	uint64_t lines, kept;
	bool cut; /* some sidecar's last line was left out */
};

/*
 * Appends a sidecar to b: the lines of all, in order of time, those of one moment in
 * the order of paths. -EINVAL with diag (a bad line, clocks that cannot be compared), …
 */
int hrr_sidecars_combine(struct hrr_buf *b, size_t n, const char *const *paths,
			 const struct hrr_combine_options *opt, struct hrr_combine_stats *ret,
			 struct hrr_diag *diag);

#endif
