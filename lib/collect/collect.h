#ifndef HRR_COLLECT_COLLECT_H
#define HRR_COLLECT_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/diag.h"
#include "lib/store/archive.h"

/*
 * The reading half of capture: takes the records of every recorded process out
 * of the scratch folder's rings (lib/preload/ring.h), puts them in the order of
 * their numbers, stores bytes as blobs and writes the event streams.
 */
struct hrr_collect_options {
	const char *scratch;	     /* the scratch folder; borrowed */
	struct hrr_archive *archive; /* borrowed; NULL: one stream to fd */
	struct hrr_blobs *blobs;     /* borrowed */
	int fd;			     /* the stream's, where there is no archive */
	bool mask;		     /* fd is a terminal: lib/base/mask.h */
	const char *blobs_name;	     /* what the header says: "../blobs", or absolute; borrowed */
	uint64_t id;		     /* of this recording */
	uint64_t ring_size, host_limit;
	uint64_t arena_size; /* of each process; less where little is free */
	uint32_t options;    /* enum hrr_hub_option */
	uint64_t
	    max_bytes; /* stop recording beyond this many bytes of blobs and lines; 0: no limit */
	uint64_t min_free; /* stop when the file system has less left; 0: do not look */
	uint64_t
	    window; /* ns: calls that are older, and that nothing newer can depend on, may go; 0 */
	const char *only; /* a selector of the calls to write, shorter than HRR_ONLY_MAX; NULL: all;
			     recover takes what the hub says */
};

struct hrr_collect;

/* Makes hub in the scratch folder (recover: takes the one that is there) and locks it: -EBUSY when
 * another reader lives. */
int hrr_collect_open(struct hrr_collect **ret, const struct hrr_collect_options *opt, bool recover,
		     struct hrr_diag *diag);
/*
 * One round over all rings. Returns 1 when something was taken, 0 when there was
 * nothing, or negative: the output cannot be written (recording has been
 * switched off, programs run on; later rounds only drain).
 */
int hrr_collect_step(struct hrr_collect *c, struct hrr_diag *diag);
/* Sleeps until a program has filled half a ring, or milliseconds have passed. */
void hrr_collect_wait(struct hrr_collect *c, unsigned milliseconds);
/* The command's own pid: its stream is not ended before hrr_collect_ended says how it went. */
void hrr_collect_command(struct hrr_collect *c, pid_t pid);
/* How the command itself ended, once known: killed by a signal or not. */
void hrr_collect_ended(struct hrr_collect *c, pid_t pid, bool killed);
/* Recorded processes that still live. */
unsigned hrr_collect_alive(struct hrr_collect *c);
/* No more records are wanted. */
void hrr_collect_stop(struct hrr_collect *c);
/*
 * Takes the last records of processes that ended, writes `end` for every
 * process; those that still run are cut. Removes the scratch files.
 */
int hrr_collect_finish(struct hrr_collect *c, struct hrr_diag *diag);
/* For a handler of SIGBUS: is addr in a file shared with a program, which somebody has cut short?
 * It can be gone on from there then. */
bool hrr_collect_torn(const void *addr);
void hrr_collect_close(struct hrr_collect *c);

struct hrr_collect_summary {
	uint32_t processes;
	uint32_t unrecorded;   /* after finish: processes (or more) that could not be recorded */
	uint32_t left;	       /* after finish: processes that ran on */
	uint32_t killed;       /* other than the command: that did not end in order */
	uint32_t first_killed; /* pid of one of them */
	uint64_t calls, outputs, regions, lost, lost_bytes, not_recorded, bytes;
	bool cut;	   /* some process did not end in order */
	bool reader_gone;  /* the output was a pipe, and its reader has gone */
	const char *limit; /* why recording stopped early, or NULL */
};
void hrr_collect_summary(const struct hrr_collect *c, struct hrr_collect_summary *ret);

#endif
