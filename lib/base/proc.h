#ifndef HRR_BASE_PROC_H
#define HRR_BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the system says of a process, out of its file stat in /proc, open as fd: whether it has
 * ended, though somebody has yet to ask how, and when it started. Either may be NULL. False: it
 * could not be read.
 */
bool hrr_proc_stat(int fd, bool *ret_ended, uint64_t *ret_start);
/* The same by pid: false also where there is none. */
bool hrr_proc_of(uint32_t pid, bool *ret_ended, uint64_t *ret_start);

#endif
