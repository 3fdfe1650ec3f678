#include "lib/emu/runtime/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/capture.h"
#include "lib/emu/runtime/sched.h"
#include "lib/emu/runtime/visible.h"

#define LDS_BYTES (64u << 10)

const struct arch_info *arch_info(enum isa_arch arch)
{
	static const struct arch_info info[ISA_ARCH_COUNT] = {
	    [ISA_GFX90A] = {"AMD Instinct MI210 (hrr CPU emulation)", "gfx90a:sramecc+:xnack-", 104,
			    1700000, 1600000, 4096, 8 << 20, 32, 64, 512, 910, LDS_BYTES},
	    [ISA_GFX942] = {"AMD Instinct MI300X (hrr CPU emulation)", "gfx942:sramecc+:xnack-",
			    304, 2100000, 1300000, 8192, 4 << 20, 32, 64, 512, 942, LDS_BYTES},
	    [ISA_GFX950] = {"AMD Instinct MI355X (hrr CPU emulation)", "gfx950:sramecc+:xnack-",
			    256, 2400000, 2000000, 8192, 4 << 20, 32, 64, 512, 950, 160 << 10},
	    [ISA_GFX1030] = {"AMD Radeon RX 6800 XT (hrr CPU emulation)", "gfx1030", 36, 2575000,
			     1000000, 256, 4 << 20, 64, 32, 1024, 1030, LDS_BYTES},
	    [ISA_GFX1100] = {"AMD Radeon RX 7900 XTX (hrr CPU emulation)", "gfx1100", 48, 2482000,
			     1249000, 384, 6 << 20, 64, 32, 1536, 1100, LDS_BYTES},
	    [ISA_GFX1201] = {"AMD Radeon RX 9070 XT (hrr CPU emulation)", "gfx1201", 32, 2970000,
			     1258000, 256, 8 << 20, 64, 32, 1536, 1201, LDS_BYTES}};

	return &info[arch];
}

unsigned lds_left(const struct hrr_kernel *k)
{
	unsigned all = arch_info(rt_arch())->lds_bytes;

	return k->group_size < all ? all - k->group_size : 0;
}

/* The compute capability HIP makes of an arch: gfx90a is 9.0, gfx1030 10.3. */
static void capability(int *major, int *minor)
{
	int gcn = arch_info(rt_arch())->gcn;

	*major = gcn >= 1000 ? gcn / 100 : 9;
	*minor = gcn >= 1000 ? gcn / 10 % 10 : gcn == 910 ? 0 : gcn / 10 % 10;
}

hipError_t emu_hipGetDeviceProperties(struct hipDeviceProp_t *prop, int deviceId)
{
	EMU_ENTER(EMU_ANY);
	if (prop == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(deviceId))
		return emu_ret(hipErrorInvalidDevice);
	const struct arch_info *a = arch_info(rt_arch());
	struct hipDeviceProp_t p = {0};
	snprintf(p.name, sizeof p.name, "%s", a->name);
	snprintf(p.gcnArchName, sizeof p.gcnArchName, "%s", a->target);
	p.totalGlobalMem = rt.memory;
	p.sharedMemPerBlock = a->lds_bytes;
	p.regsPerBlock = 65536;
	p.warpSize = a->wave_size;
	p.maxThreadsPerBlock = 1024;
	p.maxThreadsDim[0] = p.maxThreadsDim[1] = p.maxThreadsDim[2] = 1024;
	p.maxGridSize[0] = INT32_MAX;
	p.maxGridSize[1] = p.maxGridSize[2] = INT32_MAX;
	p.clockRate = a->clock_khz;
	p.memoryClockRate = a->memory_clock_khz;
	p.memoryBusWidth = a->bus_bits;
	p.totalConstMem = INT32_MAX;
	capability(&p.major, &p.minor);
	p.multiProcessorCount = a->cus;
	p.l2CacheSize = a->l2_bytes;
	p.maxThreadsPerMultiProcessor = a->waves_per_cu * a->wave_size;
	p.clockInstructionRate = 1000000;
	p.concurrentKernels = 1;
	p.pciBusID = rt.dev[deviceId].id + 1;
	p.maxSharedMemoryPerMultiProcessor = a->lds_bytes;
	p.canMapHostMemory = 1;
	p.gcnArch = a->gcn;
	p.cooperativeLaunch = 1;
	p.maxTexture1DLinear = p.maxTexture1D = 16384;
	p.maxTexture2D[0] = p.maxTexture2D[1] = 16384;
	p.maxTexture3D[0] = p.maxTexture3D[1] = 16384;
	p.maxTexture3D[2] = 8192;
	p.memPitch = INT32_MAX;
	p.textureAlignment = p.texturePitchAlignment = 256;
	p.isLargeBar = 0; /* device addresses are numbers of ours: the host cannot follow them */
	p.managedMemory = 1;
	p.directManagedMemAccessFromHost = 1;
	p.concurrentManagedAccess = 1;
	*prop = p;
	return emu_ret(hipSuccess);
}

/* HIP's own list of answers; what it has no answer for is an invalid value there too. */
static hipError_t attribute(int *pi, int attr, int device)
{
	struct hipDeviceProp_t p;

	hipError_t e = emu_hipGetDeviceProperties(&p, device);
	if (e != hipSuccess)
		return e;
	switch (attr) {
	case hipDeviceAttributeAsyncEngineCount:
		*pi = 2;
		break;
	case hipDeviceAttributeCanMapHostMemory:
	case hipDeviceAttributeConcurrentKernels:
	case hipDeviceAttributeConcurrentManagedAccess:
	case hipDeviceAttributeCooperativeLaunch:
	case hipDeviceAttributeDirectManagedMemAccessFromHost:
	case hipDeviceAttributeCanUseHostPointerForRegisteredMem:
	case hipDeviceAttributeHostNativeAtomicSupported:
	case hipDeviceAttributeManagedMemory:
	case hipDeviceAttributeMemoryPoolsSupported:
	case hipDeviceAttributeStreamPrioritiesSupported:
	case hipDeviceAttributeUnifiedAddressing:
	case hipDeviceAttributeCanUseStreamWaitValue:
	case hipDeviceAttributeFineGrainSupport:
	case hipDeviceAttributeVirtualMemoryManagementSupported:
	case hipDeviceAttributeHostRegisterSupported:
	case hipDeviceAttributeDeviceOverlap:
	case hipDeviceAttributeGlobalL1CacheSupported:
	case hipDeviceAttributeLocalL1CacheSupported:
		*pi = 1;
		break;
	case hipDeviceAttributeIsLargeBar:
	case hipDeviceAttributeMemoryPoolSupportedHandleTypes: /* none is handed out */
	case hipDeviceAttributeAccessPolicyMaxWindowSize:
	case hipDeviceAttributeEccEnabled:
	case hipDeviceAttributeComputeMode:
	case hipDeviceAttributeComputePreemptionSupported:
	case hipDeviceAttributeCooperativeMultiDeviceLaunch:
	case hipDeviceAttributeIntegrated:
	case hipDeviceAttributeIsMultiGpuBoard:
	case hipDeviceAttributeKernelExecTimeout:
	case hipDeviceAttributePageableMemoryAccess:
	case hipDeviceAttributePageableMemoryAccessUsesHostPageTables:
	case hipDeviceAttributeMultiGpuBoardGroupID:
	case hipDeviceAttributePciDeviceId:
	case hipDeviceAttributePciDomainID:
	case hipDeviceAttributeTccDriver:
	case hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc:
	case hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim:
	case hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim:
	case hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem:
	case hipDeviceAttributeAsicRevision:
	case hipDeviceAttributeImageSupport:
		*pi = 0;
		break;
	case hipDeviceAttributePciBusId:
		*pi = p.pciBusID;
		break;
	case hipDeviceAttributeClockRate:
		*pi = p.clockRate;
		break;
	case hipDeviceAttributeWallClockRate:
		*pi = 100000; /* kHz */
		break;
	case hipDeviceAttributeMemoryClockRate:
		*pi = p.memoryClockRate;
		break;
	case hipDeviceAttributeMemoryBusWidth:
		*pi = p.memoryBusWidth;
		break;
	case hipDeviceAttributeL2CacheSize:
	case hipDeviceAttributePersistingL2CacheMaxSize:
		*pi = p.l2CacheSize;
		break;
	case hipDeviceAttributeComputeCapabilityMajor:
		*pi = p.major;
		break;
	case hipDeviceAttributeComputeCapabilityMinor:
		*pi = p.minor;
		break;
	case hipDeviceAttributeMaxBlocksPerMultiProcessor:
		*pi = arch_info(rt_arch())->waves_per_cu;
		break;
	case hipDeviceAttributeMaxBlockDimX:
	case hipDeviceAttributeMaxBlockDimY:
	case hipDeviceAttributeMaxBlockDimZ:
	case hipDeviceAttributeMaxThreadsPerBlock:
		*pi = 1024;
		break;
	case hipDeviceAttributeMaxGridDimX:
	case hipDeviceAttributeMaxGridDimY:
	case hipDeviceAttributeMaxGridDimZ:
	case hipDeviceAttributeMaxPitch:
	case hipDeviceAttributeTotalConstantMemory:
		*pi = INT32_MAX;
		break;
	case hipDeviceAttributeMaxTexture1DWidth:
	case hipDeviceAttributeMaxTexture1DLinear:
	case hipDeviceAttributeMaxTexture2DWidth:
	case hipDeviceAttributeMaxTexture2DHeight:
	case hipDeviceAttributeMaxTexture3DWidth:
	case hipDeviceAttributeMaxTexture3DHeight:
		*pi = 16384;
		break;
	case hipDeviceAttributeMaxTexture3DDepth:
		*pi = 8192;
		break;
	case hipDeviceAttributeMaxThreadsPerMultiProcessor:
		*pi = p.maxThreadsPerMultiProcessor;
		break;
	case hipDeviceAttributeMultiprocessorCount:
	case hipDeviceAttributePhysicalMultiProcessorCount:
		*pi = p.multiProcessorCount;
		break;
	case hipDeviceAttributeMaxRegistersPerBlock:
	case hipDeviceAttributeMaxRegistersPerMultiprocessor:
		*pi = p.regsPerBlock;
		break;
	case hipDeviceAttributeMaxSharedMemoryPerBlock:
	case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
	case hipDeviceAttributeSharedMemPerBlockOptin:
	case hipDeviceAttributeSharedMemPerMultiprocessor:
		*pi = (int)arch_info(rt_arch())->lds_bytes;
		break;
	case hipDeviceAttributeReservedSharedMemPerBlock:
		*pi = 0;
		break;
	case hipDeviceAttributeSurfaceAlignment:
	case hipDeviceAttributeTextureAlignment:
	case hipDeviceAttributeTexturePitchAlignment:
		*pi = 256;
		break;
	case hipDeviceAttributeTotalGlobalMem:
		*pi = p.totalGlobalMem > INT32_MAX ? INT32_MAX : (int)p.totalGlobalMem;
		break;
	case hipDeviceAttributeWarpSize:
		*pi = p.warpSize;
		break;
	case hipDeviceAttributeClockInstructionRate:
		*pi = p.clockInstructionRate;
		break;
	case hipDeviceAttributeGcnArch:
		*pi = p.gcnArch;
		break;
	default:
		return hipErrorInvalidValue;
	}
	return hipSuccess;
}

hipError_t emu_hipDeviceGetAttribute(int *pi, int attr, int deviceId)
{
	EMU_ENTER(EMU_ANY);
	if (pi == NULL)
		return emu_ret(hipErrorInvalidValue);
	return emu_ret(attribute(pi, attr, deviceId));
}

/* --- devices --------------------------------------------------------------------------- */

hipError_t emu_hipInit(unsigned int flags)
{
	EMU_ENTER(EMU_ANY);
	return emu_ret(flags == 0 ? hipSuccess : hipErrorInvalidValue);
}

hipError_t emu_hipGetDeviceCount(int *count)
{
	if (count == NULL)
		return emu_ret(hipErrorInvalidValue);
	*count = 0;
	EMU_ENTER(EMU_ANY);
	*count = rt.n_devices;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipGetDevice(int *deviceId)
{
	EMU_ENTER(EMU_ANY);
	if (deviceId == NULL)
		return emu_ret(hipErrorInvalidValue);
	*deviceId = emu_thread.device;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipSetDevice(int deviceId)
{
	EMU_ENTER(EMU_ANY);
	if (!rt_device_ok(deviceId))
		return emu_ret(hipErrorInvalidDevice);
	emu_thread.device = deviceId;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceGet(int *device, int ordinal)
{
	EMU_ENTER(EMU_ANY);
	if (device == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(ordinal))
		return emu_ret(hipErrorInvalidDevice);
	*device = ordinal;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceGetName(char *name, int len, int device)
{
	EMU_ENTER(EMU_ANY);
	if (name == NULL || len <= 0)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(device))
		return emu_ret(hipErrorInvalidDevice);
	snprintf(name, (size_t)len, "%s", arch_info(rt_arch())->name);
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceTotalMem(size_t *bytes, int device)
{
	EMU_ENTER(EMU_ANY);
	if (bytes == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(device))
		return emu_ret(hipErrorInvalidDevice);
	*bytes = rt.memory;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceComputeCapability(int *major, int *minor, int device)
{
	EMU_ENTER(EMU_ANY);
	if (major == NULL || minor == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(device))
		return emu_ret(hipErrorInvalidDevice);
	capability(major, minor);
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceGetUuid(struct hipUUID_t *uuid, int device)
{
	EMU_ENTER(EMU_ANY);
	if (uuid == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(device))
		return emu_ret(hipErrorInvalidDevice);
	char text[VISIBLE_UUID_SIZE];
	_Static_assert(sizeof uuid->bytes == VISIBLE_UUID_SIZE - 1, "the digits alone");
	visible_uuid(rt.dev[device].id, text);
	memcpy(uuid->bytes, text, sizeof uuid->bytes);
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
	EMU_ENTER(EMU_ANY);
	if (pciBusId == NULL || len < 13)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(device))
		return emu_ret(hipErrorInvalidDevice);
	snprintf(pciBusId, (size_t)len, "0000:%02x:00.0", (unsigned)rt.dev[device].id + 1);
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
	unsigned domain, bus, dev, fn;

	EMU_ENTER(EMU_ANY);
	if (device == NULL || pciBusId == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (sscanf(pciBusId, "%x:%x:%x.%x", &domain, &bus, &dev, &fn) != 4 || domain != 0 ||
	    dev != 0 || fn != 0)
		return emu_ret(hipErrorInvalidDevice);
	for (int i = 0; i < rt.n_devices; i++)
		if ((unsigned)rt.dev[i].id + 1 == bus) {
			*device = i;
			return emu_ret(hipSuccess);
		}
	return emu_ret(hipErrorInvalidDevice);
}

hipError_t emu_hipChooseDevice(int *device, struct hipDeviceProp_t *prop)
{
	EMU_ENTER(EMU_ANY);
	if (device == NULL || prop == NULL)
		return emu_ret(hipErrorInvalidValue);
	*device = 0; /* all are alike */
	return emu_ret(hipSuccess);
}

static int version(void)
{
	static const int v[] = {50221153, 60443484, 70125424}; /* 5.2, 6.4, 7.1 */

	return v[rt.major - 5];
}

hipError_t emu_hipRuntimeGetVersion(int *runtimeVersion)
{
	if (runtimeVersion == NULL)
		return emu_ret(hipErrorInvalidValue);
	*runtimeVersion = version();
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDriverGetVersion(int *driverVersion)
{
	return emu_hipRuntimeGetVersion(driverVersion);
}

hipError_t emu_hipDeviceSynchronize(void)
{
	EMU_ENTER(EMU_WORK);
	rt_lock();
	hipError_t e = capture_forbids() ? hipErrorStreamCaptureUnsupported
					 : sched_wait_device(emu_thread.device);
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipSetDeviceFlags(unsigned int flags)
{
	/* scheduling 0..4, map host 8, local memory resize 16 */
	EMU_ENTER(EMU_ANY);
	if ((flags & ~31u) != 0 || (flags & 7) == 3 || (flags & 7) > 4)
		return emu_ret(hipErrorInvalidValue);
	rt_device()->flags = flags;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipGetDeviceFlags(unsigned int *flags)
{
	EMU_ENTER(EMU_ANY);
	if (flags == NULL)
		return emu_ret(hipErrorInvalidValue);
	*flags = rt_device()->flags;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceGetLimit(size_t *pValue, int limit)
{
	EMU_ENTER(EMU_ANY);
	if (pValue == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (limit != hipLimitPrintfFifoSize && limit != hipLimitMallocHeapSize)
		return emu_ret(hipErrorUnsupportedLimit);
	*pValue = rt_device()->limit[limit - 1];
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceSetCacheConfig(int cacheConfig)
{
	EMU_ENTER(EMU_ANY);
	if (cacheConfig < 0 || cacheConfig > hipFuncCachePreferEqual)
		return emu_ret(hipErrorInvalidValue);
	rt_device()->cache_config = cacheConfig;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceGetCacheConfig(int *cacheConfig)
{
	EMU_ENTER(EMU_ANY);
	if (cacheConfig == NULL)
		return emu_ret(hipErrorInvalidValue);
	*cacheConfig = rt_device()->cache_config;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceSetSharedMemConfig(int config)
{
	EMU_ENTER(EMU_ANY);
	if (config < 0 || config > hipSharedMemBankSizeEightByte)
		return emu_ret(hipErrorInvalidValue);
	rt_device()->shared_config = config;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceGetSharedMemConfig(int *pConfig)
{
	EMU_ENTER(EMU_ANY);
	if (pConfig == NULL)
		return emu_ret(hipErrorInvalidValue);
	*pConfig = rt_device()->shared_config;
	return emu_ret(hipSuccess);
}
