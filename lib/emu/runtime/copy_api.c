#include "lib/emu/runtime/copy.h"

#include "lib/emu/runtime/array.h"
#include "lib/emu/runtime/module.h"
#include "lib/hip/table.h"

static uint64_t A(const void *p)
{
	return (uintptr_t)p;
}

hipError_t copy_call(enum hrr_api api, struct copy_op c, int kind, hipStream_t stream, bool spt)
{
	struct stream *s;

	rt_lock();
	hipError_t e = stream_get(stream, spt, &s);
	if (e == hipSuccess)
		e = copy_submit(api, s, &c, kind);
	rt_unlock();
	return e;
}

/*
 * The whole of a call, as are pitched and symbol_copy (and, in copy_box.c, copy_3d, peer_3d,
 * param_2d and param_3d): plain or asynchronous is known by the call's name (copy_submit).
 */
static hipError_t linear(enum hrr_api api, const void *dst, const void *src, size_t n, int kind,
			 hipStream_t stream, bool spt)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(copy_call(api, copy_linear(A(dst), A(src), n), kind, stream, spt));
}

hipError_t emu_hipMemcpy(void *dst, void *src, size_t sizeBytes, int kind)
{
	return linear(HRR_API_hipMemcpy, dst, src, sizeBytes, kind, NULL, false);
}

hipError_t emu_hipMemcpy_spt(void *dst, void *src, size_t sizeBytes, int kind)
{
	return linear(HRR_API_hipMemcpy_spt, dst, src, sizeBytes, kind, NULL, true);
}

hipError_t emu_hipMemcpyAsync(void *dst, void *src, size_t sizeBytes, int kind, hipStream_t stream)
{
	return linear(HRR_API_hipMemcpyAsync, dst, src, sizeBytes, kind, stream, false);
}

hipError_t emu_hipMemcpyAsync_spt(void *dst, void *src, size_t sizeBytes, int kind,
				  hipStream_t stream)
{
	return linear(HRR_API_hipMemcpyAsync_spt, dst, src, sizeBytes, kind, stream, true);
}

hipError_t emu_hipMemcpyWithStream(void *dst, void *src, size_t sizeBytes, int kind,
				   hipStream_t stream)
{
	return linear(HRR_API_hipMemcpyWithStream, dst, src, sizeBytes, kind, stream, false);
}

hipError_t emu_hipMemcpyDtoD(void *dst, void *src, size_t sizeBytes)
{
	return linear(HRR_API_hipMemcpyDtoD, dst, src, sizeBytes, hipMemcpyDeviceToDevice, NULL,
		      false);
}

hipError_t emu_hipMemcpyDtoDAsync(void *dst, void *src, size_t sizeBytes, hipStream_t stream)
{
	return linear(HRR_API_hipMemcpyDtoDAsync, dst, src, sizeBytes, hipMemcpyDeviceToDevice,
		      stream, false);
}

hipError_t emu_hipMemcpyDtoH(void *dst, void *src, size_t sizeBytes)
{
	return linear(HRR_API_hipMemcpyDtoH, dst, src, sizeBytes, hipMemcpyDeviceToHost, NULL,
		      false);
}

hipError_t emu_hipMemcpyDtoHAsync(void *dst, void *src, size_t sizeBytes, hipStream_t stream)
{
	return linear(HRR_API_hipMemcpyDtoHAsync, dst, src, sizeBytes, hipMemcpyDeviceToHost,
		      stream, false);
}

hipError_t emu_hipMemcpyHtoD(void *dst, void *src, size_t sizeBytes)
{
	return linear(HRR_API_hipMemcpyHtoD, dst, src, sizeBytes, hipMemcpyHostToDevice, NULL,
		      false);
}

hipError_t emu_hipMemcpyHtoDAsync(void *dst, void *src, size_t sizeBytes, hipStream_t stream)
{
	return linear(HRR_API_hipMemcpyHtoDAsync, dst, src, sizeBytes, hipMemcpyHostToDevice,
		      stream, false);
}

static hipError_t linear_peer(enum hrr_api api, const void *dst, int dst_device, const void *src,
			      int src_device, size_t n, hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	if (!rt_device_ok(dst_device) || !rt_device_ok(src_device))
		return emu_ret(hipErrorInvalidDevice);
	return emu_ret(
	    copy_call(api, copy_linear(A(dst), A(src), n), hipMemcpyDeviceToDevice, stream, false));
}

hipError_t emu_hipMemcpyPeer(void *dst, int dstDeviceId, void *src, int srcDeviceId,
			     size_t sizeBytes)
{
	return linear_peer(HRR_API_hipMemcpyPeer, dst, dstDeviceId, src, srcDeviceId, sizeBytes,
			   NULL);
}

hipError_t emu_hipMemcpyPeerAsync(void *dst, int dstDeviceId, void *src, int srcDevice,
				  size_t sizeBytes, hipStream_t stream)
{
	return linear_peer(HRR_API_hipMemcpyPeerAsync, dst, dstDeviceId, src, srcDevice, sizeBytes,
			   stream);
}

/* --- rows ------------------------------------------------------------------------- */

static hipError_t pitched(enum hrr_api api, void *dst, size_t dpitch, const void *src,
			  size_t spitch, size_t width, size_t height, int kind, hipStream_t stream,
			  bool spt)
{
	struct copy_op c = {.dst = A(dst),
			    .src = A(src),
			    .dpitch = dpitch,
			    .spitch = spitch,
			    .width = width,
			    .height = height,
			    .depth = 1,
			    .use_2d = true};

	EMU_ENTER(EMU_WORK);
	if (width > dpitch || width > spitch)
		return emu_ret(hipErrorInvalidPitchValue);
	return emu_ret(copy_call(api, c, kind, stream, spt));
}

hipError_t emu_hipMemcpy2D(void *dst, size_t dpitch, void *src, size_t spitch, size_t width,
			   size_t height, int kind)
{
	return pitched(HRR_API_hipMemcpy2D, dst, dpitch, src, spitch, width, height, kind, NULL,
		       false);
}

hipError_t emu_hipMemcpy2D_spt(void *dst, size_t dpitch, void *src, size_t spitch, size_t width,
			       size_t height, int kind)
{
	return pitched(HRR_API_hipMemcpy2D_spt, dst, dpitch, src, spitch, width, height, kind, NULL,
		       true);
}

hipError_t emu_hipMemcpy2DAsync(void *dst, size_t dpitch, void *src, size_t spitch, size_t width,
				size_t height, int kind, hipStream_t stream)
{
	return pitched(HRR_API_hipMemcpy2DAsync, dst, dpitch, src, spitch, width, height, kind,
		       stream, false);
}

/* --- symbols ------------------------------------------------------------------------ */

/* The device address of sizeBytes at offset in a symbol, on the stream's device. */
hipError_t copy_symbol(const void *symbol, size_t offset, size_t size, int device,
		       uint64_t *ret_addr)
{
	uint64_t addr, n;

	hipError_t e = symbol_find(symbol, device, &addr, &n);
	if (e != hipSuccess)
		return e;
	if (offset > n || size > n - offset)
		return hipErrorInvalidValue;
	*ret_addr = addr + offset;
	return hipSuccess;
}

static hipError_t symbol_copy(enum hrr_api api, bool to, const void *symbol, const void *other,
			      size_t n, size_t offset, int kind, hipStream_t stream, bool spt)
{
	struct stream *s;
	uint64_t addr;

	EMU_ENTER(EMU_WORK);
	rt_lock();
	hipError_t e = stream_get(stream, spt, &s);
	if (e == hipSuccess)
		e = copy_symbol(symbol, offset, n, s->device, &addr);
	if (e == hipSuccess) {
		struct copy_op c =
		    to ? copy_linear(addr, A(other), n) : copy_linear(A(other), addr, n);
		e = copy_submit(api, s, &c, kind);
	}
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipMemcpyToSymbol(void *symbol, void *src, size_t sizeBytes, size_t offset, int kind)
{
	return symbol_copy(HRR_API_hipMemcpyToSymbol, true, symbol, src, sizeBytes, offset, kind,
			   NULL, false);
}

hipError_t emu_hipMemcpyToSymbol_spt(void *symbol, void *src, size_t sizeBytes, size_t offset,
				     int kind)
{
	return symbol_copy(HRR_API_hipMemcpyToSymbol_spt, true, symbol, src, sizeBytes, offset,
			   kind, NULL, true);
}

hipError_t emu_hipMemcpyToSymbolAsync(void *symbol, void *src, size_t sizeBytes, size_t offset,
				      int kind, hipStream_t stream)
{
	return symbol_copy(HRR_API_hipMemcpyToSymbolAsync, true, symbol, src, sizeBytes, offset,
			   kind, stream, false);
}

hipError_t emu_hipMemcpyFromSymbol(void *dst, void *symbol, size_t sizeBytes, size_t offset,
				   int kind)
{
	return symbol_copy(HRR_API_hipMemcpyFromSymbol, false, symbol, dst, sizeBytes, offset, kind,
			   NULL, false);
}

hipError_t emu_hipMemcpyFromSymbol_spt(void *dst, void *symbol, size_t sizeBytes, size_t offset,
				       int kind)
{
	return symbol_copy(HRR_API_hipMemcpyFromSymbol_spt, false, symbol, dst, sizeBytes, offset,
			   kind, NULL, true);
}

hipError_t emu_hipMemcpyFromSymbolAsync(void *dst, void *symbol, size_t sizeBytes, size_t offset,
					int kind, hipStream_t stream)
{
	return symbol_copy(HRR_API_hipMemcpyFromSymbolAsync, false, symbol, dst, sizeBytes, offset,
			   kind, stream, false);
}
