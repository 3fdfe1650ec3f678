#ifndef HRR_EMU_ADVICE_H
#define HRR_EMU_ADVICE_H

#include "lib/emu/runtime/range.h"

/*
 * What was said about parts of managed memory: by hipMemAdvise and hipMemPrefetchAsync, asked by
 * hipMemRangeGetAttribute. Nothing here moves or changes how memory may be used. By whole pages;
 * under rt.lock.
 */
struct advice;

/* Takes what an advice (hipMemoryAdvise) says; device -1: the CPU. -ENOMEM. */
int advice_take(struct range *r, uint64_t addr, uint64_t size, int advice, int device);
/* Remembers where the part was last asked to be. -ENOMEM. */
int advice_prefetched(struct range *r, uint64_t addr, uint64_t size, int device);
/* Writes an attribute's value; false: no such attribute, or not of that size. */
bool advice_ask(const struct range *r, uint64_t addr, uint64_t size, int attribute, void *data,
		size_t data_size);
void advice_free(struct advice *a);

#endif
