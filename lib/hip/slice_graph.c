#include "lib/hip/slice_private.h"
#include "lib/hip/table.h"

/*
 * A selected launch, copy or set that is part of a graph does nothing by itself: the first launch
 * of what was made of the graph goes with it. Calls are walked in their order, and what is made of
 * a graph that holds such a call (by instantiation, as a clone, as a child, by an update) holds it
 * too. Calls that were captured stay between the begin and the end of their capture.
 */

static bool is_graph(const struct slice_object *o)
{
	return o->handle == HRR_H_GRAPH || o->handle == HRR_H_EXEC;
}

/* Has a selected call been put into the graph since it was last looked at? */
static void look(struct hrr_slice *s, struct slice_object *o, uint32_t call)
{
	const uint32_t *writers = (const void *)o->writers.data;
	const struct slice_call *all = slice_calls(s);
	size_t n = o->writers.len / sizeof *writers, from = o->looked;

	for (; o->looked < n && writers[o->looked] <= call; o->looked++) {
		const struct slice_call *w = &all[writers[o->looked]];
		if (!w->selected || !w->work)
			continue;
		o->wanted = true;
		if (w->captured)
			o->whole = true;
	}
	if (!o->whole || o->looked == from)
		return;
	for (size_t i = from; i < o->looked; i++)
		slice_calls(s)[writers[i]].wanted = true;
	slice_calls(s)[call].wanted = true; /* the capture's end */
}

void slice_select_graphs(struct hrr_slice *s)
{
	struct slice_object *objects = slice_objects(s);
	uint32_t made = 0;

	for (uint32_t i = 0; i < s->n_calls; i++) {
		struct slice_call *c = &slice_calls(s)[i];
		bool wanted = false;

		for (uint32_t k = 0; k < c->n_uses; k++) {
			struct slice_object *o = &objects[slice_uses(s)[c->uses + k].object];
			if (!is_graph(o) || o->creator == i)
				continue;
			look(s, o, i);
			wanted |= o->wanted;
			o->wanted &= !c->starts_graph;
		}
		c->selected |= wanted && c->starts_graph;
		for (uint32_t k = 0; wanted && k < c->n_uses; k++)
			if (slice_uses(s)[c->uses + k].writes)
				objects[slice_uses(s)[c->uses + k].object].wanted = true;
		/* Objects come in the order of their making. */
		for (; made < s->n_objects &&
		       (objects[made].creator == NOBODY || objects[made].creator <= i);
		     made++) {
			if (objects[made].creator != i || !is_graph(&objects[made]))
				continue;
			look(s, &objects[made], i);
			objects[made].wanted |= wanted;
		}
	}
}
