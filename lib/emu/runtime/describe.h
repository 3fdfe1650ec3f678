#ifndef HRR_EMU_DESCRIBE_H
#define HRR_EMU_DESCRIBE_H

#include "lib/emu/runtime/range.h"
#include "lib/emu/runtime/rt.h"

/*
 * Parts of memory as somebody else knows them (emu.h: hrr_emu_describe): whole
 * allocations with a recorded address, and blocks inside. They go into reports, and
 * with HRR_EMU_CHECK_BLOCKS they are what accesses are held to. Own lock, taken last.
 */

/* What one launch may touch, besides what ranges say. Zeroed: everything. */
struct launch_view {
	int device;
	bool parents; /* held to the described size of memory */
	bool blocks;
	size_t n;
	uint64_t *allowed; /* owned: bases of blocks its arguments lead to, sorted */
};

/* Finds the blocks that words of the kernarg segment point to, and what lies one step behind. */
void view_init(struct launch_view *v, int device, const void *args, size_t size);
void view_release(struct launch_view *v);
/* struct isa_mem.find: self is a struct launch_view. */
int view_isa_find(void *self, uint64_t addr, struct isa_span *ret_span);

/*
 * With HRR_EMU_CHECK_BLOCKS: how many of the n bytes from addr on a copy or set may write. What
 * begins in a live block is held to it, unless it is all of the memory the block lies in: that is
 * for whoever gives blocks out.
 */
uint64_t describe_room(uint64_t addr, uint64_t n);

#define DESCRIBE_TAG 128
struct hrr_emu_fault;
/* Fills in recorded, block, before and after of a fault; tags hold the strings. */
void describe_fill(struct hrr_emu_fault *f, char tags[3][DESCRIBE_TAG]);
/* Why the view forbids addr, if it does: report lines. */
int view_explain(struct hrr_buf *b, const struct launch_view *v, uint64_t addr);
/* Report lines about addr; nothing when no description is near. */
int describe_explain(struct hrr_buf *b, uint64_t addr, uint64_t size);

#endif
