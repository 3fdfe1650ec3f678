#include "lib/emu/runtime/advice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/rt.h"

enum { CPU = -1, NOWHERE = -2 }; /* hipCpuDeviceId, hipInvalidDeviceId */
enum { FINE, COARSE, MIXED };	 /* hipMemRangeCoherencyMode */

#define CPU_BIT (UINT32_C(1) << 31)

/* One part of a range, [base, next's base or the range's end); the first begins where the range
 * does. */
struct advice {
	struct advice *next;
	uint64_t base;
	bool read_mostly;
	int coherency, preferred, prefetched;
	uint32_t accessed; /* bit d: device d, CPU_BIT */
};

_Static_assert(EMU_MAX_DEVICES < 31, "a bit for the CPU");

static struct advice fresh(uint64_t base)
{
	return (struct advice){.base = base, .preferred = NOWHERE, .prefetched = NOWHERE};
}

/* Makes a part begin at addr. */
static int cut(struct range *r, uint64_t addr)
{
	struct advice *a, *p = r->advice;

	if (addr >= r->base + r->size)
		return 0;
	while (p != NULL && p->next != NULL && p->next->base <= addr)
		p = p->next;
	if (p != NULL && p->base == addr)
		return 0;
	if ((a = malloc(sizeof *a)) == NULL)
		return -ENOMEM;
	*a = p != NULL ? *p : fresh(r->base);
	if (p != NULL) {
		a->base = addr;
		p->next = a;
		return 0;
	}
	r->advice = a;
	return cut(r, addr);
}

/* The parts that make up [addr, addr + size), whole pages, cut to fit: from the first to before
 * ret_end. */
static int parts(struct range *r, uint64_t addr, uint64_t size, struct advice **ret_first,
		 struct advice **ret_end)
{
	uint64_t base = addr & ~(uint64_t)(EMU_PAGE - 1);
	uint64_t end = (addr + size + EMU_PAGE - 1) & ~(uint64_t)(EMU_PAGE - 1);
	int rc = cut(r, base > r->base ? base : r->base);

	if (rc == 0)
		rc = cut(r, end);
	if (rc < 0)
		return rc;
	struct advice *a = r->advice;
	while (a->next != NULL && a->next->base <= addr)
		a = a->next;
	*ret_first = a;
	while (a != NULL && a->base < end)
		a = a->next;
	*ret_end = a;
	return 0;
}

static void take(struct advice *a, int advice, int device)
{
	uint32_t bit = device == CPU ? CPU_BIT : UINT32_C(1) << device;

	switch (advice) {
	case hipMemAdviseSetReadMostly:
	case hipMemAdviseUnsetReadMostly:
		a->read_mostly = advice == hipMemAdviseSetReadMostly;
		break;
	case hipMemAdviseSetPreferredLocation:
		a->preferred = device;
		break;
	case hipMemAdviseUnsetPreferredLocation:
		a->preferred = NOWHERE;
		break;
	case hipMemAdviseSetAccessedBy:
		a->accessed |= bit;
		break;
	case hipMemAdviseUnsetAccessedBy:
		a->accessed &= ~bit;
		break;
	case hipMemAdviseSetCoarseGrain:
	case hipMemAdviseUnsetCoarseGrain:
		a->coherency = advice == hipMemAdviseSetCoarseGrain ? COARSE : FINE;
		break;
	}
}

int advice_take(struct range *r, uint64_t addr, uint64_t size, int advice, int device)
{
	struct advice *a, *end;
	int rc = parts(r, addr, size, &a, &end);

	for (; rc == 0 && a != end; a = a->next)
		take(a, advice, device);
	return rc;
}

int advice_prefetched(struct range *r, uint64_t addr, uint64_t size, int device)
{
	struct advice *a, *end;
	int rc = parts(r, addr, size, &a, &end);

	for (; rc == 0 && a != end; a = a->next)
		a->prefetched = device;
	return rc;
}

/* What holds for all of [addr, addr + size): of what differs, what is said of a mixture. */
static struct advice all_of(const struct range *r, uint64_t addr, uint64_t size)
{
	const struct advice *a = r->advice;
	struct advice all = fresh(addr);

	while (a != NULL && a->next != NULL && a->next->base <= addr)
		a = a->next;
	if (a == NULL)
		return all;
	for (all = *a, a = a->next; a != NULL && a->base < addr + size; a = a->next) {
		all.read_mostly &= a->read_mostly;
		all.accessed &= a->accessed;
		if (a->coherency != all.coherency)
			all.coherency = MIXED;
		if (a->preferred != all.preferred)
			all.preferred = NOWHERE;
		if (a->prefetched != all.prefetched)
			all.prefetched = NOWHERE;
	}
	return all;
}

/* Devices in order, the CPU last; what is left of the list is NOWHERE. */
static void list(uint32_t accessed, int *to, size_t n)
{
	size_t k = 0;

	for (int d = 0; d < EMU_MAX_DEVICES && k < n; d++)
		if (accessed >> d & 1)
			to[k++] = d;
	if ((accessed & CPU_BIT) != 0 && k < n)
		to[k++] = CPU;
	while (k < n)
		to[k++] = NOWHERE;
}

bool advice_ask(const struct range *r, uint64_t addr, uint64_t size, int attribute, void *data,
		size_t data_size)
{
	struct advice all = all_of(r, addr, size);
	int v;

	switch (attribute) {
	case hipMemRangeAttributeAccessedBy:
		if (data_size == 0 || data_size % sizeof(int) != 0)
			return false;
		list(all.accessed, data, data_size / sizeof(int));
		return true;
	case hipMemRangeAttributeReadMostly:
		v = all.read_mostly;
		break;
	case hipMemRangeAttributePreferredLocation:
		v = all.preferred;
		break;
	case hipMemRangeAttributeLastPrefetchLocation:
		v = all.prefetched;
		break;
	case hipMemRangeAttributeCoherencyMode:
		v = all.coherency;
		break;
	default:
		return false;
	}
	if (data_size != sizeof v)
		return false;
	memcpy(data, &v, sizeof v);
	return true;
}

void advice_free(struct advice *a)
{
	while (a != NULL) {
		struct advice *next = a->next;
		free(a);
		a = next;
	}
}
