#ifndef HRR_REPLAY_REPLAY_H
#define HRR_REPLAY_REPLAY_H

#include <stdio.h>

#include "lib/hip/entry.h"
#include "lib/replay/verdict.h"
#include "lib/store/source.h"

/*
 * The replay engine: one process's recorded calls, issued again against one HIP
 * run time. Feed it every record in order, then finish. Addresses in interfaces are
 * recorded addresses unless they are called live. Not thread-safe: one engine, one thread.
 */
struct hrr_replay;

/* --memcheck: wrong accesses become outcomes and launches go on past them. */
#define HRR_MEMCHECK_ON 1u
#define HRR_MEMCHECK_BLOCKS 2u /* held to the blocks of regions */
#define HRR_MEMCHECK_INIT 4u   /* reads of what nothing wrote */
/* "blocks", "init" or both with a comma, NULL: neither. -EINVAL. */
int hrr_memcheck_parse(const char *text, unsigned *ret_flags);

#define HRR_REPLAY_MAX_REPLACE 16
#define HRR_REPLAY_DEFAULT_WATCHDOG 120 /* seconds */

struct hrr_replay_options {
	bool keep_going;	/* -k: go on past calls that failed or were refused */
	bool sync_after_launch; /* wait after each launch, so that the guilty one is named */
	bool no_placement;
	bool strict_regions;	      /* an access outside every live block counts as a failure */
	bool timing;		      /* wait after each launch and keep its time */
	unsigned memcheck;	      /* HRR_MEMCHECK_*: checks of the CPU run time */
	bool bakes_host;	      /* this run time bakes host mappings into graph nodes */
	int fill_byte;		      /* fresh memory: 0..255 */
	uint64_t max_host_bytes;      /* budget of recorded host pages; 0: no limit */
	unsigned watchdog;	      /* seconds one wait may take; 0: for ever */
	uint64_t seq_first, seq_last; /* --seq: outputs of these calls are checked, replay ends
					 after seq_last; 0: open */
	uint64_t stop_at;	      /* --stop-at: end after this call; 0: none */
	const char *only_kernel;      /* shell pattern: end after its first launch; NULL */
	size_t n_replace;
	const char *replace[HRR_REPLAY_MAX_REPLACE]; /* "NAME=FILE", borrowed */
	const struct hrr_rules *tolerance;	     /* borrowed; NULL: exact only */
	struct hrr_blobs *hash_blobs;  /* where the bytes they are of go; borrowed, NULL: nowhere */
	FILE *hashes;		       /* --hash-launches: an event stream goes here; NULL */
	volatile const int *interrupt; /* set by a signal handler: stop issuing; NULL */
	/* Called with each outcome as it is known; the text lives for the call. */
	void (*outcome)(void *self, const struct hrr_outcome *o);
	/* Called for calls whose launches the CPU run time executed with less than exact
	 * instructions, or refused; NULL. */
	void (*fidelity)(void *self, const struct hrr_launch_fidelity *f);
	void *self;
};

/*
 * hip: loaded, borrowed, used until hrr_replay_free. blobs may be NULL (a stream
 * that names none). -ENODEV and diag where there is no device, -ENOMEM.
 */
int hrr_replay_new(struct hrr_replay **ret, struct hrr_hip *hip,
		   const struct hrr_replay_options *opt, struct hrr_blobs *blobs,
		   struct hrr_diag *diag);
/* The blob store may be known only after the header was read. Borrowed. */
void hrr_replay_set_blobs(struct hrr_replay *r, struct hrr_blobs *blobs);
/*
 * 0: go on. 1: the end was asked for, or a call failed or was refused without keep_going (its
 * outcome was reported): feed no more, finish. Negative: replay cannot go on (blob missing or
 * damaged, out of memory, the watchdog, a signal), with diag.
 */
int hrr_replay_record(struct hrr_replay *r, const struct hrr_record *rec, struct hrr_diag *diag);
/*
 * Bytes as they stand at a recorded address (device or host), waited for, into data
 * (size bytes). -ENXIO not mapped, -ERANGE past the end; diag says.
 */
int hrr_replay_peek(struct hrr_replay *r, uint64_t addr, uint64_t size, void *data,
		    struct hrr_diag *diag);
/*
 * The one orderly end, also after an error: wait for the device, destroy graph
 * executables, unregister what is registered, free device memory, unmap. -ETIMEDOUT
 * when the device could not be waited for: what it may still write is left alone.
 */
int hrr_replay_finish(struct hrr_replay *r, struct hrr_diag *diag);
const struct hrr_verdict *hrr_replay_verdict(struct hrr_replay *r);
/* Kernel times (--timing), longest first: 0 and the i-th, or -ENOENT. */
struct hrr_kernel_time {
	const char *name;
	uint64_t launches, total, min, max; /* ns */
};
int hrr_replay_time(struct hrr_replay *r, size_t i, struct hrr_kernel_time *ret);
void hrr_replay_free(struct hrr_replay *r); /* after finish */

/*
 * Placement, before HIP starts: an archive is scanned for the device memory it
 * will make, spans are reserved without access. Give the result to the engine.
 */
struct hrr_place;
struct hrr_place *hrr_place_new(void);
void hrr_place_free(struct hrr_place *p); /* gives back what is still held */
/* Looks at one record. 0, or -ENOMEM. */
int hrr_place_scan(struct hrr_place *p, const struct hrr_record *rec);
/* Reserves what was scanned. 1: not every span could be had; another start of the program, with
 * its own things elsewhere, may do better. -ENOMEM. */
int hrr_place_reserve(struct hrr_place *p);
/* Taken over by the engine. Before the first record. */
void hrr_replay_set_place(struct hrr_replay *r, struct hrr_place *p);

#endif
