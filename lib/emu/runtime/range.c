#include "lib/emu/runtime/range.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/base/range.h"
#include "lib/emu/runtime/advice.h"
#include "lib/emu/runtime/describe.h"
#include "lib/emu/runtime/memcheck.h"
#include "lib/emu/runtime/poison.h"
#include "lib/emu/runtime/rt.h"
#include "lib/emu/runtime/va.h"

/*
 * Kernels look ranges up from several threads while others allocate, hence a
 * reader-writer lock. Taken inside rt.lock or alone, never the other way round.
 */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct hrr_ranges *table;
static uint64_t serial;

/* A neighbour of host memory further away than this explains nothing. */
#define NEAR ((uint64_t)64 << 20)

/* Freed ranges, newest last, for reports. */
#define HISTORY 4096
struct freed {
	uint64_t base, size, serial, when;
	enum range_kind kind;
	const char *made, *api;
};
static struct freed history[HISTORY];
static uint64_t n_freed;

int range_add(struct range *r)
{
	int rc;

	pthread_rwlock_wrlock(&lock);
	if (table == NULL && (table = hrr_ranges_new()) == NULL)
		rc = -ENOMEM;
	else if (r->size == 0 || r->base + r->size < r->base)
		rc = -EINVAL;
	else if (hrr_ranges_overlap(table, r->base, r->size) != NULL)
		rc = -EEXIST;
	else
		rc = hrr_ranges_add(table, r->base, r->size, r);
	if (rc == 0)
		r->serial = ++serial;
	pthread_rwlock_unlock(&lock);
	if (rc < 0)
		free(r);
	return rc;
}

void range_del(struct range *r, const char *api)
{
	pthread_rwlock_wrlock(&lock);
	hrr_ranges_del(table, r->base, r);
	if (api != NULL)
		history[n_freed++ % HISTORY] =
		    (struct freed){r->base, r->size, r->serial, rt.calls, r->kind, r->api, api};
	pthread_rwlock_unlock(&lock);
	advice_free(r->advice);
	free(r);
}

static struct range *look(const struct hrr_range *x)
{
	return x != NULL ? x->value : NULL;
}

struct range *range_find(uint64_t addr)
{
	pthread_rwlock_rdlock(&lock);
	struct range *r = table != NULL ? look(hrr_ranges_find(table, addr)) : NULL;
	pthread_rwlock_unlock(&lock);
	return r;
}

bool range_copy(uint64_t addr, struct range *ret)
{
	pthread_rwlock_rdlock(&lock);
	const struct range *r = table != NULL ? look(hrr_ranges_find(table, addr)) : NULL;
	if (r != NULL)
		*ret = *r;
	pthread_rwlock_unlock(&lock);
	return r != NULL;
}

static const struct freed *freed_at(uint64_t addr)
{
	for (uint64_t i = n_freed; i > 0 && i + HISTORY > n_freed; i--)
		if (addr - history[(i - 1) % HISTORY].base < history[(i - 1) % HISTORY].size)
			return &history[(i - 1) % HISTORY];
	return NULL;
}

bool range_freed(uint64_t addr)
{
	pthread_rwlock_rdlock(&lock);
	bool yes =
	    freed_at(addr) != NULL && (table == NULL || hrr_ranges_find(table, addr) == NULL);
	pthread_rwlock_unlock(&lock);
	return yes;
}

struct range *range_at(uint64_t addr)
{
	struct range *r = range_find(addr);

	return r != NULL && r->base == addr ? r : NULL;
}

struct range *range_overlap(uint64_t base, uint64_t size)
{
	pthread_rwlock_rdlock(&lock);
	struct range *r = table != NULL ? look(hrr_ranges_overlap(table, base, size)) : NULL;
	pthread_rwlock_unlock(&lock);
	return r;
}

bool range_covers(uint64_t addr, uint64_t size)
{
	struct range r;

	if (addr + size < addr)
		return false;
	for (uint64_t at = addr; at < addr + size; at = r.base + r.size)
		if (!range_copy(at, &r))
			return false;
	return true;
}

void range_resize(struct range *r, uint64_t size)
{
	pthread_rwlock_wrlock(&lock);
	if (r->size != size) {
		hrr_ranges_del(table, r->base, r);
		r->size = size;
		/* Cannot run out of memory in a way that matters: the node just went back. */
		(void)hrr_ranges_add(table, r->base, r->size, r);
	}
	pthread_rwlock_unlock(&lock);
}

struct each {
	void (*fn)(void *self, struct range *r);
	void *self;
};

static int one(void *self, const struct hrr_range *x)
{
	const struct each *e = self;

	e->fn(e->self, x->value);
	return 0;
}

void range_each(void (*fn)(void *self, struct range *r), void *self)
{
	struct each e = {fn, self};

	pthread_rwlock_rdlock(&lock);
	if (table != NULL)
		hrr_ranges_each(table, one, &e);
	pthread_rwlock_unlock(&lock);
}

bool range_allows(const struct range *r, int device)
{
	if (r->shared || (r->access >> device & 1))
		return true;
	if (r->device < 0 || (r->kind != RANGE_DEVICE && r->kind != RANGE_CODE))
		return false;
	return rt.dev[device].peers >> r->device & 1;
}

bool range_mapped(const struct range *r)
{
	/* The cheapest question there is: ENOMEM when part of it is not mapped, and no effect. */
	uint64_t from = r->base & ~(uint64_t)(EMU_PAGE - 1);
	uint64_t to = (r->base + r->size + EMU_PAGE - 1) & ~(uint64_t)(EMU_PAGE - 1);

	return msync((void *)(uintptr_t)from, to - from, MS_ASYNC) == 0;
}

int range_isa_find(void *self, uint64_t addr, struct isa_span *ret_span)
{
	int device = (int)(intptr_t)self;
	struct range r;

	if (!range_copy(addr, &r) || !range_allows(&r, device))
		return -EFAULT;
	/* The program may have unmapped what it registered: a fault, not a crash. */
	if (r.kind == RANGE_REGISTERED && !range_mapped(&r))
		return -EFAULT;
	*ret_span = (struct isa_span){.base = r.base,
				      .size = r.size,
				      .host = r.host,
				      .readable = r.readable,
				      .writable = r.writable,
				      .cookie = (void *)(uintptr_t)r.serial};
	/* What the program can write without us is not watched. */
	if (r.kind == RANGE_DEVICE || r.kind == RANGE_POOL || r.kind == RANGE_VMM ||
	    r.kind == RANGE_HSA)
		ret_span->written = written_at(r.host, r.size);
	return 0;
}

const char *range_kind_name(enum range_kind kind)
{
	static const char *const names[] = {
	    [RANGE_DEVICE] = "device memory",	   [RANGE_POOL] = "pool memory",
	    [RANGE_VMM] = "mapped device memory",  [RANGE_HSA] = "HSA pool memory",
	    [RANGE_CODE] = "code object",	   [RANGE_LAUNCH] = "kernel arguments",
	    [RANGE_PINNED] = "pinned host memory", [RANGE_REGISTERED] = "registered host memory",
	    [RANGE_MANAGED] = "managed memory",	   [RANGE_HSA_HOST] = "HSA host memory"};
	return names[kind];
}

static int describe(struct hrr_buf *b, const struct range *r)
{
	int rc =
	    hrr_buf_addf(b, "%s #%llu ", range_kind_name(r->kind), (unsigned long long)r->serial);

	if (rc == 0)
		rc = hrr_buf_addx(b, r->base);
	if (rc == 0)
		rc = hrr_buf_addf(b, " +%llu", (unsigned long long)r->size);
	if (rc == 0 && r->device >= 0 && rt.n_agents > 1)
		rc = hrr_buf_addf(b, " of device %d", r->device);
	if (rc == 0 && r->api != NULL)
		rc = hrr_buf_addf(b, " (%s)", r->api);
	return rc;
}

static int explain_inside(struct hrr_buf *b, const struct range *r, uint64_t addr, uint64_t size,
			  int device)
{
	int rc = hrr_buf_addf(b, "  at byte %llu of ", (unsigned long long)(addr - r->base));

	if (rc == 0)
		rc = describe(b, r);
	if (rc == 0 && r->kind == RANGE_REGISTERED && !range_mapped(r))
		rc = hrr_buf_adds(b, ", which the program has unmapped");
	else if (rc == 0 && device >= 0 && !range_allows(r, device))
		rc = hrr_buf_addf(b, ", which device %d may not access", device);
	else if (rc == 0 && (!r->readable || !r->writable))
		rc = hrr_buf_addf(b, ", mapped %s", r->readable ? "read only" : "without access");
	else if (rc == 0 && size > r->base + r->size - addr)
		rc = hrr_buf_addf(b, ", %llu bytes past its end",
				  (unsigned long long)(size - (r->base + r->size - addr)));
	return rc == 0 ? hrr_buf_addc(b, '\n') : rc;
}

static bool number(uint64_t addr)
{
	return addr >= VA_FIRST && addr < VA_LAST;
}

/* Where nothing is near, a device number far away still says something. */
static bool told(uint64_t addr, const struct range *r, uint64_t distance, bool near)
{
	return r != NULL && (distance < NEAR || (!near && number(addr) && number(r->base)));
}

int range_explain(struct hrr_buf *b, uint64_t addr, uint64_t size, int device)
{
	int rc = 0;

	pthread_rwlock_rdlock(&lock);
	struct hrr_ranges *t = table;
	const struct range *in = t != NULL ? look(hrr_ranges_find(t, addr)) : NULL;
	const struct range *before = t != NULL ? look(hrr_ranges_before(t, addr)) : NULL;
	const struct range *after = t != NULL ? look(hrr_ranges_after(t, addr)) : NULL;
	if (in != NULL) {
		rc = explain_inside(b, in, addr, size, device);
	} else {
		const struct freed *f = freed_at(addr);
		if (f != NULL) {
			rc = hrr_buf_addf(b, "  at byte %llu of freed %s #%llu ",
					  (unsigned long long)(addr - f->base),
					  range_kind_name(f->kind), (unsigned long long)f->serial);
			if (rc == 0)
				rc = hrr_buf_addx(b, f->base);
			if (rc == 0)
				rc = hrr_buf_addf(b, " +%llu (%s): %s, %llu calls ago\n",
						  (unsigned long long)f->size,
						  f->made != NULL ? f->made : "?", f->api,
						  (unsigned long long)(rt.calls - f->when));
		} else if (addr < EMU_PAGE) {
			rc = hrr_buf_adds(b, "  a null pointer and an offset\n");
		} else if (!va_owns(addr) && poison_clear(addr) != 0) {
			rc =
			    hrr_buf_adds(b, "  no device memory: pageable host memory, or a number "
					    "out of nowhere\n");
		}
	}
	/* Our own argument segments are nobody's neighbours. */
	while (before != NULL && before->kind == RANGE_LAUNCH)
		before = look(hrr_ranges_before(t, before->base));
	while (after != NULL && after->kind == RANGE_LAUNCH)
		after = look(hrr_ranges_after(t, after->base));
	uint64_t past = before != NULL ? addr - (before->base + before->size) : UINT64_MAX;
	uint64_t left = after != NULL ? after->base - addr : UINT64_MAX;
	bool close = in != NULL || past < NEAR || left < NEAR;
	if (rc == 0 && told(addr, before, past, close)) {
		rc = hrr_buf_addf(b, "  %llu bytes after the end of ", (unsigned long long)past);
		if (rc == 0)
			rc = describe(b, before);
		if (rc == 0)
			rc = hrr_buf_addc(b, '\n');
	}
	if (rc == 0 && told(addr, after, left, close)) {
		rc = hrr_buf_addf(b, "  %llu bytes before the start of ", (unsigned long long)left);
		if (rc == 0)
			rc = describe(b, after);
		if (rc == 0)
			rc = hrr_buf_addc(b, '\n');
	}
	pthread_rwlock_unlock(&lock);
	if (rc == 0)
		rc = poison_explain(b, addr);
	return rc == 0 ? describe_explain(b, addr, size) : rc;
}
