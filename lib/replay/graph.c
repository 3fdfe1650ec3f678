#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/*
 * Graphs: what a graph, an open capture or an executable uses (memory, host
 * operands, kernels), and whether it can be launched at all. Nodes are built in node.c.
 */

#define LLU(x) ((unsigned long long)(x))
#define GRAPH_GROW 8

static struct hrr_graph *graph_new(struct hrr_replay *r)
{
	struct hrr_graph *g = calloc(1, sizeof *g);

	if (g == NULL)
		hrr_trouble(r, -ENOMEM, "out of memory");
	return g;
}

/* Room for one more of n elements. */
static int room(struct hrr_replay *r, void **v, size_t n, size_t *cap, size_t each)
{
	if (n < *cap)
		return 0;
	size_t more = *cap == 0 ? GRAPH_GROW : *cap * 2;
	void *p = realloc(*v, more * each);
	if (p == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	*v = p;
	*cap = more;
	return 0;
}

/* Host memory outlives the device it was made on: replay keeps it, and nodes over it go on. */
static bool ends_with_device(const struct hrr_mem *m)
{
	return m->kind == HRR_MEM_DEVICE || m->kind == HRR_MEM_MANAGED || m->kind == HRR_MEM_ALIAS;
}

int hrr_graph_use(struct hrr_replay *r, struct hrr_graph *g, struct hrr_mem *m)
{
	if (m == NULL)
		return 0;
	if (ends_with_device(m))
		g->devices |= (uint32_t)1 << m->device;
	for (size_t i = 0; i < g->n_mems; i++)
		if (g->mems[i] == m)
			return 0;
	void *v = g->mems;
	int rc = room(r, &v, g->n_mems, &g->cap_mems, sizeof *g->mems);
	g->mems = v;
	if (rc == 0) {
		g->mems[g->n_mems++] = m;
		m->graph_refs++;
	}
	return rc;
}

int hrr_graph_host(struct hrr_replay *r, struct hrr_graph *g, const struct hrr_host_node *h)
{
	for (size_t i = 0; i < g->n_hosts; i++)
		if (h->node_live != 0 && g->hosts[i].node_live == h->node_live) {
			g->hosts[i] = *h;
			return 0;
		}
	void *v = g->hosts;
	int rc = room(r, &v, g->n_hosts, &g->cap_hosts, sizeof *g->hosts);
	g->hosts = v;
	if (rc == 0)
		g->hosts[g->n_hosts++] = *h;
	return rc;
}

static int add_fn(struct hrr_replay *r, struct hrr_graph *g, const struct hrr_function *fn)
{
	for (size_t i = 0; i < g->n_fns; i++)
		if (g->fns[i] == fn)
			return 0;
	void *v = g->fns;
	int rc = room(r, &v, g->n_fns, &g->cap_fns, sizeof *g->fns);
	g->fns = v;
	if (rc == 0)
		g->fns[g->n_fns++] = fn;
	return rc;
}

int hrr_graph_fn(struct hrr_replay *r, struct hrr_graph *g, const struct hrr_function *fn)
{
	g->devices |= (uint32_t)1 << r->device; /* loaded there */
	return add_fn(r, g, fn);
}

void hrr_graph_bad(struct hrr_graph *g, const char *why)
{
	if (g != NULL && g->bad[0] == '\0')
		snprintf(g->bad, sizeof g->bad, "%s", why);
}

void hrr_graph_let_go(struct hrr_graph *g)
{
	for (size_t i = 0; i < g->n_mems; i++)
		g->mems[i]->graph_refs--;
	g->n_mems = g->n_hosts = g->n_fns = 0;
	g->devices = 0;
}

void hrr_graph_free(struct hrr_replay *r, struct hrr_graph *g)
{
	(void)r;
	if (g == NULL)
		return;
	hrr_graph_let_go(g);
	free(g->mems);
	free(g->hosts);
	free(g->fns);
	free(g);
}

/* to gets everything from has. */
int hrr_graph_merge(struct hrr_replay *r, struct hrr_graph *to, const struct hrr_graph *from)
{
	int rc = 0;

	if (from == NULL)
		return 0;
	for (size_t i = 0; rc == 0 && i < from->n_mems; i++)
		rc = hrr_graph_use(r, to, from->mems[i]);
	for (size_t i = 0; rc == 0 && i < from->n_hosts; i++)
		rc = hrr_graph_host(r, to, &from->hosts[i]);
	for (size_t i = 0; rc == 0 && i < from->n_fns; i++)
		rc = add_fn(r, to, from->fns[i]);
	to->devices |= from->devices;
	if (from->bad[0] != '\0')
		hrr_graph_bad(to, from->bad);
	return rc;
}

/* What is known of a recorded graph; of one in the making, its capture. */
struct hrr_graph *hrr_graph_of(struct hrr_replay *r, uint64_t recorded)
{
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_GRAPH], recorded);

	if (h == NULL)
		return NULL;
	if (h->info == NULL && r->captures != 0) {
		struct hrr_held_map *m = &r->held[HRR_H_STREAM];
		for (size_t i = 0; i < m->cap; i++)
			if (m->slot[i].recorded != 0 && m->slot[i].info != NULL &&
			    ((struct hrr_graph *)m->slot[i].info)->number == recorded)
				return m->slot[i].info;
	}
	if (h->info == NULL)
		h->info = graph_new(r);
	return h->info;
}

int hrr_do_graph_create(struct hrr_replay *r, struct hrr_event *ev)
{
	int rc = hrr_do_generic(r, ev);

	if (rc < 0)
		return rc;
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_GRAPH], ev->w[0]);
	if (h == NULL)
		return hrr_fail(r, "its handle was not recorded");
	hrr_graph_free(r, h->info);
	h->info = graph_new(r);
	return h->info != NULL ? 0 : -ENOMEM;
}

void hrr_graph_forget_nodes(struct hrr_replay *r, uint64_t graph)
{
	struct hrr_held_map *m = &r->held[HRR_H_NODE];

	for (size_t i = 0; i < m->cap; i++)
		while (m->slot[i].recorded != 0 && m->slot[i].owner == graph)
			hrr_held_del(m, m->slot[i].recorded);
}

int hrr_do_graph_destroy(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t recorded = ev->w[0];
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_GRAPH], recorded);
	struct hrr_graph *g = h != NULL ? h->info : NULL;

	if (h != NULL && h->live == 0) { /* ended by a reset */
		hrr_held_del(&r->held[HRR_H_GRAPH], recorded);
		hrr_graph_free(r, g);
		return 0;
	}
	if (h != NULL)
		h->info = NULL;
	int rc = hrr_do_generic(r, ev);
	hrr_graph_forget_nodes(r, recorded);
	hrr_graph_free(r, g);
	int rc2 = hrr_settle_if_idle(r);
	return rc < 0 ? rc : rc2;
}

int hrr_do_graph_clone(struct hrr_replay *r, struct hrr_event *ev)
{
	struct hrr_graph *from = hrr_graph_of(r, hrr_arg_of(ev, "originalGraph"));
	int rc = hrr_do_graph_create(r, ev);

	return rc < 0 ? rc : hrr_graph_merge(r, hrr_graph_of(r, ev->w[0]), from);
}

/* --- capture ------------------------------------------------------------------- */

int hrr_do_begin_capture(struct hrr_replay *r, struct hrr_event *ev)
{
	bool spt = strstr(ev->row->name, "_spt") != NULL;
	uint64_t key = hrr_stream_key(ev, ev->w[0], spt), live;
	int rc = hrr_stream(r, ev, ev->w[0], spt, &live);

	if (rc < 0)
		return rc;
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_STREAM], key);
	if (h == NULL || h->info != NULL)
		return hrr_fail(r, "this stream cannot be captured here");
	struct hrr_graph *g = graph_new(r);
	if (g == NULL)
		return -ENOMEM;
	if (ev->api == HRR_API_hipStreamBeginCaptureToGraph) {
		rc = hrr_generic_words(r, ev, false);
		ev->live[0] = live;
		g->into = true;
		if (rc == 0)
			rc = hrr_graph_merge(r, g, hrr_graph_of(r, ev->w[1]));
		if (rc == 0)
			rc = hrr_issue(r, ev);
	} else {
		rc = hrr_settle(r, ev, HRR_CALL(r, hipStreamBeginCapture, live, ev->w[1]));
	}
	if (rc < 0) {
		hrr_graph_free(r, g);
		return rc;
	}
	g->origin = key;
	g->origin_tid = ev->th->tid;
	h = hrr_held_find(&r->held[HRR_H_STREAM], key);
	h->info = g;
	r->captures++;
	return 0;
}

void hrr_graph_leave(struct hrr_replay *r, const struct hrr_graph *g)
{
	static const enum hrr_handle types[] = {HRR_H_STREAM, HRR_H_EVENT};

	for (size_t t = 0; t < 2; t++) {
		struct hrr_held_map *m = &r->held[types[t]];
		for (size_t i = 0; i < m->cap; i++)
			if (m->slot[i].recorded != 0 && m->slot[i].info == g)
				m->slot[i].info = NULL;
	}
	r->captures--;
}

int hrr_do_end_capture(struct hrr_replay *r, struct hrr_event *ev)
{
	bool spt = strstr(ev->row->name, "_spt") != NULL;
	uint64_t key = hrr_stream_key(ev, ev->w[0], spt), live, made = 0;
	struct hrr_graph *g = hrr_capture_of(r, key);
	int rc = hrr_stream(r, ev, ev->w[0], spt, &live);

	if (rc < 0)
		return rc;
	int64_t e = HRR_CALL(r, hipStreamEndCapture, live, HRR_P(&made));
	rc = hrr_settle(r, ev, e);
	if (g != NULL)
		hrr_graph_leave(r, g);
	hrr_flush_fills(r);
	if (rc < 0 || e != hipSuccess || made == 0) {
		hrr_graph_free(r, g);
		return rc;
	}
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_GRAPH], ev->w[1]);
	if (h != NULL)
		hrr_graph_free(r, h->info);
	h = hrr_held_add(&r->held[HRR_H_GRAPH], ev->w[1], made);
	if (h == NULL) {
		hrr_graph_free(r, g);
		return hrr_fail(r, "its graph was not recorded");
	}
	h->info = g;
	return hrr_settle_if_idle(r);
}

/* What a capture's next node would follow: nodes that got no handle when they were captured. */
int hrr_do_capture_info(struct hrr_replay *r, struct hrr_event *ev)
{
	bool spt = strstr(ev->row->name, "_spt") != NULL;
	int d = hrr_api_param(ev->api, "dependencies_out", 16);
	int n = hrr_api_param(ev->api, "numDependencies_out", 19);
	int rc = hrr_generic_words(r, ev, false);

	if (rc == 0)
		rc = hrr_stream(r, ev, ev->w[0], spt, &ev->live[0]);
	if (rc == 0)
		rc = hrr_settle(r, ev,
				HRR_CALL(r, hipStreamGetCaptureInfo_v2, ev->live[0], ev->live[1],
					 ev->live[2], ev->live[3], ev->live[4], ev->live[5]));
	if (rc == 0)
		rc = hrr_generic_made(r, ev);
	struct hrr_graph *g = hrr_capture_of(r, hrr_stream_key(ev, ev->w[0], spt));
	if (rc == 0 && g != NULL && hrr_arg_of(ev, "graph_out") != 0)
		g->number = hrr_arg_of(ev, "graph_out");
	if (rc < 0 || ev->w[d] == 0 || ev->live[d] == 0 || ev->live[n] == 0 || ev->node[d] < 0 ||
	    ev->j->nodes[ev->node[d]].type != HRR_JSON_ARRAY)
		return rc;
	const uint64_t *live = *(const uint64_t *const *)(uintptr_t)ev->live[d];
	const uint64_t *recorded = (const uint64_t *)(uintptr_t)ev->w[d];
	size_t have = *(const size_t *)(uintptr_t)ev->live[n];
	if (live == NULL || have != hrr_json_count(ev->j, ev->node[d]))
		return 0; /* a call that names one of them fails then, by its name */
	for (size_t i = 0; i < have; i++) {
		if (hrr_held_find(&r->held[HRR_H_NODE], recorded[i]) != NULL)
			continue;
		struct hrr_held *h = hrr_held_add(&r->held[HRR_H_NODE], recorded[i], live[i]);
		if (h == NULL)
			return hrr_trouble(r, -ENOMEM, "out of memory");
		h->owner = hrr_arg_of(ev, "graph_out");
	}
	return 0;
}

/* --- executables ------------------------------------------------------------------ */

int hrr_do_graph_instantiate(struct hrr_replay *r, struct hrr_event *ev)
{
	struct hrr_graph *from = hrr_graph_of(r, hrr_arg_of(ev, "graph"));
	uint64_t live = 0;
	int rc;

	if (from == NULL)
		return hrr_handle(r, ev, HRR_H_GRAPH, hrr_arg_of(ev, "graph"), &live);
	struct hrr_graph *x = graph_new(r);
	if (x == NULL)
		return -ENOMEM;
	rc = hrr_graph_merge(r, x, from);
	x->exec_source = hrr_arg_of(ev, "graph");
	/* What cannot be rebuilt is not instantiated; a launch of it is refused by name. */
	if (rc == 0 && x->bad[0] == '\0') {
		rc = hrr_generic_words(r, ev, true);
		const struct hipGraphInstantiateParams *p =
		    ev->api == HRR_API_hipGraphInstantiateWithParams
			? (const void *)(uintptr_t)ev->w[2]
			: NULL;
		ev->live[0] = HRR_P(&live);
		if (rc == 0 && p != NULL)
			rc = hrr_settle(r, ev,
					HRR_CALL(r, hipGraphInstantiateWithFlags, HRR_P(&live),
						 ev->live[1], p->flags));
		else if (rc == 0)
			rc = hrr_issue(r, ev);
	}
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_EXEC], ev->w[0]);
	if (rc == 0 && h != NULL)
		hrr_graph_free(r, h->info);
	h = rc == 0 ? hrr_held_add(&r->held[HRR_H_EXEC], ev->w[0], live) : NULL;
	if (h == NULL) {
		hrr_graph_free(r, x);
		return rc < 0 ? rc : hrr_fail(r, "its handle was not recorded");
	}
	h->info = x;
	return 0;
}

int hrr_do_graph_exec_destroy(struct hrr_replay *r, struct hrr_event *ev)
{
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_EXEC], ev->w[0]);
	struct hrr_graph *x = h != NULL ? h->info : NULL;
	int rc;

	if (h != NULL && h->live == 0) { /* never was */
		hrr_held_del(&r->held[HRR_H_EXEC], ev->w[0]);
		hrr_graph_free(r, x);
		return 0;
	}
	if (h != NULL)
		h->info = NULL;
	rc = hrr_do_generic(r, ev);
	hrr_graph_free(r, x);
	int rc2 = hrr_settle_if_idle(r);
	return rc < 0 ? rc : rc2;
}

int hrr_do_graph_exec_update(struct hrr_replay *r, struct hrr_event *ev)
{
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_EXEC], ev->w[0]);
	struct hrr_graph *from = hrr_graph_of(r, ev->w[1]);
	int rc;

	if (h != NULL && from != NULL && from->bad[0] != '\0') {
		hrr_graph_bad(h->info, from->bad);
		return hrr_refuse(r, "graph 0x%llx cannot be rebuilt: %s", LLU(ev->w[1]),
				  from->bad);
	}
	rc = hrr_do_generic(r, ev);
	if (rc < 0 || h == NULL)
		return rc;
	h = hrr_held_find(&r->held[HRR_H_EXEC], ev->w[0]);
	return h != NULL && h->info != NULL ? hrr_graph_merge(r, h->info, from) : 0;
}

/*
 * Where host mappings are baked into nodes, nodes over changed registrations are
 * given their operands again before the launch.
 */
static int refresh(struct hrr_replay *r, struct hrr_graph *x, uint64_t exec)
{
	char buf[32];

	for (size_t i = 0; i < x->n_hosts; i++) {
		struct hrr_host_node *h = &x->hosts[i];
		if (!h->stale || !r->opt.bakes_host)
			continue;
		if (h->node_live == 0 || !h->one_d)
			return hrr_refuse(r,
					  "a memcpy node on host memory 0x%llx (%llu bytes) "
					  "cannot be refreshed after its registration changed",
					  LLU(h->addr), LLU(h->size));
		int64_t e = HRR_CALL(r, hipGraphExecMemcpyNodeSetParams1D, exec, h->node_live,
				     h->dst, h->src, h->count, (uint64_t)h->kind);
		if (e != hipSuccess)
			return hrr_fail(r, "refreshing a memcpy node on host memory 0x%llx: %s",
					LLU(h->addr), hrr_error_text(e, buf));
		h->stale = false;
	}
	return 0;
}

static void mark_stale(struct hrr_graph *g, uint64_t base, uint64_t size)
{
	for (size_t i = 0; g != NULL && i < g->n_hosts; i++)
		if (g->hosts[i].addr < base + size && base < g->hosts[i].addr + g->hosts[i].size)
			g->hosts[i].stale = true;
}

void hrr_host_changed(struct hrr_replay *r, uint64_t base, uint64_t size)
{
	static const enum hrr_handle types[] = {HRR_H_GRAPH, HRR_H_EXEC};

	if (!r->opt.bakes_host)
		return;
	for (size_t t = 0; t < 2; t++) {
		struct hrr_held_map *m = &r->held[types[t]];
		for (size_t i = 0; i < m->cap; i++)
			if (m->slot[i].recorded != 0)
				mark_stale(m->slot[i].info, base, size);
	}
}

int hrr_do_graph_launch(struct hrr_replay *r, struct hrr_event *ev)
{
	bool spt = strstr(ev->row->name, "_spt") != NULL;
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_EXEC], ev->w[0]);
	uint64_t key = hrr_stream_key(ev, ev->w[1], spt), stream, exec;
	int rc = hrr_handle(r, ev, HRR_H_EXEC, ev->w[0], &exec);

	if (rc == 0)
		rc = hrr_stream(r, ev, ev->w[1], spt, &stream);
	if (rc < 0)
		return rc;
	struct hrr_graph *x = h != NULL ? h->info : NULL;
	if (x == NULL) /* null, or an executable whose destruction failed */
		return hrr_fail(r, "executable 0x%llx was not instantiated", LLU(ev->w[0]));
	if (x->bad[0] != '\0')
		return hrr_refuse(r, "graph 0x%llx (executable 0x%llx) is not launched: %s",
				  LLU(x->exec_source), LLU(ev->w[0]), x->bad);
	rc = hrr_host_bytes(r, ev, NULL);
	if (rc == 0)
		rc = refresh(r, x, exec);
	if (rc < 0)
		return rc;
	struct hrr_graph *into = hrr_capture_of(r, key);
	if (into == NULL)
		hrr_order_fills(r, stream);
	rc = hrr_settle(r, ev, HRR_CALL(r, hipGraphLaunch, exec, stream));
	if (rc < 0)
		return rc;
	if (into != NULL)
		return hrr_graph_merge(r, into, x);
	r->graph_writer = (struct hrr_writer){ev->seq, x->n_fns != 0 ? x->fns[x->n_fns - 1] : NULL};
	if (x->n_fns != 0)
		hrr_kernels_queued(r, &r->graph_writer, key);
	for (size_t i = 0; i < x->n_mems; i++) {
		struct hrr_mem *m = x->mems[i];
		m->writer = r->graph_writer;
		hrr_note_pending(r, m, m->base, m->size, ev->seq, key, false);
	}
	return r->opt.sync_after_launch && r->captures == 0 ? hrr_wait_launch(r, stream) : 0;
}
