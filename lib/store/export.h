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
