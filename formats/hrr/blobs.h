#ifndef HRR_FORMATS_HRR_BLOBS_H
#define HRR_FORMATS_HRR_BLOBS_H

#include "formats/hrr/hash.h"
#include "lib/store/blob.h"

/*
 * The blobs of one process of an upstream archive, blobs and code objects alike,
 * under our names: a file is read once, when its name is first met, and gets the id of
 * its bytes; nothing is copied. A name without its file, or whose bytes hash to
 * something else, gets its own 16 bytes as the id, under which get fails.
 */
struct hrr_up_blobs;

enum hrr_up_state { HRR_UP_OK, HRR_UP_MISSING, HRR_UP_DAMAGED };

/* The bytes of a rectangle in a blob that has the program's pitch: what is stored is a view of it.
 */
struct hrr_up_rect {
	uint64_t width, height, depth, pitch, slice; /* width 0: none */
};

struct hrr_up_blob {
	struct hrr_fnv name;
	struct hrr_id id;
	uint64_t size; /* of what id names */
	enum hrr_up_state state;
	bool code; /* among the code objects */
	bool used; /* met in the events; the rest is orphaned */
	struct hrr_up_rect rect;
	char *path; /* owned; where it is not at its usual place */
};

/* dir: the process's folder. */
int hrr_up_blobs_open(struct hrr_up_blobs **ret, const char *dir, struct hrr_diag *diag);
void hrr_up_blobs_close(struct hrr_up_blobs *s);
/* By upstream's name. rect may be NULL. Borrowed, until the next call. -EIO, -ENOMEM. */
int hrr_up_blobs_find(struct hrr_up_blobs *s, struct hrr_fnv name, const struct hrr_up_rect *rect,
		      const struct hrr_up_blob **ret, struct hrr_diag *diag);
/* Every file, met or not, once (used tells). 1 and the i-th, 0 behind the last, -errno. */
int hrr_up_blobs_each(struct hrr_up_blobs *s, size_t i, const struct hrr_up_blob **ret,
		      struct hrr_diag *diag);
/* As hrr_blobs_get, hrr_blobs_size, hrr_blobs_file. An id not met yet makes every file be read. */
int hrr_up_blobs_get(void *s, const struct hrr_id *id, uint64_t max, struct hrr_blob *ret,
		     struct hrr_diag *diag);
int hrr_up_blobs_size(void *s, const struct hrr_id *id, uint64_t *ret_size);
int hrr_up_blobs_check(void *s, const struct hrr_id *id, uint64_t *ret_size, struct hrr_diag *diag);
/* As hrr_blob_provider has it; names are paths in the process's folder. */
int hrr_up_blobs_orphans(void *s, int (*found)(void *to, const char *name), void *to,
			 struct hrr_diag *diag);
int hrr_up_blobs_file(void *s, const struct hrr_id *id, char *path, size_t size);
const char *hrr_up_blobs_path(const struct hrr_up_blobs *s);

#endif
