#include "lib/emu/runtime/array.h"

#include <stdlib.h>

#include "lib/emu/runtime/copy.h"
#include "lib/emu/runtime/mem.h"
#include "lib/hip/array_format.h"

#define PITCH 256u

const struct array *array_get(hipArray_t h)
{
	return handle_is(HANDLE_ARRAY, h) ? (const struct array *)(const void *)h : NULL;
}

/* The format of a channel descriptor; 0: none we know. */
static int desc_format(const struct hipChannelFormatDesc *d, unsigned *ret_channels)
{
	const int bits[] = {d->x, d->y, d->z, d->w};
	unsigned n = 0;

	while (n < 4 && bits[n] != 0) {
		if (bits[n] != bits[0])
			return 0;
		n++;
	}
	*ret_channels = n;
	if (n == 0 || n == 3)
		return 0;
	switch (d->f) {
	case hipChannelFormatKindSigned:
		return bits[0] == 8    ? HIP_AD_FORMAT_SIGNED_INT8
		       : bits[0] == 16 ? HIP_AD_FORMAT_SIGNED_INT16
		       : bits[0] == 32 ? HIP_AD_FORMAT_SIGNED_INT32
				       : 0;
	case hipChannelFormatKindUnsigned:
		return bits[0] == 8    ? HIP_AD_FORMAT_UNSIGNED_INT8
		       : bits[0] == 16 ? HIP_AD_FORMAT_UNSIGNED_INT16
		       : bits[0] == 32 ? HIP_AD_FORMAT_UNSIGNED_INT32
				       : 0;
	case hipChannelFormatKindFloat:
		return bits[0] == 16 ? HIP_AD_FORMAT_HALF : bits[0] == 32 ? HIP_AD_FORMAT_FLOAT : 0;
	}
	return 0;
}

static hipError_t create(hipArray_t *ret, const struct array *want, const char *api)
{
	struct array *a;
	struct range *r;
	size_t total, row;

	if (ret == NULL || want->width == 0 || want->elem == 0 ||
	    (want->channels != 1 && want->channels != 2 && want->channels != 4))
		return hipErrorInvalidValue;
	if (__builtin_mul_overflow(want->width, want->elem, &row) || row > SIZE_MAX - PITCH)
		return hipErrorInvalidValue;
	a = malloc(sizeof *a);
	if (a == NULL)
		return hipErrorOutOfMemory;
	*a = *want;
	a->rows = a->height > 0 ? a->height : 1;
	a->pitch = (row + PITCH - 1) / PITCH * PITCH;
	hipError_t e = hipErrorInvalidValue;
	if (!__builtin_mul_overflow(a->pitch, a->rows, &total) &&
	    !__builtin_mul_overflow(total, a->depth > 0 ? a->depth : 1, &total)) {
		rt_lock();
		e = mem_new(RANGE_DEVICE, emu_thread.device, total, 0, api, &r);
		if (e == hipSuccess && handle_add(HANDLE_ARRAY, a) < 0) {
			mem_delete(r, NULL);
			e = hipErrorOutOfMemory;
		}
		if (e == hipSuccess)
			a->base = r->base;
		rt_unlock();
	}
	if (e != hipSuccess)
		free(a);
	else
		*ret = (hipArray_t)(void *)a;
	return e;
}

static hipError_t from_desc(hipArray_t *ret, const struct hipChannelFormatDesc *desc, size_t width,
			    size_t height, size_t depth, unsigned flags, const char *api)
{
	struct array a = {.width = width, .height = height, .depth = depth, .flags = flags};

	if (desc == NULL)
		return hipErrorInvalidValue;
	a.desc = *desc;
	a.format = desc_format(desc, &a.channels);
	a.elem = hrr_array_format_bytes(a.format) * a.channels;
	return create(ret, &a, api);
}

hipError_t emu_hipMallocArray(hipArray_t *array, struct hipChannelFormatDesc *desc, size_t width,
			      size_t height, unsigned int flags)
{
	EMU_ENTER(EMU_UNSAFE);
	return emu_ret(from_desc(array, desc, width, height, 0, flags, "hipMallocArray"));
}

hipError_t emu_hipMalloc3DArray(hipArray_t *array, struct hipChannelFormatDesc *desc,
				struct hipExtent extent, unsigned int flags)
{
	EMU_ENTER(EMU_UNSAFE);
	return emu_ret(from_desc(array, desc, extent.width, extent.height, extent.depth, flags,
				 "hipMalloc3DArray"));
}

hipError_t emu_hipArrayCreate(hipArray_t *pHandle, struct HIP_ARRAY_DESCRIPTOR *d)
{
	EMU_ENTER(EMU_UNSAFE);
	if (d == NULL)
		return emu_ret(hipErrorInvalidValue);
	struct array a = {.width = d->Width,
			  .height = d->Height,
			  .format = d->Format,
			  .channels = d->NumChannels,
			  .elem = hrr_array_format_bytes(d->Format) * d->NumChannels};
	return emu_ret(create(pHandle, &a, "hipArrayCreate"));
}

hipError_t emu_hipArray3DCreate(hipArray_t *array, struct HIP_ARRAY3D_DESCRIPTOR *d)
{
	EMU_ENTER(EMU_UNSAFE);
	if (d == NULL)
		return emu_ret(hipErrorInvalidValue);
	struct array a = {.width = d->Width,
			  .height = d->Height,
			  .depth = d->Depth,
			  .format = d->Format,
			  .channels = d->NumChannels,
			  .flags = d->Flags,
			  .elem = hrr_array_format_bytes(d->Format) * d->NumChannels};
	return emu_ret(create(array, &a, "hipArray3DCreate"));
}

static hipError_t destroy(hipArray_t h, const char *api)
{
	rt_lock();
	const struct array *a = array_get(h);
	if (a != NULL) {
		for (int d = 0; d < rt.n_devices; d++)
			sched_wait_device(d);
		sched_quiesce();
		a = array_get(h);
	}
	if (a != NULL) {
		struct range *r = range_at(a->base);
		if (r != NULL)
			mem_delete(r, api);
		handle_del(a);
		free((void *)(uintptr_t)a);
	}
	rt_unlock();
	return a != NULL   ? hipSuccess
	       : h != NULL ? hipErrorContextIsDestroyed
			   : hipErrorInvalidValue;
}

hipError_t emu_hipFreeArray(hipArray_t array)
{
	EMU_ENTER(EMU_ANY);
	return emu_ret(destroy(array, "hipFreeArray"));
}

hipError_t emu_hipArrayDestroy(hipArray_t array)
{
	EMU_ENTER(EMU_ANY);
	return emu_ret(destroy(array, "hipArrayDestroy"));
}

hipError_t emu_hipGetChannelDesc(struct hipChannelFormatDesc *desc, hipArray_t array)
{
	EMU_ENTER(EMU_WORK);
	if (desc == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	const struct array *a = array_get(array);
	if (a != NULL)
		*desc = a->desc;
	rt_unlock();
	return emu_ret(a != NULL ? hipSuccess : hipErrorInvalidHandle);
}

struct hipChannelFormatDesc emu_hipCreateChannelDesc(int x, int y, int z, int w, int f)
{
	return (struct hipChannelFormatDesc){x, y, z, w, f};
}

hipError_t emu_hipArrayGetDescriptor(struct HIP_ARRAY_DESCRIPTOR *d, hipArray_t array)
{
	EMU_ENTER(EMU_WORK);
	if (d == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	const struct array *a = array_get(array);
	if (a != NULL)
		*d = (struct HIP_ARRAY_DESCRIPTOR){.Width = a->width,
						   .Height = a->height,
						   .Format = a->format,
						   .NumChannels = a->channels};
	rt_unlock();
	return emu_ret(a != NULL ? hipSuccess : hipErrorInvalidHandle);
}

hipError_t emu_hipArray3DGetDescriptor(struct HIP_ARRAY3D_DESCRIPTOR *d, hipArray_t array)
{
	EMU_ENTER(EMU_WORK);
	if (d == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	const struct array *a = array_get(array);
	if (a != NULL)
		*d = (struct HIP_ARRAY3D_DESCRIPTOR){.Width = a->width,
						     .Height = a->height,
						     .Depth = a->depth,
						     .Format = a->format,
						     .NumChannels = a->channels,
						     .Flags = a->flags};
	rt_unlock();
	return emu_ret(a != NULL ? hipSuccess : hipErrorInvalidHandle);
}

hipError_t emu_hipArrayGetInfo(struct hipChannelFormatDesc *desc, struct hipExtent *extent,
			       unsigned int *flags, hipArray_t array)
{
	EMU_ENTER(EMU_WORK);
	rt_lock();
	const struct array *a = array_get(array);
	if (a != NULL && desc != NULL)
		*desc = a->desc;
	if (a != NULL && extent != NULL)
		*extent = (struct hipExtent){a->width, a->height, a->depth};
	if (a != NULL && flags != NULL)
		*flags = a->flags;
	rt_unlock();
	return emu_ret(a != NULL ? hipSuccess : hipErrorInvalidHandle);
}

/* --- copies: an array end at an offset (bytes, rows) against a pitched one -------------- */

static hipError_t array_copy(enum hrr_api api, hipArray_t array, size_t x, size_t y, void *other,
			     size_t pitch, size_t width, size_t height, bool to, int kind,
			     hipStream_t stream, bool spt)
{
	struct copy_op c = {.width = width, .height = height, .depth = 1, .use_2d = true};
	struct stream *s;

	rt_lock();
	hipError_t e = stream_get(stream, spt, &s);
	const struct array *a = array_get(array);
	if (e == hipSuccess && a == NULL)
		e = hipErrorInvalidHandle;
	if (e == hipSuccess &&
	    (x > a->width * a->elem || width > a->width * a->elem - x || y > a->rows ||
	     height > a->rows - y || (height > 1 && width > pitch)))
		e = hipErrorInvalidValue;
	if (e == hipSuccess) {
		uint64_t at = a->base + y * a->pitch + x;
		c.dst = to ? at : (uintptr_t)other;
		c.src = to ? (uintptr_t)other : at;
		c.dpitch = to ? a->pitch : pitch;
		c.spitch = to ? pitch : a->pitch;
		e = copy_submit(api, s, &c, kind);
	}
	rt_unlock();
	return e;
}

hipError_t emu_hipMemcpy2DToArray(hipArray_t dst, size_t wOffset, size_t hOffset, void *src,
				  size_t spitch, size_t width, size_t height, int kind)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpy2DToArray, dst, wOffset, hOffset, src, spitch,
				  width, height, true, kind, NULL, false));
}

hipError_t emu_hipMemcpy2DToArray_spt(hipArray_t dst, size_t wOffset, size_t hOffset, void *src,
				      size_t spitch, size_t width, size_t height, int kind)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpy2DToArray_spt, dst, wOffset, hOffset, src,
				  spitch, width, height, true, kind, NULL, true));
}

hipError_t emu_hipMemcpy2DToArrayAsync(hipArray_t dst, size_t wOffset, size_t hOffset, void *src,
				       size_t spitch, size_t width, size_t height, int kind,
				       hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpy2DToArrayAsync, dst, wOffset, hOffset, src,
				  spitch, width, height, true, kind, stream, false));
}

hipError_t emu_hipMemcpy2DFromArray(void *dst, size_t dpitch, hipArray_t src, size_t wOffset,
				    size_t hOffset, size_t width, size_t height, int kind)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpy2DFromArray, src, wOffset, hOffset, dst, dpitch,
				  width, height, false, kind, NULL, false));
}

hipError_t emu_hipMemcpy2DFromArray_spt(void *dst, size_t dpitch, hipArray_t src, size_t wOffset,
					size_t hOffset, size_t width, size_t height, int kind)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpy2DFromArray_spt, src, wOffset, hOffset, dst,
				  dpitch, width, height, false, kind, NULL, true));
}

hipError_t emu_hipMemcpy2DFromArrayAsync(void *dst, size_t dpitch, hipArray_t src, size_t wOffset,
					 size_t hOffset, size_t width, size_t height, int kind,
					 hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpy2DFromArrayAsync, src, wOffset, hOffset, dst,
				  dpitch, width, height, false, kind, stream, false));
}

hipError_t emu_hipMemcpyToArray(hipArray_t dst, size_t wOffset, size_t hOffset, void *src,
				size_t count, int kind)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpyToArray, dst, wOffset, hOffset, src, count,
				  count, 1, true, kind, NULL, false));
}

hipError_t emu_hipMemcpyFromArray(void *dst, hipArray_t srcArray, size_t wOffset, size_t hOffset,
				  size_t count, int kind)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpyFromArray, srcArray, wOffset, hOffset, dst,
				  count, count, 1, false, kind, NULL, false));
}

hipError_t emu_hipMemcpyAtoH(void *dst, hipArray_t srcArray, size_t srcOffset, size_t count)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpyAtoH, srcArray, srcOffset, 0, dst, count, count,
				  1, false, hipMemcpyDeviceToHost, NULL, false));
}

hipError_t emu_hipMemcpyHtoA(hipArray_t dstArray, size_t dstOffset, void *srcHost, size_t count)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpyHtoA, dstArray, dstOffset, 0, srcHost, count,
				  count, 1, true, hipMemcpyHostToDevice, NULL, false));
}

hipError_t emu_hipMemcpyAtoHAsync(void *dstHost, hipArray_t srcArray, size_t srcOffset,
				  size_t ByteCount, hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpyAtoHAsync, srcArray, srcOffset, 0, dstHost,
				  ByteCount, ByteCount, 1, false, hipMemcpyDeviceToHost, stream,
				  false));
}

hipError_t emu_hipMemcpyHtoAAsync(hipArray_t dstArray, size_t dstOffset, void *srcHost,
				  size_t ByteCount, hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpyHtoAAsync, dstArray, dstOffset, 0, srcHost,
				  ByteCount, ByteCount, 1, true, hipMemcpyHostToDevice, stream,
				  false));
}

hipError_t emu_hipMemcpyAtoD(void *dstDevice, hipArray_t srcArray, size_t srcOffset,
			     size_t ByteCount)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpyAtoD, srcArray, srcOffset, 0, dstDevice,
				  ByteCount, ByteCount, 1, false, hipMemcpyDeviceToDevice, NULL,
				  false));
}

hipError_t emu_hipMemcpyDtoA(hipArray_t dstArray, size_t dstOffset, void *srcDevice,
			     size_t ByteCount)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpyDtoA, dstArray, dstOffset, 0, srcDevice,
				  ByteCount, ByteCount, 1, true, hipMemcpyDeviceToDevice, NULL,
				  false));
}

hipError_t emu_hipMemcpyFromArray_spt(void *dst, hipArray_t src, size_t wOffsetSrc, size_t hOffset,
				      size_t count, int kind)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(array_copy(HRR_API_hipMemcpyFromArray_spt, src, wOffsetSrc, hOffset, dst,
				  count, count, 1, false, kind, NULL, true));
}

/* Both ends arrays, at offsets of bytes and rows. */
static hipError_t between(enum hrr_api api, hipArray_t dst, size_t dx, size_t dy, hipArray_t src,
			  size_t sx, size_t sy, size_t width, size_t height)
{
	struct copy_op c = {.width = width, .height = height, .depth = 1, .use_2d = true};
	struct stream *s;

	rt_lock();
	hipError_t e = stream_get(NULL, false, &s);
	const struct array *d = array_get(dst), *from = array_get(src);
	if (e == hipSuccess && (d == NULL || from == NULL))
		e = hipErrorInvalidHandle;
	if (e == hipSuccess &&
	    (dx > d->width * d->elem || width > d->width * d->elem - dx || dy > d->rows ||
	     height > d->rows - dy || sx > from->width * from->elem ||
	     width > from->width * from->elem - sx || sy > from->rows || height > from->rows - sy))
		e = hipErrorInvalidValue;
	if (e == hipSuccess) {
		c.dst = d->base + dy * d->pitch + dx;
		c.src = from->base + sy * from->pitch + sx;
		c.dpitch = d->pitch;
		c.spitch = from->pitch;
		e = copy_submit(api, s, &c, hipMemcpyDeviceToDevice);
	}
	rt_unlock();
	return e;
}

hipError_t emu_hipMemcpyAtoA(hipArray_t dstArray, size_t dstOffset, hipArray_t srcArray,
			     size_t srcOffset, size_t ByteCount)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(between(HRR_API_hipMemcpyAtoA, dstArray, dstOffset, 0, srcArray, srcOffset,
			       0, ByteCount, 1));
}

hipError_t emu_hipMemcpy2DArrayToArray(hipArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
				       hipArray_t src, size_t wOffsetSrc, size_t hOffsetSrc,
				       size_t width, size_t height, int kind)
{
	(void)kind;
	EMU_ENTER(EMU_WORK);
	return emu_ret(between(HRR_API_hipMemcpy2DArrayToArray, dst, wOffsetDst, hOffsetDst, src,
			       wOffsetSrc, hOffsetSrc, width, height));
}
