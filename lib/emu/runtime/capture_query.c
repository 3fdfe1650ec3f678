#include <string.h>

#include "lib/emu/runtime/capture.h"
#include "lib/emu/runtime/graph.h"

/* What a program asks about captures. */

enum { STATUS_NONE, STATUS_ACTIVE, STATUS_INVALIDATED };

static int status_of(const struct stream *s)
{
	return s->capture == NULL    ? STATUS_NONE
	       : s->capture->invalid ? STATUS_INVALIDATED
				     : STATUS_ACTIVE;
}

/* The whole of a call. The others may be NULL; they are set while a capture is open. */
static hipError_t info(hipStream_t stream, int *ret_status, uint64_t *ret_id, hipGraph_t *ret_graph,
		       hipGraphNode_t **ret_deps, size_t *ret_n)
{
	struct stream *s;

	EMU_ENTER(EMU_WORK);
	if (ret_status == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e = stream_get(stream, false, &s);
	if (e == hipSuccess && s->null && s->capture == NULL && capture_blocking(s->device) != NULL)
		e = hipErrorStreamCaptureImplicit; /* asking does not end it */
	if (e == hipSuccess) {
		*ret_status = status_of(s);
		if (s->capture != NULL) {
			struct graph *g = s->capture->graph;
			if (ret_id != NULL)
				*ret_id = s->capture->id;
			if (ret_graph != NULL) {
				/* The program may add nodes to it by hand. */
				if (!handle_is(HANDLE_GRAPH, g) && handle_add(HANDLE_GRAPH, g) < 0)
					e = hipErrorOutOfMemory;
				*ret_graph = (hipGraph_t)(void *)g;
			}
			if (ret_deps != NULL)
				memcpy(ret_deps, &s->cap_deps, sizeof s->cap_deps);
			if (ret_n != NULL)
				*ret_n = s->n_cap_deps;
		}
	}
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipStreamIsCapturing(hipStream_t stream, int *pCaptureStatus)
{
	return info(stream, pCaptureStatus, NULL, NULL, NULL, NULL);
}

hipError_t emu_hipStreamGetCaptureInfo(hipStream_t stream, int *pCaptureStatus, uint64_t *pId)
{
	return info(stream, pCaptureStatus, pId, NULL, NULL, NULL);
}

hipError_t emu_hipStreamGetCaptureInfo_v2(hipStream_t stream, int *captureStatus_out,
					  uint64_t *id_out, hipGraph_t *graph_out,
					  hipGraphNode_t **dependencies_out,
					  size_t *numDependencies_out)
{
	return info(stream, captureStatus_out, id_out, graph_out, dependencies_out,
		    numDependencies_out);
}
