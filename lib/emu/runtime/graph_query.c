#include "lib/emu/runtime/graph.h"

#include <errno.h>

/* Shape of graphs: types, lists, edges. */

/* The number a major has for a node type. */
static int type_number(enum node_type t)
{
	/* ROCm 5 counts from 1 and tells copies by how they were made. */
	static const int five[] = {
	    [NODE_KERNEL] = 1,	 [NODE_COPY] = 2, [NODE_COPY_1D] = 9, [NODE_COPY_FROM] = 10,
	    [NODE_COPY_TO] = 11, [NODE_SET] = 3,  [NODE_HOST] = 4,    [NODE_CHILD] = 5,
	    [NODE_EMPTY] = 6,	 [NODE_WAIT] = 7, [NODE_RECORD] = 8,  [NODE_ALLOC] = 10,
	    [NODE_FREE] = 11};
	static const int six[] = {
	    [NODE_KERNEL] = 0,	[NODE_COPY] = 1, [NODE_COPY_1D] = 1, [NODE_COPY_FROM] = 1,
	    [NODE_COPY_TO] = 1, [NODE_SET] = 2,	 [NODE_HOST] = 3,    [NODE_CHILD] = 4,
	    [NODE_EMPTY] = 5,	[NODE_WAIT] = 6, [NODE_RECORD] = 7,  [NODE_ALLOC] = 10,
	    [NODE_FREE] = 11};

	return rt.major >= 6 ? six[t] : five[t];
}

hipError_t emu_hipGraphNodeGetType(hipGraphNode_t node, int *pType)
{
	EMU_ENTER(EMU_WORK);
	rt_lock();
	const struct node *n = node_get(node);
	if (n != NULL && pType != NULL)
		*pType = type_number(n->type);
	rt_unlock();
	return emu_ret(n != NULL && pType != NULL ? hipSuccess : hipErrorInvalidValue);
}

/*
 * The common shape of list calls: with no array the count comes back; with one, as many as
 * fit, the rest of the array is cleared and the count is what was written.
 */
struct out {
	hipGraphNode_t *list;
	size_t room, n;
};

static void put(struct out *o, const struct node *n)
{
	if (o->list != NULL && o->n < o->room)
		o->list[o->n] = (hipGraphNode_t)(void *)(uintptr_t)n;
	o->n++;
}

static void done(struct out *o, size_t *count)
{
	for (size_t i = o->n; o->list != NULL && i < o->room; i++)
		o->list[i] = NULL;
	*count = o->list != NULL && o->n > o->room ? o->room : o->n;
}

static hipError_t list_nodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count, bool roots)
{
	if (count == NULL)
		return hipErrorInvalidValue;
	rt_lock();
	const struct graph *g = graph_get(graph);
	if (g != NULL) {
		struct out o = {nodes, *count, 0};
		for (const struct node *n = g->first; n != NULL; n = n->next)
			if (!roots || n->n_deps == 0)
				put(&o, n);
		done(&o, count);
	}
	rt_unlock();
	return g != NULL ? hipSuccess : hipErrorInvalidValue;
}

hipError_t emu_hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *numNodes)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(list_nodes(graph, nodes, numNodes, false));
}

hipError_t emu_hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *pRootNodes,
				    size_t *pNumRootNodes)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(list_nodes(graph, pRootNodes, pNumRootNodes, true));
}

hipError_t emu_hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to,
				size_t *numEdges)
{
	EMU_ENTER(EMU_WORK);
	if (numEdges == NULL || (from == NULL) != (to == NULL))
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	const struct graph *g = graph_get(graph);
	if (g != NULL) {
		struct out a = {from, *numEdges, 0}, b = {to, *numEdges, 0};
		for (const struct node *n = g->first; n != NULL; n = n->next)
			for (unsigned i = 0; i < n->n_deps; i++) {
				put(&a, n->deps[i]);
				put(&b, n);
			}
		done(&a, numEdges);
		done(&b, numEdges);
	}
	rt_unlock();
	return emu_ret(g != NULL ? hipSuccess : hipErrorInvalidValue);
}

hipError_t emu_hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *pDependencies,
					   size_t *pNumDependencies)
{
	EMU_ENTER(EMU_WORK);
	if (pNumDependencies == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	const struct node *n = node_get(node);
	if (n != NULL) {
		struct out o = {pDependencies, *pNumDependencies, 0};
		for (unsigned i = 0; i < n->n_deps; i++)
			put(&o, n->deps[i]);
		done(&o, pNumDependencies);
	}
	rt_unlock();
	return emu_ret(n != NULL ? hipSuccess : hipErrorInvalidValue);
}

hipError_t emu_hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t *pDependentNodes,
					     size_t *pNumDependentNodes)
{
	EMU_ENTER(EMU_WORK);
	if (pNumDependentNodes == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	const struct node *n = node_get(node);
	if (n != NULL) {
		struct out o = {pDependentNodes, *pNumDependentNodes, 0};
		for (const struct node *x = n->graph->first; x != NULL; x = x->next)
			for (unsigned i = 0; i < x->n_deps; i++)
				if (x->deps[i] == n)
					put(&o, x);
		done(&o, pNumDependentNodes);
	}
	rt_unlock();
	return emu_ret(n != NULL ? hipSuccess : hipErrorInvalidValue);
}

/* --- edges -------------------------------------------------------------------------- */

static bool depends(const struct node *n, const struct node *on)
{
	for (unsigned i = 0; i < n->n_deps; i++)
		if (n->deps[i] == on)
			return true;
	return false;
}

static hipError_t edges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t count,
			bool add)
{
	const struct graph *g = graph_get(graph);

	if (g == NULL || (count > 0 && (from == NULL || to == NULL)))
		return hipErrorInvalidValue;
	/* All or nothing: checked before any is changed. */
	for (size_t i = 0; i < count; i++) {
		const struct node *a = node_get(from[i]), *b = node_get(to[i]);
		if (a == NULL || b == NULL || a == b || a->graph != g || b->graph != g ||
		    depends(b, a) == add)
			return hipErrorInvalidValue;
	}
	for (size_t i = 0; i < count; i++) {
		struct node *a = node_get(from[i]), *b = node_get(to[i]);
		if (add) {
			if (node_add_dep(b, a) == -ENOMEM)
				return hipErrorOutOfMemory;
			continue;
		}
		for (unsigned k = 0; k < b->n_deps; k++)
			if (b->deps[k] == a)
				b->deps[k--] = b->deps[--b->n_deps];
	}
	return hipSuccess;
}

hipError_t emu_hipGraphAddDependencies(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to,
				       size_t numDependencies)
{
	EMU_ENTER(EMU_WORK);
	rt_lock();
	hipError_t e = edges(graph, from, to, numDependencies, true);
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipGraphRemoveDependencies(hipGraph_t graph, hipGraphNode_t *from,
					  hipGraphNode_t *to, size_t numDependencies)
{
	EMU_ENTER(EMU_WORK);
	rt_lock();
	hipError_t e = edges(graph, from, to, numDependencies, false);
	rt_unlock();
	return emu_ret(e);
}
