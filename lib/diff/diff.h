#ifndef HRR_DIFF_DIFF_H
#define HRR_DIFF_DIFF_H

#include "lib/diff/call.h"
#include "lib/store/source.h"

/*
 * Two recordings compared while they are read, in memory that does not grow with
 * them. Each thread of one is matched with the thread of the other that does the
 * same; the calls of such a pair are aligned, so that a call put in or taken out
 * is one difference and not the start of thousands. Work on several streams may be
 * mixed in any order (stream.c). Addresses and handles are
 * the same when what they stand for was made by aligned calls. An output is
 * compared with the output of the aligned call. Where two threads part for longer than a window of
 * the alignment holds, the place where they go on alike is looked for (resync.h).
 *
 * Bounds: calls that wait for their counterpart take at most
 * HRR_DIFF_MAX_WAITING bytes a side (what has waited longest is then given up
 * for "only here"); an output may come HRR_DIFF_MEMORY calls after its call.
 */
#define HRR_DIFF_MAX_WAITING ((size_t)48 << 20)
#define HRR_DIFF_MEMORY 65536u
#define HRR_DIFF_CONTEXT 3

enum hrr_diff_what {
	HRR_DIFF_CHANGED, /* a and b: one call, some values differ */
	HRR_DIFF_ONLY_A,
	HRR_DIFF_ONLY_B,
	HRR_DIFF_OUTPUT, /* a and b: one output that differs */
	HRR_DIFF_OUTPUT_ONLY_A,
	HRR_DIFF_OUTPUT_ONLY_B
};

/* One value that differs; a side where the path is not there has kind_there false. */
struct hrr_diff_member {
	struct hrr_fact a, b;
	bool in_a, in_b;
};

/* What a call does, as a reader names it. */
struct hrr_diff_work {
	const char *api;    /* NUL-ended, as the stream has it */
	const char *kernel; /* JSON text as it stands in the stream; NULL: no launch */
	size_t kernel_len;
};

struct hrr_diff_event {
	enum hrr_diff_what what;
	uint32_t thread;		       /* pair of threads, from 1 */
	const struct hrr_diff_call *a, *b;     /* NULL: not there */
	const struct hrr_diff_member *members; /* CHANGED, OUTPUT */
	size_t n_members;
	const struct hrr_diff_work *of; /* OUTPUT…: what delivered it; NULL: not known any more */
	/* Equal calls just before, oldest first, that no event was told as context before. */
	const struct hrr_diff_call *context[HRR_DIFF_CONTEXT];
	size_t n_context;
};

struct hrr_diff_stats {
	uint64_t calls[2], outputs[2]; /* read */
	uint64_t results[2];
	uint64_t equal; /* pairs of calls, or of results of replay */
	uint64_t outputs_equal;
	uint64_t outputs_unknown; /* the recorder did not see the bytes of one side */
	uint64_t outputs_late;	  /* came too long after their call: not compared */
	uint64_t undeclared;	  /* pairs of device addresses nobody declared, taken as equal */
	uint64_t unheld; /* members, calls and outputs that one of the formats has no place for */
	uint64_t annotations[2]; /* region records without a counterpart: no difference */
	uint64_t given_up;	 /* calls called "only here" because the wait was too long */
};

struct hrr_diff;

/* a and b are borrowed. each returns 0 to go on, 1 to stop, negative to fail. */
int hrr_diff_new(struct hrr_diff **ret, struct hrr_source *a, struct hrr_source *b,
		 int (*each)(void *self, const struct hrr_diff_event *e), void *self);
/* 0 at the end or when each stopped it; negative with diag. */
int hrr_diff_run(struct hrr_diff *d, struct hrr_diag *diag);
/*
 * From within each: stop once all calls of process p up to seq have their answer. What is told
 * until then may be of an earlier call, of another thread or stream; outputs that come later are
 * not.
 */
void hrr_diff_stop_after(struct hrr_diff *d, uint32_t p, uint64_t seq);
const struct hrr_diff_stats *hrr_diff_get_stats(const struct hrr_diff *d);
void hrr_diff_free(struct hrr_diff *d);

/*
 * Text for people. A fact of the side (0 a, 1 b): "memory2+0x40", "stream1",
 * "host", JSON as it is for other values. The number is that of the first
 * recording where the object is in both; one that is in the second only is marked "'".
 */
int hrr_diff_put_value(struct hrr_diff *d, int side, const struct hrr_fact *f, struct hrr_buf *b);
/* "hipMemcpy dst=memory1 src=host …" */
int hrr_diff_put_call(struct hrr_diff *d, int side, const struct hrr_diff_call *c,
		      struct hrr_buf *b);

#endif
