#ifndef HRR_STORE_TAR_H
#define HRR_STORE_TAR_H

#include <stdint.h>

/* One header of a tar file (POSIX ustar), as it lies there. */
#define HRR_TAR_BLOCK 512

struct hrr_tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
	char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct hrr_tar_header) == HRR_TAR_BLOCK, "a header is a block");

/* A regular file's header. -ENAMETOOLONG. */
int hrr_tar_make(struct hrr_tar_header *h, const char *name, uint64_t size, unsigned mode);
/* -EINVAL: not a tar header, or a sum that does not fit. name: 256 bytes. */
int hrr_tar_read(const struct hrr_tar_header *h, char *name, uint64_t *ret_size);

#endif
