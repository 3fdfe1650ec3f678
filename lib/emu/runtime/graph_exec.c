#include "lib/emu/runtime/graph_params.h"

#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/capture.h"
#include "lib/emu/runtime/copy.h"

/* Executables: instantiation, launch, update. */

static struct exec *exec_get(hipGraphExec_t h)
{
	return handle_is(HANDLE_EXEC, h) ? (struct exec *)(void *)h : NULL;
}

static hipError_t instantiate(hipGraphExec_t *ret, hipGraph_t graph)
{
	const struct graph *g = graph_get(graph);

	if (ret == NULL || g == NULL)
		return hipErrorInvalidValue;
	struct exec *x = calloc(1, sizeof *x);
	struct graph *copy = x != NULL ? graph_clone(g, true) : NULL;
	if (copy == NULL) {
		free(x);
		return hipErrorOutOfMemory;
	}
	x->source = g->id;
	x->plan = plan_new(copy);
	if (x->plan == NULL) {
		free(x);
		return hipErrorInvalidValue; /* a cycle */
	}
	if (handle_add(HANDLE_EXEC, x) < 0) {
		plan_unref(x->plan);
		free(x);
		return hipErrorOutOfMemory;
	}
	*ret = (hipGraphExec_t)(void *)x;
	return hipSuccess;
}

hipError_t emu_hipGraphInstantiate(hipGraphExec_t *pGraphExec, hipGraph_t graph,
				   hipGraphNode_t *pErrorNode, char *pLogBuffer, size_t bufferSize)
{
	EMU_ENTER(EMU_WORK);
	if (pErrorNode != NULL)
		*pErrorNode = NULL;
	if (pLogBuffer != NULL && bufferSize > 0)
		*pLogBuffer = '\0';
	rt_lock();
	hipError_t e = instantiate(pGraphExec, graph);
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipGraphInstantiateWithFlags(hipGraphExec_t *pGraphExec, hipGraph_t graph,
					    uint64_t flags)
{
	EMU_ENTER(EMU_WORK);
	/* auto free on launch 1, upload 2, device launch 4, node priorities 8 */
	if (flags > 15)
		return emu_ret(hipErrorInvalidValue);
	if ((flags & 4) != 0)
		return emu_not_supported("hipGraphInstantiateFlagDeviceLaunch");
	rt_lock();
	hipError_t e = instantiate(pGraphExec, graph);
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipGraphInstantiateWithParams(hipGraphExec_t *pGraphExec, hipGraph_t graph,
					     struct hipGraphInstantiateParams *instantiateParams)
{
	if (instantiateParams == NULL)
		return emu_ret(hipErrorInvalidValue);
	hipError_t e =
	    emu_hipGraphInstantiateWithFlags(pGraphExec, graph, instantiateParams->flags);
	instantiateParams->errNode_out = NULL;
	instantiateParams->result_out =
	    e == hipSuccess ? hipGraphInstantiateSuccess : hipGraphInstantiateError;
	return e;
}

hipError_t emu_hipGraphExecDestroy(hipGraphExec_t graphExec)
{
	EMU_ENTER(EMU_ANY);
	rt_lock();
	struct exec *x = exec_get(graphExec);
	if (x != NULL) {
		handle_del(x);
		plan_unref(x->plan); /* launches under way hold it too */
		free(x);
	}
	rt_unlock();
	return emu_ret(x != NULL ? hipSuccess : hipErrorInvalidValue);
}

/* --- launch --------------------------------------------------------------------------- */

struct works {
	struct work **w; /* owned array of references */
	unsigned n;
};

static hipError_t collect_waits(const struct graph *g, struct works *out)
{
	for (const struct node *n = g->first; n != NULL; n = n->next) {
		if (n->type == NODE_CHILD) {
			hipError_t e = collect_waits(n->child, out);
			if (e != hipSuccess)
				return e;
		}
		if (n->type != NODE_WAIT || !handle_is(HANDLE_EVENT, n->event))
			continue;
		const struct event *ev = (const struct event *)(const void *)n->event;
		if (ev->last == NULL)
			continue;
		struct work **p = realloc(out->w, (out->n + 1) * sizeof *p);
		if (p == NULL)
			return hipErrorOutOfMemory;
		out->w = p;
		out->w[out->n++] = work_ref(ev->last);
	}
	return hipSuccess;
}

static void set_records(const struct graph *g, struct work *w)
{
	for (const struct node *n = g->first; n != NULL; n = n->next) {
		if (n->type == NODE_CHILD)
			set_records(n->child, w);
		if (n->type != NODE_RECORD || !handle_is(HANDLE_EVENT, n->event))
			continue;
		struct event *ev = (struct event *)(void *)n->event;
		capture_event_reset(ev);
		work_unref(ev->last);
		ev->last = work_ref(w);
		ev->in_graph = true;
	}
}

static hipError_t launch_captured(struct exec *x, struct stream *s)
{
	/* A launch inside a capture is a child graph there. */
	if (s->capture->invalid)
		return hipErrorStreamCaptureInvalidated;
	struct node *n = node_new(s->capture->graph, NODE_CHILD, s->cap_deps, s->n_cap_deps);
	if (n == NULL || (n->child = graph_clone(x->plan->graph, false)) == NULL)
		return hipErrorOutOfMemory;
	return capture_node(s, n);
}

hipError_t emu_hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream)
{
	struct stream *s;
	struct works waits = {NULL, 0};
	struct work *w = NULL;

	EMU_ENTER(EMU_WORK);
	rt_lock();
	struct exec *x = exec_get(graphExec);
	hipError_t e = x != NULL ? stream_get(stream, false, &s) : hipErrorInvalidValue;
	if (e == hipSuccess && s->capture != NULL) {
		e = launch_captured(x, s);
	} else if (e == hipSuccess) {
		if (s->null)
			e = capture_wait_check(s);
		if (e == hipSuccess)
			e = collect_waits(x->plan->graph, &waits);
		if (e == hipSuccess) {
			struct plan *p = plan_ref(x->plan);
			struct op op = {.kind = OP_GRAPH, .u.graph.plan = plan_ref(p)};
			e = sched_submit(s, &op, waits.w, waits.n, &w);
			if (e == hipSuccess)
				set_records(p->graph, w);
			plan_unref(p);
		}
	}
	for (unsigned i = 0; i < waits.n; i++)
		work_unref(waits.w[i]);
	free(waits.w);
	work_unref(w);
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipGraphUpload(hipGraphExec_t graphExec, hipStream_t stream)
{
	struct stream *s;

	EMU_ENTER(EMU_WORK);
	rt_lock();
	hipError_t e =
	    exec_get(graphExec) != NULL ? stream_get(stream, false, &s) : hipErrorInvalidValue;
	rt_unlock();
	return emu_ret(e);
}

/* --- update ----------------------------------------------------------------------------- */

/* The executable's node for a node of its graph, in a plan that may be changed. */
static struct node *exec_node(struct exec *x, hipGraphNode_t node)
{
	const struct node *n = node_get(node);

	if (n == NULL)
		return NULL;
	if (x->plan->refs > 1) {
		struct graph *copy = graph_clone(x->plan->graph, true);
		struct plan *p = copy != NULL ? plan_new(copy) : NULL;
		if (p == NULL)
			return NULL;
		plan_unref(x->plan);
		x->plan = p;
	}
	for (struct node *m = x->plan->graph->first; m != NULL; m = m->next)
		if (m->id == n->id)
			return m;
	return NULL;
}

#define EXEC_CALL(xh, nh, ok, action)                         \
	EMU_ENTER(EMU_WORK);                                  \
	rt_lock();                                            \
	hipError_t e = hipErrorInvalidValue;                  \
	struct exec *x = exec_get(xh);                        \
	struct node *n = x != NULL ? exec_node(x, nh) : NULL; \
	if (n != NULL && (ok))                                \
		e = action;                                   \
	rt_unlock();                                          \
	return emu_ret(e)

#define IS_COPY (n->type >= NODE_COPY && n->type <= NODE_COPY_TO)

hipError_t emu_hipGraphExecKernelNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
					       struct hipKernelNodeParams *pNodeParams)
{
	EXEC_CALL(hGraphExec, node, n->type == NODE_KERNEL, params_kernel(n, pNodeParams));
}

hipError_t emu_hipGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
					       struct hipMemcpy3DParms *pNodeParams)
{
	EXEC_CALL(hGraphExec, node, IS_COPY, params_copy(n, pNodeParams));
}

hipError_t emu_hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t hGraphExec, hipGraphNode_t node,
						 void *dst, void *src, size_t count, int kind)
{
	EXEC_CALL(hGraphExec, node, IS_COPY,
		  params_copy_1d(n, NODE_COPY_1D, dst, src, count, kind));
}

hipError_t emu_hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t hGraphExec,
						       hipGraphNode_t node, void *symbol, void *src,
						       size_t count, size_t offset, int kind)
{
	EXEC_CALL(hGraphExec, node, IS_COPY,
		  params_symbol(n, true, symbol, src, count, offset, kind));
}

hipError_t emu_hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t hGraphExec,
							 hipGraphNode_t node, void *dst,
							 void *symbol, size_t count, size_t offset,
							 int kind)
{
	EXEC_CALL(hGraphExec, node, IS_COPY,
		  params_symbol(n, false, symbol, dst, count, offset, kind));
}

hipError_t emu_hipGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
					       struct hipMemsetParams *pNodeParams)
{
	EXEC_CALL(hGraphExec, node, n->type == NODE_SET, params_memset(n, pNodeParams));
}

hipError_t emu_hipGraphExecHostNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
					     struct hipHostNodeParams *pNodeParams)
{
	EXEC_CALL(hGraphExec, node, n->type == NODE_HOST, params_host(n, pNodeParams));
}

static hipError_t set_event(struct node *n, hipEvent_t event)
{
	if (!handle_is(HANDLE_EVENT, event))
		return hipErrorInvalidValue;
	n->event = event;
	return hipSuccess;
}

hipError_t emu_hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
						   hipEvent_t event)
{
	EXEC_CALL(hGraphExec, hNode, n->type == NODE_RECORD, set_event(n, event));
}

hipError_t emu_hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
						 hipEvent_t event)
{
	EXEC_CALL(hGraphExec, hNode, n->type == NODE_WAIT, set_event(n, event));
}

static hipError_t set_enabled(struct node *n, unsigned on)
{
	n->disabled = on == 0;
	return hipSuccess;
}

static hipError_t get_enabled(const struct node *n, unsigned *ret)
{
	*ret = !n->disabled;
	return hipSuccess;
}

hipError_t emu_hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
				      unsigned int isEnabled)
{
	EXEC_CALL(hGraphExec, hNode, n->type == NODE_KERNEL || n->type == NODE_SET || IS_COPY,
		  set_enabled(n, isEnabled));
}

hipError_t emu_hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
				      unsigned int *isEnabled)
{
	EXEC_CALL(hGraphExec, hNode,
		  isEnabled != NULL && (n->type == NODE_KERNEL || n->type == NODE_SET || IS_COPY),
		  get_enabled(n, isEnabled));
}

/* Whether two graphs have the same nodes and edges in the same order; ret_n: where not. */
static int compare(const struct graph *a, const struct graph *b, const struct node **ret_n)
{
	enum { SAME = 0, TOPOLOGY = 2, TYPE = 3, FUNCTION = 4 };
	const struct node *x = a->first, *y = b->first;

	*ret_n = NULL;
	if (a->n_nodes != b->n_nodes)
		return TOPOLOGY;
	for (unsigned i = 0; x != NULL; x = x->next, y = y->next, i++) {
		((struct node *)(uintptr_t)x)->mark = i;
		((struct node *)(uintptr_t)y)->mark = i;
	}
	for (x = a->first, y = b->first; x != NULL; x = x->next, y = y->next) {
		bool copies = x->type >= NODE_COPY && x->type <= NODE_COPY_TO &&
			      y->type >= NODE_COPY && y->type <= NODE_COPY_TO;
		*ret_n = y;
		if (x->type != y->type && !copies)
			return TYPE;
		if (x->n_deps != y->n_deps)
			return TOPOLOGY;
		for (unsigned i = 0; i < x->n_deps; i++)
			if (x->deps[i]->mark != y->deps[i]->mark)
				return TOPOLOGY;
		if (x->type == NODE_CHILD) {
			const struct node *inner;
			int r = compare(x->child, y->child, &inner);
			if (r != SAME)
				return r;
		}
	}
	*ret_n = NULL;
	return SAME;
}

static hipError_t exec_update(struct exec *x, const struct graph *g, hipGraphNode_t *bad,
			      int *result)
{
	const struct node *n;
	int r = compare(x->plan->graph, g, &n);

	*result = r;
	*bad = (hipGraphNode_t)(void *)(uintptr_t)n;
	if (r != 0)
		return hipErrorGraphExecUpdateFailure;
	struct graph *copy = graph_clone(x->plan->graph, true);
	if (copy == NULL)
		return hipErrorOutOfMemory;
	struct node *to = copy->first;
	for (n = g->first; n != NULL; n = n->next, to = to->next)
		if (node_assign(to, n) < 0) {
			graph_free(copy);
			return hipErrorOutOfMemory;
		}
	struct plan *p = plan_new(copy);
	if (p == NULL)
		return hipErrorOutOfMemory;
	plan_unref(x->plan);
	x->plan = p;
	return hipSuccess;
}

hipError_t emu_hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph,
				  hipGraphNode_t *hErrorNode_out, int *updateResult_out)
{
	EMU_ENTER(EMU_WORK);
	if (hErrorNode_out == NULL || updateResult_out == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct exec *x = exec_get(hGraphExec);
	const struct graph *g = graph_get(hGraph);
	hipError_t e = x != NULL && g != NULL ? exec_update(x, g, hErrorNode_out, updateResult_out)
					      : hipErrorInvalidValue;
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipGraphExecChildGraphNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
						   hipGraph_t childGraph)
{
	EMU_ENTER(EMU_WORK);
	rt_lock();
	hipError_t e = hipErrorInvalidValue;
	struct exec *x = exec_get(hGraphExec);
	struct node *n = x != NULL ? exec_node(x, node) : NULL;
	const struct graph *g = graph_get(childGraph);
	const struct node *where;
	if (n != NULL && n->type == NODE_CHILD && g != NULL && compare(n->child, g, &where) == 0) {
		struct graph *c = graph_clone(g, true);
		e = hipErrorOutOfMemory;
		if (c != NULL) {
			graph_free(n->child);
			n->child = c;
			e = hipSuccess;
		}
	}
	rt_unlock();
	return emu_ret(e);
}
