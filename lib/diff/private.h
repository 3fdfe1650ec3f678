#ifndef HRR_DIFF_PRIVATE_H
#define HRR_DIFF_PRIVATE_H

#include "lib/diff/align.h"
#include "lib/diff/diff.h"

/* Inside lib/diff. "side" is 0 for the first recording and 1 for the second. */

/* The calls of one thread that wait for their counterparts. */
struct hrr_lane {
	int side;
	uint32_t p;
	uint64_t tid;
	struct hrr_diff_call *head, **tail;
	size_t n;
	struct hrr_lane *partner;
	bool alone;	 /* there is no partner and will be none */
	uint32_t thread; /* number of the pair, from 1; 0 before it has one */
	/* side 0: the last equal calls, kept as context */
	struct hrr_diff_call *context[HRR_DIFF_CONTEXT];
	size_t n_context;
};

#define HRR_LANE_REGIONS UINT64_MAX /* tid of the lane of annotations */

enum { HRR_PAIR_WAITS = 0, HRR_PAIR_NONE = 1, HRR_PAIR_FIRST = 2 };

/* A call that was read lately: where its outputs go. */
struct hrr_recent {
	uint64_t p, seq;
	uint64_t pair;		    /* PAIR_WAITS: call holds them; PAIR_NONE: no counterpart */
	struct hrr_diff_call *call; /* while it waits */
	bool used;
};

/* Outputs of an aligned pair of calls that have no counterpart yet. */
struct hrr_pair {
	uint64_t id;
	uint32_t thread;
	struct hrr_diff_call *head[2], **tail[2];
};

struct hrr_side {
	struct hrr_source *source;
	struct hrr_objects objects;
	struct hrr_diff_scratch scratch;
	struct hrr_lane **lanes; /* owned, in order of their first call */
	size_t n_lanes, cap_lanes;
	struct hrr_map by_tid;	   /* (p, tid) to index */
	struct hrr_recent *recent; /* ring */
	uint64_t n_recent;
	struct hrr_map by_seq; /* (p, seq) to place in the ring */
	size_t waiting;	       /* bytes */
	bool ended;
};

struct hrr_diff {
	struct hrr_side side[2];
	struct hrr_pair *pairs; /* ring */
	uint64_t n_pairs;
	uint32_t threads;
	struct hrr_buf members;
	struct hrr_diff_stats stats;
	int (*each)(void *self, const struct hrr_diff_event *e);
	void *self;
	bool stop;
	int err;
	struct hrr_align align;
};

/* match.c */
int hrr_lane_find(struct hrr_diff *d, int side, const struct hrr_diff_call *c,
		  struct hrr_lane **ret);
/* Looks for a partner; final: the best there is, now. */
void hrr_lane_match(struct hrr_diff *d, struct hrr_lane *l, bool final);

/* compare.c: members that differ, into d->members. -ENOMEM. Pairs what the calls made. */
int hrr_diff_compare(struct hrr_diff *d, const struct hrr_diff_call *a,
		     const struct hrr_diff_call *b);

/* commit.c: calls leave their lanes. */
void hrr_diff_commit_both(struct hrr_diff *d, struct hrr_lane *a, struct hrr_lane *b);
void hrr_diff_commit_only(struct hrr_diff *d, struct hrr_lane *l);
void hrr_diff_emit(struct hrr_diff *d, struct hrr_diff_event *e);

/* output.c */
int hrr_recent_add(struct hrr_diff *d, int side, struct hrr_diff_call *c);
/* The pair c belongs to from now on; its waiting outputs go there. */
void hrr_recent_settle(struct hrr_diff *d, int side, struct hrr_diff_call *c, uint64_t pair);
uint64_t hrr_pair_new(struct hrr_diff *d, uint32_t thread);
/* Takes out. */
void hrr_output_arrived(struct hrr_diff *d, int side, struct hrr_diff_call *out);
void hrr_output_end(struct hrr_diff *d);

#endif
