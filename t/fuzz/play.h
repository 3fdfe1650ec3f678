#ifndef HRR_FUZZ_PLAY_H
#define HRR_FUZZ_PLAY_H

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

#endif
