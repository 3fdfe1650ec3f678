#include "lib/emu/runtime/rt.h"

#include "lib/emu/runtime/sched.h"

/*
 * Contexts are deprecated in HIP and mean a device: a handle is the address
 * of the device's structure here. The stack of contexts is the thread's.
 */

static hipCtx_t ctx_of(int device)
{
	return (hipCtx_t)(void *)&rt.dev[device];
}

/* The device of a context, or -1. */
static int device_of(hipCtx_t ctx)
{
	for (int d = 0; d < rt.n_devices; d++)
		if (ctx == ctx_of(d))
			return d;
	return -1;
}

static hipError_t push(int device)
{
	if (emu_thread.ctx.n == sizeof emu_thread.ctx.device / sizeof *emu_thread.ctx.device)
		return hipErrorOutOfMemory;
	emu_thread.ctx.device[emu_thread.ctx.n++] = emu_thread.device;
	emu_thread.device = device;
	return hipSuccess;
}

hipError_t emu_hipCtxCreate(hipCtx_t *ctx, unsigned int flags, int device)
{
	(void)flags;
	EMU_ENTER(EMU_ANY);
	if (ctx == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(device))
		return emu_ret(hipErrorInvalidDevice);
	hipError_t e = push(device);
	if (e == hipSuccess)
		*ctx = ctx_of(device);
	return emu_ret(e);
}

hipError_t emu_hipCtxDestroy(hipCtx_t ctx)
{
	EMU_ENTER(EMU_ANY);
	int d = device_of(ctx);
	if (d < 0)
		return emu_ret(hipErrorInvalidValue);
	if (d == emu_thread.device && emu_thread.ctx.n > 0)
		emu_thread.device = emu_thread.ctx.device[--emu_thread.ctx.n];
	return emu_ret(hipSuccess);
}

hipError_t emu_hipCtxPushCurrent(hipCtx_t ctx)
{
	EMU_ENTER(EMU_ANY);
	int d = device_of(ctx);
	return emu_ret(d < 0 ? hipErrorInvalidContext : push(d));
}

hipError_t emu_hipCtxPopCurrent(hipCtx_t *ctx)
{
	EMU_ENTER(EMU_ANY);
	if (emu_thread.ctx.n == 0)
		return emu_ret(hipErrorInvalidContext);
	if (ctx != NULL)
		*ctx = ctx_of(emu_thread.device);
	emu_thread.device = emu_thread.ctx.device[--emu_thread.ctx.n];
	return emu_ret(hipSuccess);
}

hipError_t emu_hipCtxSetCurrent(hipCtx_t ctx)
{
	EMU_ENTER(EMU_ANY);
	int d = device_of(ctx);
	if (ctx != NULL && d < 0)
		return emu_ret(hipErrorInvalidContext);
	if (d >= 0)
		emu_thread.device = d;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipCtxGetCurrent(hipCtx_t *ctx)
{
	EMU_ENTER(EMU_ANY);
	if (ctx == NULL)
		return emu_ret(hipErrorInvalidValue);
	*ctx = ctx_of(emu_thread.device);
	return emu_ret(hipSuccess);
}

hipError_t emu_hipCtxGetDevice(int *device)
{
	return emu_hipGetDevice(device);
}

hipError_t emu_hipCtxGetApiVersion(hipCtx_t ctx, int *apiVersion)
{
	(void)ctx;
	EMU_ENTER(EMU_ANY);
	if (apiVersion == NULL)
		return emu_ret(hipErrorInvalidValue);
	*apiVersion = 4;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipCtxGetFlags(unsigned int *flags)
{
	return emu_hipGetDeviceFlags(flags);
}

hipError_t emu_hipCtxGetCacheConfig(int *cacheConfig)
{
	return emu_hipDeviceGetCacheConfig(cacheConfig);
}

hipError_t emu_hipCtxSetCacheConfig(int cacheConfig)
{
	return emu_hipDeviceSetCacheConfig(cacheConfig);
}

hipError_t emu_hipCtxGetSharedMemConfig(int *pConfig)
{
	return emu_hipDeviceGetSharedMemConfig(pConfig);
}

hipError_t emu_hipCtxSetSharedMemConfig(int config)
{
	return emu_hipDeviceSetSharedMemConfig(config);
}

hipError_t emu_hipCtxSynchronize(void)
{
	return emu_hipDeviceSynchronize();
}

hipError_t emu_hipCtxEnablePeerAccess(hipCtx_t peerCtx, unsigned int flags)
{
	return emu_hipDeviceEnablePeerAccess(device_of(peerCtx), flags);
}

hipError_t emu_hipCtxDisablePeerAccess(hipCtx_t peerCtx)
{
	return emu_hipDeviceDisablePeerAccess(device_of(peerCtx));
}

/* --- primary contexts ----------------------------------------------------------------- */

hipError_t emu_hipDevicePrimaryCtxRetain(hipCtx_t *pctx, int dev)
{
	EMU_ENTER(EMU_ANY);
	if (pctx == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(dev))
		return emu_ret(hipErrorInvalidDevice);
	rt_lock();
	rt.dev[dev].primary_refs++;
	rt_unlock();
	*pctx = ctx_of(dev);
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDevicePrimaryCtxRelease(int dev)
{
	EMU_ENTER(EMU_ANY);
	if (!rt_device_ok(dev))
		return emu_ret(hipErrorInvalidDevice);
	rt_lock();
	if (rt.dev[dev].primary_refs > 0)
		rt.dev[dev].primary_refs--;
	rt_unlock();
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDevicePrimaryCtxGetState(int dev, unsigned int *flags, int *active)
{
	EMU_ENTER(EMU_ANY);
	if (flags == NULL || active == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(dev))
		return emu_ret(hipErrorInvalidDevice);
	*flags = rt.dev[dev].flags;
	*active = rt.dev[dev].primary_refs > 0 || rt.dev[dev].streams != NULL;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDevicePrimaryCtxSetFlags(int dev, unsigned int flags)
{
	EMU_ENTER(EMU_ANY);
	if (!rt_device_ok(dev))
		return emu_ret(hipErrorInvalidDevice);
	rt.dev[dev].flags = flags;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceSetLimit(int limit, size_t value)
{
	EMU_ENTER(EMU_ANY);
	if (limit != hipLimitPrintfFifoSize && limit != hipLimitMallocHeapSize)
		return emu_ret(hipErrorUnsupportedLimit);
	rt_device()->limit[limit - 1] = value;
	return emu_ret(hipSuccess);
}
