#ifndef HRR_STORE_EXPORT_PRIVATE_H
#define HRR_STORE_EXPORT_PRIVATE_H

#include "lib/base/idmap.h"
#include "lib/store/archive.h"
#include "lib/store/export.h"

struct export_process {
	bool header, end;
	uint32_t pid, image;
	uint64_t t, calls, outputs, regions;
	struct hrr_buf text; /* lines not written yet */
};

/* What becomes of a blob: it may be named as several. */
enum export_way { EXPORT_AS_IS, EXPORT_REDACTED, EXPORT_CODE, EXPORT_WAYS };

struct hrr_export {
	struct hrr_export_options opt;
	char *dir, *temporary; /* owned; temporary NULL: nothing to remove */
	struct hrr_archive *archive;
	struct hrr_buf processes; /* of struct export_process, by p */
	size_t n_processes;
	struct hrr_idmap done[EXPORT_WAYS]; /* by the source's id: index in new_ids */
	struct hrr_buf new_ids;
	unsigned char key[32];
	uint64_t bytes, repairs;
	struct hrr_record scratch;
	struct hrr_buf line, changed;
};

/*
 * Takes over every blob that rec names. x->line gets the whole line where it has
 * to change, else it stays empty.
 */
int hrr_export_take_blobs(struct hrr_export *x, struct hrr_source *src,
			  const struct hrr_record *rec, struct hrr_diag *diag);

#endif
