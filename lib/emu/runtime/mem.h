#ifndef HRR_EMU_MEM_H
#define HRR_EMU_MEM_H

#include "lib/emu/runtime/range.h"
#include "lib/emu/runtime/rt.h"

/*
 * Makes emulated memory: a number, storage, a range. device < 0: host memory,
 * whose number is its host address. api is static. rt.lock held.
 * hipErrorOutOfMemory when the device has not that much.
 */
hipError_t mem_new(enum range_kind kind, int device, uint64_t size, unsigned flags, const char *api,
		   struct range **ret_range);
/* Takes it back at once: range, storage, number, accounting. rt.lock held; nothing may run. */
void mem_delete(struct range *r, const char *api);
/* A stream-ordered free reached its place: called without rt.lock. */
void mem_release_now(uint64_t addr);
/* A graph's allocation: memory at a number va_alloc gave out. Without rt.lock. */
hipError_t mem_alloc_now(uint64_t addr, uint64_t size, int device);
/* The range whose first byte addr is, or NULL. */
struct range *mem_at(const void *addr);

#endif
