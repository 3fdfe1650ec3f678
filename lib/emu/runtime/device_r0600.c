#include "lib/emu/runtime/device.h"

#include <string.h>

/* The device properties of ROCm 6 and later, and the names older structures have there. */

hipError_t emu_hipGetDevicePropertiesR0000(struct hipDeviceProp_t *prop, int device)
{
	return emu_hipGetDeviceProperties(prop, device);
}

hipError_t emu_hipChooseDeviceR0000(int *device, struct hipDeviceProp_t *properties)
{
	return emu_hipChooseDevice(device, properties);
}

hipError_t emu_hipChooseDeviceR0600(int *device, struct hipDeviceProp_tR0600 *prop)
{
	EMU_ENTER(EMU_ANY);
	if (device == NULL || prop == NULL)
		return emu_ret(hipErrorInvalidValue);
	*device = 0;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipGetDevicePropertiesR0600(struct hipDeviceProp_tR0600 *prop, int device)
{
	struct hipDeviceProp_tR0600 p = {0};
	struct hipUUID_t uuid;
	struct hipDeviceProp_t o;

	if (prop == NULL)
		return emu_ret(hipErrorInvalidValue);
	hipError_t e = emu_hipGetDeviceProperties(&o, device);
	if (e == hipSuccess)
		e = emu_hipDeviceGetUuid(&uuid, device);
	if (e != hipSuccess)
		return e;
	memcpy(p.name, o.name, sizeof p.name);
	memcpy(p.uuid.bytes, uuid.bytes, sizeof p.uuid.bytes);
	memcpy(p.gcnArchName, o.gcnArchName, sizeof p.gcnArchName);
	p.totalGlobalMem = o.totalGlobalMem;
	p.sharedMemPerBlock = p.sharedMemPerBlockOptin = p.sharedMemPerMultiprocessor =
	    o.sharedMemPerBlock;
	p.maxSharedMemoryPerMultiProcessor = o.maxSharedMemoryPerMultiProcessor;
	p.regsPerBlock = p.regsPerMultiprocessor = o.regsPerBlock;
	p.warpSize = o.warpSize;
	p.memPitch = o.memPitch;
	p.maxThreadsPerBlock = o.maxThreadsPerBlock;
	memcpy(p.maxThreadsDim, o.maxThreadsDim, sizeof p.maxThreadsDim);
	memcpy(p.maxGridSize, o.maxGridSize, sizeof p.maxGridSize);
	p.clockRate = o.clockRate;
	p.memoryClockRate = o.memoryClockRate;
	p.memoryBusWidth = o.memoryBusWidth;
	p.clockInstructionRate = o.clockInstructionRate;
	p.totalConstMem = o.totalConstMem;
	p.major = o.major;
	p.minor = o.minor;
	p.textureAlignment = p.surfaceAlignment = o.textureAlignment;
	p.texturePitchAlignment = o.texturePitchAlignment;
	p.multiProcessorCount = o.multiProcessorCount;
	p.canMapHostMemory = 1;
	p.maxTexture1D = p.maxTexture1DLinear = o.maxTexture1D;
	memcpy(p.maxTexture2D, o.maxTexture2D, sizeof p.maxTexture2D);
	memcpy(p.maxTexture3D, o.maxTexture3D, sizeof p.maxTexture3D);
	p.concurrentKernels = 1;
	p.pciBusID = o.pciBusID;
	p.asyncEngineCount = 2;
	p.unifiedAddressing = 1;
	p.l2CacheSize = o.l2CacheSize;
	p.maxThreadsPerMultiProcessor = o.maxThreadsPerMultiProcessor;
	p.streamPrioritiesSupported = 1;
	p.managedMemory = 1;
	p.hostNativeAtomicSupported = 1;
	p.concurrentManagedAccess = 1;
	p.canUseHostPointerForRegisteredMem = 1;
	p.cooperativeLaunch = 1;
	p.directManagedMemAccessFromHost = 1;
	p.maxBlocksPerMultiProcessor = arch_info(rt_arch())->waves_per_cu;
	p.hostRegisterSupported = 1;
	p.deviceOverlap = 1;
	p.globalL1CacheSupported = p.localL1CacheSupported = 1;
	p.persistingL2CacheMaxSize = o.l2CacheSize;
	p.hostRegisterReadOnlySupported = 1;
	p.memoryPoolsSupported = 1;
	p.isLargeBar = o.isLargeBar;
	*prop = p;
	return emu_ret(hipSuccess);
}
