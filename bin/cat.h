#ifndef HRR_BIN_CAT_H
#define HRR_BIN_CAT_H

#include "lib/base/buf.h"
#include "lib/hip/slice.h"
#include "lib/store/export.h"
#include "lib/store/source.h"
#include "lib/stream/filter.h"

/* Parts of hrr-cat. What goes wrong in them ends the program with its message. */

/* What is shown of a stream; beyond the characters that are options. */
enum cat_mode {
	CAT_LINES, /* or written, or counted */
	CAT_INFO = 512,
	CAT_TEXT,
	CAT_CSV,
	CAT_TIMELINE,
	CAT_VERIFY,
	CAT_PACK,
	CAT_UNPACK
};

struct cat_options {
	struct hrr_source_options source;
	struct hrr_filter_options filter;
	struct hrr_export_options export;
	enum cat_mode mode;
	const char *operand; /* "-": standard input */
	const char *out;     /* -o; NULL */
	struct cat_arch {
		const char *name;     /* --arch; NULL */
		size_t with, without; /* code objects that have code for it, and not */
	} arch;
	uint64_t last; /* calls; 0: all */
	bool count, formatted, hrr8, names;
	size_t n_slices;
	const char **slices;		    /* owned: expressions of --slice */
	const char **selectors, **sidecars; /* owned: what filter and source point to */
};

/* The command line, checked: misuse ends the program. Borrows argv. */
void cat_options(int argc, char **argv, struct cat_options *o);
void cat_options_release(struct cat_options *o);
/* The calls --slice selects, of them the first or last, and all they depend on: a first reading,
 * which says what stays in the second. Owned by the caller. */
struct hrr_slice *cat_slice(const struct cat_options *o);
/* A kernel's name in C++, appended to b; the C++ library knows how, where it is installed.
 * Negative: it is none. */
int cat_demangle(void *self, const char *name, size_t len, struct hrr_buf *b);
/* struct hrr_export_options, code: self is a struct cat_arch. */
int cat_code_for(void *self, const void *data, size_t len, struct hrr_buf *ret,
		 struct hrr_diag *diag);
/* Says what had no code; nothing had any: ends the program. */
void cat_arch_end(const struct cat_arch *a);
/* --pack and --unpack: exit codes. */
int cat_pack(const char *operand);
int cat_unpack(const char *operand, const char *out);

#endif
