#ifndef HRR_REGION_WORLD_H
#define HRR_REGION_WORLD_H

#include "lib/region/timeline.h"
#include "lib/stream/record.h"

/*
 * All memory a stream tells of, at the place of the stream that was read last:
 * what calls allocated (HIP's own names tell) and what regions declare. One
 * process; records of others are passed over.
 */
enum hrr_thing_kind {
	HRR_THING_BLOCK,
	HRR_THING_SEGMENT,
	HRR_THING_DEVICE, /* allocated, or mapped, by a call */
	HRR_THING_HOST,	  /* host memory that a call made or registered: devices may reach it */
	HRR_THING_KINDS
};

struct hrr_thing {
	enum hrr_thing_kind kind;
	uint64_t base, size;
	int device;	 /* regions only, else -1 */
	uint64_t from;	 /* ns since t0; HRR_NO_TIME: before the stream */
	uint64_t seq;	 /* of the call that made it; 0: a region */
	uint64_t number; /* from 1, in order of their making */
	char *api;	 /* of that call, NULL: a region; owned */
	char *tag;	 /* NULL: none; owned */
};

struct hrr_world;
struct hrr_world_events { /* each may be NULL */
	void (*begin)(void *self, const struct hrr_thing *x);
	/* by: the call that ended it, or the region record; NULL: the end of everything */
	void (*end)(void *self, const struct hrr_thing *x, const struct hrr_record *by);
	void *self;
};

struct hrr_world *hrr_world_new(const struct hrr_world_events *events); /* NULL: no memory */
void hrr_world_free(struct hrr_world *w);				/* end is not called */
/* Of this process only; -1 (at first): of the first one met. */
void hrr_world_process(struct hrr_world *w, int64_t p);
bool hrr_world_is_mine(struct hrr_world *w, const struct hrr_record *rec);
/* Any record, in stream order. -EINVAL with diag for a bad region, -ENOMEM. */
int hrr_world_record(struct hrr_world *w, const struct hrr_record *rec, struct hrr_diag *diag);
uint64_t hrr_world_now(const struct hrr_world *w); /* the largest t met */

/* Tightest that holds addr, NULL. */
const struct hrr_thing *hrr_world_find(const struct hrr_world *w, enum hrr_thing_kind kind,
				       uint64_t addr);
/* Nearest that ends at or below addr, or starts above it; NULL. */
const struct hrr_thing *hrr_world_before(const struct hrr_world *w, enum hrr_thing_kind kind,
					 uint64_t addr);
const struct hrr_thing *hrr_world_after(const struct hrr_world *w, enum hrr_thing_kind kind,
					uint64_t addr);
size_t hrr_world_count(const struct hrr_world *w, enum hrr_thing_kind kind);
/* Calls end for all that lives, in order of kind and base. */
void hrr_world_end(struct hrr_world *w);
const char *hrr_thing_word(enum hrr_thing_kind kind); /* "block", "segment", "allocation", … */

/* Device addresses a call uses: operands of copies and sets, declared pointers of launches. */
struct hrr_use {
	const char *what; /* "destination", "source", "argument" */
	uint64_t addr;
	uint64_t size;	  /* bytes; 0: not known */
	uint64_t arg, at; /* arguments: which one, and the byte in it */
	int kernel;	  /* and whose: hrr_kernel_next; -1 */
};
/* Calls each for every one; returns what it returned when not 0. */
int hrr_call_uses(const struct hrr_record *rec, int (*each)(void *self, const struct hrr_use *u),
		  void *self);

#endif
