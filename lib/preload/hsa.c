#include "lib/preload/preload.h"

#include <errno.h>

/*
 * HSA memory the program takes past HIP. Needed to say what a copy's address
 * is; with --hsa-regions also recorded as regions. HIP's own allocations come by
 * here as well and are left alone: they belong to its calls.
 */
#define HRR_EXPORT __attribute__((visibility("default")))
typedef struct {
	uint64_t handle;
} hsa_handle; /* hsa_agent_t, hsa_amd_memory_pool_t, hsa_region_t */
typedef int (*agent_fn)(hsa_handle agent, void *self);

struct pool_search {
	uint64_t pool;
	hsa_handle agent;
	int gpus;  /* GPU agents seen so far */
	int found; /* index of the pool's GPU; -1: a CPU's */
	bool done, gpu;
};

static void *real(const char *name, void **cache)
{
	void *p = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

	if (p == NULL) {
		p = hrr_resolve_name(name, true);
		__atomic_store_n(cache, p, __ATOMIC_RELEASE);
	}
	return p;
}

static int each_pool(hsa_handle pool, void *self)
{
	struct pool_search *s = self;

	if (pool.handle != s->pool)
		return 0;
	s->found = s->gpu ? s->gpus : -1;
	s->done = true;
	return 1; /* HSA_STATUS_INFO_BREAK */
}

static int each_agent(hsa_handle agent, void *self)
{
	static void *info, *pools;
	struct pool_search *s = self;
	int (*get)(hsa_handle, int, void *) =
	    (int (*)(hsa_handle, int, void *))real("hsa_agent_get_info", &info);
	int (*iterate)(hsa_handle, agent_fn, void *) = (int (*)(hsa_handle, agent_fn, void *))real(
	    "hsa_amd_agent_iterate_memory_pools", &pools);
	uint32_t type = 0;

	if (get == NULL || iterate == NULL ||
	    get(agent, 17 /* HSA_AGENT_INFO_DEVICE */, &type) != 0)
		return 0;
	s->gpu = type == 1;
	iterate(agent, each_pool, s);
	s->gpus += s->gpu;
	return s->done ? 1 : 0;
}

/* Index of the pool's GPU, -1 for host memory. Read-only questions, asked once per pool. */
static int pool_device(uint64_t pool)
{
	static struct {
		_Atomic uint64_t pool;
		_Atomic int device;
	} known[64];
	static _Atomic unsigned n;
	static void *agents;

	for (unsigned i = 0; i < n && i < 64; i++)
		if (known[i].pool == pool)
			return known[i].device;
	struct pool_search s = {.pool = pool};
	int (*iterate)(agent_fn, void *) =
	    (int (*)(agent_fn, void *))real("hsa_iterate_agents", &agents);
	if (iterate != NULL)
		iterate(each_agent, &s);
	unsigned i = atomic_fetch_add(&n, 1);
	if (i < 64) {
		known[i].device = s.found;
		known[i].pool = pool;
	} else {
		n = 64;
	}
	return s.found;
}

/* NULL, or to be ended by hrr_outside. */
static struct hrr_thread *recording(const void *caller)
{
	struct hrr_thread *t = &hrr_self, *ret;

	if (hrr_nested(t, __builtin_frame_address(0), caller) || hrr_in_runtime(caller))
		return NULL;
	hrr_inside(t, __builtin_frame_address(0));
	if (t->gen == 0 || t->gen != hrr_proc->gen)
		ret = hrr_thread_slow(t);
	else
		ret = t->ring != NULL && hrr_proc->hub->off == 0 ? t : NULL;
	if (ret == NULL)
		hrr_outside(t);
	return ret;
}

static void tell(struct hrr_thread *t, bool add, uint64_t base, uint64_t size, enum hrr_mem mem,
		 int device)
{
	uint64_t now = hrr_now() - hrr_proc->ctl->t0;

	if (mem == HRR_MEM_HSA && (hrr_proc->hub->options & HRR_OPT_HSA_REGIONS) != 0) {
		hrr_b_begin(t, HRR_R_REGION, 0);
		if (hrr_b_room(t, sizeof(struct hrr_rec_region))) {
			struct hrr_rec_region *r = (struct hrr_rec_region *)(void *)t->start;
			r->r.t = now;
			r->r.ret = device;
			r->r.words = add;
			r->base = base;
			r->size = size;
			t->p = t->start + sizeof *r;
		}
		hrr_b_commit(t);
		return;
	}
	hrr_b_begin(t, HRR_R_RANGE, 0);
	if (hrr_b_room(t, sizeof(struct hrr_rec_range))) {
		struct hrr_rec_range *r = (struct hrr_rec_range *)(void *)t->start;
		r->r.words = add;
		r->base = base;
		r->size = size;
		r->kind = mem;
		t->p = t->start + sizeof *r;
	}
	hrr_b_commit(t);
}

static void allocated(const void *caller, uint64_t base, uint64_t size, int device)
{
	int err = errno;
	struct hrr_thread *t = recording(caller);
	enum hrr_mem mem = device < 0 ? HRR_MEM_HSA_HOST : HRR_MEM_HSA;

	if (t != NULL && base != 0 && size != 0) {
		hrr_memory_add(base, size, mem, NULL);
		tell(t, true, base, size, mem, device < 0 ? 0 : device);
	}
	if (t != NULL)
		hrr_outside(t);
	errno = err;
}

static void freed(const void *caller, uint64_t base)
{
	int err = errno;
	struct hrr_thread *t = recording(caller);
	struct hrr_where w = {0};

	if (t != NULL) {
		w = hrr_where_is(base);
		if (w.host != NULL)
			hrr_host_unref(w.host);
	}
	if (t != NULL && w.base == base && (w.mem == HRR_MEM_HSA || w.mem == HRR_MEM_HSA_HOST)) {
		hrr_memory_del(base);
		tell(t, false, base, w.size, w.mem, 0);
	}
	if (t != NULL)
		hrr_outside(t);
	errno = err;
}

#define HSA_ERROR 0x1000

HRR_EXPORT int hsa_amd_memory_pool_allocate(hsa_handle pool, size_t size, uint32_t flags,
					    void **ptr);
HRR_EXPORT int hsa_amd_memory_pool_free(void *ptr);
HRR_EXPORT int hsa_memory_allocate(hsa_handle region, size_t size, void **ptr);
HRR_EXPORT int hsa_memory_free(void *ptr);

int hsa_amd_memory_pool_allocate(hsa_handle pool, size_t size, uint32_t flags, void **ptr)
{
	static void *cache;
	int (*fn)(hsa_handle, size_t, uint32_t, void **) =
	    (int (*)(hsa_handle, size_t, uint32_t, void **))real("hsa_amd_memory_pool_allocate",
								 &cache);
	const void *caller = __builtin_return_address(0);

	if (fn == NULL)
		return HSA_ERROR;
	int rc = fn(pool, size, flags, ptr);
	if (rc == 0 && ptr != NULL && !hrr_nested(&hrr_self, __builtin_frame_address(0), caller))
		allocated(caller, (uintptr_t)*ptr, size, pool_device(pool.handle));
	return rc;
}

int hsa_amd_memory_pool_free(void *ptr)
{
	static void *cache;
	int (*fn)(void *) = (int (*)(void *))real("hsa_amd_memory_pool_free", &cache);

	if (fn == NULL)
		return HSA_ERROR;
	freed(__builtin_return_address(0), (uintptr_t)ptr);
	return fn(ptr);
}

int hsa_memory_allocate(hsa_handle region, size_t size, void **ptr)
{
	static void *cache;
	int (*fn)(hsa_handle, size_t, void **) =
	    (int (*)(hsa_handle, size_t, void **))real("hsa_memory_allocate", &cache);
	const void *caller = __builtin_return_address(0);

	if (fn == NULL)
		return HSA_ERROR;
	int rc = fn(region, size, ptr);
	/* A region's handle is its pool's where both name one piece of memory. */
	if (rc == 0 && ptr != NULL && !hrr_nested(&hrr_self, __builtin_frame_address(0), caller))
		allocated(caller, (uintptr_t)*ptr, size, pool_device(region.handle));
	return rc;
}

int hsa_memory_free(void *ptr)
{
	static void *cache;
	int (*fn)(void *) = (int (*)(void *))real("hsa_memory_free", &cache);

	if (fn == NULL)
		return HSA_ERROR;
	freed(__builtin_return_address(0), (uintptr_t)ptr);
	return fn(ptr);
}
