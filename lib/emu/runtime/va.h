#ifndef HRR_EMU_VA_H
#define HRR_EMU_VA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where numbers come from, unless one was asked for. */
#define VA_FIRST ((uint64_t)0x7d0000000000)
#define VA_LAST ((uint64_t)0x7e8000000000)

/*
 * Numbers for device memory. Every number given out is also reserved, without
 * access, in the process's own address space, so that no host allocation ever
 * gets it and no host pointer can be mistaken for it. Under rt.lock, but
 * va_owns.
 */

/*
 * size rounded up to pages plus an unused page behind, align a power of two. Numbers are
 * not given out again before terabytes went by, so that a stale one is seen.
 * 0 and the address, -ENOMEM.
 */
int va_alloc(uint64_t size, uint64_t align, uint64_t *ret_addr);
/* Exactly [addr, addr + size), both multiples of a page: -EEXIST when any of it is taken. */
int va_reserve(uint64_t addr, uint64_t size);
void va_free(uint64_t addr);
/* Whether addr is (or was) a number of ours. */
bool va_owns(uint64_t addr);

/* Host storage for emulated memory: zeroed or filled, 64-byte aligned. NULL: out of memory. */
void *storage_new(uint64_t size, int fill);
void storage_free(void *p, uint64_t size);

#endif
