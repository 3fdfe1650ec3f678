#include "lib/emu/runtime/rt.h"

#include <stdlib.h>

#include "lib/emu/runtime/mem.h"
#include "lib/emu/runtime/sched.h"

struct list {
	int device;
	struct range **r; /* owned */
	size_t n, cap;
};

static void collect(void *self, struct range *r)
{
	struct list *l = self;

	if (r->device != l->device ||
	    (r->kind != RANGE_DEVICE && r->kind != RANGE_POOL && r->kind != RANGE_MANAGED))
		return;
	if (l->n == l->cap) {
		size_t cap = l->cap > 0 ? 2 * l->cap : 64;
		struct range **p = realloc(l->r, cap * sizeof *p);
		if (p == NULL)
			return; /* it stays: a leak, not a lie */
		l->r = p;
		l->cap = cap;
	}
	l->r[l->n++] = r;
}

/*
 * Everything the device holds goes, and so does its sticky error: that is what a reset
 * is for. Loaded code stays (its variables are not set back), handles of
 * streams and events stay valid and idle.
 */
static hipError_t reset(int device)
{
	struct list l = {.device = device};

	rt_lock();
	sched_wait_device(device);
	sched_quiesce();
	range_each(collect, &l);
	for (size_t i = 0; i < l.n; i++)
		mem_delete(l.r[i], "hipDeviceReset");
	free(l.r);
	rt.dev[device].sticky = hipSuccess;
	rt.dev[device].peers = 0;
	rt.dev[device].flags = 0;
	rt_unlock();
	return hipSuccess;
}

hipError_t emu_hipDeviceReset(void)
{
	EMU_ENTER(EMU_ANY);
	return emu_ret(reset(emu_thread.device));
}

hipError_t emu_hipDevicePrimaryCtxReset(int dev)
{
	EMU_ENTER(EMU_ANY);
	if (!rt_device_ok(dev))
		return emu_ret(hipErrorInvalidDevice);
	return emu_ret(reset(dev));
}
