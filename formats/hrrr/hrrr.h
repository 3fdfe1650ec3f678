#ifndef HRR_FORMATS_HRRR_HRRR_H
#define HRR_FORMATS_HRRR_HRRR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/diag.h"

/* Upstream's region sidecars, version 1, both ways. Format: formats/hrrr/README.md. */
#define HRR_RRR_MAGIC 0x52525248u /* "HRRR" on disk */
#define HRR_RRR_VERSION 1
#define HRR_RRR_FILE_HEADER 8
#define HRR_RRR_BATCH 40 /* bytes before the records of a batch */
#define HRR_RRR_RECORD 32
#define HRR_RRR_MAX_BATCH 67108864u
#define HRR_RRR_MAX_RECORDS ((size_t)16 << 20) /* of all streams of a process */

struct hrr_rrr {
	uint8_t op;   /* 0 add, 1 del */
	uint8_t kind; /* 0 block, 1 segment; others are kept by the reader and ignored by users */
	uint8_t device, flags;
	uint32_t tag;
	uint64_t base, size;
	int64_t t; /* CLOCK_MONOTONIC, ns; 0: live before the producer began */
};

struct hrr_rrr_list {
	struct hrr_rrr *r; /* owned */
	size_t n, cap;
	unsigned files;
	/* What was met: */
	uint64_t ignored;      /* records of unknown op or kind, adds of size 0 */
	uint64_t torn_records; /* whole records inside batches that were cut; not in r */
	unsigned torn_files;
};

void hrr_rrr_release(struct hrr_rrr_list *l);
/*
 * Appends the records of one file's bytes. A batch that is cut loses its
 * records: 1, and what it held in torn_records. -EINVAL: no such file (diag says),
 * nothing was appended. -E2BIG, -ENOMEM.
 */
int hrr_rrr_parse(struct hrr_rrr_list *l, const void *data, size_t len, struct hrr_diag *diag);
/*
 * All *.hrrr of a folder in order of path. note (may be NULL) is told what is
 * wrong with a file; the others load. A missing folder holds none. -EIO, -ENOMEM.
 */
int hrr_rrr_folder(struct hrr_rrr_list *l, const char *dir,
		   void (*note)(void *self, const char *text), void *self, struct hrr_diag *diag);
/* Stable, by time. */
int hrr_rrr_sort(struct hrr_rrr_list *l);

/* Writing: the file header, and one batch (stamped t) of n records. */
int hrr_rrr_put_header(struct hrr_buf *b);
int hrr_rrr_put_batch(struct hrr_buf *b, const struct hrr_rrr *r, size_t n, uint64_t t);

#endif
