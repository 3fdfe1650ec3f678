#ifndef HRR_STORE_VERIFY_H
#define HRR_STORE_VERIFY_H

#include "lib/store/source.h"

/* Every blob of a stream: is it there and whole, and what breaks where it is not. */
struct hrr_verify;
struct hrr_verify_options {
	/*
	 * Read every file of a blob folder when the folder is met, by several threads. For
	 * whole streams; else blobs are read one by one, as the stream names them.
	 */
	bool all;
	/* Told how many bytes of a folder were read so far; may be NULL. By the calling thread. */
	void (*progress)(void *self, uint64_t bytes, uint64_t of);
	void *self;
};
struct hrr_verify *hrr_verify_new(const struct hrr_verify_options *opt); /* NULL: no memory */
void hrr_verify_free(struct hrr_verify *v);
/*
 * Checks the blobs rec names, each once; every use of a bad one appends a line to b
 * ("blob … is missing: call 3 hipMemcpy src"). -ENOMEM, -EIO with diag.
 */
int hrr_verify_record(struct hrr_verify *v, struct hrr_source *src, const struct hrr_record *rec,
		      struct hrr_buf *b, struct hrr_diag *diag);
/* At the end: a line per file in the blob folders that nothing names. */
int hrr_verify_orphans(struct hrr_verify *v, struct hrr_source *src, struct hrr_buf *b,
		       struct hrr_diag *diag);

struct hrr_verify_sum {
	uint64_t blobs, bytes; /* looked at; whole ones and damaged ones */
	uint64_t missing, damaged, orphaned;
	uint64_t uses; /* records that break */
};
void hrr_verify_sum(const struct hrr_verify *v, struct hrr_verify_sum *ret);

#endif
