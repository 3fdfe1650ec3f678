#ifndef HRR_STREAM_EDIT_H
#define HRR_STREAM_EDIT_H

#include "lib/stream/record.h"

/* A change to one member of a record's line. */
struct hrr_edit {
	const char *key;
	const char *value; /* JSON text; NULL removes the member */
	size_t len;
	/* What to do where the member is missing: nothing, or put it second or last. */
	enum { HRR_EDIT_ONLY, HRR_EDIT_SECOND, HRR_EDIT_LAST } missing;
};

/*
 * Appends rec's line with the edits made, without newline, in compact form; what
 * is not edited is copied as it stands. -ENOMEM.
 */
int hrr_record_edit(const struct hrr_record *rec, const struct hrr_edit *edits, size_t n,
		    struct hrr_buf *b);

#endif
