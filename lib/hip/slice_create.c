#include <errno.h>

#include "lib/hip/slice_object.h"

/* What a call makes: memory, handles, mappings; of graphs, what is in them. */

/* A name for memory that a module has: a variable, asked for by its name. */
static bool names_variable(const struct hrr_api_row *row)
{
	for (int i = 0; i < row->n_params; i++)
		if (row->params[i].handle == HRR_H_MODULE)
			return row->gives.kind == HRR_GIVES_NAME;
	return false;
}

static bool is_graph_thing(unsigned type)
{
	return type == HRR_H_GRAPH || type == HRR_H_NODE || type == HRR_H_EXEC;
}

uint64_t slice_size(const struct slice_gather *g)
{
	const struct hrr_json *j = &g->rec->json;
	uint64_t pitch, height, size = 0;

	if (hrr_json_u64(j, hrr_json_get(j, g->rec->args, "pitch"), &pitch) == 0 &&
	    hrr_json_u64(j, hrr_json_get(j, g->rec->args, "height"), &height) == 0 &&
	    !__builtin_mul_overflow(pitch, height, &size))
		return size;
	return hrr_record_size(g->rec, &size) ? size : 0;
}

/* The variables of the module that a call was given, or NOBODY. */
static uint32_t module_variables(const struct slice_gather *g)
{
	const struct slice_call *c = &slice_calls(g->s)[g->call];

	for (uint32_t i = c->uses; i < g->s->n_uses; i++) {
		const struct slice_object *o = &slice_objects(g->s)[slice_uses(g->s)[i].object];
		if (o->touches.len > 0 && !o->memory && !o->variables)
			return *(const uint32_t *)(void *)o->touches.data;
	}
	return NOBODY;
}

/* Calls since the capture began, or its graph was last asked for, are part of the graph. */
static void captured(struct slice_gather *g, uint32_t graph)
{
	if (slice_does(g) == HRR_DOES_ENDCAPTURE)
		g->w->captures--;
	else if (slice_does(g) != HRR_DOES_ASKCAPTURE)
		return;
	for (uint32_t k = g->w->capture_from; k < g->call; k++) {
		const struct slice_call in = slice_calls(g->s)[k];
		if (in.p != g->rec->p)
			continue;
		slice_add_writer(g, graph, k);
		slice_calls(g->s)[k].captured = true;
		for (uint32_t i = 0; i < in.n_uses; i++) {
			uint32_t object = slice_uses(g->s)[in.uses + i].object;
			/* The streams were only how it was made. */
			if (slice_objects(g->s)[object].handle != HRR_H_STREAM)
				slice_touch(g, graph, object);
		}
	}
	g->w->capture_from = g->call;
}

/* The graph that a node is in which this call makes or gives: its own, or that of another node. */
static uint32_t graph_of_node(const struct slice_gather *g)
{
	uint32_t graph = NOBODY;

	for (uint32_t i = slice_calls(g->s)[g->call].uses; i < g->s->n_uses; i++) {
		uint32_t object = slice_uses(g->s)[i].object;
		const struct slice_object *o = &slice_objects(g->s)[object];
		if (o->handle == HRR_H_GRAPH)
			return object; /* the first: a child comes behind */
		if (o->handle == HRR_H_NODE && graph == NOBODY)
			graph = o->owner;
	}
	return graph;
}

static void create(struct slice_gather *g, const struct hrr_param *p, int node)
{
	const struct hrr_json *j = &g->rec->json;
	struct hrr_slice *s = g->s;
	const struct slice_call *c = &slice_calls(s)[g->call];
	uint64_t v;

	if (hrr_json_addr(j, node, &v) < 0 || v == 0)
		return;
	if (p->kind == HRR_K_DEV || p->kind == HRR_K_HOST || p->kind == HRR_K_ADDR) {
		uint64_t size = slice_size(g);
		if (g->rec->symbol >= 0) {
			/* A variable's address: another name of its code object's variables. */
			uint32_t object =
			    slice_variables(g, hrr_json_get(j, g->rec->symbol, "object"));
			(void)hrr_json_u64(j, hrr_json_get(j, g->rec->symbol, "size"), &size);
			slice_new_range(g, v, size, object);
			slice_use_object(g, object, true);
			return;
		}
		if (names_variable(g->row)) {
			uint32_t object = module_variables(g);
			if (object == NOBODY)
				object = slice_new_object(g, g->call);
			else
				slice_objects(s)[object].variables_used = true;
			slice_new_range(g, v, size, object);
			slice_use_object(g, object, true);
			return;
		}
		if (size == 0) {
			/* Another address of memory that it uses: the device's of a host block. */
			for (uint32_t i = 0; i < s->n_uses - c->uses; i++) {
				uint32_t object = slice_uses(s)[c->uses + i].object;
				if (slice_objects(s)[object].memory) {
					slice_new_range(g, v, slice_objects(s)[object].size,
							object);
					slice_add_writer(g, object, g->call);
					return;
				}
			}
			return;
		}
		slice_new_range(g, v, size, slice_new_object(g, g->call));
		return;
	}
	if (p->kind != HRR_K_HANDLE)
		return;
	/* A handle that is given out again while it lives: a question, not a making. */
	uint32_t live = slice_handle(g, p->handle, v);
	if (live != NOBODY && slice_lives(s, live)) {
		slice_use_object(g, live, false);
		/* The graph was there before its capture ended: captured into, or asked for. */
		if (p->handle == HRR_H_GRAPH && g->w->captures > 0) {
			captured(g, live);
			slice_add_writer(g, live, g->call);
		}
		return;
	}
	uint32_t fresh = slice_new_handle(g, p->handle, v);
	if (fresh != NOBODY && p->handle == HRR_H_MODULE && g->rec->blobs >= 0)
		slice_touch(g, fresh, slice_variables(g, hrr_json_get(j, g->rec->blobs, "image")));
	if (fresh == NOBODY || !is_graph_thing(p->handle))
		return;
	/* What a graph's launch will touch: all that this call, or what it was given, touches. Of a
	 * node that is what it was given itself: the rest is its graph's. */
	uint32_t owner = p->handle == HRR_H_NODE ? graph_of_node(g) : NOBODY;
	slice_objects(s)[fresh].owner = owner;
	for (uint32_t i = c->uses; i < s->n_uses; i++) {
		uint32_t object = slice_uses(s)[i].object;
		const struct slice_object *o = &slice_objects(s)[object];
		bool other = owner == NOBODY || (object != owner && o->handle != HRR_H_NODE);
		if (o->memory || o->variables)
			slice_touch(g, fresh, object);
		if (other)
			slice_touch_all(g, fresh, object);
	}
	if (p->handle == HRR_H_GRAPH && g->w->captures > 0)
		captured(g, fresh);
}

/* One thing, or an array of them. */
void slice_create(struct slice_gather *g, const struct hrr_param *p, int node)
{
	const struct hrr_json *j = &g->rec->json;

	if (j->nodes[node].type != HRR_JSON_ARRAY) {
		create(g, p, node);
		return;
	}
	for (int i = hrr_json_first(j, node); i >= 0; i = hrr_json_next(j, node, i))
		create(g, p, i);
}

/*
 * A mapping is a thing of its own: what uses the addresses needs the call that mapped them, and
 * that call the one that ends it, or nothing could be mapped there again.
 */
void slice_mapping(struct slice_gather *g)
{
	uint64_t base, size;
	const struct hrr_range *r;

	if (g->row->gives.kind != HRR_GIVES_MAP && g->row->takes != HRR_GIVES_MAP)
		return;
	int at = g->row->takes == HRR_GIVES_MAP ? g->row->release : g->row->gives.param;
	int node = hrr_json_get(&g->rec->json, g->rec->args, g->row->params[at].name);
	if (hrr_json_addr(&g->rec->json, node, &base) < 0 || !hrr_record_size(g->rec, &size))
		return;
	if (g->row->takes == HRR_GIVES_MAP) {
		while ((r = hrr_ranges_overlap(g->w->maps, base, size)) != NULL) {
			slice_objects(g->s)[(uintptr_t)r->value - 1].releaser = g->call;
			(void)hrr_ranges_del(g->w->maps, r->base, r->value);
		}
		return;
	}
	uint32_t object = slice_new_object(g, g->call);
	if (object != NOBODY &&
	    hrr_ranges_add(g->w->maps, base, size, (void *)((uintptr_t)object + 1)) == -ENOMEM)
		g->bad = -ENOMEM;
}
