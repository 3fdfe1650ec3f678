#include "t/unit/emu_fixture.h"

#include <sys/mman.h>
#include <unistd.h>

/* Memory and copies of the CPU run time, bad pointers included. */

static void allocation(void)
{
	void *p = NULL, *q = NULL;
	unsigned char b[64];
	size_t size = 0;

	is(HIP(hipMalloc, &p, 1000), hipSuccess, "hipMalloc");
	is(HIP(hipMemcpy, b, p, 64, hipMemcpyDeviceToHost), hipSuccess, "fresh memory can be read");
	bool filled = true;
	for (unsigned i = 0; i < 64; i++)
		filled = filled && b[i] == 0xa5;
	ok(filled, "fresh memory has HRR_EMU_FILL");
	is(HIP(hipMemGetAddressRange, &q, &size, (char *)p + 999), hipSuccess, "its range");
	ok(q == p && size == 1000, "is exact");
	is(HIP(hipMemGetAddressRange, &q, &size, (char *)p + 1000), hipErrorInvalidDevicePointer,
	   "and ends");
	is(HIP(hipFree, (char *)p + 8), hipErrorInvalidValue, "an interior pointer is not freed");
	is(HIP(hipFree, p), hipSuccess, "hipFree");
	is(HIP(hipFree, p), hipErrorInvalidValue, "twice is an error");
	is(HIP(hipFree, NULL), hipSuccess, "NULL is fine");
	is(HIP(hipMalloc, &p, (size_t)2 << 20), hipErrorOutOfMemory, "HRR_EMU_MEMORY is the limit");
	is(HIP(hipMalloc, &p, 0), hipSuccess, "no bytes");
	ok(p == NULL, "are at NULL");
	/* No host allocation ever gets a device number. */
	is(HIP(hipMalloc, &p, 4096), hipSuccess, "hipMalloc");
	void *m = mmap(p, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | 0x100000, -1, 0);
	ok(m == MAP_FAILED, "the host cannot map a device number");
	is(HIP(hipFree, p), hipSuccess, "hipFree");
}

static void copies(void)
{
	char *d = NULL;
	char b[256], back[256];

	for (unsigned i = 0; i < sizeof b; i++)
		b[i] = (char)(i * 7);
	is(HIP(hipMalloc, (void **)&d, 256), hipSuccess, "hipMalloc");
	is(HIP(hipMemcpy, d, b, 256, hipMemcpyHostToDevice), hipSuccess, "to the device");
	is(HIP(hipMemcpy, back, d, 256, hipMemcpyDefault), hipSuccess, "and back, by address");
	ok(memcmp(b, back, 256) == 0, "same bytes");
	is(HIP(hipMemcpy, d + 1, b, 256, hipMemcpyHostToDevice), hipErrorInvalidValue,
	   "past the end is refused");
	is(HIP(hipMemcpy, back, d, 256, hipMemcpyDeviceToHost), hipSuccess, "and not sticky");
	is(HIP(hipMemcpy, d, b, 256, 9), hipErrorInvalidMemcpyDirection, "a kind that is none");
	is(HIP(hipMemcpy, (void *)16, d, 16, hipMemcpyDeviceToHost), hipErrorInvalidValue,
	   "a bad host pointer is an error");
	is(HIP(hipMemcpy, d, (void *)16, 16, hipMemcpyHostToDevice), hipErrorInvalidValue,
	   "either way");
	char *ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	is(HIP(hipMemcpy, ro, d, 16, hipMemcpyDeviceToHost), hipErrorIllegalAddress,
	   "read-only host memory is a fault, no crash");
	is(HIP(hipMemcpy, back, d, 16, hipMemcpyDeviceToHost), hipErrorIllegalAddress,
	   "which is sticky");
	is(HIP(hipDeviceReset), hipSuccess, "until a reset");
	munmap(ro, 4096);

	is(HIP(hipMalloc, (void **)&d, 256), hipSuccess, "hipMalloc");
	is(HIP(hipMemset2D, d, 16, 0x11, 5, 16), hipSuccess, "a rectangle");
	is(HIP(hipMemcpy2D, back, 5, d, 16, 5, 16, hipMemcpyDeviceToHost), hipSuccess, "packed");
	bool same = true;
	for (unsigned i = 0; i < 80; i++)
		same = same && back[i] == 0x11;
	ok(same, "holds what was set");
	is(HIP(hipMemcpy, back, d, 16, hipMemcpyDeviceToHost), hipSuccess, "between the rows");
	ok(back[5] == (char)0xa5 && back[15] == (char)0xa5, "nothing was written");
	is(HIP(hipMemcpy2D, back, 4, d, 16, 5, 16, hipMemcpyDeviceToHost),
	   hipErrorInvalidPitchValue, "a pitch below the width");
	is(HIP(hipMemsetD32, d + 2, 1, 1), hipErrorInvalidValue, "a misaligned set");
	is(HIP(hipMemset, b, 1, 8), hipErrorInvalidValue, "a set of memory nobody allocated");
	is(HIP(hipFree, d), hipSuccess, "hipFree");
}

static void freed(void)
{
	char *d = NULL;
	char b[16] = {0};

	is(HIP(hipMalloc, (void **)&d, 64), hipSuccess, "hipMalloc");
	is(HIP(hipFree, d), hipSuccess, "hipFree");
	is(HIP(hipMemcpy, b, d + 4, 16, hipMemcpyDeviceToHost), hipErrorIllegalAddress,
	   "a copy from freed memory is a fault");
	ok(strstr(last_fault, "at byte 4 of freed device memory") != NULL,
	   "that says whose it was");
	ok(strstr(last_fault, "hipMalloc") != NULL && strstr(last_fault, "hipFree") != NULL,
	   "who made and who freed it: %s", last_fault);
	is(HIP(hipGetLastError), hipErrorIllegalAddress, "the last error");
	is(HIP(hipMalloc, (void **)&d, 64), hipErrorIllegalAddress, "is sticky");
	is(HIP(hipDeviceReset), hipSuccess, "reset");
	is(HIP(hipMalloc, (void **)&d, 64), hipSuccess, "cures it");
	is(HIP(hipFree, d), hipSuccess, "hipFree");
}

static void host_memory(void)
{
	char *p = aligned_alloc(4096, 8192), *dev = NULL, *d = NULL;
	struct hipPointerAttribute_t a;
	char back[32];

	memset(p, 3, 8192);
	is(HIP(hipHostRegister, p + 100, 5000, 0), hipSuccess, "register, unaligned");
	is(HIP(hipHostGetDevicePointer, (void **)&dev, p + 200, 0), hipSuccess, "interior pointer");
	ok(dev == p + 200, "same address");
	is(HIP(hipHostGetDevicePointer, (void **)&dev, p + 99, 0), hipErrorInvalidValue,
	   "not before it");
	is(HIP(hipHostRegister, p + 300, 10, 0), hipErrorHostMemoryAlreadyRegistered,
	   "again is refused under HRR_EMU_REREGISTER=refuse");
	is(HIP(hipHostRegister, (void *)4096, 64, 0), hipErrorInvalidValue, "unmapped memory");
	is(HIP(hipHostRegister, p, 0, 0), hipErrorInvalidValue, "no bytes");
	is(HIP(hipHostUnregister, p + 200), hipErrorHostMemoryNotRegistered, "interior unregister");
	is(HIP(hipPointerGetAttributes, &a, p + 150), hipSuccess, "attributes");
	is(a.memoryType, hipMemoryTypeHost, "host memory");
	is(HIP(hipMalloc, (void **)&d, 32), hipSuccess, "hipMalloc");
	is(HIP(hipMemset, p + 100, 9, 32), hipSuccess, "a set of registered memory");
	ok(p[100] == 9 && p[131] == 9 && p[132] == 3, "writes it");
	is(HIP(hipHostUnregister, p + 100), hipSuccess, "unregister");
	is(HIP(hipHostUnregister, p + 100), hipErrorHostMemoryNotRegistered, "twice");
	is(HIP(hipMemcpy, d, p + 100, 32, hipMemcpyHostToDevice), hipSuccess,
	   "afterwards a copy is an ordinary one");
	is(HIP(hipMemcpy, back, d, 32, hipMemcpyDeviceToHost), hipSuccess, "back");
	ok(back[0] == 9, "right bytes");
	is(HIP(hipMemset, p + 100, 1, 32), hipErrorInvalidValue, "but not a set");

	char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	is(HIP(hipHostRegister, m, 8192, 0), hipSuccess, "register a mapping");
	munmap(m, 8192);
	is(HIP(hipMemcpy, d, m, 32, hipMemcpyHostToDevice), hipErrorIllegalAddress,
	   "unmapped under its registration: a fault, no crash");
	ok(strstr(last_fault, "the program has unmapped") != NULL, "said so: %s", last_fault);
	is(HIP(hipHostUnregister, m), hipSuccess, "and can be unregistered");
	is(HIP(hipDeviceReset), hipSuccess, "reset");

	char *pinned = NULL;
	pinned = p;
	is(HIP(hipHostMalloc, (void **)&pinned, 100, 0x40000000 | 0x80000000), hipErrorInvalidValue,
	   "both coherent and not");
	ok(pinned == NULL, "and the pointer says that there is none");
	is(HIP(hipHostMalloc, (void **)&pinned, 100, 0), hipSuccess, "hipHostMalloc");
	pinned[99] = 1;
	is(HIP(hipHostRegister, pinned, 100, 0), hipErrorInvalidValue, "is not registered again");
	is(HIP(hipHostUnregister, pinned), hipErrorInvalidValue, "nor unregistered");
	is(HIP(hipHostFree, pinned), hipSuccess, "hipHostFree");
	is(HIP(hipMalloc, (void **)&d, 32), hipSuccess, "hipMalloc");
	is(HIP(hipHostFree, d), hipErrorInvalidValue, "hipHostFree of device memory");
	is(HIP(hipFree, d), hipSuccess, "hipFree");
	free(p);
}

static void poison(void)
{
	int (*dead)(const void *, uint64_t, const char *) = NULL;
	int (*alive)(const void *) = NULL;
	char page[64] = {0}, *d = NULL;

	if (!ok(emu_symbol("hrr_emu_poison", &dead) && emu_symbol("hrr_emu_unpoison", &alive),
		"poison"))
		return;
	is(HIP(hipMalloc, (void **)&d, 64), hipSuccess, "hipMalloc");
	is(dead(page + 32, 16, "released block 7"), 0, "16 bytes of the host are dead");
	is(HIP(hipMemcpy, d, page, 32, hipMemcpyHostToDevice), hipSuccess, "before them");
	is(HIP(hipMemcpy, d, page, 33, hipMemcpyHostToDevice), hipErrorIllegalAddress, "into them");
	ok(strstr(last_fault, "released block 7") != NULL, "said: %s", last_fault);
	is(fault_at, (long long)(uintptr_t)(page + 32), "at the first dead byte");
	is(HIP(hipDeviceReset), hipSuccess, "reset");
	is(HIP(hipMalloc, (void **)&d, 64), hipSuccess, "hipMalloc");
	is(HIP(hipMemcpy, page + 40, d, 4, hipMemcpyDeviceToHost), hipErrorIllegalAddress,
	   "as a destination");
	is(HIP(hipDeviceReset), hipSuccess, "reset");
	is(alive(page + 32), 0, "alive again");
	is(alive(page + 32), -2, "once");
	is(HIP(hipMalloc, (void **)&d, 64), hipSuccess, "hipMalloc");
	is(HIP(hipMemcpy, d, page, 64, hipMemcpyHostToDevice), hipSuccess, "all of it");
	is(HIP(hipFree, d), hipSuccess, "hipFree");
}

static void handles(void)
{
	is(HIP(hipStreamSynchronize, (hipStream_t)0x1234), hipErrorContextIsDestroyed,
	   "a made-up stream");
	is(HIP(hipEventRecord, (hipEvent_t)0x1234, NULL), hipErrorInvalidHandle, "event");
	is(HIP(hipGraphLaunch, (hipGraphExec_t)0x1234, NULL), hipErrorInvalidValue, "graph");
	is(HIP(hipModuleUnload, (hipModule_t)0x1234), hipErrorInvalidHandle, "module");
	is(HIP(hipMemRelease, (hipMemGenericAllocationHandle_t)0x1234), hipErrorInvalidValue,
	   "memory");
	hipStream_t s = NULL;
	is(HIP(hipStreamCreate, &s), hipSuccess, "a stream");
	is(HIP(hipStreamDestroy, s), hipSuccess, "destroyed");
	is(HIP(hipStreamDestroy, s), hipErrorContextIsDestroyed, "is not destroyed twice");
	is(HIP(hipStreamDestroy, NULL), hipErrorInvalidHandle, "nor is the null stream");
	is(HIP(hipSetDevice, 2), hipErrorInvalidDevice, "a device that is not there");
	char junk[64] = "not a code object";
	hipModule_t m = NULL;
	is(HIP(hipModuleLoadData, &m, junk), hipErrorInvalidImage, "an image that is none");
}

static void statistics(void)
{
	int (*report)(struct hrr_emu_stats *);
	struct hrr_emu_stats s = {.size = sizeof s};

	if (!ok(emu_symbol("hrr_emu_report", &report), "hrr_emu_report"))
		return;
	is(report(&s), 0, "answers");
	is(s.faults, n_faults, "counts the faults");
	is(s.launches, 0, "no launches");
	is(HIP(hipProfilerStart), hipErrorNotSupported, "a call it lacks says so");
	is(report(&s), 0, "answers");
	is(s.not_supported, 1, "and is counted");
}

int main(void)
{
	setenv("HRR_EMU_FILL", "0xa5", 1);
	setenv("HRR_EMU_MEMORY", "1M", 1);
	setenv("HRR_EMU_DEVICES", "2", 1);
	setenv("HRR_EMU_REREGISTER", "refuse", 1);
	setenv("HRR_EMU_SCHED", "eager", 1);
	if (emu_open()) {
		allocation();
		copies();
		freed();
		host_memory();
		poison();
		handles();
		statistics();
	}
	return done_testing();
}
