#ifndef HRR_REPLAY_PLACE_H
#define HRR_REPLAY_PLACE_H

/* Private to place.c and place_scan.c. */

#include "lib/base/range.h"
#include "lib/replay/replay.h"

#define HRR_SPAN_ROUND ((uint64_t)2 << 20) /* granule of device memory everywhere we know of */
/* Some drivers round the wish up to 32 MiB and ignore it for shorter reservations. */
#define HRR_SPAN_WIDE ((uint64_t)32 << 20)

enum hrr_span_state {
	HRR_SPAN_WANTED, /* scanned */
	HRR_SPAN_HELD,	 /* reserved without access in this process, HIP not asked yet */
	HRR_SPAN_OURS,	 /* reserved through the run time */
	HRR_SPAN_LOST	 /* not to be had */
};

struct hrr_span {
	uint64_t base, size;
	uint64_t lo, hi; /* what memory in it was asked for, rounded to HRR_SPAN_ROUND */
	enum hrr_span_state state;
};

struct hrr_chunk { /* physical memory mapped in a span; several allocations may share one */
	uint64_t base, size, handle;
	uint32_t users;
	int device;
	bool open; /* every device may use it */
};

struct hrr_place {
	struct hrr_ranges *spans;  /* disjoint -> struct hrr_span, owned */
	struct hrr_ranges *chunks; /* disjoint -> struct hrr_chunk, owned */
	bool off;		   /* the run time cannot */
	uint64_t granule;	   /* 0: not asked yet */
	uint64_t wanted, held;	   /* spans scanned, and had */
	uint32_t peers[32];	   /* bit u of [owner]: device u may use owner's memory */
};

/* Enters [base, base + size), merged with what it touches. */
int hrr_place_want(struct hrr_place *p, uint64_t base, uint64_t size);
bool hrr_span_hold(struct hrr_span *s);
void hrr_span_drop(struct hrr_span *s);

#endif
