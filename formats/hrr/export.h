#ifndef HRR_FORMATS_HRR_EXPORT_H
#define HRR_FORMATS_HRR_EXPORT_H

#include "lib/store/blob.h"
#include "lib/stream/record.h"

/*
 * Writes a stream of ours as an upstream archive, version 8, rectangles packed. What
 * that format has no place for is counted and told at the end (formats/hrr/README.md
 * lists it). Blobs are copied, named by upstream's hash.
 */
struct hrr_hrr8;

struct hrr_hrr8_options {
	/* Told at the end, a message per kind of thing that was lost; may be NULL. */
	void (*lost)(void *self, const char *text);
	void *self;
};

/* Will make DIR (0700; -EEXIST when it is there): whole at the end, or not at all. */
int hrr_hrr8_open(struct hrr_hrr8 **ret, const char *dir, const struct hrr_hrr8_options *opt,
		  struct hrr_diag *diag);
/*
 * The next record of any process (rec->p). blobs is asked for that process's store when one is
 * needed: NULL there means the blob is missing; a missing or damaged blob is named
 * all the same, without its file. from_sidecar: a region that came out of one. Negative with diag.
 */
int hrr_hrr8_record(struct hrr_hrr8 *x, const struct hrr_record *rec, bool from_sidecar,
		    struct hrr_blobs *(*blobs)(void *self, uint32_t p), void *self,
		    struct hrr_diag *diag);
/* Trailers, sidecars, manifests; tells what was lost. */
int hrr_hrr8_finish(struct hrr_hrr8 *x, struct hrr_diag *diag);
/* Removes what was not finished. */
void hrr_hrr8_close(struct hrr_hrr8 *x);

#endif
