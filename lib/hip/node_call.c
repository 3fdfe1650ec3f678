#include "lib/hip/node_call.h"

#include <string.h>

#define NONE HRR_API_COUNT

/* What a type's parameters are: where they lie, and whether the call takes them or their address.
 */
enum how { NOTHING, VALUE, ADDRESS };
static const struct {
	int type;
	uint16_t add, set, exec; /* enum hrr_api */
	uint8_t how, at;
} types[] = {
    {hipGraphNodeTypeKernel_6, HRR_API_hipGraphAddKernelNode, HRR_API_hipGraphKernelNodeSetParams,
     HRR_API_hipGraphExecKernelNodeSetParams, ADDRESS, 16},
    /* Flags and room stand before the structure of the copy. */
    {hipGraphNodeTypeMemcpy_6, HRR_API_hipGraphAddMemcpyNode, HRR_API_hipGraphMemcpyNodeSetParams,
     HRR_API_hipGraphExecMemcpyNodeSetParams, ADDRESS, 32},
    {hipGraphNodeTypeMemset_6, HRR_API_hipGraphAddMemsetNode, HRR_API_hipGraphMemsetNodeSetParams,
     HRR_API_hipGraphExecMemsetNodeSetParams, ADDRESS, 16},
    {hipGraphNodeTypeHost_6, HRR_API_hipGraphAddHostNode, HRR_API_hipGraphHostNodeSetParams,
     HRR_API_hipGraphExecHostNodeSetParams, ADDRESS, 16},
    {hipGraphNodeTypeGraph_6, HRR_API_hipGraphAddChildGraphNode, NONE,
     HRR_API_hipGraphExecChildGraphNodeSetParams, VALUE, 16},
    {hipGraphNodeTypeEmpty_6, HRR_API_hipGraphAddEmptyNode, NONE, NONE, NOTHING, 0},
    {hipGraphNodeTypeWaitEvent_6, HRR_API_hipGraphAddEventWaitNode,
     HRR_API_hipGraphEventWaitNodeSetEvent, HRR_API_hipGraphExecEventWaitNodeSetEvent, VALUE, 16},
    {hipGraphNodeTypeEventRecord_6, HRR_API_hipGraphAddEventRecordNode,
     HRR_API_hipGraphEventRecordNodeSetEvent, HRR_API_hipGraphExecEventRecordNodeSetEvent, VALUE,
     16},
    {hipGraphNodeTypeMemAlloc_6, HRR_API_hipGraphAddMemAllocNode, NONE, NONE, ADDRESS, 16},
    {hipGraphNodeTypeMemFree_6, HRR_API_hipGraphAddMemFreeNode, NONE, NONE, VALUE, 16},
};

bool hrr_node_call(enum hrr_api api, const uint64_t *a,
		   bool (*copy)(void *dst, const void *src, size_t n), struct hrr_node_call *ret)
{
	unsigned char params[HRR_NODE_PARAMS];
	unsigned n = api == HRR_API_hipGraphAddNode		? 4
		     : api == HRR_API_hipGraphNodeSetParams	? 1
		     : api == HRR_API_hipGraphExecNodeSetParams ? 2
								: 0;
	int type;

	if (n == 0 || a[n] == 0 || !copy(params, (const void *)(uintptr_t)a[n], sizeof params))
		return false;
	memcpy(&type, params, sizeof type);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		uint16_t call = n == 4 ? types[i].add : n == 2 ? types[i].exec : types[i].set;
		if (types[i].type != type || call == NONE)
			continue;
		ret->api = (enum hrr_api)call;
		memcpy(ret->a, a, n * sizeof *a);
		ret->a[n] = 0;
		if (types[i].how == ADDRESS)
			ret->a[n] = a[n] + types[i].at;
		else if (types[i].how == VALUE)
			memcpy(&ret->a[n], params + types[i].at, sizeof ret->a[n]);
		return true;
	}
	return false;
}
