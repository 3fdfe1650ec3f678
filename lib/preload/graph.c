#include "lib/preload/graph_priv.h"

#include <stdlib.h>

static void host_of(void *self, struct hrr_host_range *h)
{
	struct hrr_graph_item *x = self;

	if (x->n_hosts < HRR_GRAPH_HOSTS)
		x->hosts[x->n_hosts++] = h->base;
}

void hrr_graph_kernel(struct hrr_call *c, const struct hrr_launch_args *l, struct hrr_graph_item *x)
{
	struct hrr_kernel_info *k = hrr_kernel_of(c->t, l->stub);

	if (k != NULL && hrr_host_wanted())
		hrr_launch_hosts(k, l, host_of, x);
}

static uint64_t out(const struct hrr_call *c, int k)
{
	return c->a[k] != 0 ? *(const uint64_t *)(uintptr_t)c->a[k] : 0;
}

bool hrr_graph_is_kernel(enum hrr_api api)
{
	return api == HRR_API_hipGraphAddKernelNode || api == HRR_API_hipGraphKernelNodeSetParams ||
	       api == HRR_API_hipGraphExecKernelNodeSetParams;
}

/* Parameters of a node set or changed: in a graph (new or old node) or an executable. */
static void node_set(struct hrr_call *c, enum hrr_graph_which which, uint64_t owner, uint64_t node,
		     bool fresh)
{
	struct hrr_graph_item x = {.node = node, .seq = hrr_seq(c)};
	struct hrr_launch_args l;

	if (c->api == HRR_API_hipGraphAddHostNode) {
		x.function = true;
	} else if (hrr_graph_is_kernel(c->api)) {
		if (!hrr_launch_describe(c->api, c->a, &l))
			return;
		hrr_graph_kernel(c, &l, &x);
	} else {
		if (!hrr_copy_describe(c->api, c->a, &x.op) || x.op.unknown)
			return;
		x.copy = true;
		x.dir = hrr_copy_dir(&x.op);
	}
	pthread_mutex_lock(&hrr_graph_lock);
	if (fresh && hrr_graph_find(which, owner) == NULL)
		hrr_graph_make(which, owner); /* the graph of an open capture */
	for (struct hrr_graph_entry *e = hrr_graph_entries; e != NULL; e = e->next) {
		if (e->which != which || (owner != 0 && e->handle != owner))
			continue;
		struct hrr_graph_item *to = NULL;
		for (size_t i = 0; !fresh && i < e->items.n; i++)
			if (e->items.v[i].node == node)
				to = &e->items.v[i];
		if (to == NULL && (owner != 0 || fresh))
			to = hrr_graph_add(&e->items);
		if (to != NULL)
			*to = x;
	}
	pthread_mutex_unlock(&hrr_graph_lock);
}

static void copy_items(enum hrr_graph_which to, uint64_t new, enum hrr_graph_which from,
		       uint64_t old, bool keep)
{
	struct hrr_graph_entry *src = hrr_graph_find(from, old);
	struct hrr_graph_items x = {0};

	if (src != NULL)
		hrr_graph_append(&x, &src->items);
	struct hrr_graph_entry *dst = keep ? hrr_graph_find(to, new) : hrr_graph_make(to, new);
	if (dst == NULL && keep)
		dst = hrr_graph_make(to, new);
	if (dst != NULL)
		hrr_graph_append(&dst->items, &x);
	free(x.v);
}

/* A child graph is a copy that its node has; all that goes with the graph they are in. */
static void child_added(const struct hrr_call *c)
{
	uint64_t node = out(c, 0);

	copy_items(HRR_IS_GRAPH, c->a[1], HRR_IS_GRAPH, c->a[4], true);
	copy_items(HRR_IS_CHILD, node, HRR_IS_GRAPH, c->a[4], false);
	struct hrr_graph_entry *e = hrr_graph_find(HRR_IS_CHILD, node);
	if (e != NULL)
		e->parent = c->a[1];
}

static void child_asked(const struct hrr_call *c)
{
	struct hrr_graph_entry *child = hrr_graph_find(HRR_IS_CHILD, c->a[0]);
	struct hrr_graph_entry *e = hrr_graph_find(HRR_IS_GRAPH, out(c, 1));

	if (child == NULL || (e != NULL && e->parent == child->parent))
		return; /* asked before: it may have been changed since */
	copy_items(HRR_IS_GRAPH, out(c, 1), HRR_IS_CHILD, c->a[0], false);
	e = hrr_graph_find(HRR_IS_GRAPH, out(c, 1));
	if (e != NULL)
		e->parent = child->parent;
}

static void structure(struct hrr_call *c)
{
	struct hrr_graph_entry *e;
	uint64_t stream =
	    hrr_graph_member(hrr_stream_of(c->api, c->a[0])); /* where the first parameter is one */

	switch (c->api) {
	case HRR_API_hipStreamBeginCapture:
	case HRR_API_hipStreamBeginCapture_spt:
	case HRR_API_hipStreamBeginCaptureToGraph:
		e = hrr_graph_make(HRR_IS_CAPTURE, stream);
		if (e != NULL) {
			hrr_graph_join(e, stream);
			atomic_fetch_add(&hrr_n_captures, 1);
		}
		break;
	case HRR_API_hipStreamEndCapture:
	case HRR_API_hipStreamEndCapture_spt:
		e = hrr_graph_find(HRR_IS_CAPTURE, stream);
		if (e == NULL)
			break;
		if (hrr_ok(c) && out(c, 1) != 0)
			copy_items(HRR_IS_GRAPH, out(c, 1), HRR_IS_CAPTURE, stream, true);
		hrr_graph_drop(e);
		atomic_fetch_sub(&hrr_n_captures, 1);
		break;
	case HRR_API_hipGraphCreate:
		hrr_graph_make(HRR_IS_GRAPH, out(c, 0));
		break;
	case HRR_API_hipGraphClone:
		copy_items(HRR_IS_GRAPH, out(c, 0), HRR_IS_GRAPH, c->a[1], false);
		break;
	case HRR_API_hipGraphAddChildGraphNode:
		child_added(c);
		break;
	case HRR_API_hipGraphChildGraphNodeGetGraph:
		child_asked(c);
		break;
	case HRR_API_hipGraphInstantiate:
	case HRR_API_hipGraphInstantiateWithFlags:
	case HRR_API_hipGraphInstantiateWithParams:
		copy_items(HRR_IS_EXEC, out(c, 0), HRR_IS_GRAPH, c->a[1], false);
		break;
	case HRR_API_hipGraphExecUpdate:
		copy_items(HRR_IS_EXEC, c->a[0], HRR_IS_GRAPH, c->a[1], false);
		break;
	case HRR_API_hipGraphDestroy:
		hrr_graph_drop(hrr_graph_find(HRR_IS_GRAPH, c->a[0]));
		hrr_graph_drop_children(c->a[0]);
		break;
	case HRR_API_hipGraphExecDestroy:
		hrr_graph_drop(hrr_graph_find(HRR_IS_EXEC, c->a[0]));
		break;
	case HRR_API_hipGraphDestroyNode:
		for (e = hrr_graph_entries; e != NULL; e = e->next)
			for (size_t i = 0; e->which == HRR_IS_GRAPH && i < e->items.n; i++)
				if (e->items.v[i].node == c->a[0])
					e->items.v[i--] = e->items.v[--e->items.n];
		break;
	case HRR_API_hipGraphNodeFindInClone: { /* the clone's node has a handle of its own */
		e = hrr_graph_find(HRR_IS_GRAPH, c->a[2]);
		for (size_t i = 0; e != NULL && i < e->items.n; i++)
			if (e->items.v[i].node == c->a[1])
				e->items.v[i].node = out(c, 0);
		break;
	}
	default:
		break;
	}
}

void hrr_graph_att(struct hrr_call *c)
{
	struct hrr_copy_op op;
	struct hrr_launch_args l;

	if (hrr_graph_is_kernel(c->api) && hrr_launch_describe(c->api, c->a, &l))
		hrr_kernel_att(c, &l, 0);
	else if (!hrr_graph_launches(c->api) && hrr_copy_describe(c->api, c->a, &op) &&
		 !op.unknown) {
		hrr_symbol_att(c, hrr_api_param(c->api, "symbol", 6));
		c->dir = (uint8_t)hrr_copy_dir(&op);
	}
	if (!hrr_ok(c) && c->api != HRR_API_hipStreamEndCapture &&
	    c->api != HRR_API_hipStreamEndCapture_spt)
		return;
	switch (c->api) {
	case HRR_API_hipGraphAddMemAllocNode: { /* its address is good for other nodes from here on
						 */
		const struct hipMemAllocNodeParams *p = (const void *)(uintptr_t)c->a[4];
		hrr_variable_known(c, (uintptr_t)p->dptr, p->bytesize);
		return;
	}
	case HRR_API_hipGraphLaunch:
	case HRR_API_hipGraphLaunch_spt:
		hrr_graph_launched(c);
		return;
	case HRR_API_hipGraphAddMemcpyNode:
	case HRR_API_hipGraphAddMemcpyNode1D:
	case HRR_API_hipGraphAddMemcpyNodeFromSymbol:
	case HRR_API_hipGraphAddMemcpyNodeToSymbol:
	case HRR_API_hipGraphAddKernelNode:
	case HRR_API_hipGraphAddHostNode:
		node_set(c, HRR_IS_GRAPH, c->a[1], out(c, 0), true);
		return;
	case HRR_API_hipGraphMemcpyNodeSetParams:
	case HRR_API_hipGraphMemcpyNodeSetParams1D:
	case HRR_API_hipGraphMemcpyNodeSetParamsFromSymbol:
	case HRR_API_hipGraphMemcpyNodeSetParamsToSymbol:
	case HRR_API_hipGraphKernelNodeSetParams:
		node_set(c, HRR_IS_GRAPH, 0, c->a[0], false);
		return;
	case HRR_API_hipGraphExecMemcpyNodeSetParams:
	case HRR_API_hipGraphExecMemcpyNodeSetParams1D:
	case HRR_API_hipGraphExecMemcpyNodeSetParamsFromSymbol:
	case HRR_API_hipGraphExecMemcpyNodeSetParamsToSymbol:
	case HRR_API_hipGraphExecKernelNodeSetParams:
		node_set(c, HRR_IS_EXEC, c->a[0], c->a[1], false);
		return;
	default:
		break;
	}
	pthread_mutex_lock(&hrr_graph_lock);
	structure(c);
	pthread_mutex_unlock(&hrr_graph_lock);
}
