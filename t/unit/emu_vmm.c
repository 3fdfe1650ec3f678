#include "t/unit/emu_fixture.h"

#include <sys/mman.h>

/* Placement: reservations at a hint, mappings, access. */

static const struct hipMemAllocationProp prop = {.location = {hipMemLocationTypeDevice, 0},
						 .type = hipMemAllocationTypePinned};
static const struct hipMemAccessDesc rw = {{hipMemLocationTypeDevice, 0},
					   hipMemAccessFlagsProtReadWrite};

static void *P(uint64_t a)
{
	return (void *)(uintptr_t)a;
}

static void hints(void)
{
	const uint64_t far = 0x7fbe01400000, size = 1 << 20;
	void *p = NULL, *q = NULL, *r = NULL;

	is(HIP(hipMemAddressReserve, &p, size, 0, P(far), 0), hipSuccess, "reserve at a hint");
	ok(p == P(far), "exactly there");
	is(HIP(hipMemAddressReserve, &q, size, 0, P(far + 4096), 0), hipSuccess,
	   "overlapping hint");
	ok(q != P(far + 4096), "elsewhere");
	is(HIP(hipMemAddressReserve, &r, size, 0, P(far + size), 0), hipSuccess, "right behind");
	ok(r == P(far + size), "exactly there");
	ok(mmap(P(far), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | 0x100000, -1, 0) ==
	       MAP_FAILED,
	   "the host cannot have it");
	is(HIP(hipMemAddressFree, p, size / 2), hipErrorInvalidValue, "freed in part: no");
	is(HIP(hipMemAddressFree, p, size), hipSuccess, "freed");
	is(HIP(hipMemAddressReserve, &p, size, 0, P(far), 0), hipSuccess, "and reserved again");
	ok(p == P(far), "exactly there");
	void *host = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *h = NULL;
	is(HIP(hipMemAddressReserve, &h, size, 0, host, 0), hipSuccess, "hint at host memory");
	ok(h != host, "is not honoured");
	/* A number near those that hipMalloc gives out: in the same reserved stretch. */
	void *d = NULL, *near = NULL;
	is(HIP(hipMalloc, &d, 4096), hipSuccess, "hipMalloc");
	uint64_t free_spot = ((uintptr_t)d & ~(uint64_t)0xfffff) + ((uint64_t)1 << 30);
	is(HIP(hipMemAddressReserve, &near, size, 0, P(free_spot), 0), hipSuccess, "hint nearby");
	ok(near == P(free_spot), "exactly there");
	is(HIP(hipMemAddressReserve, &q, 4096, 0, d, 0), hipSuccess, "hint at device memory");
	ok(q != d, "is not honoured");
}

static void mapping(void)
{
	const size_t size = 8192;
	hipMemGenericAllocationHandle_t h = NULL, back = NULL;
	char *p = NULL, *q = NULL;
	char b[64], c[64];

	memset(b, 7, sizeof b);
	is(HIP(hipMemAddressReserve, (void **)&p, 4 * size, 0, NULL, 0), hipSuccess, "reserve");
	is(HIP(hipMemAddressReserve, (void **)&q, size, 0, NULL, 0), hipSuccess, "and another");
	is(HIP(hipMemCreate, &h, size, (struct hipMemAllocationProp *)(uintptr_t)&prop, 0),
	   hipSuccess, "memory");
	is(HIP(hipMemMap, p, size, 0, h, 0), hipSuccess, "mapped");
	is(HIP(hipMemMap, p + 4096, 4096, 0, h, 0), hipErrorInvalidValue, "not over a mapping");
	is(HIP(hipMemMap, p + 3 * size, 2 * size, 0, h, 0), hipErrorInvalidValue,
	   "nor past the reservation");
	is(HIP(hipMemMap, q, size, 0, h, 0), hipSuccess, "twice at other numbers");
	is(HIP(hipMemSetAccess, p, size, (struct hipMemAccessDesc *)(uintptr_t)&rw, 1), hipSuccess,
	   "access");
	is(HIP(hipMemSetAccess, q, size, (struct hipMemAccessDesc *)(uintptr_t)&rw, 1), hipSuccess,
	   "access");
	is(HIP(hipMemSetAccess, p, size / 2, (struct hipMemAccessDesc *)(uintptr_t)&rw, 1),
	   hipErrorInvalidValue, "for whole mappings");
	is(HIP(hipMemcpy, p + 100, b, 64, hipMemcpyHostToDevice), hipSuccess, "written at one");
	is(HIP(hipMemcpy, c, q + 100, 64, hipMemcpyDeviceToHost), hipSuccess, "read at the other");
	ok(memcmp(b, c, 64) == 0, "one memory");
	is(HIP(hipMemRetainAllocationHandle, &back, q), hipSuccess, "handle of an address");
	ok(back == h, "is the handle");
	is(HIP(hipMemRelease, h), hipSuccess, "released");
	is(HIP(hipMemRelease, h), hipSuccess, "twice retained, twice released");
	is(HIP(hipMemRelease, h), hipErrorInvalidValue, "no more");
	is(HIP(hipMemcpy, c, q + 100, 64, hipMemcpyDeviceToHost), hipSuccess,
	   "mappings keep the memory");
	is(HIP(hipMemAddressFree, q, size), hipErrorInvalidValue, "a mapped reservation stays");
	is(HIP(hipMemUnmap, q, size), hipSuccess, "unmap");
	is(HIP(hipMemAddressFree, q, size), hipSuccess, "then it goes");
	is(HIP(hipMemUnmap, p, size), hipSuccess, "unmap");
	is(HIP(hipMemcpy, c, p + 100, 64, hipMemcpyDeviceToHost), hipErrorIllegalAddress,
	   "unmapped memory is a fault");
	ok(strstr(last_fault, "hipMemUnmap") != NULL, "that says why: %s", last_fault);
	size_t free_bytes = 0, total = 0;
	is(HIP(hipDeviceReset), hipSuccess, "reset");
	is(HIP(hipMemGetInfo, &free_bytes, &total), hipSuccess, "memory info");
	is(free_bytes, total, "all memory came back");
}

int main(void)
{
	setenv("HRR_EMU_MEMORY", "1G", 1);
	if (emu_open()) {
		hints();
		mapping();
	}
	return done_testing();
}
