#ifndef HRR_STREAM_TAIL_H
#define HRR_STREAM_TAIL_H

#include "lib/stream/filter.h"

/*
 * The last calls of a stream, with their outputs and everything between. Lines
 * wait from the first call that may be among the last; put is called for lines that
 * no longer depend on that, in order.
 */
struct hrr_tail;

/* put: rec is parsed anew from its line; negative stops. filter's counts are kept right. */
int hrr_tail_new(struct hrr_tail **ret, uint64_t calls, struct hrr_filter *filter,
		 int (*put)(void *self, const struct hrr_record *rec), void *self);
void hrr_tail_free(struct hrr_tail *t);
int hrr_tail_record(struct hrr_tail *t, const struct hrr_record *rec);
int hrr_tail_end(struct hrr_tail *t);
uint64_t hrr_tail_calls(const struct hrr_tail *t);

#endif
