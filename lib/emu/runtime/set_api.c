#include "lib/emu/runtime/copy.h"

static hipError_t set(enum hrr_api api, const struct set_op *op, hipStream_t stream, bool spt)
{
	struct stream *s;

	rt_lock();
	hipError_t e = stream_get(stream, spt, &s);
	if (e == hipSuccess)
		e = set_submit(api, s, op);
	rt_unlock();
	return e;
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

#define SET_LINE(name, dst, value, elem, n, stream, spt)          \
	EMU_ENTER(EMU_WORK);                                      \
	struct set_op op = line(dst, (uint32_t)(value), elem, n); \
	return emu_ret(set(HRR_API_##name, &op, stream, spt))

hipError_t emu_hipMemset(void *dst, int value, size_t sizeBytes)
{
	SET_LINE(hipMemset, dst, value, 1, sizeBytes, NULL, false);
}

hipError_t emu_hipMemset_spt(void *dst, int value, size_t sizeBytes)
{
	SET_LINE(hipMemset_spt, dst, value, 1, sizeBytes, NULL, true);
}

hipError_t emu_hipMemsetAsync(void *dst, int value, size_t sizeBytes, hipStream_t stream)
{
	SET_LINE(hipMemsetAsync, dst, value, 1, sizeBytes, stream, false);
}

hipError_t emu_hipMemsetD8(void *dest, unsigned char value, size_t count)
{
	SET_LINE(hipMemsetD8, dest, value, 1, count, NULL, false);
}

hipError_t emu_hipMemsetD8Async(void *dest, unsigned char value, size_t count, hipStream_t stream)
{
	SET_LINE(hipMemsetD8Async, dest, value, 1, count, stream, false);
}

hipError_t emu_hipMemsetD16(void *dest, unsigned short value, size_t count)
{
	SET_LINE(hipMemsetD16, dest, value, 2, count, NULL, false);
}

hipError_t emu_hipMemsetD16Async(void *dest, unsigned short value, size_t count, hipStream_t stream)
{
	SET_LINE(hipMemsetD16Async, dest, value, 2, count, stream, false);
}

hipError_t emu_hipMemsetD32(void *dest, int value, size_t count)
{
	SET_LINE(hipMemsetD32, dest, value, 4, count, NULL, false);
}

hipError_t emu_hipMemsetD32Async(void *dst, int value, size_t count, hipStream_t stream)
{
	SET_LINE(hipMemsetD32Async, dst, value, 4, count, stream, false);
}

static struct set_op rectangle(void *dst, size_t pitch, int value, size_t width, size_t height)
{
	return (struct set_op){.dst = (uintptr_t)dst,
			       .pitch = pitch,
			       .value = (uint32_t)value,
			       .elem = 1,
			       .width = width,
			       .height = height,
			       .depth = 1};
}

hipError_t emu_hipMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
	EMU_ENTER(EMU_WORK);
	struct set_op op = rectangle(dst, pitch, value, width, height);
	return emu_ret(set(HRR_API_hipMemset2D, &op, NULL, false));
}

hipError_t emu_hipMemset2D_spt(void *dst, size_t pitch, int value, size_t width, size_t height)
{
	EMU_ENTER(EMU_WORK);
	struct set_op op = rectangle(dst, pitch, value, width, height);
	return emu_ret(set(HRR_API_hipMemset2D_spt, &op, NULL, true));
}

hipError_t emu_hipMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height,
				hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	struct set_op op = rectangle(dst, pitch, value, width, height);
	return emu_ret(set(HRR_API_hipMemset2DAsync, &op, stream, false));
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
	EMU_ENTER(EMU_WORK);
	struct set_op op = box(&pitchedDevPtr, value, &extent);
	return emu_ret(set(HRR_API_hipMemset3D, &op, NULL, false));
}

hipError_t emu_hipMemset3D_spt(struct hipPitchedPtr pitchedDevPtr, int value,
			       struct hipExtent extent)
{
	EMU_ENTER(EMU_WORK);
	struct set_op op = box(&pitchedDevPtr, value, &extent);
	return emu_ret(set(HRR_API_hipMemset3D_spt, &op, NULL, true));
}

hipError_t emu_hipMemset3DAsync(struct hipPitchedPtr pitchedDevPtr, int value,
				struct hipExtent extent, hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	struct set_op op = box(&pitchedDevPtr, value, &extent);
	return emu_ret(set(HRR_API_hipMemset3DAsync, &op, stream, false));
}

hipError_t emu_hipMemsetD2D8(void *dst, size_t dstPitch, unsigned char value, size_t width,
			     size_t height)
{
	EMU_ENTER(EMU_WORK);
	struct set_op op = rectangle(dst, dstPitch, (int)value, width, height);
	op.elem = 1;
	return emu_ret(set(HRR_API_hipMemsetD2D8, &op, NULL, false));
}

hipError_t emu_hipMemsetD2D8Async(void *dst, size_t dstPitch, unsigned char value, size_t width,
				  size_t height, hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	struct set_op op = rectangle(dst, dstPitch, (int)value, width, height);
	op.elem = 1;
	return emu_ret(set(HRR_API_hipMemsetD2D8Async, &op, stream, false));
}

hipError_t emu_hipMemsetD2D16(void *dst, size_t dstPitch, unsigned short value, size_t width,
			      size_t height)
{
	EMU_ENTER(EMU_WORK);
	struct set_op op = rectangle(dst, dstPitch, (int)value, width, height);
	op.elem = 2;
	return emu_ret(set(HRR_API_hipMemsetD2D16, &op, NULL, false));
}

hipError_t emu_hipMemsetD2D16Async(void *dst, size_t dstPitch, unsigned short value, size_t width,
				   size_t height, hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	struct set_op op = rectangle(dst, dstPitch, (int)value, width, height);
	op.elem = 2;
	return emu_ret(set(HRR_API_hipMemsetD2D16Async, &op, stream, false));
}

hipError_t emu_hipMemsetD2D32(void *dst, size_t dstPitch, unsigned int value, size_t width,
			      size_t height)
{
	EMU_ENTER(EMU_WORK);
	struct set_op op = rectangle(dst, dstPitch, (int)value, width, height);
	op.elem = 4;
	return emu_ret(set(HRR_API_hipMemsetD2D32, &op, NULL, false));
}

hipError_t emu_hipMemsetD2D32Async(void *dst, size_t dstPitch, unsigned int value, size_t width,
				   size_t height, hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	struct set_op op = rectangle(dst, dstPitch, (int)value, width, height);
	op.elem = 4;
	return emu_ret(set(HRR_API_hipMemsetD2D32Async, &op, stream, false));
}
