#include "lib/replay/block.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/replay/pages.h"

#define BLOCK_ALIGN ((uint64_t)2 << 20) /* alignment kept up to here: what huge pages ask for */

struct hrr_blocks {
	struct hrr_pages *pages;
	struct hrr_ranges *current; /* blocks that may be handed out */
	struct hrr_block *all;
};

struct hrr_blocks *hrr_blocks_new(struct hrr_pages *p)
{
	struct hrr_blocks *b = calloc(1, sizeof *b);

	if (b == NULL)
		return NULL;
	b->pages = p;
	b->current = hrr_ranges_new();
	if (b->current == NULL) {
		free(b);
		return NULL;
	}
	return b;
}

static bool block_holds(const struct hrr_block *x, uint64_t addr, uint64_t size)
{
	return addr >= x->base && size <= x->size && addr - x->base <= x->size - size;
}

struct hrr_block *hrr_blocks_find(struct hrr_blocks *b, uint64_t addr, uint64_t size)
{
	const struct hrr_range *x = hrr_ranges_find(b->current, addr);

	if (x == NULL)
		return NULL;
	if (block_holds(x->value, addr, size))
		return x->value;
	/* The tightest block ends too early; a wider one may still hold it all. */
	for (struct hrr_block *k = b->all; k != NULL; k = k->next)
		if (!k->aside && block_holds(k, addr, size))
			return k;
	return NULL;
}

bool hrr_blocks_touch(struct hrr_blocks *b, uint64_t addr, uint64_t size)
{
	return size != 0 && addr + size >= addr &&
	       hrr_ranges_overlap(b->pages->extents, addr, size) != NULL;
}

/* Address space for size bytes, congruent to base modulo its alignment. */
static unsigned char *block_reserve(uint64_t base, uint64_t size)
{
	uint64_t align = base & (~base + 1);

	if (align == 0 || align > BLOCK_ALIGN)
		align = BLOCK_ALIGN;
	uint64_t extra = align > HRR_PAGE ? align : 0;
	if (size > UINT64_MAX / 2)
		return NULL;
	unsigned char *p =
	    mmap(NULL, size + extra, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	uint64_t skip =
	    extra == 0 ? 0 : (align - ((uint64_t)(uintptr_t)p & (align - 1))) & (align - 1);
	if (skip != 0)
		munmap(p, skip);
	if (extra > skip)
		munmap(p + skip + size, extra - skip);
	return p + skip;
}

static int block_map(struct hrr_blocks *b, uint64_t first, uint64_t size, struct hrr_block **ret,
		     struct hrr_diag *diag)
{
	struct hrr_block *x = calloc(1, sizeof *x);
	int rc = -ENOMEM;

	if (x == NULL)
		return hrr_diag_set(diag, -ENOMEM, "host memory: out of memory");
	x->base = first;
	x->size = size;
	x->map = block_reserve(first, size);
	if (x->map == NULL) {
		hrr_diag_set(diag, rc, "host memory: no address space for %llu bytes at 0x%llx",
			     (unsigned long long)size, (unsigned long long)first);
		goto fail;
	}
	rc = hrr_pages_map(b->pages, first, size, x->map, diag);
	if (rc == 0)
		rc = hrr_ranges_add(b->current, first, size, x);
	if (rc < 0)
		goto fail;
	x->next = b->all;
	b->all = x;
	*ret = x;
	return 0;
fail:
	if (x->map != NULL)
		munmap(x->map, size);
	free(x);
	return rc;
}

int hrr_blocks_get(struct hrr_blocks *b, uint64_t addr, uint64_t size, bool fresh,
		   struct hrr_block **ret, struct hrr_diag *diag)
{
	uint64_t first, end;
	int rc = hrr_page_range(addr, size, &first, &end, diag);

	if (rc < 0)
		return rc;
	struct hrr_block *x = fresh ? NULL : hrr_blocks_find(b, addr, size);
	if (x != NULL) {
		*ret = x;
		return 0;
	}
	rc = hrr_pages_get(b->pages, first, end - first, diag);
	if (rc < 0)
		return rc;
	return block_map(b, first, end - first, ret, diag);
}

void hrr_block_aside(struct hrr_blocks *b, struct hrr_block *x)
{
	x->aside = true;
	hrr_ranges_del(b->current, x->base, x);
}

struct hrr_block *hrr_blocks_first(const struct hrr_blocks *b)
{
	return b->all;
}

void hrr_blocks_free(struct hrr_blocks *b, bool leak)
{
	if (b == NULL)
		return;
	for (struct hrr_block *x = b->all, *next; x != NULL; x = next) {
		next = x->next;
		if (!leak)
			munmap(x->map, x->size);
		free(x);
	}
	hrr_ranges_free(b->current);
	free(b);
}
