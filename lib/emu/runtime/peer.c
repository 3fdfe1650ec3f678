#include "lib/emu/runtime/rt.h"

#include "lib/emu/runtime/sched.h"

/* Devices of one process, all alike and all connected. */

hipError_t emu_hipDeviceCanAccessPeer(int *canAccessPeer, int deviceId, int peerDeviceId)
{
	EMU_ENTER(EMU_ANY);
	if (canAccessPeer == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(deviceId) || !rt_device_ok(peerDeviceId))
		return emu_ret(hipErrorInvalidDevice);
	*canAccessPeer = deviceId != peerDeviceId;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipDeviceEnablePeerAccess(int peerDeviceId, unsigned int flags)
{
	hipError_t e = hipSuccess;

	EMU_ENTER(EMU_WORK);
	if (flags != 0)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(peerDeviceId) || peerDeviceId == emu_thread.device)
		return emu_ret(hipErrorInvalidDevice);
	rt_lock();
	if (rt_device()->peers >> peerDeviceId & 1)
		e = hipErrorPeerAccessAlreadyEnabled;
	else
		rt_device()->peers |= 1u << peerDeviceId;
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipDeviceDisablePeerAccess(int peerDeviceId)
{
	hipError_t e = hipErrorPeerAccessNotEnabled;

	EMU_ENTER(EMU_WORK);
	if (!rt_device_ok(peerDeviceId) || peerDeviceId == emu_thread.device)
		return emu_ret(hipErrorInvalidDevice);
	rt_lock();
	if (rt_device()->peers >> peerDeviceId & 1) {
		sched_quiesce();
		rt_device()->peers &= ~(1u << peerDeviceId);
		e = hipSuccess;
	}
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipDeviceGetP2PAttribute(int *value, int attr, int srcDevice, int dstDevice)
{
	EMU_ENTER(EMU_ANY);
	if (value == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(srcDevice) || !rt_device_ok(dstDevice) || srcDevice == dstDevice)
		return emu_ret(hipErrorInvalidDevice);
	switch (attr) {
	case hipDevP2PAttrPerformanceRank:
		*value = 0;
		break;
	case hipDevP2PAttrAccessSupported:
	case hipDevP2PAttrNativeAtomicSupported:
		*value = 1;
		break;
	case hipDevP2PAttrHipArrayAccessSupported:
		*value = 0;
		break;
	default:
		return emu_ret(hipErrorInvalidValue);
	}
	return emu_ret(hipSuccess);
}

hipError_t emu_hipExtGetLinkTypeAndHopCount(int device1, int device2, uint32_t *linktype,
					    uint32_t *hopcount)
{
	enum { XGMI = 4 };

	EMU_ENTER(EMU_ANY);
	if (linktype == NULL || hopcount == NULL)
		return emu_ret(hipErrorInvalidValue);
	if (!rt_device_ok(device1) || !rt_device_ok(device2) || device1 == device2)
		return emu_ret(hipErrorInvalidDevice);
	*linktype = XGMI;
	*hopcount = 1;
	return emu_ret(hipSuccess);
}
