#ifndef HRR_REGION_TIMELINE_H
#define HRR_REGION_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/range.h"
#include "lib/stream/write.h"

#define HRR_REGION_MAX ((uint64_t)1 << 47) /* bytes of one region */
#define HRR_REGION_MAX_DEVICE 65535

/*
 * Device memory HIP never saw, over time. The source merges sidecars into the
 * stream, so a timeline is fed region records in stream order and asked in
 * between; it needs no clock of its own.
 */
struct hrr_live_region {
	uint64_t base, size;
	int device;
	bool segment;
	uint64_t t_add;	 /* ns since t0, or HRR_NO_TIME */
	uint64_t serial; /* number of the add, from 1: tells two lives at one base apart */
	char *tag;	 /* owned by the timeline, NULL: none */
	void *user;	 /* the caller's (backing storage); see on_del */
};

struct hrr_timeline;
struct hrr_timeline *hrr_timeline_new(void);
void hrr_timeline_free(struct hrr_timeline *tl);
/*
 * Applies one record. del matches kind, device and base; kind missing and both
 * live: the block goes. A del that matches nothing returns 1 (harmless, counted). on_del (may be
 * NULL) is called before a live region goes, segment or block.
 * -EINVAL: add of size 0 or past 2^47. -ENOMEM.
 */
int hrr_timeline_apply(struct hrr_timeline *tl, const struct hrr_region *r,
		       void (*on_del)(void *self, struct hrr_live_region *x), void *self);
/* Live segment / block that holds addr on any device, tightest; NULL. */
struct hrr_live_region *hrr_timeline_segment(struct hrr_timeline *tl, uint64_t addr);
struct hrr_live_region *hrr_timeline_block(struct hrr_timeline *tl, uint64_t addr);
/* Nearest live block before (ends at or below) and after addr inside seg (anywhere when seg is
 * NULL); NULL. */
struct hrr_live_region *hrr_timeline_block_before(struct hrr_timeline *tl,
						  const struct hrr_live_region *seg, uint64_t addr);
struct hrr_live_region *hrr_timeline_block_after(struct hrr_timeline *tl,
						 const struct hrr_live_region *seg, uint64_t addr);
/* Records applied; dels among them that matched nothing. */
uint64_t hrr_timeline_records(const struct hrr_timeline *tl);
uint64_t hrr_timeline_unmatched(const struct hrr_timeline *tl);
/* The live segments or blocks, to walk over; values are struct hrr_live_region. */
const struct hrr_ranges *hrr_timeline_ranges(const struct hrr_timeline *tl, bool segments);

struct hrr_record;
/* Reads a region record (rec->kind HRR_REC_REGION). The tag is decoded into tag_buf. -EINVAL with
 * diag. */
int hrr_region_read(const struct hrr_record *rec, struct hrr_region *ret, struct hrr_buf *tag_buf,
		    struct hrr_diag *diag);

#endif
