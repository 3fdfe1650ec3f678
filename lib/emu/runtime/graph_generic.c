#include "lib/emu/runtime/rt.h"

#include <string.h>

#include "lib/hip/node_call.h"

/* Nodes by a structure that says their type: each is the call for nodes of that type. */

static bool copy(void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
	return true;
}

static hipError_t refused(const char *name, const void *params)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(params == NULL ? hipErrorInvalidValue : emu_not_supported(name));
}

hipError_t emu_hipGraphAddNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
			       hipGraphNode_t *pDependencies, size_t numDependencies,
			       void *nodeParams)
{
	const uint64_t a[] = {(uintptr_t)pGraphNode, (uintptr_t)graph, (uintptr_t)pDependencies,
			      numDependencies, (uintptr_t)nodeParams};
	struct hrr_node_call c;

	if (!hrr_node_call(HRR_API_hipGraphAddNode, a, copy, &c))
		return refused("hipGraphAddNode", nodeParams);
	switch (c.api) {
#define ADD(name, T)                                                                            \
	case HRR_API_hipGraphAdd##name:                                                         \
		return emu_hipGraphAdd##name(pGraphNode, graph, pDependencies, numDependencies, \
					     (T)(uintptr_t)c.a[4])
		ADD(KernelNode, struct hipKernelNodeParams *);
		ADD(MemcpyNode, struct hipMemcpy3DParms *);
		ADD(MemsetNode, struct hipMemsetParams *);
		ADD(HostNode, struct hipHostNodeParams *);
		ADD(ChildGraphNode, hipGraph_t);
		ADD(EventWaitNode, hipEvent_t);
		ADD(EventRecordNode, hipEvent_t);
		ADD(MemAllocNode, struct hipMemAllocNodeParams *);
		ADD(MemFreeNode, void *);
#undef ADD
	default:
		return emu_hipGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies);
	}
}

hipError_t emu_hipGraphNodeSetParams(hipGraphNode_t node, void *nodeParams)
{
	const uint64_t a[] = {(uintptr_t)node, (uintptr_t)nodeParams};
	struct hrr_node_call c;

	if (!hrr_node_call(HRR_API_hipGraphNodeSetParams, a, copy, &c))
		return refused("hipGraphNodeSetParams", nodeParams);
	switch (c.api) {
#define SET(name, T)                 \
	case HRR_API_hipGraph##name: \
		return emu_hipGraph##name(node, (T)(uintptr_t)c.a[1])
		SET(KernelNodeSetParams, struct hipKernelNodeParams *);
		SET(MemcpyNodeSetParams, struct hipMemcpy3DParms *);
		SET(MemsetNodeSetParams, struct hipMemsetParams *);
		SET(HostNodeSetParams, struct hipHostNodeParams *);
		SET(EventWaitNodeSetEvent, hipEvent_t);
#undef SET
	default:
		return emu_hipGraphEventRecordNodeSetEvent(node, (hipEvent_t)(uintptr_t)c.a[1]);
	}
}

hipError_t emu_hipGraphExecNodeSetParams(hipGraphExec_t graphExec, hipGraphNode_t node,
					 void *nodeParams)
{
	const uint64_t a[] = {(uintptr_t)graphExec, (uintptr_t)node, (uintptr_t)nodeParams};
	struct hrr_node_call c;

	if (!hrr_node_call(HRR_API_hipGraphExecNodeSetParams, a, copy, &c))
		return refused("hipGraphExecNodeSetParams", nodeParams);
	switch (c.api) {
#define SET(name, T)                     \
	case HRR_API_hipGraphExec##name: \
		return emu_hipGraphExec##name(graphExec, node, (T)(uintptr_t)c.a[2])
		SET(KernelNodeSetParams, struct hipKernelNodeParams *);
		SET(MemcpyNodeSetParams, struct hipMemcpy3DParms *);
		SET(MemsetNodeSetParams, struct hipMemsetParams *);
		SET(HostNodeSetParams, struct hipHostNodeParams *);
		SET(ChildGraphNodeSetParams, hipGraph_t);
		SET(EventWaitNodeSetEvent, hipEvent_t);
#undef SET
	default:
		return emu_hipGraphExecEventRecordNodeSetEvent(graphExec, node,
							       (hipEvent_t)(uintptr_t)c.a[2]);
	}
}
