#ifndef HRR_HIP_BUNDLE_H
#define HRR_HIP_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/diag.h"

/*
 * Containers of code objects: clang offload bundles, plain
 * ("__CLANG_OFFLOAD_BUNDLE__") and compressed ("CCOB", versions 1 to 3, zlib or
 * zstd), and a bare ELF taken as a bundle of one. A blob of a big library may
 * hold many bundles one behind the other; entries run through all of them.
 * Untrusted input; decompression is bounded.
 */
#define HRR_BUNDLE_MAX_ENTRIES 65536
#define HRR_BUNDLE_MAX_UNPACKED ((size_t)2 << 30)

struct hrr_bundle_entry {
	const char *id; /* "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", not NUL-ended */
	size_t id_len;
	const unsigned char *data; /* borrowed from the bundle */
	size_t size;
};

struct hrr_bundle {
	struct hrr_bundle_entry *entries; /* owned array; in file order */
	size_t n_entries;
	struct hrr_buf *unpacked; /* owned: decompressed bundles */
	size_t n_unpacked;
};

/*
 * Length in bytes of the container that starts at data, looking at no more
 * than max bytes (in a running program the length of a registered fat binary is
 * not told: pass SIZE_MAX). -EINVAL when it is none of the kinds above.
 */
int hrr_bundle_length(const void *data, size_t max, size_t *ret_len, struct hrr_diag *diag);
/*
 * Opens the container at data and those that follow it, zeros between them
 * skipped. Bytes behind the first that start no container are left alone, a
 * damaged container anywhere is -EINVAL. A bare ELF gets an id made from its
 * e_flags. Compressed containers are unpacked here, HRR_BUNDLE_MAX_UNPACKED
 * bytes in all; memory is never taken on the word of a head alone. data is
 * borrowed until close.
 */
int hrr_bundle_open(struct hrr_bundle *b, const void *data, size_t size, struct hrr_diag *diag);
void hrr_bundle_close(struct hrr_bundle *b);
/*
 * The entry that fits an arch: same processor; xnack+ / xnack- / sramecc taken
 * when the target does not say otherwise; -ENOENT when none fits. arch may carry features
 * ("gfx90a:xnack-").
 * Of several the closest: the processor before its family ("gfx11-generic"), a
 * feature that is asked for before one left open, xnack- and sramecc+ first
 * where neither side says, then the first in the file.
 */
int hrr_bundle_find(const struct hrr_bundle *b, const char *arch,
		    const struct hrr_bundle_entry **ret_entry);
/* Whether hrr_bundle_find may choose the entry for arch. */
bool hrr_bundle_fits(const struct hrr_bundle_entry *e, const char *arch);
/*
 * Appends containers that hold of b what fits arch and nothing else: a plain bundle for each entry,
 * in their order. -ENOENT: nothing fits, out is as it was; -ENOMEM.
 */
int hrr_bundle_only(const struct hrr_bundle *b, const char *arch, struct hrr_buf *out);
/* The processor of an entry ("gfx90a") into name; 0, or -ENOENT for host entries. */
int hrr_bundle_arch(const struct hrr_bundle_entry *e, char *name, size_t size);

#endif
