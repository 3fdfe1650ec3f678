#include "lib/emu/runtime/copy.h"

/* The whole of a call, plain or asynchronous: which it is, is known by its name (set_submit). */
static hipError_t set(enum hrr_api api, struct set_op op, hipStream_t stream, bool spt)
{
	struct stream *s;

	EMU_ENTER(EMU_WORK);
	rt_lock();
	hipError_t e = stream_get(stream, spt, &s);
	if (e == hipSuccess)
		e = set_submit(api, s, &op);
	rt_unlock();
	return emu_ret(e);
}

static struct set_op line(void *dst, uint32_t value, unsigned elem, size_t n)
{
	return (struct set_op){.dst = (uintptr_t)dst,
			       .value = value,
			       .elem = elem,
			       .width = n,
			       .height = 1,
			       .depth = 1};
}

hipError_t emu_hipMemset(void *dst, int value, size_t sizeBytes)
{
	return set(HRR_API_hipMemset, line(dst, (uint32_t)value, 1, sizeBytes), NULL, false);
}

hipError_t emu_hipMemset_spt(void *dst, int value, size_t sizeBytes)
{
	return set(HRR_API_hipMemset_spt, line(dst, (uint32_t)value, 1, sizeBytes), NULL, true);
}

hipError_t emu_hipMemsetAsync(void *dst, int value, size_t sizeBytes, hipStream_t stream)
{
	return set(HRR_API_hipMemsetAsync, line(dst, (uint32_t)value, 1, sizeBytes), stream, false);
}

hipError_t emu_hipMemsetD8(void *dest, unsigned char value, size_t count)
{
	return set(HRR_API_hipMemsetD8, line(dest, value, 1, count), NULL, false);
}

hipError_t emu_hipMemsetD8Async(void *dest, unsigned char value, size_t count, hipStream_t stream)
{
	return set(HRR_API_hipMemsetD8Async, line(dest, value, 1, count), stream, false);
}

hipError_t emu_hipMemsetD16(void *dest, unsigned short value, size_t count)
{
	return set(HRR_API_hipMemsetD16, line(dest, value, 2, count), NULL, false);
}

hipError_t emu_hipMemsetD16Async(void *dest, unsigned short value, size_t count, hipStream_t stream)
{
	return set(HRR_API_hipMemsetD16Async, line(dest, value, 2, count), stream, false);
}

hipError_t emu_hipMemsetD32(void *dest, int value, size_t count)
{
	return set(HRR_API_hipMemsetD32, line(dest, (uint32_t)value, 4, count), NULL, false);
}

hipError_t emu_hipMemsetD32Async(void *dst, int value, size_t count, hipStream_t stream)
{
	return set(HRR_API_hipMemsetD32Async, line(dst, (uint32_t)value, 4, count), stream, false);
}

static struct set_op rectangle(void *dst, size_t pitch, uint32_t value, unsigned elem, size_t width,
			       size_t height)
{
	return (struct set_op){.dst = (uintptr_t)dst,
			       .pitch = pitch,
			       .value = value,
			       .elem = elem,
			       .width = width,
			       .height = height,
			       .depth = 1};
}

hipError_t emu_hipMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
	return set(HRR_API_hipMemset2D, rectangle(dst, pitch, (uint32_t)value, 1, width, height),
		   NULL, false);
}

hipError_t emu_hipMemset2D_spt(void *dst, size_t pitch, int value, size_t width, size_t height)
{
	return set(HRR_API_hipMemset2D_spt,
		   rectangle(dst, pitch, (uint32_t)value, 1, width, height), NULL, true);
}

hipError_t emu_hipMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height,
				hipStream_t stream)
{
	return set(HRR_API_hipMemset2DAsync,
		   rectangle(dst, pitch, (uint32_t)value, 1, width, height), stream, false);
}

static struct set_op box(const struct hipPitchedPtr *p, int value, const struct hipExtent *e)
{
	return (struct set_op){.dst = (uintptr_t)p->ptr,
			       .pitch = p->pitch,
			       .slice = p->pitch * p->ysize,
			       .value = (uint32_t)value,
			       .elem = 1,
			       .width = e->width,
			       .height = e->height,
			       .depth = e->depth};
}

hipError_t emu_hipMemset3D(struct hipPitchedPtr pitchedDevPtr, int value, struct hipExtent extent)
{
	return set(HRR_API_hipMemset3D, box(&pitchedDevPtr, value, &extent), NULL, false);
}

hipError_t emu_hipMemset3D_spt(struct hipPitchedPtr pitchedDevPtr, int value,
			       struct hipExtent extent)
{
	return set(HRR_API_hipMemset3D_spt, box(&pitchedDevPtr, value, &extent), NULL, true);
}

hipError_t emu_hipMemset3DAsync(struct hipPitchedPtr pitchedDevPtr, int value,
				struct hipExtent extent, hipStream_t stream)
{
	return set(HRR_API_hipMemset3DAsync, box(&pitchedDevPtr, value, &extent), stream, false);
}

hipError_t emu_hipMemsetD2D8(void *dst, size_t dstPitch, unsigned char value, size_t width,
			     size_t height)
{
	return set(HRR_API_hipMemsetD2D8, rectangle(dst, dstPitch, value, 1, width, height), NULL,
		   false);
}

hipError_t emu_hipMemsetD2D8Async(void *dst, size_t dstPitch, unsigned char value, size_t width,
				  size_t height, hipStream_t stream)
{
	return set(HRR_API_hipMemsetD2D8Async, rectangle(dst, dstPitch, value, 1, width, height),
		   stream, false);
}

hipError_t emu_hipMemsetD2D16(void *dst, size_t dstPitch, unsigned short value, size_t width,
			      size_t height)
{
	return set(HRR_API_hipMemsetD2D16, rectangle(dst, dstPitch, value, 2, width, height), NULL,
		   false);
}

hipError_t emu_hipMemsetD2D16Async(void *dst, size_t dstPitch, unsigned short value, size_t width,
				   size_t height, hipStream_t stream)
{
	return set(HRR_API_hipMemsetD2D16Async, rectangle(dst, dstPitch, value, 2, width, height),
		   stream, false);
}

hipError_t emu_hipMemsetD2D32(void *dst, size_t dstPitch, unsigned int value, size_t width,
			      size_t height)
{
	return set(HRR_API_hipMemsetD2D32, rectangle(dst, dstPitch, value, 4, width, height), NULL,
		   false);
}

hipError_t emu_hipMemsetD2D32Async(void *dst, size_t dstPitch, unsigned int value, size_t width,
				   size_t height, hipStream_t stream)
{
	return set(HRR_API_hipMemsetD2D32Async, rectangle(dst, dstPitch, value, 4, width, height),
		   stream, false);
}
