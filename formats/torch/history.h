#ifndef HRR_FORMATS_TORCH_HISTORY_H
#define HRR_FORMATS_TORCH_HISTORY_H

#include "formats/torch/snapshot.h"
#include "formats/torch/torch.h"
#include "lib/region/timeline.h"
#include "lib/stream/record.h"

/*
 * From a snapshot to regions: what was live before the history began, and then
 * one step per change.
 */
struct hrr_torch_sink {
	/* t: µs since 1970, or HRR_NO_TIME: since before the history. r->t is not set; frames is
	 * a node or -1; size is the region's also in a del, 0 where it is not known. */
	int (*put)(void *self, struct hrr_region *r, uint64_t t, uint64_t size, int frames);
	void *self;
};

/* Regions in the order of time, devices merged. 0 or what put returned, -ENOMEM. */
int hrr_torch_history(struct hrr_torch_snapshot *s, const struct hrr_torch_sink *sink,
		      struct hrr_torch_stats *stats);

/* Mapped parts of expandable segments: runs[device]; values are streams. */
int hrr_torch_runs_before(const struct hrr_torch_snapshot *s, struct hrr_ranges **runs,
			  struct hrr_torch_stats *stats);
/* One segment_map or segment_unmap, with what changes written to sink. */
int hrr_torch_runs_step(struct hrr_ranges *runs, const struct hrr_torch_event *e,
			const struct hrr_torch_sink *sink, struct hrr_torch_stats *stats);

#endif
