#include "lib/emu/runtime/advice.h"
#include "lib/emu/runtime/sched.h"

/* --- hints about managed memory ---------------------------------------------------------- */

/* The managed range that holds all of [p, p + n), or NULL; under rt.lock. */
static struct range *managed(const void *p, size_t n)
{
	struct range *r = range_find((uintptr_t)p);
	bool ok =
	    r != NULL && n > 0 && r->kind == RANGE_MANAGED && n <= r->base + r->size - (uintptr_t)p;

	return ok ? r : NULL;
}

hipError_t emu_hipMemAdvise(void *dev_ptr, size_t count, int advice, int device)
{
	bool any = advice == hipMemAdviseSetReadMostly || advice == hipMemAdviseUnsetReadMostly;

	EMU_ENTER(EMU_WORK);
	/* -1: the CPU; nobody asks where what is mostly read lies */
	if (device != -1 && !any && !rt_device_ok(device))
		return emu_ret(hipErrorInvalidDevice);
	if (advice < hipMemAdviseSetReadMostly ||
	    (advice > hipMemAdviseUnsetAccessedBy && advice < hipMemAdviseSetCoarseGrain) ||
	    advice > hipMemAdviseUnsetCoarseGrain)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct range *r = managed(dev_ptr, count);
	hipError_t e = hipErrorInvalidValue;
	if (r != NULL)
		e = rt_error(advice_take(r, (uintptr_t)dev_ptr, count, advice, any ? 0 : device));
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipMemPrefetchAsync(void *dev_ptr, size_t count, int device, hipStream_t stream)
{
	struct stream *s;

	EMU_ENTER(EMU_WORK);
	if (device != -1 && !rt_device_ok(device))
		return emu_ret(hipErrorInvalidDevice);
	rt_lock();
	struct range *r = managed(dev_ptr, count);
	hipError_t e = hipErrorInvalidValue;
	if (r != NULL)
		e = stream_get(stream, false, &s);
	if (e == hipSuccess)
		e = rt_error(advice_prefetched(r, (uintptr_t)dev_ptr, count, device));
	rt_unlock();
	return emu_ret(e);
}

/* One attribute or more of one part; nothing is written when the part is not managed memory. */
static hipError_t ask(void *const *data, const size_t *sizes, const int *which, size_t n,
		      const void *p, size_t count)
{
	rt_lock();
	const struct range *r = managed(p, count);
	bool ok = r != NULL;
	for (size_t i = 0; ok && i < n; i++)
		ok = data[i] != NULL &&
		     advice_ask(r, (uintptr_t)p, count, which[i], data[i], sizes[i]);
	rt_unlock();
	return ok ? hipSuccess : hipErrorInvalidValue;
}

hipError_t emu_hipMemRangeGetAttribute(void *data, size_t data_size, int attribute, void *dev_ptr,
				       size_t count)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(ask(&data, &data_size, &attribute, 1, dev_ptr, count));
}

hipError_t emu_hipMemRangeGetAttributes(void *data, void *data_sizes, void *attributes,
					size_t num_attributes, void *dev_ptr, size_t count)
{
	EMU_ENTER(EMU_WORK);
	if (data == NULL || data_sizes == NULL || attributes == NULL || num_attributes == 0)
		return emu_ret(hipErrorInvalidValue);
	return emu_ret(ask(data, data_sizes, attributes, num_attributes, dev_ptr, count));
}

hipError_t emu_hipStreamAttachMemAsync(hipStream_t stream, void *dev_ptr, size_t length,
				       unsigned int flags)
{
	struct stream *s;

	EMU_ENTER(EMU_WORK);
	if (dev_ptr == NULL || (flags != 1 && flags != 2 && flags != 4))
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e = stream_get(stream, false, &s);
	const struct range *r = range_find((uintptr_t)dev_ptr);
	if (e == hipSuccess &&
	    (r == NULL || r->kind != RANGE_MANAGED || (length != 0 && length != r->size)))
		e = hipErrorInvalidValue;
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipMemAdvise_v2(void *dev_ptr, size_t count, int advice,
			       struct hipMemLocation device)
{
	/* Anything but a device is the host, by whatever node. */
	return emu_hipMemAdvise(dev_ptr, count, advice,
				device.type == hipMemLocationTypeDevice ? device.id : -1);
}

hipError_t emu_hipMemPrefetchAsync_v2(void *dev_ptr, size_t count, struct hipMemLocation location,
				      unsigned int flags, hipStream_t stream)
{
	if (flags != 0) {
		EMU_ENTER(EMU_WORK);
		return emu_ret(hipErrorInvalidValue);
	}
	return emu_hipMemPrefetchAsync(
	    dev_ptr, count, location.type == hipMemLocationTypeDevice ? location.id : -1, stream);
}
