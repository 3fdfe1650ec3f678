#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/* Graph nodes: adding them, changing them in a graph or an executable, and finding them again. */

#define LLU(x) ((unsigned long long)(x))

/* What a node call has besides handles: built by the kind of node. */
struct node_build {
	struct hrr_graph *g; /* what gets to know of it: the graph's or the executable's */
	struct hrr_host_node host;
	bool has_host;
	struct hipMemAllocNodeParams *alloc; /* memory the node makes, and its recorded address */
	uint64_t alloc_base;
};

static void put(struct hrr_event *ev, const char *name, uint64_t v)
{
	int i = hrr_api_param(ev->api, name, strlen(name));
	if (i >= 0)
		ev->live[i] = v;
}

static int param_struct(const struct hrr_event *ev, const char *type)
{
	for (int i = 0; i < ev->row->n_params; i++)
		if (ev->row->params[i].st != NULL && strcmp(ev->row->params[i].st->name, type) == 0)
			return i;
	return -1;
}

static int build_kernel(struct hrr_replay *r, struct hrr_event *ev, int i, struct node_build *b)
{
	const struct hipKernelNodeParams *recorded = (const void *)(uintptr_t)ev->w[i];
	struct hipKernelNodeParams *p = hrr_scratch(r, sizeof *p);
	/* A stub, or a function of a module the program loaded: that module has its own variables.
	 */
	uint64_t function = recorded != NULL ? HRR_P(recorded->func) : 0;
	struct hrr_launch l;
	int rc = p == NULL ? hrr_trouble(r, -ENOMEM, "out of memory")
			   : hrr_kernel_read(r, ev, ev->rec->kernel, function, &l);

	if (rc < 0)
		return rc;
	/* Run times take a function handle where the program gave a stub's address. */
	p->func = (void *)(uintptr_t)l.live_fn;
	p->gridDim = (dim3){l.grid[0], l.grid[1], l.grid[2]};
	p->blockDim = (dim3){l.block[0], l.block[1], l.block[2]};
	p->sharedMemBytes = l.lds;
	p->kernelParams = l.params;
	ev->live[i] = HRR_P(p);
	rc = hrr_graph_fn(r, b->g, l.fn);
	for (size_t k = 0; rc == 0 && k < l.n_mems; k++)
		rc = hrr_graph_use(r, b->g, l.mems[k]);
	return rc;
}

static void host_node(struct node_build *b, const struct hrr_copy *c, const struct hrr_copy_ends *e)
{
	b->has_host = e->host_size != 0;
	b->host = hrr_copy_host_node(c, e);
}

static int build_copy3d(struct hrr_replay *r, struct hrr_event *ev, int i, struct node_build *b)
{
	struct hipMemcpy3DParms *p = (void *)(uintptr_t)ev->w[i];
	struct hrr_copy c = {.async = true};
	struct hrr_copy_ends e;

	if (p == NULL)
		return hrr_fail(r, "its structure was not recorded");
	int rc = hrr_copy_read3d(r, ev, p, &c);
	if (rc == 0)
		rc = hrr_copy_resolve(r, ev, &c, b->g, &e);
	if (rc < 0)
		return rc;
	hrr_copy_box3d(p, &c, &e);
	ev->live[i] = HRR_P(p);
	host_node(b, &c, &e);
	return hrr_copy_done(r, ev, &c, b->g, &e, 0);
}

static int build_copy1d(struct hrr_replay *r, struct hrr_event *ev, struct node_build *b)
{
	struct hrr_copy c = {.height = 1, .depth = 1, .async = true};
	struct hrr_copy_ends e;

	c.dst = hrr_arg_of(ev, "dst");
	c.src = hrr_arg_of(ev, "src");
	c.width = c.dpitch = c.spitch = c.dslice = c.sslice = hrr_arg_of(ev, "count");
	int rc = hrr_copy_resolve(r, ev, &c, b->g, &e);
	if (rc < 0)
		return rc;
	put(ev, "dst", e.dst);
	put(ev, "src", e.src);
	put(ev, "kind", (uint64_t)e.kind);
	host_node(b, &c, &e);
	return hrr_copy_done(r, ev, &c, b->g, &e, 0);
}

static int build_set(struct hrr_replay *r, struct hrr_event *ev, int i, struct node_build *b)
{
	struct hipMemsetParams *p = (void *)(uintptr_t)ev->w[i];
	struct hrr_where w = {0};
	uint64_t width, need;

	if (p == NULL)
		return hrr_fail(r, "its structure was not recorded");
	if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
		return hrr_fail(r, "elements of %u bytes", p->elementSize);
	if (__builtin_mul_overflow((uint64_t)p->width, p->elementSize, &width))
		return hrr_fail(r, "the rectangle is larger than memory");
	uint64_t height = p->height != 0 ? p->height : 1;
	int rc = hrr_span(r, "destination", width, height, 1, p->pitch, UINT64_MAX, &need);
	struct hrr_operand op = {"destination", HRR_P(p->dst), need, -1};
	if (rc == 0 && p->dst == NULL)
		return hrr_fail(r, "destination is a null pointer");
	if (rc == 0)
		rc = hrr_translate(r, &op, HRR_END_DEVICE, &w);
	if (rc < 0)
		return rc;
	p->dst = (void *)(uintptr_t)w.live;
	ev->live[i] = HRR_P(p);
	return hrr_graph_use(r, b->g, w.mem);
}

static int build_alloc(struct hrr_replay *r, struct hrr_event *ev, int i, struct node_build *b)
{
	struct hipMemAllocNodeParams *p = (void *)(uintptr_t)ev->w[i];

	if (p == NULL || p->dptr == NULL || HRR_P(p->dptr) + p->bytesize < p->bytesize)
		return hrr_fail(r, "its structure was not recorded");
	if (p->accessDescCount != 0 && p->accessDescs == NULL)
		return hrr_fail(r, "its access descriptions were not recorded");
	b->alloc = p;
	b->alloc_base = HRR_P(p->dptr);
	p->dptr = NULL;
	ev->live[i] = HRR_P(p);
	return 0;
}

/* The node is there: its memory goes by the recorded address. */
static int built_alloc(struct hrr_replay *r, const struct node_build *b)
{
	struct hrr_mem *m;
	int rc = hrr_graph_memory(r, b->alloc_base, b->alloc->bytesize, HRR_P(b->alloc->dptr), &m);

	return rc < 0 ? rc : hrr_graph_use(r, b->g, m);
}

static int build_free(struct hrr_replay *r, struct hrr_event *ev, int i, struct node_build *b)
{
	struct hrr_operand op = {"address", ev->w[i], 0, -1};
	struct hrr_where w;
	int rc = hrr_translate(r, &op, HRR_END_DEVICE, &w);

	if (rc == 0 && w.mem == NULL)
		return hrr_fail(r, "its address is null");
	ev->live[i] = w.live;
	return rc < 0 ? rc : hrr_graph_use(r, b->g, w.mem);
}

static int build_child(struct hrr_replay *r, struct hrr_event *ev, struct node_build *b)
{
	struct hrr_graph *child = hrr_graph_of(r, hrr_arg_of(ev, "childGraph"));

	return hrr_graph_merge(r, b->g, child);
}

/* Copies of variables become plain copy nodes on the variable's address. */
static int build_symbol(struct hrr_replay *r, struct hrr_event *ev, struct node_build *b,
			enum hrr_api *ret_api)
{
	bool to = hrr_api_param(ev->api, "dst", 3) < 0;
	uint64_t addr, size, offset = hrr_arg_of(ev, "offset"), count = hrr_arg_of(ev, "count");
	struct hrr_copy c = {.width = count, .height = 1, .depth = 1, .async = true};
	struct hrr_copy_ends e;
	int rc = hrr_symbol(r, ev, &addr, &size);

	if (rc < 0)
		return rc;
	if (offset > size || count > size - offset)
		return hrr_fail(r, "%llu bytes at offset %llu: the variable has %llu", LLU(count),
				LLU(offset), LLU(size));
	c.dpitch = c.spitch = c.dslice = c.sslice = count;
	c.dst = hrr_arg_of(ev, "dst");
	c.src = hrr_arg_of(ev, "src");
	rc = hrr_variable_copy(r, ev, &c, b->g, &e, addr, size, offset, to);
	if (rc < 0)
		return rc;
	host_node(b, &c, &e);
	switch (ev->api) {
	case HRR_API_hipGraphAddMemcpyNodeFromSymbol:
	case HRR_API_hipGraphAddMemcpyNodeToSymbol:
		*ret_api = HRR_API_hipGraphAddMemcpyNode1D;
		ev->live[4] = e.dst;
		ev->live[5] = e.src;
		ev->live[6] = count;
		ev->live[7] = (uint64_t)e.kind;
		break;
	case HRR_API_hipGraphExecMemcpyNodeSetParamsFromSymbol:
	case HRR_API_hipGraphExecMemcpyNodeSetParamsToSymbol:
		*ret_api = HRR_API_hipGraphExecMemcpyNodeSetParams1D;
		ev->live[2] = e.dst;
		ev->live[3] = e.src;
		ev->live[4] = count;
		ev->live[5] = (uint64_t)e.kind;
		break;
	default:
		*ret_api = HRR_API_hipGraphMemcpyNodeSetParams1D;
		ev->live[1] = e.dst;
		ev->live[2] = e.src;
		ev->live[3] = count;
		ev->live[4] = (uint64_t)e.kind;
		break;
	}
	return hrr_copy_done(r, ev, &c, b->g, &e, 0);
}

static int build(struct hrr_replay *r, struct hrr_event *ev, struct node_build *b,
		 enum hrr_api *ret_api)
{
	int i;

	*ret_api = ev->api;
	if (b->g == NULL)
		return hrr_fail(r, "its graph was not made in this stream");
	if ((i = param_struct(ev, "hipKernelNodeParams")) >= 0)
		return build_kernel(r, ev, i, b);
	if ((i = param_struct(ev, "hipMemcpy3DParms")) >= 0)
		return build_copy3d(r, ev, i, b);
	if ((i = param_struct(ev, "hipMemsetParams")) >= 0)
		return build_set(r, ev, i, b);
	if ((i = param_struct(ev, "hipMemAllocNodeParams")) >= 0)
		return build_alloc(r, ev, i, b);
	if (ev->api == HRR_API_hipGraphAddMemFreeNode)
		return build_free(r, ev, hrr_api_param(ev->api, "dev_ptr", 7), b);
	if (hrr_api_param(ev->api, "symbol", 6) >= 0)
		return build_symbol(r, ev, b, ret_api);
	if (hrr_api_param(ev->api, "count", 5) >= 0)
		return build_copy1d(r, ev, b);
	if (hrr_api_param(ev->api, "childGraph", 10) >= 0)
		return build_child(r, ev, b);
	return 0; /* empty, event record, event wait: handles only */
}

static struct hrr_graph *target(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t graph = hrr_arg_of(ev, "graph"), exec = hrr_arg_of(ev, "hGraphExec");
	uint64_t node = hrr_arg_of(ev, "node") | hrr_arg_of(ev, "hNode");
	struct hrr_held *h;

	if (graph != 0)
		return hrr_graph_of(r, graph);
	if (exec != 0) {
		h = hrr_held_find(&r->held[HRR_H_EXEC], exec);
		return h != NULL ? h->info : NULL;
	}
	h = hrr_held_find(&r->held[HRR_H_NODE], node);
	return h != NULL ? hrr_graph_of(r, h->owner) : NULL;
}

static int remember(struct hrr_replay *r, struct node_build *b, uint64_t live)
{
	if (!b->has_host)
		return 0;
	b->host.node_live = live;
	return hrr_graph_host(r, b->g, &b->host);
}

static int bad_node(struct hrr_event *ev, struct hrr_graph *g, const char *why, int rc)
{
	char text[160];

	snprintf(text, sizeof text, "its node of call %llu (%s) could not be rebuilt: %.80s",
		 LLU(ev->seq), ev->row->name, why);
	hrr_graph_bad(g, text);
	return rc;
}

int hrr_do_graph_node(struct hrr_replay *r, struct hrr_event *ev)
{
	struct node_build b = {.g = target(r, ev)};
	enum hrr_api api;
	uint64_t made = 0;
	int rc = hrr_generic_words(r, ev, false);

	if (rc == 0)
		rc = build(r, ev, &b, &api);
	if (rc == 0) {
		ev->live[0] = HRR_P(&made);
		rc = hrr_settle(r, ev, hrr_call(r, api, ev->live));
	}
	if (rc == 0 && b.alloc != NULL)
		rc = built_alloc(r, &b);
	if (rc < 0)
		return bad_node(ev, b.g, r->diag.what, rc);
	struct hrr_held *h = hrr_held_add(&r->held[HRR_H_NODE], ev->w[0], made);
	if (h == NULL)
		return hrr_fail(r, "its handle was not recorded");
	h->owner = hrr_arg_of(ev, "graph");
	return remember(r, &b, made);
}

int hrr_do_graph_update(struct hrr_replay *r, struct hrr_event *ev)
{
	struct node_build b = {.g = target(r, ev)};
	uint64_t node = hrr_arg_of(ev, "node") | hrr_arg_of(ev, "hNode"), live = 0;
	enum hrr_api api;
	int rc = hrr_generic_words(r, ev, false);

	if (b.g != NULL && b.g->bad[0] != '\0')
		return hrr_refuse(r, "%s", b.g->bad);
	if (rc == 0)
		rc = hrr_handle(r, ev, HRR_H_NODE, node, &live);
	if (rc == 0)
		rc = build(r, ev, &b, &api);
	if (rc == 0)
		rc = hrr_settle(r, ev, hrr_call(r, api, ev->live));
	if (rc < 0)
		return bad_node(ev, b.g, r->diag.what, rc);
	return remember(r, &b, live);
}

/* --- finding nodes ------------------------------------------------------------------ */

static bool is_known(const struct hrr_replay *r, uint64_t live)
{
	const struct hrr_held_map *m = &r->held[HRR_H_NODE];

	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].recorded != 0 && m->slot[i].live == live)
			return true;
	return false;
}

/*
 * Lists of nodes: those the stream made itself are known; the others, in their
 * order, are the unknown ones of the list here. A type told later sorts out mistakes.
 */
int hrr_do_graph_nodes(struct hrr_replay *r, struct hrr_event *ev)
{
	int nodes = -1, count = -1;

	for (int i = 0; i < ev->row->n_params; i++) {
		const struct hrr_param *p = &ev->row->params[i];
		if (p->handle == HRR_H_NODE && p->flow == HRR_FLOW_OUT && p->count >= 0) {
			nodes = i;
			count = p->count;
		}
	}
	int rc = hrr_generic_words(r, ev, true);
	if (rc == 0)
		rc = hrr_issue(r, ev);
	if (rc < 0 || nodes < 0 || ev->live[nodes] == 0 || ev->live[count] == 0 ||
	    ev->node[nodes] < 0 || ev->j->nodes[ev->node[nodes]].type != HRR_JSON_ARRAY)
		return rc;
	const uint64_t *was = (const uint64_t *)(uintptr_t)ev->w[nodes];
	const uint64_t *is = (const uint64_t *)(uintptr_t)ev->live[nodes];
	uint64_t n_was = hrr_json_count(ev->j, ev->node[nodes]);
	uint64_t n_is = *(const uint64_t *)(uintptr_t)ev->live[count];
	if (n_was != n_is)
		return hrr_fail(r, "recorded %llu nodes, replay has %llu", LLU(n_was), LLU(n_is));
	if (n_is > ev->w[count]) /* more than there was room for: they were not all told */
		return hrr_fail(r, "recorded %llu nodes where there was room for %llu", LLU(n_was),
				LLU(ev->w[count]));
	uint64_t at = 0;
	for (uint64_t i = 0; i < n_was; i++) {
		if (hrr_held_find(&r->held[HRR_H_NODE], was[i]) != NULL)
			continue;
		while (at < n_is && is_known(r, is[at]))
			at++;
		if (at == n_is)
			return hrr_fail(r, "node 0x%llx is no node of this graph here",
					LLU(was[i]));
		struct hrr_held *h = hrr_held_add(&r->held[HRR_H_NODE], was[i], is[at++]);
		if (h == NULL)
			return hrr_trouble(r, -ENOMEM, "out of memory");
		h->owner = hrr_arg_of(ev, "graph");
	}
	return 0;
}

static int64_t type_of(struct hrr_replay *r, uint64_t live)
{
	int type = -1;

	return HRR_CALL(r, hipGraphNodeGetType, live, HRR_P(&type)) == hipSuccess ? type : -1;
}

/* The recorded type of a node that was matched by order: swapped with one of the right type. */
int hrr_do_graph_find(struct hrr_replay *r, struct hrr_event *ev)
{
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_NODE], ev->w[0]);
	uint64_t live;
	int rc = hrr_handle(r, ev, HRR_H_NODE, ev->w[0], &live);

	if (rc < 0)
		return rc;
	if (h == NULL)
		return hrr_fail(r, "its node is null");
	int64_t want = (int64_t)(int32_t)ev->w[1], have = type_of(r, live);
	h->extra = (uint32_t)want + 1;
	if (want == have)
		return 0;
	struct hrr_held_map *m = &r->held[HRR_H_NODE];
	for (size_t i = 0; i < m->cap; i++) {
		struct hrr_held *o = &m->slot[i];
		if (o->recorded == 0 || o == h || o->owner != h->owner || o->extra != 0 ||
		    type_of(r, o->live) != want)
			continue;
		uint64_t t = o->live;
		o->live = h->live;
		h->live = t;
		return 0;
	}
	return hrr_fail(r, "node 0x%llx was of type %lld, here it is of type %lld", LLU(ev->w[0]),
			(long long)want, (long long)have);
}

int hrr_do_find_in_clone(struct hrr_replay *r, struct hrr_event *ev)
{
	int rc = hrr_do_generic(r, ev);
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_NODE], ev->w[0]);

	if (rc == 0 && h != NULL)
		h->owner = hrr_arg_of(ev, "clonedGraph");
	return rc;
}

int hrr_do_child_graph(struct hrr_replay *r, struct hrr_event *ev)
{
	int rc = hrr_do_generic(r, ev);
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_GRAPH], hrr_arg_of(ev, "pGraph"));

	if (rc == 0 && h != NULL)
		h->owner = ev->w[0]; /* belongs to its node's graph */
	return rc;
}
