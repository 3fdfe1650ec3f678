#include "lib/emu/runtime/rt.h"

#include "lib/hip/table.h"

hipError_t emu_hipGetLastError(void)
{
	hipError_t e = emu_thread.last;

	if (emu_enter(EMU_ANY) == hipErrorNoDevice)
		return hipErrorNoDevice;
	emu_thread.last = hipSuccess;
	/* A fault met by work nobody has waited for yet is also an answer. */
	return e != hipSuccess ? e : rt_device()->sticky;
}

hipError_t emu_hipExtGetLastError(void)
{
	return emu_hipGetLastError();
}

hipError_t emu_hipPeekAtLastError(void)
{
	if (emu_enter(EMU_ANY) == hipErrorNoDevice)
		return hipErrorNoDevice;
	return emu_thread.last != hipSuccess ? emu_thread.last : rt_device()->sticky;
}

const char *emu_hipGetErrorName(int hip_error)
{
	const char *name = hrr_error_name(hip_error);

	return name != NULL ? name : "hipErrorUnknown";
}

const char *emu_hipGetErrorString(int hipError)
{
	static const struct {
		hipError_t e;
		const char *text;
	} texts[] = {
	    {hipSuccess, "no error"},
	    {hipErrorInvalidValue, "invalid argument"},
	    {hipErrorOutOfMemory, "out of memory"},
	    {hipErrorNotInitialized, "initialization error"},
	    {hipErrorInvalidConfiguration, "invalid configuration argument"},
	    {hipErrorInvalidPitchValue, "invalid pitch argument"},
	    {hipErrorInvalidSymbol, "invalid device symbol"},
	    {hipErrorInvalidDevicePointer, "invalid device pointer"},
	    {hipErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"},
	    {hipErrorInvalidDeviceFunction, "invalid device function"},
	    {hipErrorNoDevice, "no ROCm-capable device is detected"},
	    {hipErrorInvalidDevice, "invalid device ordinal"},
	    {hipErrorInvalidImage, "device kernel image is invalid"},
	    {hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device"},
	    {hipErrorFileNotFound, "file not found"},
	    {hipErrorInvalidHandle, "invalid resource handle"},
	    {hipErrorNotFound, "named symbol not found"},
	    {hipErrorNotReady, "device not ready"},
	    {hipErrorIllegalAddress, "an illegal memory access was encountered"},
	    {hipErrorLaunchOutOfResources, "too many resources requested for launch"},
	    {hipErrorLaunchTimeOut, "the launch timed out and was terminated"},
	    {hipErrorPeerAccessAlreadyEnabled, "peer access is already enabled"},
	    {hipErrorPeerAccessNotEnabled, "peer access has not been enabled"},
	    {hipErrorHostMemoryAlreadyRegistered,
	     "part or all of the requested memory range is already mapped"},
	    {hipErrorHostMemoryNotRegistered,
	     "pointer does not correspond to a registered memory region"},
	    {hipErrorLaunchFailure, "unspecified launch failure"},
	    {hipErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"},
	    {hipErrorNotSupported, "operation not supported"},
	    {hipErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"},
	    {hipErrorStreamCaptureInvalidated,
	     "operation failed due to a previous error during capture"},
	    {hipErrorStreamCaptureUnjoined, "capturing stream has unjoined work"},
	    {hipErrorStreamCaptureImplicit,
	     "operation would make the legacy stream depend on a capturing blocking stream"},
	    {hipErrorCapturedEvent, "operation not permitted on an event last recorded in a "
				    "capturing stream"},
	    {hipErrorGraphExecUpdateFailure,
	     "the graph update was not performed because it included changes which violated "
	     "constraints specific to instantiated graph update"},
	    {hipErrorUnknown, "unknown error"}};

	/* Up to ROCm 5 the text is the name. */
	if (rt.major >= 6)
		for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
			if (texts[i].e == hipError)
				return texts[i].text;
	return emu_hipGetErrorName(hipError);
}

hipError_t emu_hipDrvGetErrorName(int hipError, const char **errorString)
{
	if (errorString == NULL)
		return hipErrorInvalidValue;
	*errorString = hrr_error_name(hipError);
	return *errorString != NULL ? hipSuccess : hipErrorInvalidValue;
}

hipError_t emu_hipDrvGetErrorString(int hipError, const char **errorString)
{
	if (errorString == NULL)
		return hipErrorInvalidValue;
	*errorString = hrr_error_name(hipError) != NULL ? emu_hipGetErrorString(hipError) : NULL;
	return *errorString != NULL ? hipSuccess : hipErrorInvalidValue;
}
