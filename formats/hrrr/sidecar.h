#ifndef HRR_FORMATS_HRRR_SIDECAR_H
#define HRR_FORMATS_HRRR_SIDECAR_H

#include "formats/hrrr/hrrr.h"
#include "lib/stream/write.h"

/* Upstream's region sidecars to ours and back. Rules: formats/hrrr/README.md. */
struct hrr_rrr_stats {
	uint64_t records; /* taken over */
	uint64_t ignored; /* unknown op or kind, adds of size 0 */
	uint64_t refused; /* sizes past 2^47 */
	uint64_t torn;	  /* records in a batch that is cut */
	bool cut;
	uint64_t tags; /* export: tags that are no "#N" */
};

#define HRR_RRR_TAG 16
/*
 * A record as a region, its time since t0 (before it: 0; a stamp of 0: none). ret->tag is in
 * tag and borrowed. False: its size is past 2^47 or the end of the address space; *ret is set all
 * the same.
 */
bool hrr_rrr_region(struct hrr_region *ret, const struct hrr_rrr *x, uint64_t t0,
		    char tag[HRR_RRR_TAG]);
/*
 * Appends a sidecar (header line and records, in order of time) made of a .hrrr
 * file's bytes. t0 is the stream's (CLOCK_MONOTONIC, ns); 0: the first time met.
 * pid -1: not known. -EINVAL with diag: no such file. -ENOMEM.
 */
int hrr_rrr_import(struct hrr_buf *out, const void *data, size_t len, uint64_t t0, int64_t pid,
		   struct hrr_rrr_stats *ret, struct hrr_diag *diag);
/*
 * The other way: regions in the order they are added, as one batch. t0 is added to
 * times; a region without one gets 0 (live before the producer began).
 */
struct hrr_rrr_writer {
	uint64_t t0;
	struct hrr_buf records; /* owned: struct hrr_rrr[] */
	struct hrr_rrr_stats stats;
};
int hrr_rrr_export_add(struct hrr_rrr_writer *w, const struct hrr_region *r);
/* Appends file header and batch to out, and releases w. */
int hrr_rrr_export_end(struct hrr_rrr_writer *w, struct hrr_buf *out);

#endif
