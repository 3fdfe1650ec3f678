#include "lib/emu/runtime/graph_params.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/copy.h"
#include "lib/emu/runtime/va.h"

/* Graphs and their nodes as the program edits them. */

hipError_t emu_hipGraphCreate(hipGraph_t *pGraph, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	if (pGraph == NULL || flags != 0)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct graph *g = graph_new();
	if (g != NULL && handle_add(HANDLE_GRAPH, g) < 0) {
		graph_free(g);
		g = NULL;
	}
	rt_unlock();
	if (g == NULL)
		return emu_ret(hipErrorOutOfMemory);
	*pGraph = (hipGraph_t)(void *)g;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipGraphDestroy(hipGraph_t graph)
{
	EMU_ENTER(EMU_ANY);
	rt_lock();
	struct graph *g = graph_get(graph);
	if (g != NULL)
		graph_free(g);
	rt_unlock();
	return emu_ret(g != NULL ? hipSuccess : hipErrorInvalidValue);
}

hipError_t emu_hipGraphClone(hipGraph_t *pGraphClone, hipGraph_t originalGraph)
{
	EMU_ENTER(EMU_WORK);
	if (pGraphClone == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct graph *g = graph_get(originalGraph), *c = g != NULL ? graph_clone(g, false) : NULL;
	bool ok = c != NULL && handle_add(HANDLE_GRAPH, c) == 0;
	for (struct node *n = ok ? c->first : NULL; n != NULL; n = n->next)
		ok = ok && node_publish(n);
	if (c != NULL && !ok)
		graph_free(c);
	rt_unlock();
	if (g == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!ok)
		return emu_ret(hipErrorOutOfMemory);
	*pGraphClone = (hipGraph_t)(void *)c;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipGraphNodeFindInClone(hipGraphNode_t *pNode, hipGraphNode_t originalNode,
				       hipGraph_t clonedGraph)
{
	hipError_t e = hipErrorInvalidValue;

	EMU_ENTER(EMU_WORK);
	rt_lock();
	const struct graph *g = graph_get(clonedGraph);
	const struct node *o = node_get(originalNode);
	for (struct node *n = pNode != NULL && g != NULL && o != NULL ? g->first : NULL; n != NULL;
	     n = n->next)
		if (n->origin == o->id) {
			*pNode = (hipGraphNode_t)(void *)n;
			e = hipSuccess;
			break;
		}
	rt_unlock();
	return emu_ret(e);
}

/* --- adding nodes -------------------------------------------------------------------- */

/* Makes a node after the given ones; NULL and the error when that cannot be. rt.lock held. */
static struct node *begin_node(hipGraphNode_t *ret, hipGraph_t graph, hipGraphNode_t *deps,
			       size_t n, enum node_type type, hipError_t *ret_e)
{
	struct graph *g = graph_get(graph);

	*ret_e = hipErrorInvalidValue;
	if (ret == NULL || g == NULL || (n > 0 && deps == NULL))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const struct node *d = node_get(deps[i]);
		if (d == NULL || d->graph != g)
			return NULL;
		for (size_t k = 0; k < i; k++)
			if (deps[k] == deps[i])
				return NULL;
	}
	struct node *x = node_new(g, type, (struct node *const *)(void *)deps, n);
	*ret_e = x != NULL ? hipSuccess : hipErrorOutOfMemory;
	return x;
}

static void unlink_node(struct node *n)
{
	struct graph *g = n->graph;

	for (struct node *x = g->first; x != NULL; x = x->next)
		for (unsigned i = 0; i < x->n_deps; i++)
			if (x->deps[i] == n)
				x->deps[i--] = x->deps[--x->n_deps];
	for (struct node **p = &g->first; *p != NULL; p = &(*p)->next)
		if (*p == n) {
			*p = n->next;
			if (g->last == &n->next)
				g->last = p;
			g->n_nodes--;
			break;
		}
}

/* Ends what begin_node began: publishes the node, or takes it out again on an error. */
static hipError_t end_node(hipGraphNode_t *ret, struct node *n, hipError_t e)
{
	if (n != NULL && e == hipSuccess && !node_publish(n))
		e = hipErrorOutOfMemory;
	if (n != NULL && e != hipSuccess) {
		unlink_node(n);
		node_free(n);
	} else if (n != NULL) {
		*ret = (hipGraphNode_t)(void *)n;
	}
	rt_unlock();
	return emu_ret(e);
}

#define ADD_NODE(type, fill)                                                                      \
	hipError_t e;                                                                             \
	EMU_ENTER(EMU_WORK);                                                                      \
	rt_lock();                                                                                \
	struct node *n = begin_node(pGraphNode, graph, pDependencies, numDependencies, type, &e); \
	if (n != NULL)                                                                            \
		e = fill;                                                                         \
	return end_node(pGraphNode, n, e)

hipError_t emu_hipGraphAddKernelNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
				     hipGraphNode_t *pDependencies, size_t numDependencies,
				     struct hipKernelNodeParams *pNodeParams)
{
	ADD_NODE(NODE_KERNEL, params_kernel(n, pNodeParams));
}

hipError_t emu_hipGraphAddMemcpyNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
				     hipGraphNode_t *pDependencies, size_t numDependencies,
				     struct hipMemcpy3DParms *pCopyParams)
{
	ADD_NODE(NODE_COPY, params_copy(n, pCopyParams));
}

hipError_t emu_hipGraphAddMemcpyNode1D(hipGraphNode_t *pGraphNode, hipGraph_t graph,
				       hipGraphNode_t *pDependencies, size_t numDependencies,
				       void *dst, void *src, size_t count, int kind)
{
	ADD_NODE(NODE_COPY_1D, params_copy_1d(n, NODE_COPY_1D, dst, src, count, kind));
}

hipError_t emu_hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t *pGraphNode, hipGraph_t graph,
					     hipGraphNode_t *pDependencies, size_t numDependencies,
					     void *symbol, void *src, size_t count, size_t offset,
					     int kind)
{
	ADD_NODE(NODE_COPY_TO, params_symbol(n, true, symbol, src, count, offset, kind));
}

hipError_t emu_hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t *pGraphNode, hipGraph_t graph,
					       hipGraphNode_t *pDependencies,
					       size_t numDependencies, void *dst, void *symbol,
					       size_t count, size_t offset, int kind)
{
	ADD_NODE(NODE_COPY_FROM, params_symbol(n, false, symbol, dst, count, offset, kind));
}

hipError_t emu_hipGraphAddMemsetNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
				     hipGraphNode_t *pDependencies, size_t numDependencies,
				     struct hipMemsetParams *pMemsetParams)
{
	ADD_NODE(NODE_SET, params_memset(n, pMemsetParams));
}

hipError_t emu_hipGraphAddHostNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
				   hipGraphNode_t *pDependencies, size_t numDependencies,
				   struct hipHostNodeParams *pNodeParams)
{
	ADD_NODE(NODE_HOST, params_host(n, pNodeParams));
}

hipError_t emu_hipGraphAddEmptyNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
				    hipGraphNode_t *pDependencies, size_t numDependencies)
{
	ADD_NODE(NODE_EMPTY, hipSuccess);
}

static hipError_t params_child(struct node *n, hipGraph_t child)
{
	const struct graph *g = graph_get(child);

	if (g == NULL || g == n->graph)
		return hipErrorInvalidValue;
	struct graph *c = graph_clone(g, false);
	if (c == NULL)
		return hipErrorOutOfMemory;
	if (n->child != NULL)
		graph_free(n->child);
	n->child = c;
	return hipSuccess;
}

hipError_t emu_hipGraphAddChildGraphNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
					 hipGraphNode_t *pDependencies, size_t numDependencies,
					 hipGraph_t childGraph)
{
	ADD_NODE(NODE_CHILD, params_child(n, childGraph));
}

static hipError_t params_event(struct node *n, hipEvent_t event)
{
	if (!handle_is(HANDLE_EVENT, event))
		return hipErrorInvalidValue;
	n->event = event;
	return hipSuccess;
}

hipError_t emu_hipGraphAddEventRecordNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
					  hipGraphNode_t *pDependencies, size_t numDependencies,
					  hipEvent_t event)
{
	ADD_NODE(NODE_RECORD, params_event(n, event));
}

hipError_t emu_hipGraphAddEventWaitNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
					hipGraphNode_t *pDependencies, size_t numDependencies,
					hipEvent_t event)
{
	ADD_NODE(NODE_WAIT, params_event(n, event));
}

static hipError_t params_alloc(struct node *n, struct hipMemAllocNodeParams *p)
{
	if (p == NULL || p->bytesize == 0 || p->poolProps.allocType != hipMemAllocationTypePinned ||
	    p->poolProps.location.type != hipMemLocationTypeDevice)
		return hipErrorInvalidValue;
	if (!rt_device_ok(p->poolProps.location.id))
		return hipErrorInvalidValue;
	n->op = (struct op){.kind = OP_ALLOC, .u.memory.size = p->bytesize};
	if (va_alloc(p->bytesize, 0, &n->op.u.memory.addr) < 0)
		return hipErrorOutOfMemory;
	p->dptr = (void *)(uintptr_t)n->op.u.memory.addr;
	n->alloc = *p;
	return hipSuccess;
}

hipError_t emu_hipGraphAddMemAllocNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
				       hipGraphNode_t *pDependencies, size_t numDependencies,
				       struct hipMemAllocNodeParams *pNodeParams)
{
	ADD_NODE(NODE_ALLOC, params_alloc(n, pNodeParams));
}

static hipError_t params_free(struct node *n, const void *ptr)
{
	if (ptr == NULL)
		return hipErrorInvalidValue;
	n->op = (struct op){.kind = OP_RELEASE, .u.memory.addr = (uintptr_t)ptr};
	return hipSuccess;
}

hipError_t emu_hipGraphAddMemFreeNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
				      hipGraphNode_t *pDependencies, size_t numDependencies,
				      void *dev_ptr)
{
	ADD_NODE(NODE_FREE, params_free(n, dev_ptr));
}

hipError_t emu_hipGraphDestroyNode(hipGraphNode_t node)
{
	EMU_ENTER(EMU_WORK);
	rt_lock();
	struct node *n = node_get(node);
	if (n != NULL) {
		unlink_node(n);
		node_free(n);
	}
	rt_unlock();
	return emu_ret(n != NULL ? hipSuccess : hipErrorInvalidValue);
}

/* --- parameters of nodes ------------------------------------------------------------------ */

/* The node if it is of one of two types. */
static struct node *typed(hipGraphNode_t h, enum node_type a, enum node_type b)
{
	struct node *n = node_get(h);

	return n != NULL && (n->type == a || n->type == b) ? n : NULL;
}

static struct node *copy_node(hipGraphNode_t h)
{
	struct node *n = node_get(h);

	return n != NULL && n->type >= NODE_COPY && n->type <= NODE_COPY_TO ? n : NULL;
}

#define NODE_CALL(find, action)              \
	EMU_ENTER(EMU_WORK);                 \
	rt_lock();                           \
	hipError_t e = hipErrorInvalidValue; \
	struct node *n = find;               \
	if (n != NULL)                       \
		e = action;                  \
	rt_unlock();                         \
	return emu_ret(e)
/* What a node holds, for the program. */
#define GIVE(ret, value) ((ret) == NULL ? hipErrorInvalidValue : (*(ret) = (value), hipSuccess))

static hipError_t get_kernel(const struct node *n, struct hipKernelNodeParams *p)
{
	if (p == NULL)
		return hipErrorInvalidValue;
	*p = (struct hipKernelNodeParams){.blockDim = n->block,
					  .func = n->func,
					  .gridDim = n->grid,
					  .kernelParams = n->kernel_params,
					  .sharedMemBytes = n->op.u.kernel.shared};
	return hipSuccess;
}

hipError_t emu_hipGraphKernelNodeGetParams(hipGraphNode_t node,
					   struct hipKernelNodeParams *pNodeParams)
{
	NODE_CALL(typed(node, NODE_KERNEL, NODE_KERNEL), get_kernel(n, pNodeParams));
}

hipError_t emu_hipGraphKernelNodeSetParams(hipGraphNode_t node,
					   struct hipKernelNodeParams *pNodeParams)
{
	NODE_CALL(typed(node, NODE_KERNEL, NODE_KERNEL), params_kernel(n, pNodeParams));
}

hipError_t emu_hipGraphMemcpyNodeGetParams(hipGraphNode_t node,
					   struct hipMemcpy3DParms *pNodeParams)
{
	NODE_CALL(copy_node(node), GIVE(pNodeParams, n->copy));
}

hipError_t emu_hipGraphMemcpyNodeSetParams(hipGraphNode_t node,
					   struct hipMemcpy3DParms *pNodeParams)
{
	NODE_CALL(copy_node(node), params_copy(n, pNodeParams));
}

hipError_t emu_hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *dst, void *src,
					     size_t count, int kind)
{
	NODE_CALL(copy_node(node), params_copy_1d(n, NODE_COPY_1D, dst, src, count, kind));
}

hipError_t emu_hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, void *symbol, void *src,
						   size_t count, size_t offset, int kind)
{
	NODE_CALL(copy_node(node), params_symbol(n, true, symbol, src, count, offset, kind));
}

hipError_t emu_hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void *dst, void *symbol,
						     size_t count, size_t offset, int kind)
{
	NODE_CALL(copy_node(node), params_symbol(n, false, symbol, dst, count, offset, kind));
}

hipError_t emu_hipGraphMemAllocNodeGetParams(hipGraphNode_t node,
					     struct hipMemAllocNodeParams *pNodeParams)
{
	NODE_CALL(typed(node, NODE_ALLOC, NODE_ALLOC), GIVE(pNodeParams, n->alloc));
}

hipError_t emu_hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void **dev_ptr)
{
	NODE_CALL(typed(node, NODE_FREE, NODE_FREE),
		  GIVE(dev_ptr, (void *)(uintptr_t)n->op.u.memory.addr));
}

hipError_t emu_hipGraphMemsetNodeGetParams(hipGraphNode_t node, struct hipMemsetParams *pNodeParams)
{
	NODE_CALL(typed(node, NODE_SET, NODE_SET), GIVE(pNodeParams, n->set));
}

hipError_t emu_hipGraphMemsetNodeSetParams(hipGraphNode_t node, struct hipMemsetParams *pNodeParams)
{
	NODE_CALL(typed(node, NODE_SET, NODE_SET), params_memset(n, pNodeParams));
}

hipError_t emu_hipGraphHostNodeGetParams(hipGraphNode_t node, struct hipHostNodeParams *pNodeParams)
{
	NODE_CALL(typed(node, NODE_HOST, NODE_HOST), GIVE(pNodeParams, n->host));
}

hipError_t emu_hipGraphHostNodeSetParams(hipGraphNode_t node, struct hipHostNodeParams *pNodeParams)
{
	NODE_CALL(typed(node, NODE_HOST, NODE_HOST), params_host(n, pNodeParams));
}

hipError_t emu_hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t *event_out)
{
	NODE_CALL(typed(node, NODE_RECORD, NODE_RECORD), GIVE(event_out, n->event));
}

hipError_t emu_hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event)
{
	NODE_CALL(typed(node, NODE_RECORD, NODE_RECORD), params_event(n, event));
}

hipError_t emu_hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t *event_out)
{
	NODE_CALL(typed(node, NODE_WAIT, NODE_WAIT), GIVE(event_out, n->event));
}

hipError_t emu_hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event)
{
	NODE_CALL(typed(node, NODE_WAIT, NODE_WAIT), params_event(n, event));
}

static hipError_t get_child(struct node *n, hipGraph_t *ret)
{
	if (ret == NULL)
		return hipErrorInvalidValue;
	/* The program may look into it. */
	if (!handle_is(HANDLE_GRAPH, n->child) && handle_add(HANDLE_GRAPH, n->child) < 0)
		return hipErrorOutOfMemory;
	for (struct node *x = n->child->first; x != NULL; x = x->next)
		if (!handle_is(HANDLE_NODE, x) && !node_publish(x))
			return hipErrorOutOfMemory;
	*ret = (hipGraph_t)(void *)n->child;
	return hipSuccess;
}

hipError_t emu_hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *pGraph)
{
	NODE_CALL(typed(node, NODE_CHILD, NODE_CHILD), get_child(n, pGraph));
}
