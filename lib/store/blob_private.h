#ifndef HRR_STORE_BLOB_PRIVATE_H
#define HRR_STORE_BLOB_PRIVATE_H

#include <sys/stat.h>

#include "lib/store/blob.h"

struct hrr_blobs {
	const struct hrr_blob_provider *provider; /* or dir */
	void *self;
	int dir;
	char *path;
};

/* Opens a blob's file: -ENOENT; -ELOOP or -ENOTDIR for something else than a file. */
int hrr_blobs_open_file(struct hrr_blobs *s, const struct hrr_id *id, struct stat *ret_st);
/* "blob xxh128:… WHAT", and with the error's text behind it. They return err. */
int hrr_blobs_say(struct hrr_diag *diag, int err, const struct hrr_id *id, const char *what);
int hrr_blobs_say_errno(struct hrr_diag *diag, int err, const struct hrr_id *id, const char *what);

#endif
