#include "lib/emu/runtime/rt.h"

/*
 * What a program built for per-thread default streams calls: stream 0 is the
 * thread's own. Those with their own path are beside their relatives.
 */
static hipStream_t own(hipStream_t s)
{
	return s != NULL ? s : (hipStream_t)2;
}

hipError_t emu_hipEventRecord_spt(hipEvent_t event, hipStream_t stream)
{
	return emu_hipEventRecord(event, own(stream));
}

hipError_t emu_hipGraphLaunch_spt(hipGraphExec_t graphExec, hipStream_t stream)
{
	return emu_hipGraphLaunch(graphExec, own(stream));
}

hipError_t emu_hipLaunchHostFunc_spt(hipStream_t stream, void *fn, void *userData)
{
	return emu_hipLaunchHostFunc(own(stream), fn, userData);
}

hipError_t emu_hipStreamAddCallback_spt(hipStream_t stream, void *callback, void *userData,
					unsigned int flags)
{
	return emu_hipStreamAddCallback(own(stream), callback, userData, flags);
}

hipError_t emu_hipMemcpy2DAsync_spt(void *dst, size_t dpitch, void *src, size_t spitch,
				    size_t width, size_t height, int kind, hipStream_t stream)
{
	return emu_hipMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, own(stream));
}

hipError_t emu_hipMemcpy2DFromArrayAsync_spt(void *dst, size_t dpitch, hipArray_t src,
					     size_t wOffsetSrc, size_t hOffsetSrc, size_t width,
					     size_t height, int kind, hipStream_t stream)
{
	return emu_hipMemcpy2DFromArrayAsync(dst, dpitch, src, wOffsetSrc, hOffsetSrc, width,
					     height, kind, own(stream));
}

hipError_t emu_hipMemcpy2DToArrayAsync_spt(hipArray_t dst, size_t wOffset, size_t hOffset,
					   void *src, size_t spitch, size_t width, size_t height,
					   int kind, hipStream_t stream)
{
	return emu_hipMemcpy2DToArrayAsync(dst, wOffset, hOffset, src, spitch, width, height, kind,
					   own(stream));
}

hipError_t emu_hipMemcpy3DAsync_spt(struct hipMemcpy3DParms *p, hipStream_t stream)
{
	return emu_hipMemcpy3DAsync(p, own(stream));
}

hipError_t emu_hipMemcpyFromSymbolAsync_spt(void *dst, void *symbol, size_t sizeBytes,
					    size_t offset, int kind, hipStream_t stream)
{
	return emu_hipMemcpyFromSymbolAsync(dst, symbol, sizeBytes, offset, kind, own(stream));
}

hipError_t emu_hipMemcpyToSymbolAsync_spt(void *symbol, void *src, size_t sizeBytes, size_t offset,
					  int kind, hipStream_t stream)
{
	return emu_hipMemcpyToSymbolAsync(symbol, src, sizeBytes, offset, kind, own(stream));
}

hipError_t emu_hipMemset2DAsync_spt(void *dst, size_t pitch, int value, size_t width, size_t height,
				    hipStream_t stream)
{
	return emu_hipMemset2DAsync(dst, pitch, value, width, height, own(stream));
}

hipError_t emu_hipMemset3DAsync_spt(struct hipPitchedPtr pitchedDevPtr, int value,
				    struct hipExtent extent, hipStream_t stream)
{
	return emu_hipMemset3DAsync(pitchedDevPtr, value, extent, own(stream));
}

hipError_t emu_hipMemsetAsync_spt(void *dst, int value, size_t sizeBytes, hipStream_t stream)
{
	return emu_hipMemsetAsync(dst, value, sizeBytes, own(stream));
}

hipError_t emu_hipStreamBeginCapture_spt(hipStream_t stream, int mode)
{
	return emu_hipStreamBeginCapture(own(stream), mode);
}

hipError_t emu_hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t *pGraph)
{
	return emu_hipStreamEndCapture(own(stream), pGraph);
}

hipError_t emu_hipStreamIsCapturing_spt(hipStream_t stream, int *pCaptureStatus)
{
	return emu_hipStreamIsCapturing(own(stream), pCaptureStatus);
}

hipError_t emu_hipStreamGetCaptureInfo_spt(hipStream_t stream, int *pCaptureStatus, uint64_t *pId)
{
	return emu_hipStreamGetCaptureInfo(own(stream), pCaptureStatus, pId);
}

hipError_t emu_hipStreamGetCaptureInfo_v2_spt(hipStream_t stream, int *captureStatus_out,
					      uint64_t *id_out, hipGraph_t *graph_out,
					      hipGraphNode_t **dependencies_out,
					      size_t *numDependencies_out)
{
	return emu_hipStreamGetCaptureInfo_v2(own(stream), captureStatus_out, id_out, graph_out,
					      dependencies_out, numDependencies_out);
}
