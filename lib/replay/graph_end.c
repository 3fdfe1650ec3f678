#include <stdio.h>

#include "lib/replay/engine.h"

/* How graphs end that no call destroys: with their device, or with the replay. */

void hrr_graph_end_captures(struct hrr_replay *r, int device)
{
	struct hrr_held_map *s = &r->held[HRR_H_STREAM];

	for (size_t i = 0; i < s->cap; i++) {
		struct hrr_graph *g = s->slot[i].recorded != 0 ? s->slot[i].info : NULL;
		if (g == NULL)
			continue;
		uint64_t made = 0;
		struct hrr_held *origin = hrr_held_find(s, g->origin);
		if (device != HRR_ALL_DEVICES && (origin == NULL || origin->device != device))
			continue;
		if (origin != NULL && !r->timed_out)
			HRR_CALL(r, hipStreamEndCapture, origin->live, HRR_P(&made));
		if (made != 0 && !g->into)
			HRR_CALL(r, hipGraphDestroy, made);
		hrr_graph_leave(r, g);
		hrr_graph_free(r, g);
	}
}

/* Graphs that child nodes hold belong to their nodes, and those to a graph. */
static const struct hrr_graph *parent_of(struct hrr_replay *r, const struct hrr_held *h)
{
	const struct hrr_held *node = hrr_held_find(&r->held[HRR_H_NODE], h->owner);
	const struct hrr_held *p =
	    node != NULL ? hrr_held_find(&r->held[HRR_H_GRAPH], node->owner) : NULL;

	return p != NULL ? p->info : NULL;
}

/*
 * A device was reset: graphs and executables whose nodes use its memory or kernels end, whichever
 * device was current when they were made; others do not. Their numbers stay known, since programs
 * destroy them later; a launch is refused by name.
 */
void hrr_graph_reset(struct hrr_replay *r, int device)
{
	static const enum hrr_handle types[] = {HRR_H_EXEC, HRR_H_GRAPH};
	char why[sizeof((struct hrr_graph *)0)->bad];

	snprintf(why, sizeof why, "it uses memory or kernels of device %d, which was reset",
		 device);
	hrr_graph_end_captures(r, device);
	for (size_t t = 0; t < 2; t++) {
		struct hrr_held_map *m = &r->held[types[t]];
		for (size_t i = 0; i < m->cap; i++) {
			struct hrr_held *h = &m->slot[i];
			struct hrr_graph *g = h->recorded != 0 ? h->info : NULL;
			const struct hrr_graph *p = g != NULL ? parent_of(r, h) : NULL;
			uint32_t uses = (g != NULL ? g->devices : 0) | (p != NULL ? p->devices : 0);
			if (g == NULL || (uses >> device & 1) == 0)
				continue;
			/* hrr_graph_bad keeps what was said first: it could not be launched before.
			 */
			hrr_graph_bad(g, why);
			if (h->live != 0 && types[t] == HRR_H_EXEC)
				HRR_CALL(r, hipGraphExecDestroy, h->live);
			else if (h->live != 0 && h->owner == 0)
				HRR_CALL(r, hipGraphDestroy, h->live);
			h->live = 0;
		}
	}
	/* Only now: a child asks its parent. */
	for (size_t t = 0; t < 2; t++) {
		struct hrr_held_map *m = &r->held[types[t]];
		for (size_t i = 0; i < m->cap; i++) {
			if (m->slot[i].recorded == 0 || m->slot[i].live != 0 ||
			    m->slot[i].info == NULL)
				continue;
			hrr_graph_let_go(m->slot[i].info);
			if (types[t] == HRR_H_GRAPH)
				hrr_graph_forget_nodes(r, m->slot[i].recorded);
		}
	}
}

void hrr_graph_end(struct hrr_replay *r, bool idle)
{
	hrr_graph_end_captures(r, HRR_ALL_DEVICES);
	struct hrr_held_map *m = &r->held[HRR_H_EXEC];
	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].recorded != 0) {
			if (idle && m->slot[i].live != 0)
				HRR_CALL(r, hipGraphExecDestroy, m->slot[i].live);
			hrr_graph_free(r, m->slot[i].info);
		}
	hrr_held_release(m);
	m = &r->held[HRR_H_GRAPH];
	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].recorded != 0) {
			/* graphs of child nodes go with their parent */
			if (idle && m->slot[i].owner == 0 && m->slot[i].live != 0)
				HRR_CALL(r, hipGraphDestroy, m->slot[i].live);
			hrr_graph_free(r, m->slot[i].info);
		}
	hrr_held_release(m);
	hrr_held_release(&r->held[HRR_H_NODE]);
}
