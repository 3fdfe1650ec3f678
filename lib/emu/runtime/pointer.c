#include "lib/emu/runtime/mem.h"

#include <string.h>

#include "lib/emu/runtime/sched.h"

/* Questions about addresses. */

/* Memory types: unregistered, host, device, managed; the numbers differ by major. */
enum { T_NONE, T_HOST, T_DEVICE, T_MANAGED };

static int type_number(int t)
{
	static const int five[] = {0, 0, 1, 3}, six[] = {0, 1, 2, 3};

	return rt.major >= 6 ? six[t] : five[t];
}

static int type_of(const struct range *r)
{
	if (r->kind == RANGE_MANAGED)
		return T_MANAGED;
	return r->device < 0 ? T_HOST : T_DEVICE;
}

hipError_t emu_hipPointerGetAttributes(struct hipPointerAttribute_t *attributes, void *ptr)
{
	struct hipPointerAttribute_t a = {0};
	hipError_t e = hipSuccess;

	EMU_ENTER(EMU_WORK);
	if (attributes == NULL || ptr == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	const struct range *r = range_find((uintptr_t)ptr);
	if (r != NULL) {
		int t = type_of(r);
		a.memoryType = type_number(t);
		a.device = r->device >= 0 ? r->device : emu_thread.device;
		a.devicePointer = ptr;
		a.hostPointer = t == T_DEVICE ? NULL : ptr;
		a.isManaged = t == T_MANAGED;
		a.allocationFlags = r->flags;
	} else if (rt.major >= 6) {
		a.memoryType = type_number(T_NONE);
		a.device = -2; /* hipInvalidDeviceId */
	} else {
		e = hipErrorInvalidValue;
	}
	rt_unlock();
	if (e == hipSuccess)
		*attributes = a;
	return emu_ret(e);
}

/* One attribute, stored with its own width. rt.lock held. */
static hipError_t get(void *data, int attribute, uint64_t addr)
{
	const struct range *r = range_find(addr);
	uint64_t v = 0;
	size_t size = 4;

	switch (attribute) {
	case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
		v = (uint64_t)(r != NULL ? type_number(type_of(r)) : 0);
		break;
	case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
		v = addr;
		size = 8;
		break;
	case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
		v = r != NULL && type_of(r) != T_DEVICE ? addr : 0;
		size = 8;
		if (v == 0)
			return hipErrorInvalidValue;
		break;
	case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
		v = r != NULL ? r->serial : 0;
		size = 8;
		break;
	case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
		v = r != NULL && r->kind == RANGE_MANAGED;
		size = 1;
		break;
	case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		v = (uint64_t)(r != NULL && r->device >= 0 ? r->device : 0);
		break;
	case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		v = r != NULL ? r->base : 0;
		size = 8;
		break;
	case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
		v = r != NULL ? r->size : 0;
		break;
	case HIP_POINTER_ATTRIBUTE_MAPPED:
		v = r != NULL;
		size = 1;
		break;
	case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
	case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		size = 1;
		break;
	case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		break;
	case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		v = r != NULL ? 3 : 0;
		break;
	case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		v = r != NULL && r->kind == RANGE_POOL ? (uintptr_t)r->owner : 0;
		size = 8;
		break;
	default:
		return hipErrorInvalidValue;
	}
	if (r == NULL && attribute != HIP_POINTER_ATTRIBUTE_MAPPED)
		return hipErrorInvalidValue;
	memcpy(data, &v, size);
	return hipSuccess;
}

hipError_t emu_hipPointerGetAttribute(void *data, int attribute, void *ptr)
{
	EMU_ENTER(EMU_WORK);
	if (data == NULL || ptr == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e = get(data, attribute, (uintptr_t)ptr);
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipDrvPointerGetAttributes(unsigned int numAttributes, void *attributes, void *data,
					  void *ptr)
{
	const int *which = attributes;
	void **to = data;

	EMU_ENTER(EMU_WORK);
	if (numAttributes == 0 || which == NULL || to == NULL || ptr == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	/* One that has no answer for this pointer is left empty; that is no error here. */
	for (unsigned i = 0; i < numAttributes; i++)
		if (to[i] != NULL && get(to[i], which[i], (uintptr_t)ptr) != hipSuccess)
			memset(to[i], 0, 1);
	rt_unlock();
	return emu_ret(hipSuccess);
}

hipError_t emu_hipMemGetAddressRange(void **pbase, size_t *psize, void *dptr)
{
	EMU_ENTER(EMU_WORK);
	rt_lock();
	const struct range *r = range_find((uintptr_t)dptr);
	bool ok = r != NULL && r->kind != RANGE_LAUNCH;
	if (ok && pbase != NULL)
		*pbase = (void *)(uintptr_t)r->base;
	if (ok && psize != NULL)
		*psize = r->size;
	rt_unlock();
	return emu_ret(ok ? hipSuccess : hipErrorInvalidDevicePointer);
}

hipError_t emu_hipMemPtrGetInfo(void *ptr, size_t *size)
{
	EMU_ENTER(EMU_WORK);
	if (size == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (ptr == NULL) {
		*size = 0;
		return emu_ret(hipSuccess);
	}
	rt_lock();
	const struct range *r = range_find((uintptr_t)ptr);
	if (r != NULL)
		*size = r->size;
	rt_unlock();
	return emu_ret(r != NULL ? hipSuccess : hipErrorInvalidValue);
}
