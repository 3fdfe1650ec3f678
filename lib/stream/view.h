#ifndef HRR_STREAM_VIEW_H
#define HRR_STREAM_VIEW_H

#include "lib/stream/record.h"

/*
 * A stream for people and other programs: records in, text out.
 *
 *   text      one line per record; names never cut, control characters masked
 *   csv       calls and outputs, RFC 4180, a line of names first
 *   timeline  Chrome's trace format (Perfetto, chrome://tracing): a track per thread,
 *             and one per HIP stream with its launches and copies at the time of the call
 */
enum hrr_view_kind { HRR_VIEW_TEXT, HRR_VIEW_CSV, HRR_VIEW_TIMELINE };

struct hrr_view_options {
	uint64_t from,
	    to; /* timeline: ns since the stream's t0, both ends in; 0 and UINT64_MAX: all */
	/* Name of a kernel for people, appended to b; NULL: as in the stream, as where it fails
	 * with another error than -ENOMEM. */
	int (*demangle)(void *self, const char *name, size_t len, struct hrr_buf *b);
	void *self;
	bool mask; /* csv: for a terminal, control characters are masked */
};

struct hrr_view;
/* opt is copied; NULL: defaults. NULL: no memory. */
struct hrr_view *hrr_view_new(enum hrr_view_kind kind, const struct hrr_view_options *opt);
void hrr_view_free(struct hrr_view *v);
/* Appends what a record becomes, maybe nothing. -ENOMEM. */
int hrr_view_record(struct hrr_view *v, const struct hrr_record *rec, struct hrr_buf *b);
/* What comes behind the last record. -ENOMEM. */
int hrr_view_end(struct hrr_view *v, struct hrr_buf *b);

#endif
