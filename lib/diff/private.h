#ifndef HRR_DIFF_PRIVATE_H
#define HRR_DIFF_PRIVATE_H

#include "lib/diff/align.h"
#include "lib/diff/diff.h"
#include "lib/diff/held.h"
#include "lib/diff/work.h"

/* Inside lib/diff. "side" is 0 for the first recording and 1 for the second. */

/* A row of calls. */
struct hrr_row {
	struct hrr_diff_call *head, *last;
	size_t n;
};

/* Of two rows that have little in common: see resync.h. Zeroed is none. */
struct hrr_search {
	size_t look;	/* calls of each to wait for before the next try; 0: none goes on */
	uint64_t tired; /* no try before so many calls have passed */
};

/* Work of one thread on one stream that waits for its counterpart. */
struct hrr_queue {
	uint32_t stream;
	struct hrr_row row;
	struct hrr_search search; /* of the first recording's */
};

#define HRR_LANE_KNOWN 32

/* The calls of one thread that wait for their counterparts. */
struct hrr_lane {
	int side;
	uint32_t p;
	uint64_t tid;
	struct hrr_row row;
	size_t n_work;		  /* of them, work on streams */
	struct hrr_queue *queues; /* owned; none is empty */
	size_t n_queues, cap_queues;
	struct hrr_row left;	  /* work that has no counterpart on its own stream */
	uint64_t passed;	  /* calls that went through the alignment of the thread */
	uint64_t rank;		  /* of them, pairs that order streams */
	uint64_t after;		  /* seq of the last of those */
	size_t until;		  /* calls before the place where this and the partner meet again */
	struct hrr_search search; /* side 0 */
	struct hrr_lane *partner;
	bool alone;	 /* there is no partner and will be none */
	uint32_t thread; /* number of the pair, from 1; 0 before it has one */
	/* side 0: the last equal calls, kept as context */
	struct hrr_diff_call *known[HRR_LANE_KNOWN];
	size_t n_known;
};

#define HRR_LANE_REGIONS UINT64_MAX /* tid of the lane of annotations */

enum { HRR_PAIR_WAITS = 0, HRR_PAIR_NONE = 1, HRR_PAIR_FIRST = 2 };

/* A call that was read lately: where its outputs go. */
struct hrr_recent {
	uint64_t p, seq;
	uint64_t pair;		    /* PAIR_WAITS: call holds them; PAIR_NONE: no counterpart */
	struct hrr_diff_call *call; /* while it waits */
	bool used, launch;
};

/* Outputs of an aligned pair of calls that have no counterpart yet. */
struct hrr_pair {
	uint64_t id;
	uint32_t thread;
	const struct hrr_diff_work *of; /* borrowed from the names, may be NULL */
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
	struct hrr_buf format; /* not ours: its name */
	bool ended;
	bool beyond; /* of what the run stops after, something later was read */
};

struct hrr_diff {
	struct hrr_side side[2];
	struct hrr_pair *pairs; /* ring */
	uint64_t n_pairs;
	struct hrr_diff_works works;
	uint32_t threads;
	struct hrr_buf members;
	char order[2][40];
	struct hrr_diff_stats stats;
	int (*each)(void *self, const struct hrr_diff_event *e);
	void *self;
	bool stop;
	bool mixed; /* the recordings are of different formats */
	bool stops; /* when these have their answer */
	uint32_t stop_p;
	uint64_t stop_seq;
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

/* commit.c: a call that was taken out of its row, or a pair of them, has its answer. Both are
 * released. */
void hrr_diff_commit_both(struct hrr_diff *d, struct hrr_lane *la, struct hrr_diff_call *a,
			  struct hrr_diff_call *b);
void hrr_diff_commit_only(struct hrr_diff *d, struct hrr_lane *l, struct hrr_diff_call *c);
void hrr_diff_emit(struct hrr_diff *d, struct hrr_diff_event *e);
void hrr_row_add(struct hrr_row *r, struct hrr_diff_call *c);
struct hrr_diff_call *hrr_row_take(struct hrr_row *r);
bool hrr_diff_over(const struct hrr_diff *d);

/* stream.c: the one stream of both recordings that c is about; 0: none. */
uint64_t hrr_diff_stream_key(const struct hrr_diff *d, int side, const struct hrr_diff_call *c);
/* Work of a pair of threads: to the end of its queue, and what can be answered is. -ENOMEM. */
int hrr_stream_put(struct hrr_diff *d, struct hrr_lane *l, struct hrr_diff_call *c);
void hrr_stream_step(struct hrr_diff *d, struct hrr_lane *a, struct hrr_lane *b, bool final);
/* A call of l that does what c does, at its place among those that order streams, but on another
 * stream: taken out. NULL: none. */
struct hrr_diff_call *hrr_stream_elsewhere(struct hrr_diff *d, struct hrr_lane *l,
					   const struct hrr_diff_call *c);
void hrr_stream_free(struct hrr_side *s, struct hrr_lane *l);

/* output.c */
int hrr_recent_add(struct hrr_diff *d, int side, struct hrr_diff_call *c, bool launch);
/* Whether a call that was read lately launched kernels. */
bool hrr_recent_launch(const struct hrr_side *s, uint64_t p, uint64_t seq);
/* The pair c belongs to from now on; its waiting outputs go there. */
void hrr_recent_settle(struct hrr_diff *d, int side, struct hrr_diff_call *c, uint64_t pair);
/* c: the first recording's call, NULL: none. */
uint64_t hrr_pair_new(struct hrr_diff *d, uint32_t thread, const struct hrr_diff_call *c);
/* Takes out. */
void hrr_output_arrived(struct hrr_diff *d, int side, struct hrr_diff_call *out);
void hrr_output_end(struct hrr_diff *d);

#endif
