#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/* Memory that lives for one record: a first chunk that is kept, more when a record needs it. */

#define ARENA_FIRST ((size_t)64 << 10)
#define ARENA_MAX ((size_t)1 << 30)

struct hrr_arena_chunk {
	struct hrr_arena_chunk *next;
	unsigned char pad[8];
};

void *hrr_scratch(struct hrr_replay *r, size_t size)
{
	struct hrr_arena *a = &r->arena;

	if (size > ARENA_MAX)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	if (a->base == NULL) {
		a->base = aligned_alloc(64, ARENA_FIRST);
		if (a->base == NULL)
			return NULL;
		a->cap = ARENA_FIRST;
	}
	if (size <= a->cap - a->used) {
		void *p = a->base + a->used;
		a->used += size;
		return memset(p, 0, size);
	}
	struct hrr_arena_chunk *c = calloc(1, sizeof *c + size);
	if (c == NULL)
		return NULL;
	c->next = a->chunk;
	a->chunk = c;
	return c + 1;
}

void hrr_scratch_reset(struct hrr_replay *r)
{
	struct hrr_arena *a = &r->arena;

	while (a->chunk != NULL) {
		struct hrr_arena_chunk *next = a->chunk->next;
		free(a->chunk);
		a->chunk = next;
	}
	a->used = 0;
}

void hrr_scratch_release(struct hrr_replay *r)
{
	hrr_scratch_reset(r);
	free(r->arena.base);
	r->arena = (struct hrr_arena){0};
}
