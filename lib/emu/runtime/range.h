#ifndef HRR_EMU_RANGE_H
#define HRR_EMU_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/emu/isa/isa.h"

/*
 * Emulated memory: disjoint ranges of device addresses, each backed by host
 * memory. A device address is a number of our own; where it lives is `host`.
 * Memory that the program sees too (pinned, registered, managed) has its host
 * address as device address.
 */

enum range_kind {
	RANGE_DEVICE,	  /* hipMalloc and relatives */
	RANGE_POOL,	  /* stream-ordered */
	RANGE_VMM,	  /* hipMemMap */
	RANGE_HSA,	  /* HSA pool, local to a device */
	RANGE_CODE,	  /* a loaded code object, its variables included */
	RANGE_LAUNCH,	  /* kernarg segments, dispatch packets: the run time's own */
	RANGE_PINNED,	  /* hipHostMalloc */
	RANGE_REGISTERED, /* hipHostRegister */
	RANGE_MANAGED,
	RANGE_HSA_HOST /* HSA pool of a CPU agent */
};

struct range {
	uint64_t base, size;
	unsigned char *host; /* borrowed; not for RANGE_REGISTERED to follow unchecked */
	enum range_kind kind;
	int device;	 /* that owns it; -1: the host */
	uint32_t access; /* bit d: kernels on device d may touch it */
	bool readable, writable;
	bool shared;	       /* kernels everywhere may, whatever peers say (host memory) */
	unsigned flags;	       /* of the call that made it */
	bool graph;	       /* an allocation node did */
	uint64_t serial;       /* counts ranges made */
	const char *api;       /* static: the call that made it */
	void *owner;	       /* by kind: struct pool, struct memhandle, ... */
	struct advice *advice; /* of managed memory (advice.h); goes with the range */
};

/* Takes r (heap). -EEXIST: overlaps a live range; -EINVAL: empty or wrapping; -ENOMEM. */
int range_add(struct range *r);
/* Takes the range out and frees r; remembered as freed by `api` (static). Memory is not touched. */
void range_del(struct range *r, const char *api);
/* The range that holds addr, or NULL. Valid while rt.lock is held (who deletes holds it). */
struct range *range_find(uint64_t addr);
/* A copy, for those who do not hold rt.lock. false: nothing there. */
bool range_copy(uint64_t addr, struct range *ret);
/* Whether addr was in a range that is gone, and is in none now. */
bool range_freed(uint64_t addr);
/* The range that starts at addr. */
struct range *range_at(uint64_t addr);
/* First range overlapping [base, base + size), or NULL. */
struct range *range_overlap(uint64_t base, uint64_t size);
/* Whether all of [addr, addr + size) is inside known ranges (may be several in a row). */
bool range_covers(uint64_t addr, uint64_t size);
void range_resize(struct range *r, uint64_t size);
void range_each(void (*fn)(void *self, struct range *r), void *self);

/* Whether a kernel on the device may touch the range at all. */
bool range_allows(const struct range *r, int device);
/* struct isa_mem.find for a launch on device (uintptr_t)self. */
int range_isa_find(void *self, uint64_t addr, struct isa_span *ret_span);
/* Whether the host memory of a registered range is still mapped. */
bool range_mapped(const struct range *r);
/*
 * Appends what is known about [addr, addr + size) as one or more report lines: the
 * range it lies in or next to, descriptions, neighbours, who freed it.
 */
int range_explain(struct hrr_buf *b, uint64_t addr, uint64_t size, int device);
const char *range_kind_name(enum range_kind kind);

#endif
