#ifndef HRR_FORMATS_HRR_BLOBS_PRIVATE_H
#define HRR_FORMATS_HRR_BLOBS_PRIVATE_H

#include <limits.h>

#include "formats/hrr/blobs.h"
#include "lib/base/buf.h"

struct hrr_up_blobs {
	char dir[PATH_MAX];
	struct hrr_up_blob *b; /* in order of meeting */
	size_t n, cap;
	uint32_t *by_name, *by_id; /* open addressing: index + 1 */
	size_t slots;
	bool scanned; /* every file was looked at */
	bool listed;  /* odd is complete */
	struct odd {  /* files that are not at their usual place */
		struct hrr_fnv name;
		char *path;
		bool code;
	} * odd;
	size_t n_odd;
	struct hrr_buf
	    stray; /* once scanned: paths below dir whose names are no hash, each with NUL */
	unsigned char *piece;
};

#define PIECE ((size_t)256 << 10) /* bytes of hrr_up_blobs.piece */

/* Where the file of x is, or should be. */
void hrr_up_usual_path(const struct hrr_up_blobs *s, const struct hrr_up_blob *x, char *path,
		       size_t size);
/* A plain file for reading; links are not followed. -errno. */
int hrr_up_open_file(const char *path, uint64_t *ret_size);
/* x->name is set: finds and reads the file. */
int hrr_up_load(struct hrr_up_blobs *s, struct hrr_up_blob *x);
/* The hash before the ending of a file's name. */
bool hrr_up_file_name(const char *base, struct hrr_fnv *ret);
/* Tells file every .blob and .hsaco below the process's folder, until it is not 0. */
typedef int hrr_up_file_fn(struct hrr_up_blobs *s, const char *path, const char *base, bool code);
int hrr_up_scan_both(struct hrr_up_blobs *s, hrr_up_file_fn *file);
/* All of an open file into memory, or the bytes of x's rectangle in it. */
int hrr_up_take(int fd, uint64_t size, struct hrr_blob *ret);
int hrr_up_take_rect(struct hrr_up_blobs *s, int fd, const struct hrr_up_blob *x,
		     struct hrr_blob *ret);

#endif
