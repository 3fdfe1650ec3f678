#include "lib/hip/slice_object.h"

#include <errno.h>
#include <string.h>

struct slice_world *slice_world_of(struct hrr_slice *s, uint32_t p)
{
	static const struct slice_world none = {.last = NOBODY};

	while (s->n_worlds <= p) {
		if (hrr_buf_add(&s->worlds, &none, sizeof none) < 0)
			return NULL;
		s->n_worlds++;
	}
	struct slice_world *w = &((struct slice_world *)(void *)s->worlds.data)[p];
	if (w->memory == NULL)
		w->memory = hrr_ranges_new();
	if (w->maps == NULL)
		w->maps = hrr_ranges_new();
	return w->memory != NULL && w->maps != NULL ? w : NULL;
}

uint32_t slice_new_object(struct slice_gather *g, uint32_t creator)
{
	const struct slice_object o = {.creator = creator, .releaser = NOBODY, .owner = NOBODY};

	if (g->s->n_objects >= NOBODY - 1 || hrr_buf_add(&g->s->objects, &o, sizeof o) < 0) {
		g->bad = -ENOMEM;
		return NOBODY;
	}
	return g->s->n_objects++;
}

void slice_add_writer(struct slice_gather *g, uint32_t object, uint32_t call)
{
	struct hrr_buf *b = &slice_objects(g->s)[object].writers;
	const uint32_t *all = (const void *)b->data;
	size_t n = b->len / sizeof *all;

	if (n > 0 && all[n - 1] >= call)
		return;
	if (hrr_buf_add(b, &call, sizeof call) < 0)
		g->bad = -ENOMEM;
}

void slice_use_object(struct slice_gather *g, uint32_t object, bool writes)
{
	const struct slice_use u = {object, writes, g->releasing};

	if (object == NOBODY)
		return;
	if (hrr_buf_add(&g->s->uses, &u, sizeof u) < 0)
		g->bad = -ENOMEM;
	else
		g->s->n_uses++;
	if (!writes || g->releasing)
		return;
	slice_add_writer(g, object, g->call);
	/* A graph whose node changes is another one to who instantiates it. */
	if (slice_objects(g->s)[object].owner != NOBODY)
		slice_add_writer(g, slice_objects(g->s)[object].owner, g->call);
}

static struct hrr_id handle_key(unsigned type, uint64_t value)
{
	uint64_t key[2] = {value, type};

	return hrr_id_of(key, sizeof key); /* spreads, and cannot clash by accident */
}

uint32_t slice_handle(const struct slice_gather *g, unsigned type, uint64_t value)
{
	struct hrr_id key = handle_key(type, value);
	const uint64_t *v = value != 0 ? hrr_idmap_get(&g->w->handles, &key) : NULL;

	return v != NULL ? (uint32_t)*v : NOBODY;
}

uint32_t slice_new_handle(struct slice_gather *g, unsigned type, uint64_t value)
{
	struct hrr_id key = handle_key(type, value);
	uint32_t object = slice_new_object(g, g->call);

	if (object == NOBODY)
		return NOBODY;
	int rc = hrr_idmap_add(&g->w->handles, &key, object);
	if (rc == 0)
		*hrr_idmap_get(&g->w->handles, &key) = object;
	else if (rc < 0)
		g->bad = rc;
	slice_objects(g->s)[object].handle = (uint8_t)type;
	return object;
}

uint32_t slice_memory_at(const struct slice_gather *g, uint64_t addr)
{
	const struct hrr_range *x = addr != 0 ? hrr_ranges_find(g->w->memory, addr) : NULL;

	return x != NULL ? (uint32_t)((uintptr_t)x->value - 1) : NOBODY;
}

void slice_new_range(struct slice_gather *g, uint64_t base, uint64_t size, uint32_t object)
{
	if (object == NOBODY || base == 0 || size == 0)
		return;
	/* An address that comes again is a new life; what was there has been released. */
	while (hrr_ranges_at(g->w->memory, base) != NULL)
		(void)hrr_ranges_del(g->w->memory, base, NULL);
	if (hrr_ranges_add(g->w->memory, base, size, (void *)((uintptr_t)object + 1)) == -ENOMEM)
		g->bad = -ENOMEM;
	slice_objects(g->s)[object].memory = true;
	slice_objects(g->s)[object].size = size;
}

uint32_t slice_variables(struct slice_gather *g, int node)
{
	const struct hrr_json *j = &g->rec->json;
	size_t len;
	const char *text = hrr_json_raw(j, node, &len);
	struct hrr_id id;

	if (text == NULL || hrr_id_parse(text, len, &id) < 0)
		return NOBODY;
	const uint64_t *known = hrr_idmap_get(&g->w->variables, &id);
	if (known != NULL)
		return (uint32_t)*known;
	uint32_t object = slice_new_object(g, NOBODY);
	if (object == NOBODY)
		return NOBODY;
	slice_objects(g->s)[object].variables = true;
	if (hrr_idmap_add(&g->w->variables, &id, object) < 0)
		g->bad = -ENOMEM;
	return object;
}

void slice_use_touched(struct slice_gather *g, uint32_t object)
{
	if (object == NOBODY)
		return;
	size_t n = slice_objects(g->s)[object].touches.len / sizeof(uint32_t);
	for (size_t i = 0; i < n; i++)
		slice_use_object(
		    g, ((const uint32_t *)(void *)slice_objects(g->s)[object].touches.data)[i],
		    true);
}

void slice_touch(struct slice_gather *g, uint32_t graph, uint32_t object)
{
	if (graph == NOBODY || object == NOBODY || graph == object)
		return;
	/* Most nodes of a graph are added one after the other: it is noted once. */
	struct slice_object *o = &slice_objects(g->s)[object];
	if (o->touched_by == graph + 1)
		return;
	o->touched_by = graph + 1;
	if (hrr_buf_add(&slice_objects(g->s)[graph].touches, &object, sizeof object) < 0)
		g->bad = -ENOMEM;
}

void slice_touch_all(struct slice_gather *g, uint32_t to, uint32_t from)
{
	if (to == NOBODY || from == NOBODY || to == from)
		return;
	size_t n = slice_objects(g->s)[from].touches.len / sizeof(uint32_t);
	for (size_t i = 0; i < n; i++)
		slice_touch(g, to,
			    ((const uint32_t *)(void *)slice_objects(g->s)[from].touches.data)[i]);
	/* What a node was not given itself is its graph's; a graph has no owner. */
	slice_touch_all(g, to, slice_objects(g->s)[from].owner);
}

bool slice_lives(const struct hrr_slice *s, uint32_t object)
{
	const struct slice_object *o = &slice_objects(s)[object];

	return o->releaser == NOBODY &&
	       (o->owner == NOBODY || slice_objects(s)[o->owner].releaser == NOBODY);
}
