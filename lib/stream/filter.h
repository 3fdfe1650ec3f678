#ifndef HRR_STREAM_FILTER_H
#define HRR_STREAM_FILTER_H

#include "lib/stream/select.h"

/*
 * What a filter keeps: the calls that are selected and their outputs; headers,
 * regions, run times and records it does not know always. The end record is
 * rewritten with the counts of what was kept.
 */
struct hrr_filter;

struct hrr_filter_options {
	size_t n_selectors; /* a call fits when one of them says so; 0: every call */
	const char *const *selectors;
	bool exclude;	/* keep what does not fit */
	uint64_t first; /* only so many calls; 0: all */
	/* Instead of all these: whether a call or output stays; NULL: by the above. */
	bool (*keep)(void *self, const struct hrr_record *rec);
	void *self;
};

/* -EINVAL with diag for a bad selector. */
int hrr_filter_new(struct hrr_filter **ret, const struct hrr_filter_options *opt,
		   struct hrr_diag *diag);
void hrr_filter_free(struct hrr_filter *f);
/* 1: keep, 0: leave out, -ENOMEM. Records in stream order, each once. */
int hrr_filter_record(struct hrr_filter *f, const struct hrr_record *rec);
/* Takes back a call (and its outputs to come) that was kept. */
void hrr_filter_take_back(struct hrr_filter *f, enum hrr_record_kind kind, uint32_t p);
/*
 * Appends an end record with the counts of its process as kept, without
 * newline. "complete" becomes "filtered" where they differ from what it said.
 */
int hrr_filter_end(const struct hrr_filter *f, const struct hrr_record *end, struct hrr_buf *b);
/* Calls are judged by what hrr_source_heads_only leaves of them. */
bool hrr_filter_heads_only(const struct hrr_filter *f);
/* Calls kept so far, of all processes. */
uint64_t hrr_filter_calls(const struct hrr_filter *f);

#endif
