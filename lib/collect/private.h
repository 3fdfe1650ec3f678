#ifndef HRR_COLLECT_PRIVATE_H
#define HRR_COLLECT_PRIVATE_H

#include "lib/base/buf.h"
#include "lib/base/id.h"
#include "lib/base/range.h"
#include "lib/collect/collect.h"
#include "lib/preload/ring.h"
#include "lib/stream/select.h"
#include "lib/stream/write.h"

/*
 * queue.c   one ring as an endless run of bytes     order.c   rings of a process in one order
 * print.c   a call as a line                        values.c  arguments by the table
 * bytes.c   payloads into blobs                     known.c   kernels, objects, addresses
 * collect.c hub, processes, ends              only.c    calls that are not wanted
 * recover.c going on after a kill             compact.c --window while it records
 * shared.c  what is mapped on both sides
 */

/* One ring. Positions as in ring.h; what was moved out of the ring lies in the overflow file. */
struct queue {
	struct hrr_ring *ring; /* mapped; NULL: not there yet */
	uint64_t size;
	uint64_t rd;   /* next byte to look at */
	uint64_t head; /* as seen in this round */
	uint64_t tail; /* as we have told it: what stands in the header may be anything */
	uint32_t tid;
	int spill_fd;
	char *spill; /* mapping of the overflow file, [spill_from, spill_end) */
	size_t spill_cap;
	uint64_t spill_from, spill_end;
	struct hrr_buf entered; /* the ENTER record without number whose LEAVE has not come */
	uint64_t entered_at;	/* its position, from which the ring is kept while it is near */
	uint64_t key;		/* order of the record at rd, see order.c */
	bool damaged;
};
/* slot: which mark to go on from; -1: from the beginning. */
int queue_open(struct queue *q, const char *path, const char *spill_path, int slot);
void queue_close(struct queue *q);
/* Sees how far the program has come. Of a damaged ring all is given back: the program runs on, and
 * what it writes there is lost. */
void queue_look(struct queue *q);
/* The record at position pos (whole and below head), or NULL: not there yet. */
const struct hrr_rec *queue_at(struct queue *q, uint64_t pos);
/* The next record that stands for something: steps over PAD, TID and unnumbered ENTER. */
const struct hrr_rec *queue_peek(struct queue *q);
void queue_next(struct queue *q, const struct hrr_rec *r);
/* Makes room in the ring though its records cannot be used yet. */
int queue_spill(struct queue *q, const char *path);
/* Where it stands, for a reader that goes on. */
struct hrr_mark queue_mark(const struct queue *q);
/* Lines up to rd are written out: gives their space back. */
void queue_settle(struct queue *q);

struct object {
	struct hrr_id id;
	bool known;
};
struct kernel {
	bool known, layout;
	uint64_t object;
	uint32_t n_args;
	struct hrr_rec_arg *args;
	struct hrr_buf head; /* {"name":"…","object":"…" */
};
struct pending {
	struct pending *next;
	uint64_t call, node, addr, size, t;
	uint64_t tid;
};

struct process {
	struct hrr_collect *c;
	uint32_t index;	     /* in the scratch folder */
	struct hrr_ctl *ctl; /* mapped; NULL: not there yet */
	int ctl_fd;
	uint32_t pid, image;
	int64_t p; /* index in a merged stream, -1: none */
	int fd;
	bool closed, dead, cut, started, restoring,
	    failed;	       /* failed: its stream could not be written */
	bool seen_end, killed; /* how it ended is known, and that it was by a signal */
	bool replaced;	       /* another image of its pid is there */
	bool abrupt;	       /* by all that can be told it was killed */
	unsigned quiet;	       /* rounds without a record */
	struct queue *q;
	uint32_t n_q, cap_q;
	struct queue *group; /* its records come one after the other until END */
	uint64_t next;	     /* number of the next call to print, as taken by the program */
	uint64_t *gaps; /* numbers never used: taken by calls that did not get to their record */
	size_t n_gaps, cap_gaps;
	uint64_t written;	 /* bytes of the stream */
	uint32_t slot;		 /* ctl->settled */
	struct hrr_buf payloads; /* files and extents whose lines are not written yet */
	struct hrr_arena *arena; /* mapped; NULL: not there yet */
	uint64_t arena_size;	 /* bytes of its data */
	uint64_t held;		 /* of them those of payloads */
	struct hrr_buf out;
	uint64_t calls, outputs, regions, lost, lost_bytes, not_recorded;
	struct hrr_buf known; /* to be appended to pI.knownN */
	int known_fd;
	uint32_t known_n;   /* that N: it begins anew when most of it is of the past */
	uint32_t known_old; /* the one before it, + 1, until the mark names the new one; 0: none */
	uint64_t known_written; /* bytes of it */
	uint64_t known_base;	/* of them what it began with */
	bool known_lost;	/* it could not be written: it ends there */
	uint32_t regroup;	/* recovered: ring whose group is not over, + 1 */
	struct object *objects;
	uint64_t n_objects;
	struct kernel *kernels;
	uint64_t n_kernels;
	struct hrr_ranges *ranges;
	struct pending *pending, **pending_last;
	/* --window: what is not in the stream any more; calls and outputs count all ever. */
	uint64_t dropped_calls, dropped_outputs, dropped_regions;
	bool filtered;		 /* something was left out */
	uint64_t file;		 /* inode of the stream */
	bool gate;		 /* inside hipProfilerStart..Stop */
	bool bare;		 /* print calls without their bytes, to judge them */
	struct hrr_seqs *wanted; /* --only: calls written, whose outputs are */
};

struct hrr_collect {
	struct hrr_collect_options opt;
	struct hrr_hub *hub;
	int hub_fd;
	struct process **p;
	uint32_t n_p, n_started;
	struct hrr_buf scratch; /* for building */
	bool dead_output;	/* it could not be written */
	bool reader_gone;	/* because nobody reads the other end of the pipe */
	bool recover, alone;	/* alone: recording ended for want of a reader */
	uint32_t command;	/* pid; 0: none, or it has ended */
	uint64_t bytes;
	const char *limit;
	uint64_t checked_free;
	uint32_t unrecorded;
	uint32_t left;	 /* processes that ran on when recording ended */
	uint64_t newest; /* CLOCK_MONOTONIC: the last return of a call */
	struct compact *compact;
	struct hrr_id *seen; /* ids stored lately, by hash */
	char boot[64];
	struct hrr_select *only; /* NULL: every call is wanted */
	struct hrr_record judged;
	struct hrr_diag failure; /* the first thing that went wrong with the output */
};

/* --- order.c --- */
void add_gap(struct process *p, uint64_t seq);
uint64_t out_seq(const struct process *p, uint64_t seq);
/* 1: something was taken. final: the process is dead and nothing more can come. */
int process_drain(struct process *p, bool final);

/* --- print.c --- */
void print_call(struct process *p, struct queue *q, const struct hrr_rec *r, bool returned);
void print_output(struct process *p, struct queue *q, const struct hrr_rec *r);
void print_unknown(struct process *p, const struct pending *x, const char *why);
void pending_add(struct process *p, const struct pending *x);
void pending_del(struct process *p, uint64_t call, uint64_t node, uint64_t addr);
void print_runtime(struct process *p, const struct hrr_rec *r);
void print_marker(struct process *p, struct queue *q, const struct hrr_rec *r);

/* --- only.c --- */
/* Are there calls that are not wanted? */
bool only_some(const struct process *p);
/* Is the call printed bare at p->out's end wanted? Takes it away. Counts as written when it is. */
bool only_wants(struct process *p, size_t from, uint64_t seq);
bool only_wants_output(const struct process *p, uint64_t seq); /* as printed */
/* How a stream that is not cut ended. */
const char *only_how(const struct process *p);
int only_restore(struct process *p); /* wanted, from the lines written so far */

/* --- values.c --- */
struct atts { /* attachments of a record, by parameter and by kind */
	const struct hrr_att *value[16];
	const struct hrr_att *src, *kernel, *symbol, *image, *ret;
	const struct hrr_att *first, *end; /* of all, to walk for the others */
};
static inline const unsigned char *att_data(const struct hrr_att *a)
{
	return (const unsigned char *)(a + 1);
}
const struct hrr_att *att_next(const struct hrr_att *a, const struct hrr_att *end);
void atts_read(const struct hrr_rec *r, struct atts *a);
void print_args(struct hrr_buf *b, const struct hrr_rec *r, const struct atts *a, int layout);

/* --- bytes.c --- */
/* The blob of these bytes; false: they are not known (or cannot be stored). */
bool store_bytes(struct process *p, const struct hrr_bytes *x, const void *inline_data,
		 struct hrr_id *ret);
/* They are not wanted: their file, if any, goes with the others. */
void drop_bytes(struct process *p, const struct hrr_bytes *x);
/* Gives back the payload files and extents that lines already written name. */
void remove_payloads(struct process *p);
void arena_close(struct process *p);
/* Blobs have been removed: none is taken to be there. */
void bytes_forget(struct hrr_collect *c);

/* --- known.c --- */
void learn_object(struct process *p, const struct hrr_rec *r);
void learn_kernel(struct process *p, const struct hrr_rec *r);
void learn_range(struct process *p, uint64_t base, uint64_t size, uint64_t kind, bool add);
bool is_address(const struct process *p, uint64_t word);
void known_object(struct process *p, uint64_t number, const struct hrr_id *id);
/* args, head: of the kernel, copied. */
void known_kernel(struct process *p, uint64_t number, const struct kernel *x);
void known_release(struct process *p);

/* --- recover.c --- */
/* What a reader that goes on has to know, as it stands in pI.knownN. */
struct saved {
	uint32_t size; /* of all, a multiple of 8 */
	uint32_t what; /* enum saved_what */
	union {
		struct {
			uint64_t number;
			struct hrr_id id;
		} object;
		struct {
			uint64_t base, bytes, kind, add;
		} range;
		struct { /* of struct pending */
			uint64_t call, node, addr, size, t, tid;
		} pending;
		struct { /* args and head behind */
			uint64_t number, object;
			uint32_t n_args, layout;
			uint64_t head;
		} kernel;
		uint64_t gap;
	} u;
};
enum saved_what {
	SAVED_OBJECT,
	SAVED_KERNEL,
	SAVED_RANGE,
	SAVED_PENDING,
	SAVED_RESOLVED, /* of it call, node and addr */
	SAVED_GAP
};
void known_note(struct process *p, const struct saved *s);
void known_note_kernel(struct process *p, uint64_t number);
/* Written before the mark, and what the mark named before, gone behind it. */
void known_save(struct process *p);
void known_settle(struct process *p);
int recover_stream(struct process *p);
/* Path of its events.jsonl, in an archive. */
void stream_path(const struct process *p, char *path, size_t size);

/* --- compact.c --- */
void compact_step(struct hrr_collect *c);
/* A blob was stored, or named once more. */
void compact_stored(struct hrr_collect *c, const struct hrr_id *id);
void compact_stop(struct hrr_collect *c);
void compact_clean(const struct process *p); /* what a killed one has left */

/* --- process.c --- */
void process_path(const struct process *p, const char *kind, uint32_t n, char *path, size_t size);
int process_start(struct process *p);
void write_header(struct process *p);
void process_flush(struct process *p);
/* Where it stands, for a reader that goes on: written down, then made to count. */
void process_mark(struct process *p);
void process_settle(struct process *p);
bool process_is_dead(const struct process *p);
/* The rest of its records and its last line; its files go unless they are to be kept. */
void process_end(struct process *p, bool keep);
void process_free(struct process *p);

/* --- shared.c --- */
/* As mmap of a whole file and munmap; NULL: errno says why. */
void *shared_map(int fd, size_t size, int protection);
void shared_unmap(void *p, size_t size);
/* Has the file of a mapping been cut short where nobody has read since? */
void shared_look(const char *path, const void *mapping);
bool shared_torn(void); /* what was read from one since the last look may be anything */

/* --- collect.c --- */
void check_torn(struct hrr_collect *c); /* and ends the recording */
uint64_t now_ns(clockid_t clock);
void check_limits(struct hrr_collect *c); /* turns recording off where one is reached */
void fail_output(struct hrr_collect *c, const struct hrr_diag *diag);

#endif
