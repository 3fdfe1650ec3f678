/* Copies of boxes: 3D, in lists, by parameter structures. */
#include "lib/emu/runtime/array.h"
#include "lib/emu/runtime/copy.h"
#include "lib/hip/table.h"

static uint64_t A(const void *p)
{
	return (uintptr_t)p;
}

/* One end of a copy: where it begins, its distances, and the bytes that a position in x counts. */
struct end {
	uint64_t base;
	size_t pitch, slice, elem;
};

static hipError_t box_end(hipArray_t array, const void *p, size_t pitch, size_t ysize,
			  struct end *ret)
{
	if (array == NULL) {
		*ret = (struct end){A(p), pitch, pitch * ysize, 1};
		return p != NULL ? hipSuccess : hipErrorInvalidValue;
	}
	const struct array *a = array_get(array);
	if (a == NULL || p != NULL)
		return hipErrorInvalidValue;
	*ret = (struct end){a->base, a->pitch, a->pitch * a->rows, a->elem};
	return hipSuccess;
}

hipError_t copy_from_3d(const struct hipMemcpy3DParms *p, struct copy_op *ret_op)
{
	struct end s, d;

	hipError_t e = box_end(p->srcArray, p->srcPtr.ptr, p->srcPtr.pitch, p->srcPtr.ysize, &s);
	if (e == hipSuccess)
		e = box_end(p->dstArray, p->dstPtr.ptr, p->dstPtr.pitch, p->dstPtr.ysize, &d);
	if (e != hipSuccess)
		return e;
	/* With an array the extent and its position count elements, otherwise bytes. */
	*ret_op = (struct copy_op){
	    .src = s.base + p->srcPos.x * s.elem + p->srcPos.y * s.pitch + p->srcPos.z * s.slice,
	    .dst = d.base + p->dstPos.x * d.elem + p->dstPos.y * d.pitch + p->dstPos.z * d.slice,
	    .spitch = s.pitch,
	    .sslice = s.slice,
	    .dpitch = d.pitch,
	    .dslice = d.slice,
	    .width = p->extent.width * (p->srcArray != NULL ? s.elem : d.elem),
	    .height = p->extent.height,
	    .depth = p->extent.depth,
	    .use_2d = true};
	return hipSuccess;
}

static hipError_t submit_3d(enum hrr_api api, const struct hipMemcpy3DParms *p, hipStream_t stream,
			    bool spt)
{
	struct copy_op c;
	struct stream *s;

	if (p == NULL)
		return hipErrorInvalidValue;
	rt_lock();
	hipError_t e = copy_from_3d(p, &c);
	if (e == hipSuccess)
		e = stream_get(stream, spt, &s);
	if (e == hipSuccess)
		e = copy_submit(api, s, &c, p->kind);
	rt_unlock();
	return e;
}

static hipError_t copy_3d(enum hrr_api api, const struct hipMemcpy3DParms *p, hipStream_t stream,
			  bool spt)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(submit_3d(api, p, stream, spt));
}

hipError_t emu_hipMemcpy3D(struct hipMemcpy3DParms *p)
{
	return copy_3d(HRR_API_hipMemcpy3D, p, NULL, false);
}

hipError_t emu_hipMemcpy3D_spt(struct hipMemcpy3DParms *p)
{
	return copy_3d(HRR_API_hipMemcpy3D_spt, p, NULL, true);
}

hipError_t emu_hipMemcpy3DAsync(struct hipMemcpy3DParms *p, hipStream_t stream)
{
	return copy_3d(HRR_API_hipMemcpy3DAsync, p, stream, false);
}

/* Between devices: the same box, which says its devices itself. */
static hipError_t peer_3d(enum hrr_api api, const struct hipMemcpy3DPeerParms *p,
			  hipStream_t stream)
{
	struct hipMemcpy3DParms box = {.kind = hipMemcpyDeviceToDevice};

	EMU_ENTER(EMU_WORK);
	if (p == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(p->srcDevice) || !rt_device_ok(p->dstDevice))
		return emu_ret(hipErrorInvalidDevice);
	hrr_struct_convert(hrr_api_table[HRR_API_hipMemcpy3D].params[0].st, &box,
			   hrr_api_table[api].params[0].st, p);
	return emu_ret(submit_3d(api, &box, stream, false));
}

hipError_t emu_hipMemcpy3DPeer(struct hipMemcpy3DPeerParms *p)
{
	return peer_3d(HRR_API_hipMemcpy3DPeer, p, NULL);
}

hipError_t emu_hipMemcpy3DPeerAsync(struct hipMemcpy3DPeerParms *p, hipStream_t stream)
{
	return peer_3d(HRR_API_hipMemcpy3DPeerAsync, p, stream);
}

hipError_t emu_hipMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count,
				   struct hipMemcpyAttributes *attrs, size_t *attrsIdxs,
				   size_t numAttrs, size_t *failIdx, hipStream_t stream)
{
	(void)attrs; /* hints and permissions: stream order is always allowed */
	(void)attrsIdxs;
	(void)numAttrs;
	EMU_ENTER(EMU_WORK);
	if (dsts == NULL || srcs == NULL || sizes == NULL || count == 0)
		return emu_ret(hipErrorInvalidValue);
	for (size_t i = 0; i < count; i++) {
		hipError_t e = copy_call(HRR_API_hipMemcpyBatchAsync,
					 copy_linear(A(dsts[i]), A(srcs[i]), sizes[i]),
					 hipMemcpyDefault, stream, false);
		if (e != hipSuccess) {
			if (failIdx != NULL)
				*failIdx = i;
			return emu_ret(e);
		}
	}
	return emu_ret(hipSuccess);
}

hipError_t emu_hipMemcpy3DBatchAsync(size_t numOps, struct hipMemcpy3DBatchOp *opList,
				     size_t *failIdx, uint64_t flags, hipStream_t stream)
{
	(void)flags;
	EMU_ENTER(EMU_WORK);
	if (opList == NULL || numOps == 0)
		return emu_ret(hipErrorInvalidValue);
	for (size_t i = 0; i < numOps; i++) {
		const struct hipMemcpy3DBatchOp *o = &opList[i];
		struct copy_op c = {.dst = A(o->dst.ptr),
				    .src = A(o->src.ptr),
				    .width = o->extent.width,
				    .height = o->extent.height,
				    .depth = o->extent.depth,
				    .use_2d = true};
		size_t drows = o->dst.layerHeight, srows = o->src.layerHeight;
		c.dpitch = o->dst.rowLength != 0 ? o->dst.rowLength : c.width;
		c.spitch = o->src.rowLength != 0 ? o->src.rowLength : c.width;
		c.dslice = c.dpitch * (drows != 0 ? drows : c.height);
		c.sslice = c.spitch * (srows != 0 ? srows : c.height);
		hipError_t e = o->src.type != hipMemcpyOperandTypePointer ||
				       o->dst.type != hipMemcpyOperandTypePointer
				   ? emu_not_supported("hipMemcpy3DBatchAsync: arrays")
				   : copy_call(HRR_API_hipMemcpy3DBatchAsync, c, hipMemcpyDefault,
					       stream, false);
		if (e != hipSuccess) {
			if (failIdx != NULL)
				*failIdx = i;
			return emu_ret(e);
		}
	}
	return emu_ret(hipSuccess);
}

/* One end of a driver-style copy: type, host, device, array. The memory type's numbers differ
 * by major; what pointer is set does not. */
static hipError_t param_end(int type, const void *host, const void *dev, hipArray_t array,
			    size_t pitch, size_t rows, uint64_t *ret_base, size_t *ret_pitch,
			    size_t *ret_slice)
{
	const int host_type = rt.major < 6 ? 0 : 1, device_type = rt.major < 6 ? 1 : 2,
		  array_type = rt.major < 6 ? 2 : 10;

	*ret_pitch = pitch;
	*ret_slice = pitch * rows;
	if (type == array_type) {
		const struct array *a = array_get(array);
		if (a == NULL)
			return hipErrorInvalidValue;
		*ret_base = a->base;
		*ret_pitch = a->pitch;
		*ret_slice = a->pitch * a->rows;
	} else if (type == host_type) {
		*ret_base = A(host);
	} else if (type == device_type) {
		*ret_base = A(dev);
	} else { /* unified, managed */
		*ret_base = dev != NULL ? A(dev) : A(host);
	}
	return *ret_base != 0 ? hipSuccess : hipErrorInvalidValue;
}

/* packed: with a pitch of 0 rows have no gaps. */
static hipError_t submit_param(enum hrr_api api, const struct HIP_MEMCPY3D_size *p, bool packed,
			       hipStream_t stream)
{
	struct copy_op c = {
	    .width = p->WidthInBytes, .height = p->Height, .depth = p->Depth, .use_2d = true};
	struct stream *s;

	rt_lock();
	hipError_t e = param_end(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray,
				 p->srcPitch, p->srcHeight, &c.src, &c.spitch, &c.sslice);
	if (e == hipSuccess)
		e = param_end(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstPitch,
			      p->dstHeight, &c.dst, &c.dpitch, &c.dslice);
	if (packed && c.spitch == 0)
		c.spitch = c.width;
	if (packed && c.dpitch == 0)
		c.dpitch = c.width;
	c.src += p->srcXInBytes + p->srcY * c.spitch + p->srcZ * c.sslice;
	c.dst += p->dstXInBytes + p->dstY * c.dpitch + p->dstZ * c.dslice;
	if (e == hipSuccess)
		e = stream_get(stream, false, &s);
	if (e == hipSuccess)
		e = copy_submit(api, s, &c, hipMemcpyDefault);
	rt_unlock();
	return e;
}

/* A box one slice deep: the fields of both structures are named alike. */
static hipError_t param_2d(enum hrr_api api, const struct hip_Memcpy2D *p, hipStream_t stream)
{
	const struct hrr_struct *st = hrr_api_table[HRR_API_hipDrvMemcpy3D].params[0].st;
	struct HIP_MEMCPY3D_size box = {.srcHeight = 1, .dstHeight = 1, .Depth = 1};

	EMU_ENTER(EMU_WORK);
	if (p == NULL)
		return emu_ret(hipErrorInvalidValue);
	hrr_struct_convert(st->later, &box, hrr_api_table[api].params[0].st, p);
	return emu_ret(submit_param(api, &box, true, stream));
}

hipError_t emu_hipMemcpyParam2D(struct hip_Memcpy2D *pCopy)
{
	return param_2d(HRR_API_hipMemcpyParam2D, pCopy, NULL);
}

hipError_t emu_hipMemcpyParam2DAsync(struct hip_Memcpy2D *pCopy, hipStream_t stream)
{
	return param_2d(HRR_API_hipMemcpyParam2DAsync, pCopy, stream);
}

hipError_t emu_hipDrvMemcpy2DUnaligned(struct hip_Memcpy2D *pCopy)
{
	return param_2d(HRR_API_hipDrvMemcpy2DUnaligned, pCopy, NULL);
}

/* Its layout is another from HIP 6 on. */
static hipError_t param_3d(enum hrr_api api, const struct HIP_MEMCPY3D *p, hipStream_t stream)
{
	const struct hrr_struct *st = hrr_api_table[HRR_API_hipDrvMemcpy3D].params[0].st;
	struct HIP_MEMCPY3D_size box = {0};

	EMU_ENTER(EMU_WORK);
	if (p == NULL)
		return emu_ret(hipErrorInvalidValue);
	hrr_struct_convert(st->later, &box, hrr_struct_at(st, 10 * rt.major), p);
	return emu_ret(submit_param(api, &box, false, stream));
}

hipError_t emu_hipDrvMemcpy3D(struct HIP_MEMCPY3D *pCopy)
{
	return param_3d(HRR_API_hipDrvMemcpy3D, pCopy, NULL);
}

hipError_t emu_hipDrvMemcpy3DAsync(struct HIP_MEMCPY3D *pCopy, hipStream_t stream)
{
	return param_3d(HRR_API_hipDrvMemcpy3DAsync, pCopy, stream);
}
