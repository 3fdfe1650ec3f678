#ifndef HRR_REGION_PLACE_H
#define HRR_REGION_PLACE_H

#include "lib/store/source.h"

/* Where the sidecars of a recorded process are, and on what clock. */
struct hrr_sidecar_place {
	uint64_t t0, realtime; /* of the header, ns */
	uint64_t end;	       /* the last t in it */
	uint64_t pid;
	char *folder; /* owned; NULL: it takes none (not an archive of ours) */
};

/*
 * Reads operand (an archive, one process's folder or its file) to its end, without
 * its sidecars. Negative with diag: cannot be read, several processes and none
 * chosen, no header with a clock.
 */
int hrr_sidecar_place(struct hrr_sidecar_place *ret, const char *operand,
		      const struct hrr_source_options *opt, struct hrr_diag *diag);
/* Writes the sidecar NAME.jsonl there, whole or not at all; the folder is made. */
int hrr_sidecar_put(const struct hrr_sidecar_place *p, const char *name, const struct hrr_buf *text,
		    struct hrr_diag *diag);
void hrr_sidecar_place_release(struct hrr_sidecar_place *p);

#endif
