#ifndef HRR_EMU_SCHED_H
#define HRR_EMU_SCHED_H

#include "lib/emu/runtime/rt.h"

/*
 * Work queued as data. An op says what to do; a work is an op in a stream's
 * queue; a graph node holds an op too.
 *
 * A work is QUEUED -> RUNNING -> DONE. It may run when it is the head of its
 * stream's queue, all its dependencies are DONE and, for OP_WAIT_VALUE, memory
 * says so. Which ready work runs when is the mode's business:
 *   eager   all that is ready, at once, in the thread that submitted
 *   late    only what somebody waits for, in the order that closure needs
 *   random  some steps at every entry of the run time, picked by the seed, of streams at paces of
 *	     their own
 *   async   threads of our own take whatever is ready
 */

enum op_kind {
	OP_NONE, /* marker: its place in the order is all there is to it */
	OP_KERNEL,
	OP_COPY,
	OP_SET,
	OP_HOST,
	OP_WRITE_VALUE,
	OP_WAIT_VALUE,
	OP_ALLOC,   /* a graph's allocation: memory at a number already given out */
	OP_RELEASE, /* stream-ordered free */
	OP_GRAPH
};

struct function;
struct plan;

struct kernel_op {
	struct function *fn;	    /* borrowed: lives as long as its module */
	uint32_t grid[3], block[3]; /* work-items in all, per workgroup */
	uint32_t shared;
	unsigned char *args; /* owned: the explicit part of the kernarg segment */
	size_t args_size;
	bool cooperative;
};

/* A box of bytes. Ends are device or host addresses, looked up when it runs. */
struct copy_op {
	uint64_t dst, src;
	size_t dpitch, dslice, spitch, sslice; /* bytes between rows, between planes */
	size_t width, height, depth;	       /* bytes, rows, planes */
	unsigned char *staged; /* owned: source bytes taken at the call, packed; or NULL */
	bool use_2d;	       /* made from a pitched call (graph queries tell the two apart) */
};

struct set_op {
	uint64_t dst;
	size_t pitch, slice;
	uint32_t value;
	unsigned elem;		     /* bytes: 1, 2, 4 */
	size_t width, height, depth; /* elements, rows, planes */
};

struct op {
	enum op_kind kind;
	union {
		struct kernel_op kernel;
		struct copy_op copy;
		struct set_op set;
		struct {
			void (*fn)(void *data); /* hipHostFn_t, or */
			void (*callback)(hipStream_t s, hipError_t e, void *data);
			hipStream_t stream;
			void *data;
		} host;
		struct {
			uint64_t addr, value, mask;
			unsigned size, flags;
		} value;
		struct {
			uint64_t addr, size; /* size: of OP_ALLOC */
		} memory;
		struct {
			struct plan *plan; /* a reference */
		} graph;
	} u;
};

/* Deep copy; 0 or -ENOMEM. */
int op_copy(struct op *dst, const struct op *src);
void op_release(struct op *op);
/* Runs it on a device; rt.lock not held. hipSuccess or what becomes the device's sticky error. */
hipError_t op_run(const struct op *op, int device);

enum work_state { WORK_QUEUED, WORK_RUNNING, WORK_DONE };

struct work {
	struct work *next;     /* in its stream's queue */
	struct stream *stream; /* while not DONE: it may be gone then */
	int device;
	unsigned refs;
	enum work_state state;
	unsigned n_deps;
	struct work **deps; /* owned references */
	uint64_t time;	    /* when it was done, ns */
	hipError_t error;
	struct hrr_emu_origin origin;
	struct op op;
};

struct stream {
	struct stream *next; /* of its device */
	int device;
	unsigned flags; /* hipStreamNonBlocking = 1 */
	int priority;
	bool null, destroyed;
	unsigned char pace; /* random: 0 not drawn yet; see willing() */
	struct work *head, *tail;
	struct stream *next_active, *prev_active; /* streams with something queued */
	uint64_t id;
	uint32_t cu_mask[8];
	unsigned n_cu_mask;
	struct capture *capture; /* open on this stream, or NULL */
	struct node **cap_deps;	 /* owned: what the next captured node follows */
	unsigned n_cap_deps;
};

struct event {
	unsigned flags;
	int device;
	struct work *last; /* reference: the newest record; NULL: never */
	bool in_graph;	   /* that one is a graph's node, which ran at: */
	uint64_t node_time;
	/* recorded inside a capture: joins whoever waits for it */
	struct capture *capture;
	struct event *next_captured; /* of that capture */
	struct node **cap_nodes;     /* owned */
	unsigned n_cap_nodes;
};

#define STREAM_NONBLOCKING 1u
#define EVENT_BLOCKING 1u
#define EVENT_NO_TIMING 2u

/* --- all of the following: rt.lock held, released and taken again where work runs --- */

/*
 * The stream a handle means (0 and 1 the null stream, 2 the thread's own).
 * hipErrorInvalidHandle (400) or hipErrorContextIsDestroyed for one that is none.
 * spt: 0 is the thread's own too.
 */
hipError_t stream_get(hipStream_t h, bool spt, struct stream **ret_stream);
struct stream *stream_new(int device, unsigned flags, int priority); /* NULL: out of memory */
void stream_free_if_idle(struct stream *s);

struct work *work_ref(struct work *w);
void work_unref(struct work *w);

/*
 * Queues op (taken, on failure too) on the stream, after everything HIP says it
 * comes after. deps: more works it must wait for (borrowed). Eager mode runs it
 * before this returns. ret_work (may be NULL) gets a reference.
 */
hipError_t sched_submit(struct stream *s, struct op *op, struct work **deps, unsigned n_deps,
			struct work **ret_work);
/* Waits for what is queued now. Result: the device's sticky error. */
hipError_t sched_wait_work(struct work *w);
hipError_t sched_wait_stream(struct stream *s);
hipError_t sched_wait_device(int device);
/* For queries: whether it is done; when not, lets one step run first. */
bool sched_poll_work(struct work *w);
bool sched_poll_stream(struct stream *s);
/* Waits until nothing runs (queued work stays queued): before memory goes away. */
void sched_quiesce(void);
/* At every entry. */
void sched_tick(void);
/* A fault outside any stream's work (a copy made at the call). */
void sched_fault(int device, hipError_t e);
/* Waits as the table's sync column says for this call; w may be NULL. */
hipError_t sched_sync(enum hrr_api api, struct stream *s, struct work *w, bool touches_host);

#endif
