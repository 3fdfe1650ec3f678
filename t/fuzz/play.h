#ifndef HRR_FUZZ_PLAY_H
#define HRR_FUZZ_PLAY_H

#include <limits.h>
#include <signal.h>
#include <sys/types.h>

#include "lib/base/buf.h"
#include "lib/base/id.h"

/* What play.c and play_mutate.c share: one archive in memory. */
struct fuzz_blob {
	char name[HRR_ID_TEXT + 1];
	struct hrr_buf data;
};

struct fuzz_archive {
	struct hrr_buf events;
	struct fuzz_blob *blobs; /* owned */
	size_t n;
};

/* A number below n (n > 0); the same seed gives the same numbers. */
void fuzz_seed(uint64_t seed);
uint64_t fuzz_rand(uint64_t n);

/*
 * Damages events (a copy of a->events) in one to four ways. Where a blob is damaged it gets
 * the name of its new bytes, there and in events: otherwise the hash would be all that is tested.
 * ret_blob->name is empty when none was. Aborts without memory.
 */
void fuzz_mutate(const struct fuzz_archive *a, struct hrr_buf *events, struct fuzz_blob *ret_blob);

#define FUZZ_WORDS 11 /* of each run, the program's name included */

/* One run, as the preloaded server is asked for it and tells of it. */
struct fuzz_order {
	char words[2 * PATH_MAX]; /* FUZZ_WORDS - 1 strings, each with its NUL */
	char err[PATH_MAX];	  /* where its output goes */
};

struct fuzz_reply {
	pid_t pid;
	int status; /* as wait's */
	long kib;   /* resident, at most */
};

/* What a run's process does first: limits, a group of its own, its output to err. */
void fuzz_child_begin(const char *err);

/*
 * Runs prog with words, through the server when lib (its path) is not NULL. *child is the
 * process while it runs, for whoever ends it. Exits when the system fails.
 */
struct fuzz_reply fuzz_run(const char *prog, const char *lib, const char *const words[FUZZ_WORDS],
			   const char *err, volatile sig_atomic_t *child);

#endif
