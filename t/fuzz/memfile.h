#ifndef HRR_FUZZ_MEMFILE_H
#define HRR_FUZZ_MEMFILE_H

#include <stddef.h>

/*
 * Files in memory for parsers that open what they read: names below MEM are looked up here and
 * never reach the system, which takes most of a small input's time otherwise. Link with the
 * options in memfile.ld.
 */
#define MEM "/mem"

/* The file MEM/name is these bytes from now on; borrowed. Folders appear by themselves. */
void memfile_set(const char *name, const void *data, size_t size);
void memfile_clear(void);

#endif
