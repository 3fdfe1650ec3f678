#ifndef HRR_STORE_SIDECAR_H
#define HRR_STORE_SIDECAR_H

#include "lib/stream/record.h"

/*
 * The sidecars of one process: their region lines with the time at which each
 * acts on the stream's clock, sorted. Format: formats/regions. Held in memory,
 * because they need not be in order of time.
 */
#define HRR_SIDECAR_MAX ((size_t)1 << 30) /* bytes of all sidecars of one process */
#define HRR_SIDECAR_TICK_MAX 1000000000u  /* ns: the coarsest clock */

struct hrr_sidecar_clock {
	uint64_t t0, realtime; /* of the stream's header; 0: not known, no shift */
};

struct hrr_sidecar_line {
	uint64_t t;	 /* ns since the stream's t0; 0 also for what was there before */
	bool stamped;	 /* the line had a time */
	size_t off, len; /* in text */
};

struct hrr_sidecars {
	struct hrr_buf text;  /* lines, their t already moved to the stream's clock */
	struct hrr_buf lines; /* of struct hrr_sidecar_line, sorted by t, stable */
	size_t n;
	bool cut; /* a last line without newline was left out */
};

/* Adds a file's lines, or a pipe's where it has no resolution. Negative with diag (path and line).
 */
int hrr_sidecars_add(struct hrr_sidecars *s, const char *path,
		     const struct hrr_sidecar_clock *clock, struct hrr_diag *diag);
/* Every file of DIR whose name ends in .jsonl, in order of name; a folder that is not there holds
 * none; what is not a plain file is an error. */
int hrr_sidecars_add_folder(struct hrr_sidecars *s, const char *dir,
			    const struct hrr_sidecar_clock *clock, struct hrr_diag *diag);
/* Sorts what was added. */
void hrr_sidecars_sort(struct hrr_sidecars *s);
const struct hrr_sidecar_line *hrr_sidecars_at(const struct hrr_sidecars *s, size_t i);
void hrr_sidecars_release(struct hrr_sidecars *s);

#endif
