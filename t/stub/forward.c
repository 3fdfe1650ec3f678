/* The least an interposer can do, to compare capture with: forwards two calls. */
#include <dlfcn.h>
#include <stddef.h>

#include "hip_proto.h"

hipError_t hipGetDevice(int *device);
hipError_t hipLaunchKernel(void *f, dim3 grid, dim3 block, void **args, size_t lds, hipStream_t s);

hipError_t hipGetDevice(int *device)
{
	static hrr_fn_hipGetDevice real;

	if (real == NULL)
		real = (hrr_fn_hipGetDevice)dlsym(RTLD_NEXT, "hipGetDevice");
	return real(device);
}

hipError_t hipLaunchKernel(void *f, dim3 grid, dim3 block, void **args, size_t lds, hipStream_t s)
{
	static hrr_fn_hipLaunchKernel real;

	if (real == NULL)
		real = (hrr_fn_hipLaunchKernel)dlsym(RTLD_NEXT, "hipLaunchKernel");
	return real(f, grid, block, args, lds, s);
}
