#include "lib/emu/runtime/launch.h"

#include "lib/emu/runtime/capture.h"

/*
 * Launches on several devices with one call. As on hardware: a stream each, none of them a null
 * stream, no device twice; unless the flags say otherwise the call waits for those streams before
 * and after. All are queued, or none. There is no barrier over the grids of several devices:
 * multi_grid_group::is_valid() is false in kernels.
 */
#define NO_SYNC_BEFORE 1u
#define NO_SYNC_AFTER 2u

struct one {
	const void *name; /* stub or function handle */
	bool handle;
	dim3 grid, block;
	size_t shared;
	hipStream_t stream;
	void **params;
};

static hipError_t streams_of(const struct one *list, unsigned n, struct stream **ret)
{
	for (unsigned i = 0; i < n; i++) {
		/* Null, legacy and per-thread streams are numbers below the addresses. */
		if ((uintptr_t)list[i].stream <= 2)
			return hipErrorInvalidResourceHandle;
		hipError_t e = stream_get(list[i].stream, false, &ret[i]);
		if (e != hipSuccess)
			return e;
		if (ret[i]->capture != NULL)
			return hipErrorStreamCaptureUnsupported;
		for (unsigned k = 0; k < i; k++)
			if (ret[k]->device == ret[i]->device)
				return hipErrorInvalidDevice;
	}
	return hipSuccess;
}

static hipError_t wait_for_all(const struct one *list, unsigned n)
{
	struct stream *s[EMU_MAX_DEVICES];
	hipError_t e = streams_of(list, n, s);

	for (unsigned i = 0; e == hipSuccess && i < n; i++) {
		e = stream_get(list[i].stream, false, &s[i]); /* while we waited for another */
		if (e == hipSuccess)
			e = sched_wait_stream(s[i]);
	}
	return e;
}

static hipError_t build(const struct one *x, const struct stream *s, bool cooperative,
			struct op *ret_op)
{
	const uint64_t grid[] = {(uint64_t)x->grid.x * x->block.x, (uint64_t)x->grid.y * x->block.y,
				 (uint64_t)x->grid.z * x->block.z};
	const uint32_t block[] = {x->block.x, x->block.y, x->block.z};
	struct function *f = x->handle ? function_by_handle((hipFunction_t)(uintptr_t)x->name)
				       : function_find(x->name);

	if (f == NULL)
		return x->handle ? hipErrorInvalidHandle : hipErrorInvalidDeviceFunction;
	*ret_op = (struct op){.kind = OP_KERNEL};
	hipError_t e =
	    launch_build(f, s->device, grid, block, x->shared, x->params, NULL, &ret_op->u.kernel);
	if (e == hipSuccess)
		ret_op->u.kernel.cooperative = cooperative;
	else
		ret_op->kind = OP_NONE;
	return e;
}

/* rt.lock held: nothing comes between them. */
static hipError_t submit_all(const struct one *list, unsigned n, bool cooperative)
{
	struct stream *s[EMU_MAX_DEVICES];
	struct op ops[EMU_MAX_DEVICES];
	unsigned built = 0;

	hipError_t e = streams_of(list, n, s);
	while (e == hipSuccess && built < n) {
		e = build(&list[built], s[built], cooperative, &ops[built]);
		built += e == hipSuccess;
	}
	for (unsigned i = 0; i < built; i++)
		if (e == hipSuccess)
			e = sched_submit(s[i], &ops[i], NULL, 0, NULL);
		else
			op_release(&ops[i]);
	return e;
}

static hipError_t launch_all(const struct one *list, unsigned n, unsigned flags, bool cooperative)
{
	if (flags > (NO_SYNC_BEFORE | NO_SYNC_AFTER))
		return hipErrorInvalidValue;
	for (unsigned i = 0; cooperative && i < n; i++) {
		hipError_t e =
		    launch_fits(list[i].name, list[i].grid, list[i].block, list[i].shared);
		if (e != hipSuccess)
			return e;
	}
	rt_lock();
	hipError_t e = (flags & NO_SYNC_BEFORE) == 0 ? wait_for_all(list, n) : hipSuccess;
	if (e == hipSuccess)
		e = submit_all(list, n, cooperative);
	if (e == hipSuccess && (flags & NO_SYNC_AFTER) == 0)
		e = wait_for_all(list, n);
	rt_unlock();
	return e;
}

static bool counts(const void *list, int64_t n)
{
	return list != NULL && n > 0 && n <= rt.n_devices && n <= EMU_MAX_DEVICES;
}

static hipError_t by_stub(const struct hipLaunchParams_t *list, int n, unsigned flags,
			  bool cooperative)
{
	struct one x[EMU_MAX_DEVICES];

	if (!counts(list, n))
		return hipErrorInvalidValue;
	for (int i = 0; i < n; i++)
		x[i] = (struct one){
		    list[i].func,      false,	       list[i].gridDim, list[i].blockDim,
		    list[i].sharedMem, list[i].stream, list[i].args};
	return launch_all(x, (unsigned)n, flags, cooperative);
}

hipError_t emu_hipExtLaunchMultiKernelMultiDevice(struct hipLaunchParams_t *launchParamsList,
						  int numDevices, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(by_stub(launchParamsList, numDevices, flags, false));
}

hipError_t emu_hipLaunchCooperativeKernelMultiDevice(struct hipLaunchParams_t *launchParamsList,
						     int numDevices, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(by_stub(launchParamsList, numDevices, flags, true));
}

hipError_t
emu_hipModuleLaunchCooperativeKernelMultiDevice(struct hipFunctionLaunchParams_t *launchParamsList,
						unsigned int numDevices, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	struct one x[EMU_MAX_DEVICES];

	if (!counts(launchParamsList, numDevices))
		return emu_ret(hipErrorInvalidValue);
	for (unsigned i = 0; i < numDevices; i++) {
		const struct hipFunctionLaunchParams_t *p = &launchParamsList[i];
		x[i] = (struct one){p->function,
				    true,
				    {p->gridDimX, p->gridDimY, p->gridDimZ},
				    {p->blockDimX, p->blockDimY, p->blockDimZ},
				    p->sharedMemBytes,
				    p->hStream,
				    p->kernelParams};
	}
	return emu_ret(launch_all(x, numDevices, flags, true));
}
