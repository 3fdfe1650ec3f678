#include "lib/emu/runtime/launch.h"

#include <string.h>

#include "lib/emu/runtime/capture.h"
#include "lib/emu/runtime/event.h"

/* The ways a program launches: they differ in how they name kernel, shape and arguments. */
struct shape {
	uint64_t grid[3]; /* work-items in all */
	uint32_t block[3];
};

static struct shape blocks(dim3 grid, dim3 block)
{
	return (struct shape){
	    {(uint64_t)grid.x * block.x, (uint64_t)grid.y * block.y, (uint64_t)grid.z * block.z},
	    {block.x, block.y, block.z}};
}

static hipError_t launch_on(struct function *f, struct stream *s, const struct shape *sh,
			    size_t shared, void **params, void **extra, bool cooperative)
{
	struct op op = {.kind = OP_KERNEL};

	hipError_t e =
	    launch_build(f, s->device, sh->grid, sh->block, shared, params, extra, &op.u.kernel);
	if (e != hipSuccess)
		return e;
	op.u.kernel.cooperative = cooperative;
	return capture_submit(s, &op, NULL);
}

/* start and stop (may be NULL) are recorded before and after. */
static hipError_t launch(const void *name, bool handle, const struct shape *sh, size_t shared,
			 hipStream_t stream, bool spt, void **params, void **extra,
			 hipEvent_t start, hipEvent_t stop, bool cooperative)
{
	struct stream *s;

	rt_lock();
	hipError_t e = stream_get(stream, spt, &s);
	struct function *f = NULL;
	if (e == hipSuccess) {
		f = handle ? function_by_handle((hipFunction_t)(uintptr_t)name)
			   : function_find(name);
		if (f == NULL)
			e = handle ? hipErrorInvalidHandle : hipErrorInvalidDeviceFunction;
	}
	if (e == hipSuccess && start != NULL)
		e = event_record_handle(start, s);
	if (e == hipSuccess)
		e = launch_on(f, s, sh, shared, params, extra, cooperative);
	if (e == hipSuccess && stop != NULL)
		e = event_record_handle(stop, s);
	rt_unlock();
	return e;
}

hipError_t emu_hipLaunchKernel(void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args,
			       size_t sharedMemBytes, hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	struct shape sh = blocks(numBlocks, dimBlocks);
	return emu_ret(launch(function_address, false, &sh, sharedMemBytes, stream, false, args,
			      NULL, NULL, NULL, false));
}

hipError_t emu_hipLaunchKernel_spt(void *function_address, dim3 numBlocks, dim3 dimBlocks,
				   void **args, size_t sharedMemBytes, hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	struct shape sh = blocks(numBlocks, dimBlocks);
	return emu_ret(launch(function_address, false, &sh, sharedMemBytes, stream, true, args,
			      NULL, NULL, NULL, false));
}

hipError_t emu_hipExtLaunchKernel(void *function_address, dim3 numBlocks, dim3 dimBlocks,
				  void **args, size_t sharedMemBytes, hipStream_t stream,
				  hipEvent_t startEvent, hipEvent_t stopEvent, int flags)
{
	(void)flags; /* out-of-order launch is a permission, not a demand */
	EMU_ENTER(EMU_WORK);
	struct shape sh = blocks(numBlocks, dimBlocks);
	return emu_ret(launch(function_address, false, &sh, sharedMemBytes, stream, false, args,
			      NULL, startEvent, stopEvent, false));
}

hipError_t launch_fits(const void *f, dim3 grid, dim3 block, size_t shared)
{
	int blocks_per_cu = 0, cus = 0;

	hipError_t e = emu_hipOccupancyMaxActiveBlocksPerMultiprocessor(
	    &blocks_per_cu, (void *)(uintptr_t)f, (int)(block.x * block.y * block.z), shared);
	if (e != hipSuccess)
		return e;
	emu_hipDeviceGetAttribute(&cus, hipDeviceAttributeMultiprocessorCount, emu_thread.device);
	return (uint64_t)grid.x * grid.y * grid.z > (uint64_t)blocks_per_cu * (uint64_t)cus
		   ? hipErrorCooperativeLaunchTooLarge
		   : hipSuccess;
}

static hipError_t cooperative(void *f, dim3 grid, dim3 block, void **params, size_t shared,
			      hipStream_t stream, bool spt)
{
	struct shape sh = blocks(grid, block);
	hipError_t e = launch_fits(f, grid, block, shared);

	if (e != hipSuccess)
		return e;
	return launch(f, false, &sh, shared, stream, spt, params, NULL, NULL, NULL, true);
}

hipError_t emu_hipLaunchCooperativeKernel(void *f, dim3 gridDim, dim3 blockDimX,
					  void **kernelParams, unsigned int sharedMemBytes,
					  hipStream_t stream)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(
	    cooperative(f, gridDim, blockDimX, kernelParams, sharedMemBytes, stream, false));
}

hipError_t emu_hipLaunchCooperativeKernel_spt(void *f, dim3 gridDim, dim3 blockDim,
					      void **kernelParams, uint32_t sharedMemBytes,
					      hipStream_t hStream)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(
	    cooperative(f, gridDim, blockDim, kernelParams, sharedMemBytes, hStream, true));
}

hipError_t emu_hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
				     unsigned int gridDimZ, unsigned int blockDimX,
				     unsigned int blockDimY, unsigned int blockDimZ,
				     unsigned int sharedMemBytes, hipStream_t stream,
				     void **kernelParams, void **extra)
{
	EMU_ENTER(EMU_WORK);
	struct shape sh =
	    blocks((dim3){gridDimX, gridDimY, gridDimZ}, (dim3){blockDimX, blockDimY, blockDimZ});
	return emu_ret(launch(f, true, &sh, sharedMemBytes, stream, false, kernelParams, extra,
			      NULL, NULL, false));
}

static hipError_t ext_module(hipFunction_t f, const uint32_t global[3], const uint32_t local[3],
			     size_t shared, hipStream_t stream, void **params, void **extra,
			     hipEvent_t start, hipEvent_t stop)
{
	struct shape sh = {{global[0], global[1], global[2]}, {local[0], local[1], local[2]}};

	return launch(f, true, &sh, shared, stream, false, params, extra, start, stop, false);
}

hipError_t emu_hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX,
					uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
					uint32_t localWorkSizeX, uint32_t localWorkSizeY,
					uint32_t localWorkSizeZ, size_t sharedMemBytes,
					hipStream_t hStream, void **kernelParams, void **extra,
					hipEvent_t startEvent, hipEvent_t stopEvent, uint32_t flags)
{
	(void)flags;
	EMU_ENTER(EMU_WORK);
	const uint32_t g[] = {globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ};
	const uint32_t l[] = {localWorkSizeX, localWorkSizeY, localWorkSizeZ};
	return emu_ret(ext_module(f, g, l, sharedMemBytes, hStream, kernelParams, extra, startEvent,
				  stopEvent));
}

hipError_t emu_hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX,
					uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
					uint32_t localWorkSizeX, uint32_t localWorkSizeY,
					uint32_t localWorkSizeZ, size_t sharedMemBytes,
					hipStream_t hStream, void **kernelParams, void **extra,
					hipEvent_t startEvent, hipEvent_t stopEvent)
{
	EMU_ENTER(EMU_WORK);
	const uint32_t g[] = {globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ};
	const uint32_t l[] = {localWorkSizeX, localWorkSizeY, localWorkSizeZ};
	return emu_ret(ext_module(f, g, l, sharedMemBytes, hStream, kernelParams, extra, startEvent,
				  stopEvent));
}

hipError_t emu_hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned int gridDimX,
						unsigned int gridDimY, unsigned int gridDimZ,
						unsigned int blockDimX, unsigned int blockDimY,
						unsigned int blockDimZ, unsigned int sharedMemBytes,
						hipStream_t stream, void **kernelParams)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(cooperative(f, (dim3){gridDimX, gridDimY, gridDimZ},
				   (dim3){blockDimX, blockDimY, blockDimZ}, kernelParams,
				   sharedMemBytes, stream, false));
}

/* What of a launch's attributes says more than a wish. hipErrorNotSupported: clusters. */
static hipError_t attributes(const struct hipLaunchAttribute *a, unsigned n, bool *ret_cooperative)
{
	*ret_cooperative = false;
	if (n != 0 && a == NULL)
		return hipErrorInvalidValue;
	for (unsigned i = 0; i < n; i++) {
		uint32_t v[3];
		memcpy(v, a[i].val, sizeof v);
		if (a[i].id == hipLaunchAttributeCooperative)
			*ret_cooperative = v[0] != 0;
		else if (a[i].id == hipLaunchAttributeClusterDimension &&
			 (v[0] > 1 || v[1] > 1 || v[2] > 1))
			return emu_not_supported("hipLaunchAttributeClusterDimension");
	}
	return hipSuccess;
}

hipError_t emu_hipLaunchKernelExC(struct hipLaunchConfig_t *config, void *fPtr, void **args)
{
	EMU_ENTER(EMU_WORK);
	if (config == NULL)
		return emu_ret(hipErrorInvalidValue);
	bool coop;
	hipError_t e = attributes(config->attrs, config->numAttrs, &coop);
	if (e != hipSuccess)
		return emu_ret(e);
	if (coop)
		return emu_ret(cooperative(fPtr, config->gridDim, config->blockDim, args,
					   config->dynamicSmemBytes, config->stream, false));
	struct shape sh = blocks(config->gridDim, config->blockDim);
	return emu_ret(launch(fPtr, false, &sh, config->dynamicSmemBytes, config->stream, false,
			      args, NULL, NULL, NULL, false));
}

hipError_t emu_hipDrvLaunchKernelEx(struct HIP_LAUNCH_CONFIG *config, hipFunction_t f,
				    void **params, void **extra)
{
	EMU_ENTER(EMU_WORK);
	if (config == NULL)
		return emu_ret(hipErrorInvalidValue);
	bool coop;
	hipError_t e = attributes(config->attrs, config->numAttrs, &coop);
	if (e != hipSuccess)
		return emu_ret(e);
	dim3 grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
	dim3 block = {config->blockDimX, config->blockDimY, config->blockDimZ};
	if (coop && params != NULL)
		return emu_ret(cooperative(f, grid, block, params, config->sharedMemBytes,
					   config->hStream, false));
	struct shape sh = blocks(grid, block);
	return emu_ret(launch(f, true, &sh, config->sharedMemBytes, config->hStream, false, params,
			      extra, NULL, NULL, false));
}

/* --- what <<<>>> compiles to --------------------------------------------------------- */

hipError_t emu___hipPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
					  hipStream_t stream)
{
	if (emu_thread.n_config == EMU_CONFIG_DEPTH)
		return emu_ret(hipErrorMissingConfiguration);
	emu_thread.config[emu_thread.n_config++] =
	    (struct call_config){gridDim, blockDim, sharedMem, stream};
	return emu_ret(hipSuccess);
}

hipError_t emu___hipPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
					 hipStream_t *stream)
{
	if (emu_thread.n_config == 0)
		return emu_ret(hipErrorMissingConfiguration);
	const struct call_config *c = &emu_thread.config[--emu_thread.n_config];
	*gridDim = c->grid;
	*blockDim = c->block;
	*sharedMem = c->shared;
	*stream = c->stream;
	return emu_ret(hipSuccess);
}
