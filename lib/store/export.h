#ifndef HRR_STORE_EXPORT_H
#define HRR_STORE_EXPORT_H

#include "lib/store/source.h"

/*
 * A stream written as an archive: each process's records into its folder (a
 * merged stream's "p" goes away), and the blobs they name. The folder appears
 * whole at the end, or not at all.
 */
struct hrr_export;

/* -EEXIST when dir is there. */
int hrr_export_new(struct hrr_export **ret, const char *dir, struct hrr_diag *diag);
struct hrr_export_options {
	/* Payloads become bytes that say nothing: size and equality stay, code stays. */
	bool redact;
	/*
	 * Code (what a kernel or a module comes from) as it is to be in the new archive, appended
	 * to ret; NULL: as it is. -ENOENT: it stays as it is; another error ends all, with diag.
	 */
	int (*code)(void *code_self, const void *data, size_t len, struct hrr_buf *ret,
		    struct hrr_diag *diag);
	void *code_self;
	/*
	 * What cannot be had is told and left: an output whose blob is missing or damaged
	 * becomes unknown, a stream without end gets one ("cut").
	 */
	bool repair;
	/* what was done; diag says why, and where */
	void (*report)(void *self, const char *what, const struct hrr_diag *diag);
	void *self;
};
/* Before the first record. -EIO: no random bytes. */
int hrr_export_set(struct hrr_export *x, const struct hrr_export_options *opt,
		   struct hrr_diag *diag);
/* One more thing that a repair did, by the caller. */
void hrr_export_repaired(struct hrr_export *x, const char *what, const struct hrr_diag *diag);
/* What a repair changed or had to leave broken. */
uint64_t hrr_export_repairs(const struct hrr_export *x);

/*
 * Adds a record of src as line (len bytes, without newline; NULL: as it came;
 * the header's blobs are changed anyway). Blobs are taken over by link where that
 * is possible. -ENOENT, -EBADMSG for a blob.
 */
int hrr_export_record(struct hrr_export *x, struct hrr_source *src, const struct hrr_record *rec,
		      const char *line, size_t len, struct hrr_diag *diag);
/* state: for manifest.json, "complete" or "cut". Gives the folder its name. */
int hrr_export_finish(struct hrr_export *x, const char *state, struct hrr_diag *diag);
/* Removes what was not finished. */
void hrr_export_free(struct hrr_export *x);
/* Blobs taken over, and their bytes. */
void hrr_export_blobs(const struct hrr_export *x, uint64_t *ret_count, uint64_t *ret_bytes);

#endif
