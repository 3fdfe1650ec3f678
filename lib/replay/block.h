#ifndef HRR_REPLAY_BLOCK_H
#define HRR_REPLAY_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/diag.h"

/*
 * Host memory of the recorded program. The recorded host page is the unit of
 * storage: one page of a memory file each, charged to the budget once, when it
 * gets storage. A block is a mapping of consecutive recorded pages; several
 * blocks over one page show the same bytes. Nothing is given back before the end:
 * a block lives until hrr_blocks_free, whatever is unregistered meanwhile.
 */
#define HRR_PAGE ((uint64_t)4096)

struct hrr_pages;
/* limit: bytes, 0 none. NULL: out of memory. */
struct hrr_pages *hrr_pages_new(uint64_t limit);
void hrr_pages_free(struct hrr_pages *p);
uint64_t hrr_pages_charged(const struct hrr_pages *p); /* bytes */
/* For tests: the n-th growth of the file from now fails with -ENOMEM (0: none). */
void hrr_pages_fail(struct hrr_pages *p, unsigned nth);
/*
 * Storage for every page of [addr, addr + size). -EDQUOT over the budget, with the
 * numbers; -ENOMEM after which the charge is as before; -EINVAL: empty, wrapping.
 */
int hrr_pages_get(struct hrr_pages *p, uint64_t addr, uint64_t size, struct hrr_diag *diag);

struct hrr_block {
	uint64_t base, size;  /* recorded pages it shows: multiples of HRR_PAGE */
	unsigned char *map;   /* mapping of base; keeps base's alignment up to 2 MiB */
	size_t registrations; /* marked registrations on this mapping */
	bool aside;	      /* never handed out again */
	struct hrr_block *next;
};

struct hrr_blocks;
struct hrr_blocks *hrr_blocks_new(struct hrr_pages *p); /* p borrowed */
/*
 * A block that holds [addr, addr + size): the one there is when the range fits,
 * else a new one, the old ones kept. fresh: a new mapping in any case. Errors of hrr_pages_get,
 * -ENOMEM.
 */
int hrr_blocks_get(struct hrr_blocks *b, uint64_t addr, uint64_t size, bool fresh,
		   struct hrr_block **ret, struct hrr_diag *diag);
/* The newest block that holds the whole range, not set aside; NULL. */
struct hrr_block *hrr_blocks_find(struct hrr_blocks *b, uint64_t addr, uint64_t size);
/* Whether any page of the range has storage. */
bool hrr_blocks_touch(struct hrr_blocks *b, uint64_t addr, uint64_t size);
static inline unsigned char *hrr_block_at(const struct hrr_block *b, uint64_t addr)
{
	return b->map + (addr - b->base);
}
void hrr_block_aside(struct hrr_blocks *b, struct hrr_block *x);
struct hrr_block *hrr_blocks_first(const struct hrr_blocks *b); /* every one, newest first */
/* Unmaps. leak: mappings the device may still write are left alone. */
void hrr_blocks_free(struct hrr_blocks *b, bool leak);

#endif
