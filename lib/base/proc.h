#ifndef HRR_BASE_PROC_H
#define HRR_BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the system says of a process, out of its file stat in /proc, open as fd: its state's letter
 * and when it started. Either may be NULL. False: it could not be read.
 */
bool hrr_proc_stat(int fd, char *ret_state, uint64_t *ret_start);
/* The same by pid: false also where there is none. */
bool hrr_proc_of(uint32_t pid, char *ret_state, uint64_t *ret_start);
/* Z, X: it has ended, though somebody has yet to ask how. */
static inline bool hrr_proc_ended(char state)
{
	return state == 'Z' || state == 'X';
}

#endif
