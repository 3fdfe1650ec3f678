#ifndef HRR_REPLAY_APPROX_H
#define HRR_REPLAY_APPROX_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/hip/checker.h"

/*
 * Whether a difference may come from instructions that hardware approximates: numbers of one type,
 * none of them further apart than the errors of the instructions that were run allow, each grown by
 * what may follow it.
 *
 * stats	what the run time told: instructions and their errors
 * type	of the numbers; HRR_TYPE_NONE: not known, any that these instructions make will do, and
 *		numbers below the least normal one are then taken for something else
 * was, is	size bytes each
 */
bool hrr_approximately(const struct hrr_emu_stats *stats, enum hrr_type type, const void *was,
		       const void *is, uint64_t size);

#endif
