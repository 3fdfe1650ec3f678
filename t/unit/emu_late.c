#include "t/unit/emu_fixture.h"

#include <time.h>

/* HRR_EMU_SCHED=late: what is queued runs when somebody waits for it, not before. */

static hipStream_t stream(void)
{
	hipStream_t s = NULL;

	is(HIP(hipStreamCreateWithFlags, &s, 1), hipSuccess, "a stream");
	return s;
}

static void copies(void)
{
	volatile char *pinned = NULL;
	char *d = NULL;
	char page[64];
	hipStream_t s = stream();

	is(HIP(hipMalloc, (void **)&d, 64), hipSuccess, "hipMalloc");
	is(HIP(hipHostMalloc, (void **)(uintptr_t)&pinned, 64, 0), hipSuccess, "hipHostMalloc");
	/* Device memset does not wait, not even hipMemset. */
	pinned[0] = 5;
	is(HIP(hipMemset, d, 1, 64), hipSuccess, "hipMemset");
	is(HIP(hipMemcpyAsync, (void *)(uintptr_t)pinned, d, 64, hipMemcpyDeviceToHost, NULL),
	   hipSuccess, "copy to pinned memory");
	is(pinned[0], 5, "has not happened");
	is(HIP(hipStreamSynchronize, NULL), hipSuccess, "synchronize");
	is(pinned[0], 1, "has happened");
	/* Pinned memory is read when the work runs, pageable memory at the call. */
	pinned[0] = 2;
	is(HIP(hipMemcpyAsync, d, (void *)(uintptr_t)pinned, 1, hipMemcpyHostToDevice, s),
	   hipSuccess, "copy from pinned memory");
	pinned[0] = 3;
	memset(page, 7, sizeof page);
	is(HIP(hipMemcpyAsync, d + 1, page, 1, hipMemcpyHostToDevice, s), hipSuccess,
	   "and from pageable memory");
	page[0] = 8;
	is(HIP(hipMemcpyAsync, page + 2, d, 2, hipMemcpyDeviceToHost, s), hipSuccess,
	   "to pageable memory");
	is(page[2], 3, "pinned bytes are those of later");
	is(page[3], 7, "pageable ones those of the call");
	/* Big ones too, and rectangles. */
	char *big = malloc(1 << 20), *dbig = NULL, *back = malloc(1 << 20);
	is(HIP(hipMalloc, (void **)&dbig, 1 << 20), hipSuccess, "hipMalloc");
	memset(big, 1, 1 << 20);
	is(HIP(hipMemcpyAsync, dbig, big, 1 << 20, hipMemcpyHostToDevice, s), hipSuccess, "a MiB");
	memset(big, 2, 1 << 20);
	is(HIP(hipMemcpy2DAsync, dbig, 2048, big, 1024, 512, 100, hipMemcpyHostToDevice, s),
	   hipSuccess, "a rectangle");
	memset(big, 3, 1 << 20);
	is(HIP(hipMemcpyAsync, back, dbig, 1 << 20, hipMemcpyDeviceToHost, s), hipSuccess, "back");
	bool right = true;
	for (unsigned i = 0; i < 1 << 20; i++)
		right = right && back[i] == (i % 2048 < 512 && i / 2048 < 100 ? 2 : 1);
	ok(right, "bytes as they were at each call");
	free(big);
	free(back);
	is(HIP(hipFree, dbig), hipSuccess, "hipFree");
	is(HIP(hipFree, d), hipSuccess, "hipFree");
	is(HIP(hipHostFree, (void *)(uintptr_t)pinned), hipSuccess, "hipHostFree");
	is(HIP(hipStreamDestroy, s), hipSuccess, "stream");
}

/* Boxes whose planes lie on one another would be more bytes than their memory. */
static void planes(void)
{
	struct hipMemcpy3DParms p = {0};
	struct hipPitchedPtr at;
	char *d = NULL, *page = calloc(1, 4096);
	hipStream_t s = stream();

	is(HIP(hipMalloc, (void **)&d, 4096), hipSuccess, "hipMalloc");
	at = (struct hipPitchedPtr){.ptr = d, .pitch = 64, .xsize = 64, .ysize = 0};
	p.srcPtr.ptr = page;
	p.dstPtr.ptr = d;
	p.srcPtr.pitch = p.dstPtr.pitch = 64;
	p.extent.width = 2;
	p.extent.height = 1;
	p.extent.depth = (size_t)1 << 63;
	p.kind = hipMemcpyHostToDevice;
	is(HIP(hipMemcpy3DAsync, &p, s), hipErrorInvalidValue, "2^63 planes of no height");
	p.extent.depth = 2;
	is(HIP(hipMemcpy3DAsync, &p, s), hipErrorInvalidValue, "two of them");
	p.srcPtr.ysize = p.dstPtr.ysize = 1;
	is(HIP(hipMemcpy3DAsync, &p, s), hipSuccess, "two of one row");
	p.extent.height = 2;
	is(HIP(hipMemcpy3DAsync, &p, s), hipErrorInvalidValue, "of two rows, in one row's place");
	is(HIP(hipMemset3DAsync, at, 1, (struct hipExtent){2, 1, (size_t)1 << 40}, s),
	   hipErrorInvalidValue, "sets too");
	is(HIP(hipStreamSynchronize, s), hipSuccess, "synchronize");
	is(HIP(hipFree, d), hipSuccess, "hipFree");
	free(page);
}

static void order(void)
{
	volatile unsigned char *p = NULL;
	hipStream_t a = stream(), b = stream(), blocking = NULL;
	hipEvent_t e = NULL;

	is(HIP(hipHostMalloc, (void **)(uintptr_t)&p, 64, 0), hipSuccess, "hipHostMalloc");
	is(HIP(hipEventCreateWithFlags, &e, 2), hipSuccess, "event");
	is(HIP(hipEventQuery, e), hipSuccess, "an event never recorded is done");
	p[0] = 0;
	is(HIP(hipMemsetAsync, (void *)(uintptr_t)p, 1, 1, a), hipSuccess, "set on a");
	is(HIP(hipEventRecord, e, a), hipSuccess, "record on a");
	is(HIP(hipMemsetAsync, (void *)(uintptr_t)p, 9, 1, a), hipSuccess, "another set on a");
	is(HIP(hipStreamWaitEvent, b, e, 0), hipSuccess, "b waits");
	is(HIP(hipMemcpyAsync, (void *)(uintptr_t)(p + 1), (void *)(uintptr_t)p, 1,
	       hipMemcpyDefault, b),
	   hipSuccess, "copy on b");
	is(HIP(hipStreamSynchronize, b), hipSuccess, "b is done");
	is(p[1], 1, "after what it waited for");
	is(p[0], 1, "and nothing more of a has run");
	is(HIP(hipStreamSynchronize, a), hipSuccess, "a is done");
	is(p[0], 9, "all of a has run");

	/* A query lets one step run. */
	for (unsigned i = 0; i < 3; i++)
		is(HIP(hipMemsetAsync, (void *)(uintptr_t)(p + 10 + i), 1, 1, a), hipSuccess,
		   "set %u", i);
	is(HIP(hipStreamQuery, a), hipErrorNotReady, "query");
	ok(p[10] == 1 && p[11] == 0, "one step");
	is(HIP(hipStreamQuery, a), hipErrorNotReady, "query");
	ok(p[11] == 1 && p[12] == 0, "and the next");
	unsigned n = 0;
	while (HIP(hipStreamQuery, a) == hipErrorNotReady && n < 10)
		n++;
	ok(n < 10 && p[12] == 1, "polling ends");

	/* The null stream and blocking streams come after each other. */
	is(HIP(hipStreamCreate, &blocking), hipSuccess, "a blocking stream");
	is(HIP(hipMemsetAsync, (void *)(uintptr_t)(p + 20), 1, 1, blocking), hipSuccess, "set");
	is(HIP(hipMemsetAsync, (void *)(uintptr_t)(p + 20), 2, 1, NULL), hipSuccess,
	   "set on the null stream");
	is(HIP(hipMemsetAsync, (void *)(uintptr_t)(p + 20), 3, 1, blocking), hipSuccess, "set");
	is(HIP(hipStreamSynchronize, blocking), hipSuccess, "synchronize");
	is(p[20], 3, "in that order");
	is(HIP(hipMemsetAsync, (void *)(uintptr_t)(p + 21), 1, 1, blocking), hipSuccess, "set");
	is(HIP(hipMemsetAsync, (void *)(uintptr_t)(p + 21), 2, 1, NULL), hipSuccess,
	   "set on the null stream");
	is(HIP(hipStreamSynchronize, NULL), hipSuccess, "synchronize the null stream");
	is(HIP(hipDeviceSynchronize), hipSuccess, "and all");
	is(p[21], 2, "in that order");
	is(HIP(hipEventDestroy, e), hipSuccess, "event");
	is(HIP(hipDeviceSynchronize), hipSuccess, "all");
}

static void nap(long ms)
{
	struct timespec t = {0, ms * 1000000};

	nanosleep(&t, NULL);
}

static void host_side(void)
{
	volatile uint32_t *p = NULL;
	hipStream_t a = stream(), b = stream();

	is(HIP(hipHostMalloc, (void **)(uintptr_t)&p, 64, 0), hipSuccess, "hipHostMalloc");
	is(HIP(hipStreamWaitValue32, a, (void *)(uintptr_t)p, 1, 1, UINT32_MAX), hipSuccess,
	   "a waits for a value");
	is(HIP(hipMemsetAsync, (void *)(uintptr_t)(p + 1), 1, 1, a), hipSuccess, "set on a");
	is(HIP(hipStreamWriteValue32, b, (void *)(uintptr_t)p, 1, 0), hipSuccess, "b writes it");
	is(HIP(hipStreamSynchronize, a), hipSuccess, "a ends although only b can end it");
	is(p[1] & 0xff, 1, "after the wait");

	/* A program that waits in its own way is not left waiting. */
	is(HIP(hipMemsetAsync, (void *)(uintptr_t)(p + 2), 1, 1, a), hipSuccess, "set");
	unsigned n = 0;
	while (p[2] == 0 && n++ < 100)
		nap(20);
	ok(n > 0 && n < 100, "silence runs what is queued");
}

static void too_early(void)
{
	char *d = NULL, *host = aligned_alloc(4096, 4096);
	hipStream_t s = stream();

	/* hipFree waits: nothing is taken away under queued work. */
	is(HIP(hipMalloc, (void **)&d, 64), hipSuccess, "hipMalloc");
	is(HIP(hipMemsetAsync, d, 1, 64, s), hipSuccess, "set");
	is(HIP(hipFree, d), hipSuccess, "hipFree waits for it");
	is(HIP(hipDeviceSynchronize), hipSuccess, "no fault");
	/* Stream-ordered free on another stream does not. */
	is(HIP(hipMallocAsync, (void **)&d, 64, s), hipSuccess, "hipMallocAsync");
	hipStream_t other = stream();
	is(HIP(hipMemsetAsync, d, 1, 64, s), hipSuccess, "set");
	is(HIP(hipFreeAsync, d, other), hipSuccess, "freed on another stream");
	is(HIP(hipStreamSynchronize, other), hipSuccess, "which runs first");
	is(HIP(hipStreamSynchronize, s), hipErrorIllegalAddress, "the set is a fault");
	ok(strstr(last_fault, "hipFreeAsync") != NULL, "that names the free: %s", last_fault);
	is(HIP(hipDeviceReset), hipSuccess, "reset");
	free(host);
}

int main(void)
{
	setenv("HRR_EMU_SCHED", "late", 1);
	if (emu_open()) {
		copies();
		planes();
		order();
		host_side();
		too_early();
	}
	return done_testing();
}
