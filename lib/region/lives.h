#ifndef HRR_REGION_LIVES_H
#define HRR_REGION_LIVES_H

#include "lib/region/timeline.h"
#include "lib/stream/record.h"

/*
 * Every region of a stream with its life, from add to del: what `hrr-regions ls`
 * prints, and what `check` finds on the way. All of them are kept.
 */
struct hrr_life {
	uint64_t base, size;
	uint32_t p;
	int device;
	bool segment;
	uint64_t from, to; /* ns, HRR_NO_TIME: since before the stream, to its end */
	const char *tag;   /* NULL: none; borrowed */
};

struct hrr_lives;
struct hrr_lives *hrr_lives_new(void);
void hrr_lives_free(struct hrr_lives *l);

/* What check finds. */
enum hrr_lives_finding {
	HRR_LIVES_OVERLAP,   /* with a live region of the same kind and device */
	HRR_LIVES_REPLACED,  /* add over a live one at the same base */
	HRR_LIVES_NOTHING,   /* del of what is not live */
	HRR_LIVES_OUTSIDE,   /* a block in no live segment and no allocation of HIP */
	HRR_LIVES_STRADDLES, /* a block reaches over the end of what it lies in */
	HRR_LIVES_COVERS_HIP /* a segment over memory that HIP itself allocated */
};
/* rec is the record at fault; other is the other region, or NULL. */
typedef void hrr_lives_report(void *self, enum hrr_lives_finding finding,
			      const struct hrr_record *rec, const struct hrr_region *region,
			      const struct hrr_live_region *other);

/*
 * Takes a record of any kind: regions, and calls that allocate or free. report may
 * be NULL. -EINVAL with diag for a bad region, -ENOMEM.
 */
int hrr_lives_record(struct hrr_lives *l, const struct hrr_record *rec, hrr_lives_report *report,
		     void *self, struct hrr_diag *diag);
size_t hrr_lives_count(const struct hrr_lives *l);
/* In order of their adds. */
void hrr_lives_at(const struct hrr_lives *l, size_t i, struct hrr_life *ret);

#endif
