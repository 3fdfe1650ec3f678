#ifndef HRR_REGION_SVG_H
#define HRR_REGION_SVG_H

#include "lib/region/world.h"

/*
 * A picture of device memory over time: time runs to the right, each range of
 * addresses is a band with the segments, allocations and blocks that lived in it; above,
 * how many bytes were live; marks where a call used an address that nothing
 * held, or ran past the end of what did.
 */
struct hrr_map_options {
	int64_t p;	   /* process, -1: the first */
	unsigned width;	   /* pixels; 0: HRR_MAP_WIDTH */
	uint64_t from, to; /* ns: what is drawn of time; to 0: to the end */
};
#define HRR_MAP_WIDTH 1280u
#define HRR_MAP_MAX_BANDS 48	/* of more ranges those nearest to each other share one */
#define HRR_MAP_MAX_RECTS 20000 /* drawn, the largest */
#define HRR_MAP_MAX_MARKS 2000

struct hrr_map_stats {
	uint64_t things, marks;
	uint64_t rects_left_out, marks_left_out;
};

struct hrr_map;
struct hrr_map *hrr_map_new(const struct hrr_map_options *opt); /* NULL: no memory */
void hrr_map_free(struct hrr_map *m);
/* Each record, in stream order. -EINVAL with diag for a bad region, -ENOMEM. */
int hrr_map_record(struct hrr_map *m, const struct hrr_record *rec, struct hrr_diag *diag);
/* What stands above it; copied. -ENOMEM. */
int hrr_map_title(struct hrr_map *m, const char *title);
/*
 * Appends an SVG file: the pictures of all n (NULL: none), one below the other, without those
 * that have no memory to draw. Once, at the end. -ENOMEM; -ENODATA with diag: nothing to draw.
 */
int hrr_map_svg(struct hrr_map *const *m, size_t n, struct hrr_buf *b, struct hrr_map_stats *ret,
		struct hrr_diag *diag);

#endif
