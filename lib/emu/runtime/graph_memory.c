#include <string.h>

#include "lib/emu/runtime/graph.h"

/*
 * What allocation nodes of graphs hold on a device. Memory goes back when it is freed, so what is
 * kept for later is what is used, and there is nothing to trim.
 */

void graph_memory(int device, int64_t bytes)
{
	struct device *d = &rt.dev[device];

	d->graph_used += (uint64_t)bytes;
	for (int i = 0; i < 2; i++)
		if (d->graph_used > d->graph_high[i])
			d->graph_high[i] = d->graph_used;
}

hipError_t emu_hipDeviceGetGraphMemAttribute(int device, int attr, void *value)
{
	uint64_t v = 0;

	EMU_ENTER(EMU_WORK);
	if (!rt_device_ok(device))
		return emu_ret(hipErrorInvalidDevice);
	if (value == NULL || attr < hipGraphMemAttrUsedMemCurrent ||
	    attr > hipGraphMemAttrReservedMemHigh)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	const struct device *d = &rt.dev[device];
	if (attr == hipGraphMemAttrUsedMemHigh || attr == hipGraphMemAttrReservedMemHigh)
		v = d->graph_high[attr == hipGraphMemAttrReservedMemHigh];
	else
		v = d->graph_used;
	rt_unlock();
	memcpy(value, &v, sizeof v);
	return emu_ret(hipSuccess);
}

/* The most there was can be begun anew, nothing else set. */
hipError_t emu_hipDeviceSetGraphMemAttribute(int device, int attr, void *value)
{
	uint64_t v = 1;

	EMU_ENTER(EMU_WORK);
	if (!rt_device_ok(device))
		return emu_ret(hipErrorInvalidDevice);
	if (attr != hipGraphMemAttrUsedMemHigh && attr != hipGraphMemAttrReservedMemHigh)
		return emu_ret(hipErrorInvalidValue);
	if (value != NULL)
		memcpy(&v, value, sizeof v);
	if (v != 0)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct device *d = &rt.dev[device];
	d->graph_high[attr == hipGraphMemAttrReservedMemHigh] = d->graph_used;
	rt_unlock();
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceGraphMemTrim(int device)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(rt_device_ok(device) ? hipSuccess : hipErrorInvalidDevice);
}
