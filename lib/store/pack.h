#ifndef HRR_STORE_PACK_H
#define HRR_STORE_PACK_H

#include <stdint.h>

#include "lib/base/diag.h"

/*
 * An archive as one file: tar (ustar) compressed with zstd, which tar --zstd
 * reads. The same archive gives the same bytes: files in order of name, without
 * owner or time.
 */
struct hrr_pack_progress {
	void (*progress)(void *self, uint64_t files, uint64_t of); /* of 0: not known */
	void *self;
};

/* Packs folder dir to fd. progress may be NULL. Negative with diag, which names no operand where fd
 * cannot be written. */
int hrr_pack(const char *dir, int fd, const struct hrr_pack_progress *progress,
	     struct hrr_diag *diag);
/*
 * Unpacks fd to the folder dir, which appears whole or not at all (-EEXIST when
 * it is there). A tar that is not compressed is taken, too. diag names dir where that cannot be
 * made, else no operand: the pack is at fault. Only files with plain names at most four levels deep
 * are taken: no links, no devices, no way out of the folder. A blob's bytes must hash to its name
 * (-EBADMSG).
 */
int hrr_unpack(int fd, const char *dir, const struct hrr_pack_progress *progress,
	       struct hrr_diag *diag);

#endif
