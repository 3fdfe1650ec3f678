#include "lib/emu/runtime/rt.h"

#include <errno.h>
#include <stdlib.h>

/* Open addressing, linear probing; a deleted slot keeps TOMB so that probes go on. */
#define TOMB ((const void *)1)

struct slot {
	const void *p;
	enum handle_kind kind;
};
static struct slot *slots;
static size_t n_slots, n_used; /* n_used counts tombs too */

static size_t hash(const void *p)
{
	return (size_t)(((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15ull >> 20);
}

static struct slot *find(const void *p)
{
	if (n_slots == 0 || p == NULL || p == TOMB)
		return NULL;
	for (size_t i = hash(p) & (n_slots - 1);; i = (i + 1) & (n_slots - 1)) {
		if (slots[i].p == p)
			return &slots[i];
		if (slots[i].p == NULL)
			return NULL;
	}
}

static void put(struct slot *to, size_t n, struct slot s)
{
	size_t i = hash(s.p) & (n - 1);

	while (to[i].p != NULL)
		i = (i + 1) & (n - 1);
	to[i] = s;
}

int handle_add(enum handle_kind kind, const void *p)
{
	if ((n_used + 1) * 4 > n_slots * 3) {
		size_t live = 0;
		for (size_t i = 0; i < n_slots; i++)
			live += slots[i].p != NULL && slots[i].p != TOMB;
		size_t n = 64;
		while (n < live * 2 + 2)
			n *= 2;
		struct slot *bigger = calloc(n, sizeof *bigger);
		if (bigger == NULL)
			return -ENOMEM;
		for (size_t i = 0; i < n_slots; i++)
			if (slots[i].p != NULL && slots[i].p != TOMB)
				put(bigger, n, slots[i]);
		free(slots);
		slots = bigger;
		n_slots = n;
		n_used = live;
	}
	put(slots, n_slots, (struct slot){p, kind});
	n_used++;
	return 0;
}

bool handle_is(enum handle_kind kind, const void *p)
{
	const struct slot *s = find(p);

	return s != NULL && s->kind == kind;
}

void handle_del(const void *p)
{
	struct slot *s = find(p);

	if (s != NULL)
		s->p = TOMB;
}
