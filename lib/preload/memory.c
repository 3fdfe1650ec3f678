#include "lib/preload/preload.h"

#include <stdlib.h>
#include <string.h>

/*
 * What an address is, so that a copy's direction is what the addresses say. One
 * tree under one lock; values carry the kind in their low bits. Copies look
 * here once or twice, calls that move no bytes never do.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hrr_ranges *map;

static void *pack(enum hrr_mem mem, struct hrr_host_range *h)
{
	return (void *)((uintptr_t)h | (uintptr_t)mem);
}

static struct hrr_where unpack(const struct hrr_range *r)
{
	struct hrr_where w = {0};

	if (r == NULL)
		return w;
	w.mem = (enum hrr_mem)((uintptr_t)r->value & 7);
	w.host = (struct hrr_host_range *)((uintptr_t)r->value & ~(uintptr_t)7);
	w.base = r->base;
	w.size = r->size;
	return w;
}

void hrr_memory_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	map = NULL; /* the parent's copy is left alone: it may be half changed */
}

void hrr_memory_add(uint64_t base, uint64_t size, enum hrr_mem mem, struct hrr_host_range *host)
{
	if (base == 0 || size == 0)
		return;
	pthread_mutex_lock(&lock);
	if (map == NULL)
		map = hrr_ranges_new();
	if (map != NULL)
		hrr_ranges_add(map, base, size, pack(mem, host));
	pthread_mutex_unlock(&lock);
}

struct hrr_where hrr_where_is(uint64_t addr)
{
	struct hrr_where w = {0};

	pthread_mutex_lock(&lock);
	if (map != NULL)
		w = unpack(hrr_ranges_find(map, addr));
	if (w.host != NULL)
		hrr_host_ref(w.host);
	pthread_mutex_unlock(&lock);
	return w;
}

struct hrr_where hrr_memory_del(uint64_t base)
{
	struct hrr_where w = {0};

	pthread_mutex_lock(&lock);
	if (map != NULL)
		w = unpack(hrr_ranges_at(map, base));
	if (w.mem != HRR_MEM_NONE) {
		hrr_ranges_del(map, base, NULL);
		if (w.host != NULL && w.host->alias != 0 && w.host->alias != base &&
		    w.mem != HRR_MEM_ALIAS)
			hrr_ranges_del(map, w.host->alias, NULL);
	}
	pthread_mutex_unlock(&lock);
	return w;
}

void hrr_range_att(struct hrr_thread *t, uint64_t base, uint64_t size, enum hrr_mem mem, bool add)
{
	uint64_t v[4] = {base, size, mem, add};
	unsigned char *d = hrr_b_att(t, HRR_A_RANGE, 0, sizeof v);

	if (d != NULL)
		memcpy(d, v, sizeof v);
}

static void known(struct hrr_call *c, uint64_t base, uint64_t size, enum hrr_mem mem)
{
	struct hrr_host_range *h = NULL;

	if (base == 0 || size == 0)
		return;
	if (mem == HRR_MEM_PINNED || mem == HRR_MEM_MANAGED || mem == HRR_MEM_REGISTERED)
		h = hrr_host_new(base, size, mem);
	hrr_memory_add(base, size, mem, h);
	hrr_range_att(c->t, base, size, mem, true);
}

/* A device variable the program asked the address of. */
void hrr_variable_known(struct hrr_call *c, uint64_t base, uint64_t size)
{
	struct hrr_where w = hrr_where_is(base);
	if (w.host != NULL)
		hrr_host_unref(w.host);
	if (w.mem != HRR_MEM_NONE)
		return;
	known(c, base, size, HRR_MEM_DEVICE);
}

struct hrr_host_range *hrr_managed_known(struct hrr_call *c, uint64_t base, uint64_t size)
{
	struct hrr_where w = hrr_where_is(base);

	if (w.host == NULL && w.mem == HRR_MEM_NONE) {
		known(c, base, size, HRR_MEM_MANAGED);
		w = hrr_where_is(base);
	}
	return w.host;
}

void hrr_managed_gone(uint64_t base)
{
	struct hrr_where w = hrr_memory_del(base);

	if (w.host == NULL)
		return;
	atomic_store(&w.host->freed, true);
	hrr_host_gone(w.host);
	hrr_host_unref(w.host);
}

static uint64_t out_word(const struct hrr_call *c, int k)
{
	return c->a[k] != 0 ? *(const uint64_t *)(uintptr_t)c->a[k] : 0;
}

void hrr_alloc_leave(struct hrr_call *c)
{
	const struct hrr_api_row *row = &hrr_api_table[c->api];

	if (!hrr_ok(c))
		return;
	switch (c->api) {
	case HRR_API_hipMallocPitch:
	case HRR_API_hipMemAllocPitch:
		known(c, out_word(c, 0), out_word(c, 1) * c->a[3], HRR_MEM_DEVICE);
		return;
	case HRR_API_hipMalloc3D: {
		const struct hipPitchedPtr *p = (const void *)(uintptr_t)c->a[0];
		const struct hipExtent *e = (const void *)(uintptr_t)c->a[1];
		known(c, (uintptr_t)p->ptr, p->pitch * e->height * e->depth, HRR_MEM_DEVICE);
		return;
	}
	case HRR_API_hipMemMap:
		known(c, c->a[0], c->a[1], HRR_MEM_DEVICE);
		return;
	case HRR_API_hipMallocManaged:
		known(c, out_word(c, 0), c->a[1], HRR_MEM_MANAGED);
		return;
	default:
		break;
	}
	if (row->n_params < 2 || row->params[0].flow != HRR_FLOW_OUT ||
	    row->params[1].kind != HRR_K_SIZE)
		return;
	if (row->params[0].kind == HRR_K_HOST)
		known(c, out_word(c, 0), c->a[1], HRR_MEM_PINNED);
	else if (row->params[0].kind == HRR_K_DEV)
		known(c, out_word(c, 0), c->a[1], HRR_MEM_DEVICE);
}

/* Taken out before the call: once it is free, another thread may be given the address. */
void hrr_free_enter(struct hrr_call *c)
{
	if (c->a[0] == 0)
		return;
	struct hrr_where w = hrr_memory_del(c->a[0]);
	c->base = w.base;
	c->size = w.size;
	c->mem = (uint8_t)w.mem;
	c->host = w.host; /* the map's reference is ours now */
}

void hrr_free_leave(struct hrr_call *c)
{
	/* The wait is over either way: outputs first, so that what the range received is seen. */
	if (hrr_ok(c) && hrr_api_table[c->api].sync == HRR_SYNC_DEVICE && c->a[0] != 0)
		hrr_pending_device(c);
	if (c->mem == HRR_MEM_NONE)
		return;
	if (hrr_ok(c)) {
		hrr_range_att(c->t, c->base, c->size, (enum hrr_mem)c->mem, false);
		if (c->host != NULL) {
			c->gone = true; /* once its outputs are out */
			atomic_store(&c->host->freed, c->api != HRR_API_hipHostUnregister);
		}
		return;
	}
	hrr_memory_add(c->base, c->size, (enum hrr_mem)c->mem, c->host);
	c->host = NULL; /* the map's again */
}

struct bases {
	uint64_t *v;
	size_t n, cap;
};

static int note_base(void *self, const struct hrr_range *r)
{
	struct bases *b = self;
	enum hrr_mem mem = unpack(r).mem;

	if (mem == HRR_MEM_HSA || mem == HRR_MEM_HSA_HOST || b->n == b->cap)
		return 0;
	b->v[b->n++] = r->base;
	return 0;
}

void hrr_memory_reset(struct hrr_call *c)
{
	struct bases b = {0};

	pthread_mutex_lock(&lock);
	b.cap = map != NULL ? hrr_ranges_count(map) : 0;
	b.v = malloc(b.cap * sizeof *b.v + 1);
	if (b.v != NULL && b.cap != 0)
		hrr_ranges_each(map, note_base, &b);
	pthread_mutex_unlock(&lock);
	for (size_t i = 0; i < b.n; i++) {
		struct hrr_where w = hrr_memory_del(b.v[i]);
		if (w.mem == HRR_MEM_NONE)
			continue;
		hrr_range_att(c->t, w.base, w.size, w.mem, false);
		if (w.host == NULL || w.mem == HRR_MEM_ALIAS)
			continue;
		atomic_store(&w.host->freed, w.mem != HRR_MEM_REGISTERED);
		hrr_host_gone(w.host);
		hrr_host_unref(w.host);
	}
	free(b.v);
}

void hrr_map_enter(struct hrr_call *c)
{
	if (c->api == HRR_API_hipHostUnregister)
		hrr_free_enter(c);
}

void hrr_map_leave(struct hrr_call *c)
{
	if (c->api == HRR_API_hipHostUnregister) {
		hrr_free_leave(c);
	} else if (!hrr_ok(c)) {
		return;
	} else if (c->api == HRR_API_hipHostRegister) {
		known(c, c->a[0], c->a[1], HRR_MEM_REGISTERED);
	} else if (c->api == HRR_API_hipHostGetDevicePointer) {
		uint64_t dev = out_word(c, 0);
		struct hrr_where w = hrr_where_is(c->a[1]);
		if (w.host != NULL && dev != c->a[1] && w.host->alias == 0) {
			/* The alias of the whole range; freed with it, so it borrows the range's
			 * reference. */
			uint64_t alias = dev - (c->a[1] - w.base);
			w.host->alias = alias;
			hrr_memory_add(alias, w.size, HRR_MEM_ALIAS, w.host);
			hrr_range_att(c->t, alias, w.size, HRR_MEM_ALIAS, true);
		}
		if (w.host != NULL)
			hrr_host_unref(w.host);
	}
}
