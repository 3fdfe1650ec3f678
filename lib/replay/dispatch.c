#include "lib/replay/engine.h"

/*
 * Which handler plays a call. Rows without one fall to their class; a class
 * without one is refused by name.
 */

static hrr_handler *const by_class[HRR_CLASS_COUNT] = {
    [HRR_CLASS_DEVICE] = hrr_do_generic, [HRR_CLASS_CTX] = hrr_do_generic,
    [HRR_CLASS_ERROR] = hrr_do_ignored,	 [HRR_CLASS_FREE] = hrr_do_free,
    [HRR_CLASS_COPY] = hrr_do_copy,	 [HRR_CLASS_SET] = hrr_do_set,
    [HRR_CLASS_HINT] = hrr_do_ignored,	 [HRR_CLASS_QUERY] = hrr_do_ignored,
    [HRR_CLASS_STREAM] = hrr_do_generic, [HRR_CLASS_EVENT] = hrr_do_generic,
    [HRR_CLASS_VALUE] = hrr_do_value,	 [HRR_CLASS_REGISTER] = hrr_do_ignored,
    [HRR_CLASS_MODULE] = hrr_do_generic, [HRR_CLASS_LAUNCH] = hrr_do_launch,
    [HRR_CLASS_GRAPH] = hrr_do_generic,	 [HRR_CLASS_POOL] = hrr_do_ignored,
    [HRR_CLASS_VMM] = hrr_do_generic,	 [HRR_CLASS_PEER] = hrr_do_generic,
};

static hrr_handler *const by_api[HRR_API_COUNT] = {
    /* device */
    [HRR_API_hipSetDevice] = hrr_do_set_device,
    [HRR_API_hipDeviceSynchronize] = hrr_do_sync,
    [HRR_API_hipCtxSynchronize] = hrr_do_sync,
    [HRR_API_hipDeviceReset] = hrr_do_device_reset,
    [HRR_API_hipDevicePrimaryCtxReset] = hrr_do_device_reset,
    [HRR_API_hipGetDevice] = hrr_do_get_device,
    [HRR_API_hipCtxGetDevice] = hrr_do_get_device,
    [HRR_API_hipCtxCreate] = hrr_do_ctx,
    [HRR_API_hipCtxDestroy] = hrr_do_ctx,
    [HRR_API_hipCtxGetCurrent] = hrr_do_ctx,
    [HRR_API_hipCtxSetCurrent] = hrr_do_ctx,
    [HRR_API_hipCtxPushCurrent] = hrr_do_ctx,
    [HRR_API_hipCtxPopCurrent] = hrr_do_ctx,
    [HRR_API_hipDevicePrimaryCtxRetain] = hrr_do_ctx,
    [HRR_API_hipChooseDevice] = hrr_do_ignored,
    [HRR_API_hipDeviceGetByPCIBusId] = hrr_do_ignored,
    [HRR_API_hipInitDevice] = hrr_do_ignored,
    [HRR_API_hipDeviceFlushGPUDirectRDMAWrites] = hrr_do_ignored,
    [HRR_API_hipGetLastError] = hrr_do_last_error,
    [HRR_API_hipPeekAtLastError] = hrr_do_last_error,
    /* memory */
    [HRR_API_hipMalloc] = hrr_do_alloc,
    [HRR_API_hipExtMallocWithFlags] = hrr_do_alloc,
    [HRR_API_hipMallocAsync] = hrr_do_alloc,
    [HRR_API_hipMallocFromPoolAsync] = hrr_do_alloc,
    [HRR_API_hipMallocPitch] = hrr_do_alloc,
    [HRR_API_hipMemAllocPitch] = hrr_do_alloc,
    [HRR_API_hipMalloc3D] = hrr_do_alloc,
    [HRR_API_hipMallocManaged] = hrr_do_managed,
    [HRR_API_hipHostMalloc] = hrr_do_host_alloc,
    [HRR_API_hipHostAlloc] = hrr_do_host_alloc,
    [HRR_API_hipMallocHost] = hrr_do_host_alloc,
    [HRR_API_hipMemAllocHost] = hrr_do_host_alloc,
    [HRR_API_hipFreeAsync] = hrr_do_free_async,
    [HRR_API_hipHostFree] = hrr_do_host_free,
    [HRR_API_hipFreeHost] = hrr_do_host_free,
    [HRR_API_hipHostRegister] = hrr_do_register,
    [HRR_API_hipHostUnregister] = hrr_do_unregister,
    [HRR_API_hipHostGetDevicePointer] = hrr_do_host_pointer,
    [HRR_API_hipMemAddressReserve] = hrr_do_vmm,
    [HRR_API_hipMemAddressFree] = hrr_do_vmm,
    [HRR_API_hipDeviceEnablePeerAccess] = hrr_do_peer,
    [HRR_API_hipDeviceDisablePeerAccess] = hrr_do_peer,
    /* copies that are described by a structure or name a variable */
    [HRR_API_hipMemcpy3D] = hrr_do_copy_param,
    [HRR_API_hipMemcpy3D_spt] = hrr_do_copy_param,
    [HRR_API_hipMemcpy3DAsync] = hrr_do_copy_param,
    [HRR_API_hipMemcpy3DAsync_spt] = hrr_do_copy_param,
    [HRR_API_hipMemcpyParam2D] = hrr_do_copy_param,
    [HRR_API_hipMemcpyParam2DAsync] = hrr_do_copy_param,
    [HRR_API_hipDrvMemcpy2DUnaligned] = hrr_do_copy_param,
    [HRR_API_hipDrvMemcpy3D] = hrr_do_copy_param,
    [HRR_API_hipDrvMemcpy3DAsync] = hrr_do_copy_param,
    [HRR_API_hipMemcpyToSymbol] = hrr_do_symbol_copy,
    [HRR_API_hipMemcpyToSymbol_spt] = hrr_do_symbol_copy,
    [HRR_API_hipMemcpyToSymbolAsync] = hrr_do_symbol_copy,
    [HRR_API_hipMemcpyToSymbolAsync_spt] = hrr_do_symbol_copy,
    [HRR_API_hipMemcpyFromSymbol] = hrr_do_symbol_copy,
    [HRR_API_hipMemcpyFromSymbol_spt] = hrr_do_symbol_copy,
    [HRR_API_hipMemcpyFromSymbolAsync] = hrr_do_symbol_copy,
    [HRR_API_hipMemcpyFromSymbolAsync_spt] = hrr_do_symbol_copy,
    [HRR_API_hipGetSymbolAddress] = hrr_do_symbol_address,
    /* streams and events */
    [HRR_API_hipStreamDestroy] = hrr_do_stream_destroy,
    [HRR_API_hipStreamSynchronize] = hrr_do_sync,
    [HRR_API_hipStreamSynchronize_spt] = hrr_do_sync,
    [HRR_API_hipStreamQuery] = hrr_do_query,
    [HRR_API_hipStreamQuery_spt] = hrr_do_query,
    [HRR_API_hipStreamWaitEvent] = hrr_do_stream_wait,
    [HRR_API_hipStreamWaitEvent_spt] = hrr_do_stream_wait,
    [HRR_API_hipStreamGetFlags] = hrr_do_ignored,
    [HRR_API_hipStreamGetFlags_spt] = hrr_do_ignored,
    [HRR_API_hipStreamGetPriority] = hrr_do_ignored,
    [HRR_API_hipStreamGetPriority_spt] = hrr_do_ignored,
    [HRR_API_hipDeviceGetStreamPriorityRange] = hrr_do_ignored,
    [HRR_API_hipGetStreamDeviceId] = hrr_do_ignored,
    [HRR_API_hipExtStreamGetCUMask] = hrr_do_ignored,
    [HRR_API_hipEventRecord] = hrr_do_event_record,
    [HRR_API_hipEventRecord_spt] = hrr_do_event_record,
    [HRR_API_hipEventRecordWithFlags] = hrr_do_event_record,
    [HRR_API_hipEventQuery] = hrr_do_query,
    [HRR_API_hipEventSynchronize] = hrr_do_sync,
    /* modules */
    [HRR_API_hipModuleLoad] = hrr_do_module_load,
    [HRR_API_hipModuleLoadData] = hrr_do_module_load,
    [HRR_API_hipModuleLoadDataEx] = hrr_do_module_load,
    [HRR_API_hipModuleUnload] = hrr_do_module_unload,
    [HRR_API_hipModuleGetFunction] = hrr_do_get_function,
    [HRR_API_hipModuleGetGlobal] = hrr_do_get_global,
    [HRR_API___hipRegisterManagedVar] = hrr_do_managed_var,
    [HRR_API_hipGetFuncBySymbol] = hrr_do_ignored,
    /* launches only foreign streams hold */
    [HRR_API_hipLaunchKernelExC] = hrr_do_launch,
    [HRR_API_hipDrvLaunchKernelEx] = hrr_do_launch,
    [HRR_API_hipLaunchByPtr] = hrr_do_launch,
    /* profiling and logging say nothing to the device */
    [HRR_API_hipApiName] = hrr_do_ignored,
    [HRR_API_hipProfilerStart] = hrr_do_ignored,
    [HRR_API_hipProfilerStop] = hrr_do_ignored,
    [HRR_API_hipExtEnableLogging] = hrr_do_ignored,
    [HRR_API_hipExtDisableLogging] = hrr_do_ignored,
    [HRR_API_hipExtSetLoggingParams] = hrr_do_ignored,
    /* graphs */
    [HRR_API_hipStreamBeginCapture] = hrr_do_begin_capture,
    [HRR_API_hipStreamBeginCapture_spt] = hrr_do_begin_capture,
    [HRR_API_hipStreamEndCapture] = hrr_do_end_capture,
    [HRR_API_hipStreamEndCapture_spt] = hrr_do_end_capture,
    [HRR_API_hipThreadExchangeStreamCaptureMode] = hrr_do_capture_mode,
    [HRR_API_hipGraphCreate] = hrr_do_graph_create,
    [HRR_API_hipGraphDestroy] = hrr_do_graph_destroy,
    [HRR_API_hipGraphClone] = hrr_do_graph_clone,
    [HRR_API_hipGraphInstantiate] = hrr_do_graph_instantiate,
    [HRR_API_hipGraphInstantiateWithFlags] = hrr_do_graph_instantiate,
    [HRR_API_hipGraphLaunch] = hrr_do_graph_launch,
    [HRR_API_hipGraphLaunch_spt] = hrr_do_graph_launch,
    [HRR_API_hipGraphExecDestroy] = hrr_do_graph_exec_destroy,
    [HRR_API_hipGraphExecUpdate] = hrr_do_graph_exec_update,
    [HRR_API_hipGraphAddKernelNode] = hrr_do_graph_node,
    [HRR_API_hipGraphAddMemcpyNode] = hrr_do_graph_node,
    [HRR_API_hipGraphAddMemcpyNode1D] = hrr_do_graph_node,
    [HRR_API_hipGraphAddMemcpyNodeFromSymbol] = hrr_do_graph_node,
    [HRR_API_hipGraphAddMemcpyNodeToSymbol] = hrr_do_graph_node,
    [HRR_API_hipGraphAddMemsetNode] = hrr_do_graph_node,
    [HRR_API_hipGraphAddChildGraphNode] = hrr_do_graph_node,
    [HRR_API_hipGraphAddEmptyNode] = hrr_do_graph_node,
    [HRR_API_hipGraphAddEventRecordNode] = hrr_do_graph_node,
    [HRR_API_hipGraphAddEventWaitNode] = hrr_do_graph_node,
    [HRR_API_hipGraphKernelNodeSetParams] = hrr_do_graph_update,
    [HRR_API_hipGraphExecKernelNodeSetParams] = hrr_do_graph_update,
    [HRR_API_hipGraphMemcpyNodeSetParams] = hrr_do_graph_update,
    [HRR_API_hipGraphExecMemcpyNodeSetParams] = hrr_do_graph_update,
    [HRR_API_hipGraphMemcpyNodeSetParams1D] = hrr_do_graph_update,
    [HRR_API_hipGraphExecMemcpyNodeSetParams1D] = hrr_do_graph_update,
    [HRR_API_hipGraphMemcpyNodeSetParamsFromSymbol] = hrr_do_graph_update,
    [HRR_API_hipGraphMemcpyNodeSetParamsToSymbol] = hrr_do_graph_update,
    [HRR_API_hipGraphExecMemcpyNodeSetParamsFromSymbol] = hrr_do_graph_update,
    [HRR_API_hipGraphExecMemcpyNodeSetParamsToSymbol] = hrr_do_graph_update,
    [HRR_API_hipGraphMemsetNodeSetParams] = hrr_do_graph_update,
    [HRR_API_hipGraphExecMemsetNodeSetParams] = hrr_do_graph_update,
    [HRR_API_hipGraphExecChildGraphNodeSetParams] = hrr_do_graph_update,
    [HRR_API_hipGraphGetNodes] = hrr_do_graph_nodes,
    [HRR_API_hipGraphGetRootNodes] = hrr_do_graph_nodes,
    [HRR_API_hipGraphGetEdges] = hrr_do_ignored,
    [HRR_API_hipGraphNodeGetDependencies] = hrr_do_graph_nodes,
    [HRR_API_hipGraphNodeGetDependentNodes] = hrr_do_graph_nodes,
    [HRR_API_hipGraphNodeGetType] = hrr_do_graph_find,
    [HRR_API_hipGraphNodeFindInClone] = hrr_do_find_in_clone,
    [HRR_API_hipGraphChildGraphNodeGetGraph] = hrr_do_child_graph,
    [HRR_API_hipGraphKernelNodeGetParams] = hrr_do_ignored,
    [HRR_API_hipGraphMemcpyNodeGetParams] = hrr_do_ignored,
    [HRR_API_hipGraphMemsetNodeGetParams] = hrr_do_ignored,
    [HRR_API_hipGraphHostNodeGetParams] = hrr_do_ignored,
    [HRR_API_hipStreamUpdateCaptureDependencies] = hrr_do_refused,
};

hrr_handler *hrr_handler_of(enum hrr_api api)
{
	const struct hrr_api_row *row = &hrr_api_table[api];

	if (row->aside) /* a foreign stream may have it */
		return hrr_do_ignored;
	if (!row->typed || row->n_params > HRR_MAX_WORDS || row->not_played != NULL)
		return NULL;
	if (by_api[api] != NULL)
		return by_api[api];
	/* Known by name but not recorded by us: a foreign stream has it. */
	if (row->not_recorded != NULL && row->cls != HRR_CLASS_HINT &&
	    row->cls != HRR_CLASS_QUERY && row->cls != HRR_CLASS_POOL &&
	    row->cls != HRR_CLASS_ERROR)
		return NULL;
	return by_class[row->cls];
}
