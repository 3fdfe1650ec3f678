#include "lib/emu/runtime/mem.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "lib/emu/runtime/capture.h"
#include "lib/emu/runtime/graph.h"
#include "lib/emu/runtime/memcheck.h"
#include "lib/emu/runtime/pool.h"
#include "lib/emu/runtime/sched.h"
#include "lib/emu/runtime/va.h"

#define PITCH 256u
/* What is as large begins at a multiple, as on hardware: malloc in kernels goes by it. */
#define LARGE_PAGE ((uint64_t)2 << 20)

static bool on_host(enum range_kind kind)
{
	return kind == RANGE_PINNED || kind == RANGE_MANAGED || kind == RANGE_HSA_HOST;
}

/* Where a range of this kind is counted, or NULL. */
static uint64_t *used_by(enum range_kind kind, int device)
{
	if (device < 0 || kind == RANGE_LAUNCH)
		return NULL;
	return kind == RANGE_CODE ? &rt.dev[device].code : &rt.dev[device].used;
}

hipError_t mem_new(enum range_kind kind, int device, uint64_t size, unsigned flags, const char *api,
		   struct range **ret_range)
{
	uint64_t *used = used_by(kind, device);
	struct range *r;

	if (used != NULL && (size > rt.memory || *used > rt.memory - size))
		return hipErrorOutOfMemory;
	if (size > (uint64_t)1 << 46 || (r = calloc(1, sizeof *r)) == NULL)
		return hipErrorOutOfMemory;
	*r = (struct range){.size = size,
			    .kind = kind,
			    .device = device,
			    .readable = true,
			    .writable = true,
			    .flags = flags,
			    .shared = on_host(kind),
			    .access = device >= 0 ? 1u << device : 0,
			    .api = api};
	if (on_host(kind)) {
		/* Whole pages, as a driver pins them; the range keeps the exact size. */
		r->host =
		    storage_new((size + EMU_PAGE - 1) / EMU_PAGE * EMU_PAGE + (64 << 10), rt.fill);
		r->base = (uintptr_t)r->host;
		written_gone(r->host); /* the program writes it without us */
	} else {
		r->host = storage_new(size, rt.fill);
		if (r->host != NULL &&
		    va_alloc(size, size >= LARGE_PAGE ? LARGE_PAGE : 0, &r->base) < 0) {
			storage_free(r->host, size);
			r->host = NULL;
		}
	}
	if (r->host == NULL) {
		free(r);
		return hipErrorOutOfMemory;
	}
	unsigned char *host = r->host;
	uint64_t base = r->base;
	int rc = range_add(r);
	if (rc < 0) {
		if (!on_host(kind)) {
			va_free(base);
			storage_free(host, size);
		}
		return rt_error(rc);
	}
	if (used != NULL)
		*used += size;
	*ret_range = r;
	return hipSuccess;
}

void mem_delete(struct range *r, const char *api)
{
	unsigned char *host = r->host;
	uint64_t base = r->base, size = r->size;
	enum range_kind kind = r->kind;

	uint64_t *used = used_by(kind, r->device);
	if (used != NULL)
		*used -= size;
	if (kind == RANGE_POOL && r->owner != NULL)
		pool_gone(r->owner, size);
	if (r->graph)
		graph_memory(r->device, -(int64_t)size);
	range_del(r, api);
	if (on_host(kind)) {
		storage_free(host, (size + EMU_PAGE - 1) / EMU_PAGE * EMU_PAGE + (64 << 10));
	} else {
		va_free(base);
		storage_free(host, size);
	}
}

struct range *mem_at(const void *addr)
{
	return range_at((uintptr_t)addr);
}

void mem_release_now(uint64_t addr)
{
	rt_lock();
	/* This work itself counts as running, others may still use the table's spans. */
	rt.running--;
	sched_quiesce();
	rt.running++;
	struct range *r = range_at(addr);
	if (r != NULL)
		mem_delete(r, "hipFreeAsync");
	rt_unlock();
}

hipError_t mem_alloc_now(uint64_t addr, uint64_t size, int device)
{
	struct device *d = &rt.dev[device];
	hipError_t e = hipErrorOutOfMemory;

	rt_lock();
	struct range *r = calloc(1, sizeof *r);
	if (r != NULL && size <= rt.memory && d->used <= rt.memory - size)
		r->host = storage_new(size, rt.fill);
	if (r != NULL && r->host != NULL) {
		unsigned char *host = r->host;
		r->base = addr;
		r->size = size;
		r->kind = RANGE_POOL;
		r->device = device;
		r->access = 1u << device;
		r->readable = r->writable = true;
		r->api = "graph allocation node";
		r->graph = true;
		/* After a free node the number went back; while it is still there this launch is
		 * wrong: the earlier one's memory was never freed. */
		uint64_t room = (size + EMU_PAGE - 1) / EMU_PAGE * EMU_PAGE;
		(void)va_reserve(addr, room);
		int rc = range_add(r);
		e = rt_error(rc);
		if (rc == 0) {
			d->used += size;
			graph_memory(device, (int64_t)size);
		} else {
			storage_free(host, size);
		}
	} else {
		free(r);
	}
	rt_unlock();
	return e;
}

static hipError_t malloc_device(void **ptr, size_t size, unsigned flags, const char *api)
{
	struct range *r;

	if (ptr == NULL)
		return hipErrorInvalidValue;
	if (size == 0) {
		*ptr = NULL;
		return hipSuccess;
	}
	rt_lock();
	hipError_t e = mem_new(RANGE_DEVICE, emu_thread.device, size, flags, api, &r);
	if (e == hipSuccess)
		*ptr = (void *)(uintptr_t)r->base;
	rt_unlock();
	return e;
}

hipError_t emu_hipMalloc(void **ptr, size_t size)
{
	EMU_ENTER(EMU_UNSAFE);
	return emu_ret(malloc_device(ptr, size, 0, "hipMalloc"));
}

static hipError_t malloc_host(void **ptr, size_t size, unsigned flags, const char *api);

hipError_t emu_hipExtMallocWithFlags(void **ptr, size_t sizeBytes, unsigned int flags)
{
	enum { DEFAULT = 0, FINEGRAINED = 1, SIGNAL = 2 };

	EMU_ENTER(EMU_UNSAFE);
	if (flags > FINEGRAINED && flags != SIGNAL)
		return emu_ret(hipErrorInvalidValue);
	if (flags == SIGNAL) /* the host looks at it, and it at the host */
		return emu_ret(sizeBytes != 8 ? hipErrorInvalidValue
					      : malloc_host(ptr, 8, 0, "hipExtMallocWithFlags"));
	return emu_ret(malloc_device(ptr, sizeBytes, flags, "hipExtMallocWithFlags"));
}

static hipError_t malloc_pitch(void **ptr, size_t *pitch, size_t width, size_t height, size_t depth,
			       const char *api)
{
	size_t total;

	if (ptr == NULL || pitch == NULL)
		return hipErrorInvalidValue;
	if (width == 0 || height == 0 || depth == 0) {
		*ptr = NULL;
		*pitch = 0;
		return hipSuccess;
	}
	size_t p = (width + PITCH - 1) / PITCH * PITCH;
	if (p < width || __builtin_mul_overflow(p, height, &total) ||
	    __builtin_mul_overflow(total, depth, &total))
		return hipErrorInvalidValue;
	hipError_t e = malloc_device(ptr, total, 0, api);
	if (e == hipSuccess)
		*pitch = p;
	return e;
}

hipError_t emu_hipMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
	EMU_ENTER(EMU_UNSAFE);
	return emu_ret(malloc_pitch(ptr, pitch, width, height, 1, "hipMallocPitch"));
}

hipError_t emu_hipMemAllocPitch(void **dptr, size_t *pitch, size_t widthInBytes, size_t height,
				unsigned int elementSizeBytes)
{
	EMU_ENTER(EMU_UNSAFE);
	if (elementSizeBytes != 4 && elementSizeBytes != 8 && elementSizeBytes != 16)
		return emu_ret(hipErrorInvalidValue);
	return emu_ret(malloc_pitch(dptr, pitch, widthInBytes, height, 1, "hipMemAllocPitch"));
}

hipError_t emu_hipMalloc3D(struct hipPitchedPtr *pitchedDevPtr, struct hipExtent extent)
{
	void *ptr;
	size_t pitch;

	EMU_ENTER(EMU_UNSAFE);
	if (pitchedDevPtr == NULL)
		return emu_ret(hipErrorInvalidValue);
	hipError_t e =
	    malloc_pitch(&ptr, &pitch, extent.width, extent.height, extent.depth, "hipMalloc3D");
	if (e == hipSuccess)
		*pitchedDevPtr = (struct hipPitchedPtr){
		    .ptr = ptr, .pitch = pitch, .xsize = extent.width, .ysize = extent.height};
	return emu_ret(e);
}

hipError_t emu_hipMallocManaged(void **dev_ptr, size_t size, unsigned int flags)
{
	struct range *r;

	EMU_ENTER(EMU_UNSAFE);
	/* hipMemAttachGlobal 1, hipMemAttachHost 2 */
	if (dev_ptr == NULL || size == 0 || (flags != 1 && flags != 2))
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e =
	    mem_new(RANGE_MANAGED, emu_thread.device, size, flags, "hipMallocManaged", &r);
	if (e == hipSuccess)
		*dev_ptr = r->host;
	rt_unlock();
	return emu_ret(e);
}

/*
 * Releases work whatever happened to the device before, so that a program can
 * still clean up; they wait first, like the table says.
 */
static hipError_t release(void *ptr, bool host_only, const char *api)
{
	hipError_t e = hipErrorInvalidValue;

	if (ptr == NULL)
		return hipSuccess;
	rt_lock();
	struct range *r = mem_at(ptr);
	if (r != NULL && (r->kind == RANGE_PINNED || r->kind == RANGE_MANAGED ||
			  (!host_only && (r->kind == RANGE_DEVICE || r->kind == RANGE_POOL)))) {
		uint64_t serial = r->serial;
		if (r->device >= 0 && r->device != emu_thread.device)
			sched_wait_device(r->device);
		sched_wait_device(emu_thread.device);
		sched_quiesce();
		/* Waiting let go of the lock: another thread may have freed it too. */
		r = mem_at(ptr);
		if (r != NULL && r->serial == serial) {
			mem_delete(r, api);
			e = hipSuccess;
		}
	}
	rt_unlock();
	return e;
}

hipError_t emu_hipFree(void *ptr)
{
	EMU_ENTER(EMU_ANY);
	rt_lock();
	bool no = ptr != NULL && capture_forbids();
	rt_unlock();
	return emu_ret(no ? hipErrorStreamCaptureUnsupported : release(ptr, false, "hipFree"));
}

static hipError_t malloc_host(void **ptr, size_t size, unsigned flags, const char *api)
{
	struct range *r;

	if (ptr == NULL)
		return hipErrorInvalidValue;
	if (size == 0) {
		*ptr = NULL;
		return hipSuccess;
	}
	rt_lock();
	hipError_t e = mem_new(RANGE_PINNED, -1, size, flags, api, &r);
	if (e == hipSuccess)
		*ptr = r->host;
	rt_unlock();
	return e;
}

#define HOST_FLAGS (1u | 2u | 4u | 0x20000000u | 0x40000000u | 0x80000000u)
#define HOST_COHERENT 0x40000000u
#define HOST_NONCOHERENT 0x80000000u

hipError_t emu_hipHostMalloc(void **ptr, size_t size, unsigned int flags)
{
	EMU_ENTER(EMU_UNSAFE);
	if (ptr != NULL)
		*ptr = NULL; /* also where it fails */
	if ((flags & ~HOST_FLAGS) != 0 ||
	    (flags & (HOST_COHERENT | HOST_NONCOHERENT)) == (HOST_COHERENT | HOST_NONCOHERENT))
		return emu_ret(hipErrorInvalidValue);
	return emu_ret(malloc_host(ptr, size, flags, "hipHostMalloc"));
}

hipError_t emu_hipHostAlloc(void **ptr, size_t size, unsigned int flags)
{
	EMU_ENTER(EMU_UNSAFE);
	if ((flags & ~HOST_FLAGS) != 0)
		return emu_ret(hipErrorInvalidValue);
	return emu_ret(malloc_host(ptr, size, flags, "hipHostAlloc"));
}

hipError_t emu_hipExtHostAlloc(void **ptr, size_t size, unsigned int flags)
{
	EMU_ENTER(EMU_UNSAFE);
	if ((flags & ~HOST_FLAGS) != 0)
		return emu_ret(hipErrorInvalidValue);
	return emu_ret(malloc_host(ptr, size, flags, "hipExtHostAlloc"));
}

hipError_t emu_hipMallocHost(void **ptr, size_t size)
{
	EMU_ENTER(EMU_UNSAFE);
	return emu_ret(malloc_host(ptr, size, 0, "hipMallocHost"));
}

hipError_t emu_hipMemAllocHost(void **ptr, size_t size)
{
	EMU_ENTER(EMU_UNSAFE);
	return emu_ret(malloc_host(ptr, size, 0, "hipMemAllocHost"));
}

hipError_t emu_hipHostFree(void *ptr)
{
	EMU_ENTER(EMU_ANY);
	return emu_ret(release(ptr, true, "hipHostFree"));
}

hipError_t emu_hipFreeHost(void *ptr)
{
	EMU_ENTER(EMU_ANY);
	return emu_ret(release(ptr, true, "hipFreeHost"));
}

hipError_t emu_hipMemGetInfo(size_t *free_bytes, size_t *total)
{
	EMU_ENTER(EMU_WORK);
	if (free_bytes == NULL || total == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	*free_bytes = rt.memory - rt_device()->used;
	*total = rt.memory;
	rt_unlock();
	return emu_ret(hipSuccess);
}
