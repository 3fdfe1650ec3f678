#include "lib/emu/runtime/mem.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/range.h"
#include "lib/emu/runtime/sched.h"
#include "lib/emu/runtime/va.h"

/*
 * Virtual memory management: numbers (reservations), memory (handles) and the
 * mappings between them. A page is the granule, so that any address a recording
 * may hold can be reserved exactly; a hint is honoured exactly when it is free.
 */
#define RECOMMENDED ((size_t)2 << 20)

struct memhandle {
	uint64_t size;
	unsigned char *storage; /* owned */
	int device;
	unsigned handles, maps;
	struct hipMemAllocationProp prop;
};

static struct hrr_ranges *reservations;

/* A property structure, whose layout is another from major 6 on. */
struct prop6 {
	int type, handle_type, location_type, location_id;
	void *win32;
	unsigned char compression, rdma;
	unsigned short usage;
};

static void read_prop(const struct hipMemAllocationProp *p, int *type, int *location_type, int *id,
		      int *handle_type)
{
	if (rt.major >= 6) {
		struct prop6 six;
		memcpy(&six, p, sizeof six);
		*type = six.type;
		*location_type = six.location_type;
		*id = six.location_id;
		*handle_type = six.handle_type;
		return;
	}
	*type = p->type;
	*location_type = p->location.type;
	*id = p->location.id;
	*handle_type = p->requestedHandleType;
}

static hipError_t check_prop(const struct hipMemAllocationProp *p, int *ret_device)
{
	int type, location, handle_type;

	if (p == NULL)
		return hipErrorInvalidValue;
	read_prop(p, &type, &location, ret_device, &handle_type);
	if (type != hipMemAllocationTypePinned || location != hipMemLocationTypeDevice)
		return hipErrorInvalidValue;
	return rt_device_ok(*ret_device) ? hipSuccess : hipErrorInvalidDevice;
}

hipError_t emu_hipMemGetAllocationGranularity(size_t *granularity,
					      struct hipMemAllocationProp *prop, int option)
{
	int device;

	EMU_ENTER(EMU_WORK);
	if (granularity == NULL || option < 0 || option > hipMemAllocationGranularityRecommended)
		return emu_ret(hipErrorInvalidValue);
	hipError_t e = check_prop(prop, &device);
	if (e == hipSuccess)
		*granularity =
		    option == hipMemAllocationGranularityMinimum ? EMU_PAGE : RECOMMENDED;
	return emu_ret(e);
}

hipError_t emu_hipMemAddressReserve(void **ptr, size_t size, size_t alignment, void *addr,
				    uint64_t flags)
{
	uint64_t at = (uintptr_t)addr;

	EMU_ENTER(EMU_WORK);
	if (ptr == NULL || size == 0 || size % EMU_PAGE != 0 || flags != 0 ||
	    (alignment & (alignment - 1)) != 0)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	if (reservations == NULL)
		reservations = hrr_ranges_new();
	int rc = reservations == NULL ? -1 : 0;
	/* A wish that cannot be had is no error: another address comes back. */
	if (rc == 0 && (at == 0 || va_reserve(at, size) < 0))
		rc = va_alloc(size, alignment, &at);
	if (rc == 0 && (rc = hrr_ranges_add(reservations, at, size, NULL)) < 0)
		va_free(at);
	rt_unlock();
	if (rc < 0)
		return emu_ret(hipErrorOutOfMemory);
	*ptr = (void *)(uintptr_t)at;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipMemAddressFree(void *devPtr, size_t size)
{
	uint64_t at = (uintptr_t)devPtr;

	EMU_ENTER(EMU_ANY);
	rt_lock();
	const struct hrr_range *r = reservations != NULL ? hrr_ranges_at(reservations, at) : NULL;
	hipError_t e = r != NULL && r->size == size && range_overlap(at, size) == NULL
			   ? hipSuccess
			   : hipErrorInvalidValue;
	if (e == hipSuccess) {
		hrr_ranges_del(reservations, at, NULL);
		va_free(at);
	}
	rt_unlock();
	return emu_ret(e);
}

/* --- memory ------------------------------------------------------------------------- */

static struct memhandle *handle_get(hipMemGenericAllocationHandle_t h)
{
	return handle_is(HANDLE_MEM, h) ? (struct memhandle *)(void *)h : NULL;
}

static void handle_drop(struct memhandle *h)
{
	if (h->handles > 0 || h->maps > 0)
		return;
	rt.dev[h->device].used -= h->size;
	storage_free(h->storage, h->size);
	free(h);
}

hipError_t emu_hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t size,
			    struct hipMemAllocationProp *prop, uint64_t flags)
{
	int device;

	EMU_ENTER(EMU_UNSAFE);
	if (handle == NULL || size == 0 || size % EMU_PAGE != 0 || flags != 0)
		return emu_ret(hipErrorInvalidValue);
	hipError_t e = check_prop(prop, &device);
	if (e != hipSuccess)
		return emu_ret(e);
	struct memhandle *h = calloc(1, sizeof *h);
	rt_lock();
	struct device *d = &rt.dev[device];
	if (h == NULL || size > rt.memory || d->used > rt.memory - size ||
	    (h->storage = storage_new(size, rt.fill)) == NULL || handle_add(HANDLE_MEM, h) < 0) {
		if (h != NULL)
			storage_free(h->storage, size);
		free(h);
		h = NULL;
	} else {
		h->size = size;
		h->device = device;
		h->handles = 1;
		memcpy(&h->prop, prop, sizeof h->prop);
		d->used += size;
	}
	rt_unlock();
	if (h == NULL)
		return emu_ret(hipErrorOutOfMemory);
	*handle = (hipMemGenericAllocationHandle_t)(void *)h;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipMemRelease(hipMemGenericAllocationHandle_t handle)
{
	EMU_ENTER(EMU_ANY);
	rt_lock();
	struct memhandle *h = handle_get(handle);
	if (h != NULL && --h->handles == 0) {
		handle_del(h);
		handle_drop(h); /* or when the last mapping goes */
	}
	rt_unlock();
	return emu_ret(h != NULL ? hipSuccess : hipErrorInvalidValue);
}

hipError_t emu_hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t *handle, void *addr)
{
	EMU_ENTER(EMU_WORK);
	if (handle == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	const struct range *r = range_find((uintptr_t)addr);
	struct memhandle *h = r != NULL && r->kind == RANGE_VMM ? r->owner : NULL;
	if (h != NULL && h->handles == 0 && handle_add(HANDLE_MEM, h) < 0)
		h = NULL;
	if (h != NULL) {
		h->handles++;
		*handle = (hipMemGenericAllocationHandle_t)(void *)h;
	}
	rt_unlock();
	return emu_ret(h != NULL ? hipSuccess : hipErrorInvalidValue);
}

hipError_t emu_hipMemGetAllocationPropertiesFromHandle(struct hipMemAllocationProp *prop,
						       hipMemGenericAllocationHandle_t handle)
{
	EMU_ENTER(EMU_WORK);
	rt_lock();
	const struct memhandle *h = handle_get(handle);
	if (h != NULL && prop != NULL)
		memcpy(prop, &h->prop, sizeof *prop);
	rt_unlock();
	return emu_ret(h != NULL && prop != NULL ? hipSuccess : hipErrorInvalidValue);
}

/* --- mappings ------------------------------------------------------------------------- */

static hipError_t map(uint64_t at, size_t size, size_t offset, struct memhandle *h)
{
	const struct hrr_range *v = reservations != NULL ? hrr_ranges_find(reservations, at) : NULL;

	if (v == NULL || size == 0 || ((at | size | offset) & (EMU_PAGE - 1)) != 0 ||
	    size > v->base + v->size - at || offset > h->size || size > h->size - offset)
		return hipErrorInvalidValue;
	struct range *r = calloc(1, sizeof *r);
	if (r == NULL)
		return hipErrorOutOfMemory;
	*r = (struct range){.base = at,
			    .size = size,
			    .host = h->storage + offset,
			    .kind = RANGE_VMM,
			    .device = h->device,
			    .api = "hipMemMap",
			    .owner = h};
	int rc = range_add(r);
	if (rc < 0)
		return rt_error(rc);
	h->maps++;
	return hipSuccess;
}

hipError_t emu_hipMemMap(void *ptr, size_t size, size_t offset,
			 hipMemGenericAllocationHandle_t handle, uint64_t flags)
{
	EMU_ENTER(EMU_WORK);
	if (flags != 0)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct memhandle *h = handle_get(handle);
	hipError_t e = h != NULL ? map((uintptr_t)ptr, size, offset, h) : hipErrorInvalidValue;
	rt_unlock();
	return emu_ret(e);
}

/* Whether [at, at + size) is exactly a row of whole mappings. */
static bool whole(uint64_t at, size_t size)
{
	uint64_t end = at + size;

	if (size == 0 || end < at)
		return false;
	while (at < end) {
		const struct range *r = range_at(at);
		if (r == NULL || r->kind != RANGE_VMM || r->size > end - at)
			return false;
		at += r->size;
	}
	return true;
}

hipError_t emu_hipMemUnmap(void *ptr, size_t size)
{
	uint64_t at = (uintptr_t)ptr, end = at + size;

	EMU_ENTER(EMU_ANY);
	rt_lock();
	/* What runs now keeps its memory; what is queued meets the fault it deserves. */
	sched_quiesce();
	bool ok = whole(at, size);
	while (ok && at < end) {
		struct range *r = range_at(at);
		struct memhandle *h = r->owner;
		at += r->size;
		range_del(r, "hipMemUnmap");
		h->maps--;
		handle_drop(h);
	}
	rt_unlock();
	return emu_ret(ok ? hipSuccess : hipErrorInvalidValue);
}

hipError_t emu_hipMemSetAccess(void *ptr, size_t size, struct hipMemAccessDesc *desc, size_t count)
{
	uint64_t at = (uintptr_t)ptr, end = at + size;

	EMU_ENTER(EMU_WORK);
	if (desc == NULL || count == 0)
		return emu_ret(hipErrorInvalidValue);
	for (size_t i = 0; i < count; i++)
		if (desc[i].location.type != hipMemLocationTypeDevice ||
		    !rt_device_ok(desc[i].location.id) ||
		    (desc[i].flags != hipMemAccessFlagsProtNone &&
		     desc[i].flags != hipMemAccessFlagsProtRead &&
		     desc[i].flags != hipMemAccessFlagsProtReadWrite))
			return emu_ret(hipErrorInvalidValue);
	rt_lock();
	sched_quiesce();
	bool ok = whole(at, size);
	while (ok && at < end) {
		struct range *r = range_at(at);
		for (size_t i = 0; i < count; i++) {
			uint32_t bit = 1u << desc[i].location.id;
			r->access = desc[i].flags != hipMemAccessFlagsProtNone ? r->access | bit
									       : r->access & ~bit;
			r->readable = desc[i].flags != hipMemAccessFlagsProtNone;
			r->writable = desc[i].flags == hipMemAccessFlagsProtReadWrite;
		}
		at += r->size;
	}
	rt_unlock();
	return emu_ret(ok ? hipSuccess : hipErrorInvalidValue);
}

hipError_t emu_hipMemGetAccess(uint64_t *flags, struct hipMemLocation *location, void *ptr)
{
	hipError_t e = hipErrorInvalidValue;

	EMU_ENTER(EMU_WORK);
	rt_lock();
	const struct range *r = range_find((uintptr_t)ptr);
	if (flags != NULL && location != NULL && rt_device_ok(location->id) && r != NULL &&
	    r->kind == RANGE_VMM) {
		*flags = !(r->access >> location->id & 1) ? hipMemAccessFlagsProtNone
			 : r->writable			  ? hipMemAccessFlagsProtReadWrite
							  : hipMemAccessFlagsProtRead;
		e = hipSuccess;
	}
	rt_unlock();
	return emu_ret(e);
}
