#ifndef HRR_HIP_BUNDLE_PRIVATE_H
#define HRR_HIP_BUNDLE_PRIVATE_H

#include <stdbool.h>

#include "lib/hip/bundle.h"

/* For bundle*.c only. */
enum hrr_bundle_kind { HRR_BUNDLE_NONE, HRR_BUNDLE_PLAIN, HRR_BUNDLE_COMPRESSED, HRR_BUNDLE_ELF };

/*
 * A plain bundle: magic, u64 number of entries, then for each u64 offset, size, id length and the
 * id.
 */
#define HRR_BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
enum { HRR_BUNDLE_HEAD = 32, HRR_BUNDLE_ENTRY = 24 };

/* By the first bytes, of which no more are read than are alike. */
enum hrr_bundle_kind hrr_bundle_kind(const unsigned char *p, size_t max);
/* Bytes of the compressed container at p, of which no more is read than its headers promise. */
int hrr_bundle_packed_length(const unsigned char *p, size_t max, size_t *ret_len,
			     struct hrr_diag *diag);
/* Adds the unpacked bundle at p (len bytes, all of one container) to out; at most max bytes. */
int hrr_bundle_unpack(const unsigned char *p, size_t len, size_t max, struct hrr_buf *out,
		      struct hrr_diag *diag);

#endif
