#ifndef HRR_BIN_CAT_H
#define HRR_BIN_CAT_H

#include "lib/base/buf.h"
#include "lib/hip/slice.h"
#include "lib/store/source.h"

/* Parts of hrr-cat. What goes wrong in them ends the program with its message. */

/* The calls expr selects of operand and all they depend on: a first reading, which says what stays
 * in the second. Owned by the caller. */
struct hrr_slice *cat_slice(const char *operand, const struct hrr_source_options *opt,
			    const char *expr);
/* A kernel's name in C++, appended to b; the C++ library knows how, where it is installed.
 * Negative: it is none. */
int cat_demangle(void *self, const char *name, size_t len, struct hrr_buf *b);
/* --pack and --unpack: exit codes. */
int cat_pack(const char *operand);
int cat_unpack(const char *operand, const char *out);

#endif
