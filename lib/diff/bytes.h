#ifndef HRR_DIFF_BYTES_H
#define HRR_DIFF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stretch in which bytes differ. */
struct hrr_bytes_range {
	size_t at, size;  /* from the first to the last differing byte */
	size_t differing; /* how many of them do */
};

/*
 * The next stretch at or after `from`; fewer than `gap` equal bytes between two
 * differing ones do not end it (1: none do). false: no further difference.
 */
bool hrr_bytes_next(const void *a, const void *b, size_t len, size_t from, size_t gap,
		    struct hrr_bytes_range *ret);

#endif
