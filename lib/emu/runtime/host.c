#include "lib/emu/runtime/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/sched.h"

/*
 * Registered host memory. Registrations may overlap where the run time accepts
 * that (HRR_EMU_REREGISTER); the range table holds their union, so that every byte
 * is registered as long as one registration covers it.
 */
struct registration {
	struct registration *next; /* newest first */
	uint64_t base, size;
	unsigned flags;
};
static struct registration *all;

#define REGISTER_FLAGS (1u | 2u | 4u | 8u | 0x80000000u)
#define REGISTER_READ_ONLY 8u

/* Whether all of it is mapped, and writable unless read_only: /proc/self/maps, once per call. */
static bool host_usable(uint64_t base, uint64_t size, bool read_only)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t cap = 0;
	uint64_t at = base, from, to;
	char perm[5];

	if (f == NULL)
		return true; /* no /proc: taken at its word */
	while (at < base + size && getline(&line, &cap, f) > 0) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, perm) != 3 || to <= at)
			continue;
		if (from > at || perm[0] != 'r' || (!read_only && perm[1] != 'w'))
			break;
		at = to;
	}
	free(line);
	fclose(f);
	return at >= base + size;
}

/* Replaces whatever registered ranges touch [base, base + size) by the union of registrations. */
static int rebuild(uint64_t base, uint64_t size, const char *api)
{
	struct range *r;
	uint64_t end = base + size;

	while ((r = range_overlap(base, end - base)) != NULL && r->kind == RANGE_REGISTERED) {
		uint64_t rb = r->base, re = r->base + r->size;
		range_del(r, api);
		if (rb < base)
			base = rb;
		if (re > end)
			end = re;
	}
	for (uint64_t at = base; at < end;) {
		/* The next run of covered bytes from `at`. */
		const struct registration *first = NULL;
		for (const struct registration *g = all; g != NULL; g = g->next)
			if (g->base + g->size > at && g->base < end &&
			    (first == NULL || g->base < first->base))
				first = g;
		if (first == NULL)
			break;
		uint64_t from = first->base, to = first->base + first->size;
		for (bool more = true; more;) {
			more = false;
			for (const struct registration *g = all; g != NULL; g = g->next)
				if (g->base < to && g->base + g->size > to) {
					to = g->base + g->size;
					more = true;
				}
		}
		r = calloc(1, sizeof *r);
		if (r == NULL)
			return -ENOMEM;
		*r = (struct range){.base = from,
				    .size = to - from,
				    .host = (unsigned char *)(uintptr_t)from,
				    .kind = RANGE_REGISTERED,
				    .device = -1,
				    .readable = true,
				    .writable = !(first->flags & REGISTER_READ_ONLY),
				    .shared = true,
				    .flags = first->flags,
				    .api = "hipHostRegister"};
		int rc = range_add(r);
		if (rc < 0)
			return rc;
		at = to;
	}
	return 0;
}

static hipError_t host_register(void *ptr, size_t size, unsigned flags)
{
	uint64_t base = (uintptr_t)ptr;
	const struct range *r;

	if (ptr == NULL || size == 0 || base + size < base || (flags & ~REGISTER_FLAGS) != 0)
		return hipErrorInvalidValue;
	if (!host_usable(base, size, (flags & REGISTER_READ_ONLY) != 0))
		return hipErrorInvalidValue;
	r = range_overlap(base, size);
	if (r != NULL && r->kind != RANGE_REGISTERED)
		return hipErrorInvalidValue;
	if (r != NULL && !rt.reregister)
		return hipErrorHostMemoryAlreadyRegistered;
	/* The table changes under whoever runs. */
	sched_quiesce();
	struct registration *g = malloc(sizeof *g);
	if (g == NULL)
		return hipErrorOutOfMemory;
	*g = (struct registration){all, base, size, flags};
	all = g;
	int rc = rebuild(base, size, NULL);
	if (rc < 0) {
		all = g->next;
		free(g);
		(void)rebuild(base, size, NULL);
	}
	return rt_error(rc);
}

hipError_t emu_hipHostRegister(void *hostPtr, size_t sizeBytes, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	rt_lock();
	hipError_t e = host_register(hostPtr, sizeBytes, flags);
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipHostUnregister(void *hostPtr)
{
	EMU_ENTER(EMU_ANY);
	if (hostPtr == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e = hipErrorHostMemoryNotRegistered;
	const struct range *r = range_find((uintptr_t)hostPtr);
	if (r != NULL && r->kind != RANGE_REGISTERED)
		e = hipErrorInvalidValue;
	for (int d = 0; d < rt.n_devices; d++)
		sched_wait_device(d);
	sched_quiesce();
	for (struct registration **p = &all; e == hipErrorHostMemoryNotRegistered && *p != NULL;
	     p = &(*p)->next) {
		struct registration *g = *p;
		if (g->base != (uintptr_t)hostPtr)
			continue;
		*p = g->next;
		e = rt_error(rebuild(g->base, g->size, "hipHostUnregister"));
		free(g);
		break;
	}
	rt_unlock();
	return emu_ret(e);
}

static bool host_range(const struct range *r)
{
	return r != NULL && (r->kind == RANGE_PINNED || r->kind == RANGE_REGISTERED ||
			     r->kind == RANGE_MANAGED || r->kind == RANGE_HSA_HOST);
}

hipError_t emu_hipHostGetDevicePointer(void **devPtr, void *hstPtr, unsigned int flags)
{
	EMU_ENTER(EMU_WORK);
	if (devPtr == NULL || hstPtr == NULL || flags != 0)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	bool ok = host_range(range_find((uintptr_t)hstPtr));
	rt_unlock();
	if (!ok)
		return emu_ret(hipErrorInvalidValue);
	*devPtr = hstPtr;
	return emu_ret(hipSuccess);
}

hipError_t emu_hipHostGetFlags(unsigned int *flagsPtr, void *hostPtr)
{
	EMU_ENTER(EMU_WORK);
	if (flagsPtr == NULL || hostPtr == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	const struct range *r = range_find((uintptr_t)hostPtr);
	bool ok = host_range(r);
	if (ok)
		*flagsPtr = r->flags;
	rt_unlock();
	return emu_ret(ok ? hipSuccess : hipErrorInvalidValue);
}
