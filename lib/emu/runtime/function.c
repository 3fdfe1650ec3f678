#include "lib/emu/runtime/launch.h"

#include "lib/emu/runtime/device.h"

/* What kernels need, and how many of them fit. */

#define MAX_BLOCKS_PER_CU 32u

/* The kernel behind a stub or handle on the current device. rt.lock held. */
static hipError_t find(struct function *f, const struct hrr_kernel **ret_k)
{
	struct image *i;

	return f != NULL ? function_kernel(f, emu_thread.device, &i, ret_k)
			 : hipErrorInvalidDeviceFunction;
}

hipError_t emu_hipFuncGetAttributes(struct hipFuncAttributes *attr, void *func)
{
	const struct hrr_kernel *k;

	EMU_ENTER(EMU_WORK);
	if (attr == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct function *f = function_find(func);
	hipError_t e = find(f, &k);
	if (e == hipSuccess)
		*attr = (struct hipFuncAttributes){
		    .binaryVersion = arch_info(rt_arch())->gcn,
		    .localSizeBytes = k->private_size,
		    .maxDynamicSharedSizeBytes =
			f->max_dynamic != 0 ? (int)f->max_dynamic : (int)lds_left(k),
		    .maxThreadsPerBlock = k->max_block != 0 ? (int)k->max_block : 1024,
		    .numRegs = (int)k->vgprs,
		    .ptxVersion = 30,
		    .sharedSizeBytes = k->group_size};
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipFuncGetAttribute(int *value, int attrib, hipFunction_t hfunc)
{
	const struct hrr_kernel *k;

	EMU_ENTER(EMU_WORK);
	if (value == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct function *f = function_by_handle(hfunc);
	hipError_t e = f != NULL ? find(f, &k) : hipErrorInvalidHandle;
	if (e == hipSuccess)
		switch (attrib) {
		case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
			*value = k->max_block != 0 ? (int)k->max_block : 1024;
			break;
		case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
			*value = (int)k->group_size;
			break;
		case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
		case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
		case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
			*value = 0;
			break;
		case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
			*value = (int)k->private_size;
			break;
		case HIP_FUNC_ATTRIBUTE_NUM_REGS:
			*value = (int)k->vgprs;
			break;
		case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
			*value = 30;
			break;
		case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
			*value = arch_info(rt_arch())->gcn;
			break;
		case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
			*value = f->max_dynamic != 0 ? (int)f->max_dynamic : (int)lds_left(k);
			break;
		default:
			e = hipErrorInvalidValue;
		}
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipFuncSetAttribute(void *func, int attr, int value)
{
	const struct hrr_kernel *k;

	EMU_ENTER(EMU_WORK);
	rt_lock();
	struct function *f = function_find(func);
	hipError_t e = find(f, &k);
	if (e == hipSuccess && attr == hipFuncAttributeMaxDynamicSharedMemorySize) {
		if (value < 0 || (uint32_t)value > lds_left(k))
			e = hipErrorInvalidValue;
		else
			f->max_dynamic = (unsigned)value;
	} else if (e == hipSuccess && attr != hipFuncAttributePreferredSharedMemoryCarveout) {
		e = hipErrorInvalidValue;
	}
	rt_unlock();
	return emu_ret(e);
}

static hipError_t known(const void *func)
{
	rt_lock();
	bool ok = function_find(func) != NULL;
	rt_unlock();
	return ok ? hipSuccess : hipErrorInvalidDeviceFunction;
}

/* Hints about caches and banks: accepted, and nothing here depends on them. */
hipError_t emu_hipFuncSetCacheConfig(void *func, int config)
{
	EMU_ENTER(EMU_WORK);
	if (config < 0 || config > hipFuncCachePreferEqual)
		return emu_ret(hipErrorInvalidValue);
	return emu_ret(known(func));
}

hipError_t emu_hipFuncSetSharedMemConfig(void *func, int config)
{
	EMU_ENTER(EMU_WORK);
	if (config < 0 || config > hipSharedMemBankSizeEightByte)
		return emu_ret(hipErrorInvalidValue);
	return emu_ret(known(func));
}

const char *emu_hipKernelNameRef(hipFunction_t f)
{
	rt_lock();
	const struct function *x = function_by_handle(f);
	rt_unlock();
	return x != NULL ? x->name : NULL;
}

const char *emu_hipKernelNameRefByPtr(void *hostFunction, hipStream_t stream)
{
	(void)stream;
	rt_lock();
	const struct function *x = function_find(hostFunction);
	rt_unlock();
	return x != NULL ? x->name : NULL;
}

hipError_t emu_hipGetFuncBySymbol(hipFunction_t *functionPtr, void *symbolPtr)
{
	hipError_t e = hipErrorInvalidDeviceFunction;

	EMU_ENTER(EMU_WORK);
	if (functionPtr == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct function *f = function_find(symbolPtr);
	if (f != NULL) {
		e = handle_is(HANDLE_FUNCTION, f) || handle_add(HANDLE_FUNCTION, f) == 0
			? hipSuccess
			: hipErrorOutOfMemory;
		if (e == hipSuccess)
			*functionPtr = (hipFunction_t)(void *)f;
	}
	rt_unlock();
	return emu_ret(e);
}

/* --- occupancy --------------------------------------------------------------------- */

/* Waves of a kernel that one SIMD holds, as its registers allow. */
static unsigned waves_per_simd(const struct hrr_kernel *k)
{
	const struct arch_info *a = arch_info(rt_arch());
	bool rdna = a->wave_size == 32;
	unsigned most = rdna ? 16 : 8, granule = rdna ? 16 : 8;
	unsigned regs = k->vgprs + (rdna ? 0 : (k->agprs + 3) / 4 * 4);

	regs = (regs + granule - 1) / granule * granule;
	if (regs == 0)
		return most;
	unsigned n = (unsigned)a->vgprs_per_simd_lane / regs;
	return n < 1 ? 1 : n > most ? most : n;
}

static unsigned blocks_per_cu(const struct hrr_kernel *k, unsigned block, size_t dynamic)
{
	const struct arch_info *a = arch_info(rt_arch());
	unsigned simds = a->wave_size == 32 ? 2 : 4;
	unsigned wave = k->wave_size != 0 ? k->wave_size : (unsigned)a->wave_size;
	unsigned waves = (block + wave - 1) / wave;
	unsigned n = waves_per_simd(k) * simds / waves;
	size_t lds = k->group_size + dynamic;

	if (block > (k->max_block != 0 ? k->max_block : 1024))
		return 0;
	if (lds > a->lds_bytes)
		return 0;
	if (lds > 0 && a->lds_bytes / lds < n)
		n = (unsigned)(a->lds_bytes / lds);
	return n > MAX_BLOCKS_PER_CU ? MAX_BLOCKS_PER_CU : n;
}

static hipError_t active_blocks(int *blocks, const void *fn, bool handle, int block, size_t dynamic)
{
	const struct hrr_kernel *k;

	if (blocks == NULL || block <= 0)
		return hipErrorInvalidValue;
	rt_lock();
	hipError_t e =
	    find(handle ? function_by_handle((hipFunction_t)(uintptr_t)fn) : function_find(fn), &k);
	if (e == hipSuccess)
		*blocks = (int)blocks_per_cu(k, (unsigned)block, dynamic);
	rt_unlock();
	return e;
}

hipError_t emu_hipOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, void *f, int blockSize,
							    size_t dynSharedMemPerBlk)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(active_blocks(numBlocks, f, false, blockSize, dynSharedMemPerBlk));
}

hipError_t emu_hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, void *f,
								     int blockSize,
								     size_t dynSharedMemPerBlk,
								     unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	if (flags > 1)
		return emu_ret(hipErrorInvalidValue);
	return emu_ret(active_blocks(numBlocks, f, false, blockSize, dynSharedMemPerBlk));
}

hipError_t emu_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, hipFunction_t f,
								  int blockSize,
								  size_t dynSharedMemPerBlk)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(active_blocks(numBlocks, f, true, blockSize, dynSharedMemPerBlk));
}

hipError_t emu_hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, hipFunction_t f, int blockSize, size_t dynSharedMemPerBlk, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	if (flags > 1)
		return emu_ret(hipErrorInvalidValue);
	return emu_ret(active_blocks(numBlocks, f, true, blockSize, dynSharedMemPerBlk));
}

/* The block size with the most work-items per CU; among equals the largest. */
static hipError_t potential(int *grid, int *block, const void *fn, bool handle, size_t dynamic,
			    int limit)
{
	const struct hrr_kernel *k;

	if (grid == NULL || block == NULL || limit < 0)
		return hipErrorInvalidValue;
	rt_lock();
	hipError_t e =
	    find(handle ? function_by_handle((hipFunction_t)(uintptr_t)fn) : function_find(fn), &k);
	if (e == hipSuccess) {
		const struct arch_info *a = arch_info(rt_arch());
		unsigned most = k->max_block != 0 ? k->max_block : 1024;
		if (limit > 0 && (unsigned)limit < most)
			most = (unsigned)limit;
		unsigned best = 0, best_block = most, step = (unsigned)a->wave_size;
		for (unsigned b = most; b > 0; b = b > step ? (b - 1) / step * step : 0) {
			unsigned items = blocks_per_cu(k, b, dynamic) * b;
			if (items > best) {
				best = items;
				best_block = b;
			}
		}
		*block = (int)best_block;
		*grid = (int)blocks_per_cu(k, best_block, dynamic) * a->cus;
	}
	rt_unlock();
	return e;
}

hipError_t emu_hipOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, void *f,
						 size_t dynSharedMemPerBlk, int blockSizeLimit)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(
	    potential(gridSize, blockSize, f, false, dynSharedMemPerBlk, blockSizeLimit));
}

hipError_t emu_hipModuleOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize,
						       hipFunction_t f, size_t dynSharedMemPerBlk,
						       int blockSizeLimit)
{
	EMU_ENTER(EMU_WORK);
	return emu_ret(potential(gridSize, blockSize, f, true, dynSharedMemPerBlk, blockSizeLimit));
}

hipError_t emu_hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *gridSize, int *blockSize,
								hipFunction_t f,
								size_t dynSharedMemPerBlk,
								int blockSizeLimit,
								unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	if (flags > 1)
		return emu_ret(hipErrorInvalidValue);
	return emu_ret(potential(gridSize, blockSize, f, true, dynSharedMemPerBlk, blockSizeLimit));
}
