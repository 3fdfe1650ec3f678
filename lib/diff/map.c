#include "lib/diff/map.h"

#include <errno.h>
#include <stdlib.h>

static size_t home(const struct hrr_map *m, uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15u;

	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	return (size_t)(h >> 20) & (m->cap - 1);
}

static struct hrr_map_slot *find(const struct hrr_map *m, uint64_t a, uint64_t b)
{
	size_t i = home(m, a, b);

	while (m->slots[i].used && (m->slots[i].a != a || m->slots[i].b != b))
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static int grow(struct hrr_map *m)
{
	struct hrr_map bigger = {.cap = m->cap ? m->cap * 2 : 64, .n = m->n};

	bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].used)
			*find(&bigger, m->slots[i].a, m->slots[i].b) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

void hrr_map_release(struct hrr_map *m)
{
	free(m->slots);
	*m = (struct hrr_map){0};
}

int hrr_map_set(struct hrr_map *m, uint64_t a, uint64_t b, uint64_t value)
{
	if (m->n >= m->cap / 2 && grow(m) < 0)
		return -ENOMEM;
	struct hrr_map_slot *s = find(m, a, b);
	if (!s->used)
		m->n++;
	*s = (struct hrr_map_slot){a, b, value, true};
	return 0;
}

bool hrr_map_get(const struct hrr_map *m, uint64_t a, uint64_t b, uint64_t *ret_value)
{
	if (m->cap == 0)
		return false;
	const struct hrr_map_slot *s = find(m, a, b);
	if (s->used)
		*ret_value = s->value;
	return s->used;
}

bool hrr_map_del(struct hrr_map *m, uint64_t a, uint64_t b, uint64_t *ret_value)
{
	if (m->cap == 0)
		return false;
	struct hrr_map_slot *s = find(m, a, b);
	if (!s->used)
		return false;
	*ret_value = s->value;
	m->n--;
	/* Close the gap: whoever stands behind it and would rather stand here moves up. */
	size_t gap = (size_t)(s - m->slots);
	for (size_t i = (gap + 1) & (m->cap - 1); m->slots[i].used; i = (i + 1) & (m->cap - 1)) {
		size_t want = home(m, m->slots[i].a, m->slots[i].b);
		if (((i - want) & (m->cap - 1)) < ((i - gap) & (m->cap - 1)))
			continue;
		m->slots[gap] = m->slots[i];
		gap = i;
	}
	m->slots[gap].used = false;
	return true;
}
