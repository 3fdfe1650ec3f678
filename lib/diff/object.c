#include "lib/diff/object.h"

#include <errno.h>
#include <stdlib.h>

void hrr_objects_release(struct hrr_objects *o)
{
	for (uint32_t i = 0; i < o->processes; i++)
		hrr_ranges_free(o->memory[i]);
	free(o->memory);
	free(o->v);
	hrr_map_release(&o->handles);
	*o = (struct hrr_objects){0};
}

struct hrr_object *hrr_objects_get(struct hrr_objects *o, uint32_t id)
{
	return id && id < o->n ? &o->v[id] : NULL;
}

void hrr_objects_ref(struct hrr_objects *o, uint32_t id)
{
	if (id)
		o->v[id].refs++;
}

void hrr_objects_unref(struct hrr_objects *o, uint32_t id)
{
	struct hrr_object *x = hrr_objects_get(o, id);

	if (!x || --x->refs > 0)
		return;
	/* Its partner must not find another: it would hide that one run released and the other not.
	 */
	if (x->pair && x->pair != HRR_OBJECT_LOST)
		o->other->v[x->pair].pair = HRR_OBJECT_LOST;
	x->seq = o->free;
	o->free = id;
}

static int slot(struct hrr_objects *o, uint32_t *ret_id)
{
	if (o->free) {
		*ret_id = o->free;
		o->free = (uint32_t)o->v[o->free].seq;
		return 0;
	}
	if (o->n == o->cap) {
		uint32_t cap = o->cap ? o->cap * 2 : 256;
		struct hrr_object *v;

		if (cap < o->cap)
			return -ENOMEM;
		v = realloc(o->v, cap * sizeof *v);
		if (!v)
			return -ENOMEM;
		o->v = v;
		o->cap = cap;
		if (o->n == 0)
			o->v[o->n++] = (struct hrr_object){0};
	}
	*ret_id = o->n++;
	return 0;
}

static int ranges_of(struct hrr_objects *o, uint32_t p, struct hrr_ranges **ret)
{
	if (p >= o->processes) {
		struct hrr_ranges **m = realloc(o->memory, ((size_t)p + 1) * sizeof *m);

		if (!m)
			return -ENOMEM;
		o->memory = m;
		while (o->processes <= p)
			o->memory[o->processes++] = NULL;
	}
	if (!o->memory[p])
		o->memory[p] = hrr_ranges_new();
	*ret = o->memory[p];
	return *ret ? 0 : -ENOMEM;
}

static uint64_t key(uint32_t p, uint8_t type)
{
	return (uint64_t)p << 8 | type;
}

int hrr_objects_make(struct hrr_objects *o, const struct hrr_object *like, uint64_t value,
		     uint32_t *ret_id)
{
	struct hrr_ranges *r = NULL;
	uint32_t id;
	int rc = like->type == HRR_OBJECT_MEMORY ? ranges_of(o, like->p, &r) : 0;

	if (rc < 0 || (rc = slot(o, &id)) < 0)
		return rc;
	o->v[id] = *like;
	o->v[id].refs = 1;
	o->v[id].pair = HRR_OBJECT_NONE;
	o->v[id].base = value;
	if (r) {
		uint64_t size = like->size ? like->size : 1;

		hrr_objects_drop_memory(o, like->p, value);
		rc = hrr_ranges_add(r, value, size, (void *)(uintptr_t)id);
		if (rc == -EINVAL)
			rc = -ERANGE;
	} else {
		hrr_objects_drop_handle(o, like->p, like->type, value);
		rc = hrr_map_set(&o->handles, key(like->p, like->type), value, id);
	}
	if (rc < 0) {
		hrr_objects_unref(o, id);
		return rc;
	}
	o->v[id].number = ++o->made[like->type];
	*ret_id = id;
	return 0;
}

uint32_t hrr_objects_handle(struct hrr_objects *o, uint32_t p, uint8_t type, uint64_t value)
{
	uint64_t id;

	return hrr_map_get(&o->handles, key(p, type), value, &id) ? (uint32_t)id : HRR_OBJECT_NONE;
}

uint32_t hrr_objects_address(struct hrr_objects *o, uint32_t p, uint64_t addr, uint64_t *ret_offset)
{
	const struct hrr_range *r;

	if (p >= o->processes || !o->memory[p] || !(r = hrr_ranges_find(o->memory[p], addr)))
		return HRR_OBJECT_NONE;
	*ret_offset = addr - r->base;
	return (uint32_t)(uintptr_t)r->value;
}

void hrr_objects_drop_handle(struct hrr_objects *o, uint32_t p, uint8_t type, uint64_t value)
{
	uint64_t id;

	if (hrr_map_del(&o->handles, key(p, type), value, &id))
		hrr_objects_unref(o, (uint32_t)id);
}

void hrr_objects_drop_memory(struct hrr_objects *o, uint32_t p, uint64_t base)
{
	const struct hrr_range *r;

	if (p >= o->processes || !o->memory[p] || !(r = hrr_ranges_at(o->memory[p], base)))
		return;
	uint32_t id = (uint32_t)(uintptr_t)r->value;
	(void)hrr_ranges_del(o->memory[p], base, r->value);
	hrr_objects_unref(o, id);
}

static int drop_range(void *self, const struct hrr_range *x)
{
	hrr_objects_unref(self, (uint32_t)(uintptr_t)x->value);
	return 0;
}

void hrr_objects_drop_all(struct hrr_objects *o, uint32_t p)
{
	if (p < o->processes && o->memory[p]) {
		hrr_ranges_each(o->memory[p], drop_range, o);
		hrr_ranges_free(o->memory[p]);
		o->memory[p] = NULL;
	}
	for (uint32_t id = 1; id < o->n; id++) {
		struct hrr_object *x = &o->v[id];

		if (x->refs && x->p == p && x->type != HRR_OBJECT_MEMORY &&
		    x->type != HRR_OBJECT_STUB && x->type != HRR_H_FATBIN &&
		    hrr_objects_handle(o, p, x->type, x->base) == id)
			hrr_objects_drop_handle(o, p, x->type, x->base);
	}
}

bool hrr_objects_pair(struct hrr_objects *o, uint32_t a, uint32_t b)
{
	struct hrr_object *x = hrr_objects_get(o, a), *y = hrr_objects_get(o->other, b);

	if (!x || !y)
		return false;
	if (x->pair == HRR_OBJECT_NONE && y->pair == HRR_OBJECT_NONE && x->type == y->type &&
	    x->origin == y->origin) {
		x->pair = b;
		y->pair = a;
	}
	return x->pair == b && y->pair == a;
}
