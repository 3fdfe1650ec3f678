#include "lib/emu/runtime/mem.h"

#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/capture.h"
#include "lib/emu/runtime/pool.h"
#include "lib/emu/runtime/va.h"

/*
 * Stream-ordered allocation. Memory exists from the call on (its address is known) and goes
 * when the free is reached in its stream; nothing is kept for reuse, so that a use after the
 * free is seen.
 */

static struct pool *pool_get(hipMemPool_t h)
{
	return handle_is(HANDLE_POOL, h) ? (struct pool *)(void *)h : NULL;
}

static struct pool *pool_new(int device)
{
	struct pool *p = calloc(1, sizeof *p);

	if (p == NULL || handle_add(HANDLE_POOL, p) < 0) {
		free(p);
		return NULL;
	}
	p->device = device;
	p->reuse[0] = p->reuse[1] = p->reuse[2] = 1;
	return p;
}

static struct pool *default_pool(int device)
{
	struct device *d = &rt.dev[device];

	if (d->default_pool == NULL)
		d->default_pool = pool_new(device);
	return d->default_pool;
}

static struct pool *current_pool(int device)
{
	struct device *d = &rt.dev[device];

	return d->pool != NULL ? d->pool : default_pool(device);
}

void pool_gone(struct pool *p, uint64_t size)
{
	p->used -= size;
	if (--p->n == 0 && p->destroyed)
		free(p);
}

static hipError_t allocate(void **ret, size_t size, struct pool *p, struct stream *s,
			   const char *api)
{
	struct range *r;

	if (p == NULL)
		return hipErrorOutOfMemory;
	if (size == 0) {
		*ret = NULL;
		return hipSuccess;
	}
	if (s->capture != NULL) { /* a node that allocates */
		struct op op = {.kind = OP_ALLOC, .u.memory.size = size};
		if (va_alloc(size, 0, &op.u.memory.addr) < 0)
			return hipErrorOutOfMemory;
		*ret = (void *)(uintptr_t)op.u.memory.addr;
		return capture_submit(s, &op, NULL);
	}
	if (p->max_size != 0 && (size > p->max_size || p->used > p->max_size - size))
		return hipErrorOutOfMemory;
	hipError_t e = mem_new(RANGE_POOL, p->device, size, 0, api, &r);
	if (e != hipSuccess)
		return e;
	r->owner = p;
	r->access |= p->access;
	p->n++;
	p->used += size;
	if (p->used > p->used_high)
		p->used_high = p->used;
	*ret = (void *)(uintptr_t)r->base;
	return hipSuccess;
}

hipError_t emu_hipMallocAsync(void **dev_ptr, size_t size, hipStream_t stream)
{
	struct stream *s;

	EMU_ENTER(EMU_WORK);
	if (dev_ptr == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e = stream_get(stream, false, &s);
	if (e == hipSuccess)
		e = allocate(dev_ptr, size, current_pool(s->device), s, "hipMallocAsync");
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipMallocFromPoolAsync(void **dev_ptr, size_t size, hipMemPool_t mem_pool,
				      hipStream_t stream)
{
	struct stream *s;

	EMU_ENTER(EMU_WORK);
	if (dev_ptr == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct pool *p = pool_get(mem_pool);
	hipError_t e = p != NULL ? stream_get(stream, false, &s) : hipErrorInvalidValue;
	if (e == hipSuccess)
		e = allocate(dev_ptr, size, p, s, "hipMallocFromPoolAsync");
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipFreeAsync(void *dev_ptr, hipStream_t stream)
{
	struct stream *s;

	EMU_ENTER(EMU_ANY);
	rt_lock();
	hipError_t e = stream_get(stream, false, &s);
	const struct range *r = mem_at(dev_ptr);
	bool graph = e == hipSuccess && s->capture != NULL;
	/* Memory of a graph being captured does not exist yet. */
	if (e == hipSuccess && !graph &&
	    (r == NULL || (r->kind != RANGE_POOL && r->kind != RANGE_DEVICE)))
		e = hipErrorInvalidValue;
	if (graph) {
		struct op op = {.kind = OP_RELEASE, .u.memory.addr = (uintptr_t)dev_ptr};
		e = capture_submit(s, &op, NULL);
	} else if (e == hipSuccess) {
		struct op op = {.kind = OP_RELEASE, .u.memory.addr = (uintptr_t)dev_ptr};
		e = sched_submit(s, &op, NULL, 0, NULL);
	}
	rt_unlock();
	return emu_ret(e);
}

/* --- pools ---------------------------------------------------------------------------- */

static hipError_t device_pool(hipMemPool_t *ret, int device, bool dflt)
{
	if (ret == NULL)
		return hipErrorInvalidValue;
	if (!rt_device_ok(device))
		return hipErrorInvalidDevice;
	rt_lock();
	struct pool *p = dflt ? default_pool(device) : current_pool(device);
	rt_unlock();
	*ret = (hipMemPool_t)(void *)p;
	return p != NULL ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t emu_hipDeviceGetDefaultMemPool(hipMemPool_t *mem_pool, int device)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(device_pool(mem_pool, device, true));
}

hipError_t emu_hipDeviceGetMemPool(hipMemPool_t *mem_pool, int device)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(device_pool(mem_pool, device, false));
}

hipError_t emu_hipDeviceSetMemPool(int device, hipMemPool_t mem_pool)
{
	EMU_ENTER(EMU_WORK);
	if (!rt_device_ok(device))
		return emu_ret(hipErrorInvalidDevice);
	rt_lock();
	struct pool *p = pool_get(mem_pool);
	hipError_t e = p != NULL && p->device == device ? hipSuccess : hipErrorInvalidValue;
	if (e == hipSuccess)
		rt.dev[device].pool = p;
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipMemPoolCreate(hipMemPool_t *mem_pool, struct hipMemPoolProps *pool_props)
{
	EMU_ENTER(EMU_WORK);
	if (mem_pool == NULL || pool_props == NULL ||
	    pool_props->allocType != hipMemAllocationTypePinned ||
	    pool_props->location.type != hipMemLocationTypeDevice)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(pool_props->location.id))
		return emu_ret(hipErrorInvalidDevice);
	if (pool_props->handleTypes != hipMemHandleTypeNone)
		return emu_not_supported("hipMemPoolCreate: shareable handles");
	rt_lock();
	struct pool *p = pool_new(pool_props->location.id);
	/* Newer majors have maxSize where 5 has reserved bytes. */
	if (p != NULL && rt.major >= 6)
		memcpy(&p->max_size, (const char *)pool_props + 24, sizeof p->max_size);
	rt_unlock();
	*mem_pool = (hipMemPool_t)(void *)p;
	return emu_ret(p != NULL ? hipSuccess : hipErrorOutOfMemory);
}

hipError_t emu_hipMemPoolDestroy(hipMemPool_t mem_pool)
{
	EMU_ENTER(EMU_ANY);
	rt_lock();
	struct pool *p = pool_get(mem_pool);
	hipError_t e =
	    p != NULL && p != rt.dev[p->device].default_pool ? hipSuccess : hipErrorInvalidValue;
	if (e == hipSuccess) {
		if (rt.dev[p->device].pool == p)
			rt.dev[p->device].pool = NULL;
		handle_del(p);
		/* What is still allocated keeps it. */
		p->destroyed = true;
		if (p->n == 0)
			free(p);
	}
	rt_unlock();
	return emu_ret(e);
}

/* Reserved and used are the same here: freed memory is not kept. */
static uint64_t *attribute64(struct pool *p, int attr)
{
	switch (attr) {
	case hipMemPoolAttrReleaseThreshold:
		return &p->threshold;
	case hipMemPoolAttrReservedMemCurrent:
	case hipMemPoolAttrUsedMemCurrent:
		return &p->used;
	case hipMemPoolAttrReservedMemHigh:
	case hipMemPoolAttrUsedMemHigh:
		return &p->used_high;
	}
	return NULL;
}

static bool is_reuse(int attr)
{
	return attr >= hipMemPoolReuseFollowEventDependencies &&
	       attr <= hipMemPoolReuseAllowInternalDependencies;
}

hipError_t emu_hipMemPoolGetAttribute(hipMemPool_t mem_pool, int attr, void *value)
{
	hipError_t e = hipErrorInvalidValue;

	EMU_ENTER(EMU_WORK);
	rt_lock();
	struct pool *p = pool_get(mem_pool);
	const uint64_t *v = p != NULL ? attribute64(p, attr) : NULL;
	if (value != NULL && v != NULL) {
		memcpy(value, v, sizeof *v);
		e = hipSuccess;
	} else if (value != NULL && p != NULL && is_reuse(attr)) {
		memcpy(value, &p->reuse[attr - 1], sizeof p->reuse[0]);
		e = hipSuccess;
	}
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipMemPoolSetAttribute(hipMemPool_t mem_pool, int attr, void *value)
{
	hipError_t e = hipErrorInvalidValue;

	EMU_ENTER(EMU_WORK);
	rt_lock();
	struct pool *p = pool_get(mem_pool);
	if (p != NULL && value != NULL) {
		uint64_t v = 0;
		if (is_reuse(attr)) {
			memcpy(&p->reuse[attr - 1], value, sizeof p->reuse[0]);
			e = hipSuccess;
		} else if (attr == hipMemPoolAttrReleaseThreshold) {
			memcpy(&p->threshold, value, sizeof p->threshold);
			e = hipSuccess;
		} else if (attr == hipMemPoolAttrReservedMemHigh ||
			   attr == hipMemPoolAttrUsedMemHigh) {
			memcpy(&v, value, sizeof v);
			if (v == 0) { /* reset is all that may be set */
				p->used_high = p->used;
				e = hipSuccess;
			}
		}
	}
	rt_unlock();
	return emu_ret(e);
}

struct grant {
	const struct pool *p;
	uint32_t set, clear;
};

static void grant(void *self, struct range *r)
{
	const struct grant *g = self;

	if (r->kind == RANGE_POOL && r->owner == g->p)
		r->access = (r->access & ~g->clear) | g->set;
}

hipError_t emu_hipMemPoolSetAccess(hipMemPool_t mem_pool, struct hipMemAccessDesc *desc_list,
				   size_t count)
{
	EMU_ENTER(EMU_WORK);
	if (desc_list == NULL || count == 0)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct pool *p = pool_get(mem_pool);
	struct grant g = {p, 0, 0};
	hipError_t e = p != NULL ? hipSuccess : hipErrorInvalidValue;
	for (size_t i = 0; i < count && e == hipSuccess; i++) {
		const struct hipMemAccessDesc *d = &desc_list[i];
		if (d->location.type != hipMemLocationTypeDevice)
			e = hipErrorInvalidValue;
		else if (!rt_device_ok(d->location.id))
			e = hipErrorInvalidDevice;
		else if (d->flags == hipMemAccessFlagsProtReadWrite ||
			 d->flags == hipMemAccessFlagsProtRead)
			g.set |= 1u << d->location.id;
		else if (d->flags == hipMemAccessFlagsProtNone && d->location.id != p->device)
			g.clear |= 1u << d->location.id;
		else
			e = hipErrorInvalidValue; /* the owner's own cannot be taken */
	}
	if (e == hipSuccess) {
		sched_quiesce();
		p->access = (p->access & ~g.clear) | g.set;
		range_each(grant, &g);
	}
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipMemPoolGetAccess(int *flags, hipMemPool_t mem_pool,
				   struct hipMemLocation *location)
{
	hipError_t e = hipErrorInvalidValue;

	EMU_ENTER(EMU_WORK);
	rt_lock();
	const struct pool *p = pool_get(mem_pool);
	if (p != NULL && flags != NULL && location != NULL && rt_device_ok(location->id)) {
		*flags = location->id == p->device || (p->access >> location->id & 1)
			     ? hipMemAccessFlagsProtReadWrite
			     : hipMemAccessFlagsProtNone;
		e = hipSuccess;
	}
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipMemPoolTrimTo(hipMemPool_t mem_pool, size_t min_bytes_to_hold)
{
	(void)min_bytes_to_hold; /* nothing is held */
	EMU_ENTER(EMU_WORK);
	rt_lock();
	bool ok = pool_get(mem_pool) != NULL;
	rt_unlock();
	return emu_ret(ok ? hipSuccess : hipErrorInvalidValue);
}
