/*
 * A HIP run time that does next to nothing, for tests and benches of capture:
 * device memory is host memory, copies are memcpy, launches do nothing. Build
 * as libamdhip64.so.5 with the project's include path.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hip_proto.h"

#define STUB __attribute__((visibility("default")))

/* Every call that reaches the run time, counted; the sum goes to the file STUB_COUNT names. */
static _Atomic long count, queries;
#define COUNT() note(__func__)
#define QUERY() (queries++) /* of facts: apart, to the file STUB_QUERIES names */

/* Counted calls in their order, one a line, to the file STUB_ORDER names. */
static FILE *order;
__attribute__((constructor)) static void open_order(void)
{
	if (getenv("STUB_ORDER") != NULL)
		order = fopen(getenv("STUB_ORDER"), "w");
}
static void note(const char *name)
{
	if (order != NULL) {
		fprintf(order, "%s\n", name);
		fflush(order);
	}
	count++;
}

static void say(const char *name, long n)
{
	const char *path = getenv(name);
	FILE *f = path != NULL ? fopen(path, "w") : NULL;

	if (f != NULL) {
		fprintf(f, "%ld\n", n);
		fclose(f);
	}
}
__attribute__((destructor)) static void say_count(void)
{
	say("STUB_COUNT", count);
	say("STUB_QUERIES", queries);
}
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

STUB hipError_t hipInit(unsigned int flags)
{
	COUNT();
	(void)flags;
	return hipSuccess;
}
STUB hipError_t hipGetDeviceCount(int *n)
{
	QUERY();
	*n = 2;
	return hipSuccess;
}
STUB hipError_t hipGetDevice(int *device)
{
	COUNT();
	*device = 0;
	return hipSuccess;
}
STUB hipError_t hipSetDevice(int device)
{
	COUNT();
	return device == 0 ? hipSuccess : hipErrorInvalidDevice;
}
STUB hipError_t hipGetLastError(void)
{
	COUNT();
	return hipSuccess;
}
STUB hipError_t hipPeekAtLastError(void)
{
	QUERY();
	return hipSuccess;
}
STUB hipError_t hipRuntimeGetVersion(int *version)
{
	QUERY();
	*version = 50221153;
	return hipSuccess;
}
STUB hipError_t hipGetDeviceProperties(void *prop, int device) /* HIP 5's, of 792 bytes */
{
	unsigned long long memory = 1000 + (unsigned)device;

	QUERY();
	memset(prop, 0, 792);
	strcpy(prop, "Stub \"device\"");
	memcpy((char *)prop + 256, &memory, 8);
	strcpy((char *)prop + 396, "gfx90a:xnack-");
	return hipSuccess;
}
STUB hipError_t hipStreamAddCallback(hipStream_t stream, void *fn, void *data, unsigned int flags)
{
	COUNT(); /* and is never run */
	(void)stream, (void)fn, (void)data, (void)flags;
	return hipSuccess;
}
STUB hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags)
{
	COUNT();
	(void)stream, (void)event, (void)flags;
	return hipSuccess;
}
STUB hipError_t hipProfilerStart(void)
{
	COUNT();
	return hipSuccess;
}
STUB hipError_t hipProfilerStop(void)
{
	COUNT();
	return hipSuccess;
}
STUB hipError_t hipDeviceSynchronize(void)
{
	COUNT();
	return hipSuccess;
}
STUB hipError_t hipMalloc(void **ptr, size_t size)
{
	COUNT();
	*ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return *ptr == MAP_FAILED ? hipErrorOutOfMemory : hipSuccess;
}
STUB hipError_t hipFree(void *ptr)
{
	COUNT();
	(void)ptr; /* kept: the size is not known, and tests are short */
	return hipSuccess;
}
STUB hipError_t hipHostMalloc(void **ptr, size_t size, unsigned int flags)
{
	COUNT();
	(void)flags;
	*ptr = calloc(1, size);
	return *ptr == NULL ? hipErrorOutOfMemory : hipSuccess;
}
STUB hipError_t hipHostFree(void *ptr)
{
	COUNT();
	if (getenv("STUB_HANG") != NULL)
		pause();
	free(ptr);
	return hipSuccess;
}
STUB hipError_t hipMemcpy(void *dst, void *src, size_t size, int kind)
{
	COUNT();
	(void)kind;
	memcpy(dst, src, size);
	return hipSuccess;
}
STUB hipError_t hipMemcpyAsync(void *dst, void *src, size_t size, int kind, hipStream_t stream)
{
	COUNT();
	(void)stream;
	return hipMemcpy(dst, src, size, kind);
}
STUB hipError_t hipMemset(void *dst, int value, size_t size)
{
	COUNT();
	memset(dst, value, size);
	return hipSuccess;
}
STUB hipError_t hipStreamCreate(hipStream_t *stream)
{
	COUNT();
	*stream = malloc(16);
	return hipSuccess;
}
STUB hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags)
{
	COUNT();
	(void)flags;
	*stream = malloc(16);
	return hipSuccess;
}
STUB hipError_t hipStreamDestroy(hipStream_t stream)
{
	COUNT();
	free(stream);
	return hipSuccess;
}
STUB hipError_t hipStreamSynchronize(hipStream_t stream)
{
	COUNT();
	/* Tests of a call that never returns: waits where its stream says so. */
	if (stream != NULL && getenv("STUB_HANG") != NULL)
		pause();
	return hipSuccess;
}
STUB hipError_t hipEventCreate(hipEvent_t *event)
{
	COUNT();
	*event = malloc(16);
	return hipSuccess;
}
STUB hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
	COUNT();
	(void)event;
	(void)stream;
	return hipSuccess;
}
STUB hipError_t hipEventSynchronize(hipEvent_t event)
{
	COUNT();
	(void)event;
	return hipSuccess;
}
STUB hipFatBinary_t __hipRegisterFatBinary(void *data)
{
	COUNT();
	(void)data;
	return malloc(16);
}
STUB void __hipRegisterFunction(hipFatBinary_t modules, void *hostFunction,
				const char *deviceFunction, const char *deviceName,
				unsigned int threadLimit, void *tid, void *bid, void *blockDim,
				void *gridDim, void *wSize)
{
	COUNT();
	(void)modules, (void)hostFunction, (void)deviceFunction, (void)deviceName,
	    (void)threadLimit;
	(void)tid, (void)bid, (void)blockDim, (void)gridDim, (void)wSize;
}
STUB void __hipUnregisterFatBinary(hipFatBinary_t modules)
{
	COUNT();
	free(modules);
}
STUB hipError_t hipLaunchKernel(void *f, dim3 grid, dim3 block, void **args, size_t lds,
				hipStream_t stream)
{
	COUNT();
	(void)f, (void)grid, (void)block, (void)args, (void)lds, (void)stream;
	return hipSuccess;
}
STUB hipError_t hipGetMipmappedArrayLevel(void *level, void *array, unsigned int n)
{
	COUNT();
	(void)level, (void)array, (void)n;
	return hipErrorNotSupported;
}
