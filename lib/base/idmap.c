#include "lib/base/idmap.h"

#include <errno.h>
#include <string.h>

struct slot {
	struct hrr_id id;
	uint64_t value;
	bool used;
};

static struct slot *find(struct slot *slots, size_t cap, const struct hrr_id *id)
{
	size_t h;

	memcpy(&h, id->b, sizeof h);
	for (h &= cap - 1; slots[h].used && !hrr_id_equal(&slots[h].id, id);)
		h = (h + 1) & (cap - 1);
	return &slots[h];
}

static int grow(struct hrr_idmap *m)
{
	struct hrr_buf grown = {0};
	size_t cap = m->cap ? m->cap * 2 : 256;

	if (hrr_buf_reserve(&grown, cap * sizeof(struct slot)) < 0)
		return -ENOMEM;
	struct slot *to = (void *)grown.data;
	const struct slot *from = (const void *)m->slots.data;
	memset(to, 0, cap * sizeof *to);
	for (size_t i = 0; i < m->cap; i++)
		if (from[i].used)
			*find(to, cap, &from[i].id) = from[i];
	hrr_buf_release(&m->slots);
	m->slots = grown;
	m->cap = cap;
	return 0;
}

uint64_t *hrr_idmap_get(const struct hrr_idmap *m, const struct hrr_id *id)
{
	if (m->cap == 0)
		return NULL;
	struct slot *s = find((void *)m->slots.data, m->cap, id);
	return s->used ? &s->value : NULL;
}

int hrr_idmap_add(struct hrr_idmap *m, const struct hrr_id *id, uint64_t value)
{
	if (m->n * 2 >= m->cap && grow(m) < 0)
		return -ENOMEM;
	struct slot *s = find((void *)m->slots.data, m->cap, id);
	if (s->used)
		return 0;
	*s = (struct slot){*id, value, true};
	m->n++;
	return 1;
}

size_t hrr_idmap_next(const struct hrr_idmap *m, size_t at, struct hrr_id *ret_id)
{
	const struct slot *slots = (const void *)m->slots.data;

	while (at < m->cap && !slots[at].used)
		at++;
	if (at >= m->cap)
		return 0;
	*ret_id = slots[at].id;
	return at + 1;
}

void hrr_idmap_release(struct hrr_idmap *m)
{
	hrr_buf_release(&m->slots);
	*m = (struct hrr_idmap){0};
}
