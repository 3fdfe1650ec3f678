#ifndef HRR_DIFF_HELD_H
#define HRR_DIFF_HELD_H

#include "lib/diff/call.h"

/*
 * Recordings of different formats: somebody else's archive (its header says so in "foreign") has no
 * place for some of what ours holds, and the other way round. What only one of them holds is then
 * counted, and is no difference; what both hold is compared as ever.
 */

/* The format a header names, "" for our own or another record. -ENOMEM. */
int hrr_diff_format(const struct hrr_record *rec, struct hrr_buf *ret);
/* May a recording lack this fact of a call for want of a place? */
bool hrr_fact_may_lack(const struct hrr_fact *f);
/* Has every format a place for it, so that calls are found again by it? launch: of a launch. */
bool hrr_fact_held_by_all(const struct hrr_fact *f, bool launch);

#endif
