#ifndef HRR_EMU_POOL_H
#define HRR_EMU_POOL_H

#include "lib/emu/runtime/rt.h"

struct pool {
	int device;
	int reuse[3];
	uint32_t access; /* devices granted beyond the owner */
	uint64_t threshold, used, used_high, max_size;
	size_t n; /* live allocations */
	bool destroyed;
};

/* An allocation of the pool is gone. rt.lock held. */
void pool_gone(struct pool *p, uint64_t size);

#endif
