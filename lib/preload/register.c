#include "lib/preload/kernel_priv.h"

#include <stdlib.h>
#include <string.h>

/*
 * What the compiler's start-up code registers. Kept as it comes, and written
 * when the process makes its first other call: a helper process whose libraries
 * only register leaves nothing, and a forked child has its own copy to write.
 */
struct kept {
	enum hrr_api api;
	uint64_t a[10];
	int64_t ret;
};
static struct kept *kept;
static size_t n_kept, cap_kept;
static struct hrr_symbol_info *symbols;

struct wrapper { /* what __hipRegisterFatBinary is given */
	uint32_t magic, version;
	const void *binary;
	const void *unused;
};
#define WRAPPER_MAGIC 0x48495046u /* "HIPF" */

/* Managed variables: memory of host and device that no call allocates. */
struct managed {
	struct managed *next;
	uint64_t base;
	const struct hrr_object *object;
};
static struct managed *managed; /* under the kernel lock */
static _Atomic unsigned n_managed;

static void keep(enum hrr_api api, const uint64_t *a, int64_t ret)
{
	if (n_kept == cap_kept) {
		size_t cap = cap_kept ? cap_kept * 2 : 64;
		struct kept *p = realloc(kept, cap * sizeof *p);
		if (p == NULL)
			return;
		kept = p;
		cap_kept = cap;
	}
	struct kept *k = &kept[n_kept++];
	k->api = api;
	k->ret = ret;
	memcpy(k->a, a, hrr_api_table[api].n_params * sizeof *a);
}

static void forget_object(uint64_t handle)
{
	struct hrr_object *o = hrr_object_find(handle, false);
	size_t n = 0;

	for (size_t i = 0; i < n_kept; i++) {
		bool its = kept[i].api == HRR_API___hipRegisterFatBinary
			       ? (uint64_t)kept[i].ret == handle
			       : kept[i].a[0] == handle;
		if (!its)
			kept[n++] = kept[i];
	}
	n_kept = n;
	if (o == NULL)
		return;
	for (struct managed **p = &managed; *p != NULL;) {
		struct managed *m = *p;
		if (m->object != o) {
			p = &m->next;
			continue;
		}
		*p = m->next;
		n_managed--;
		hrr_managed_gone(m->base);
		free(m);
	}
	hrr_kernels_drop(o);
	for (struct hrr_symbol_info **p = &symbols; *p != NULL;)
		if ((*p)->object == o)
			*p = (*p)->next;
		else
			p = &(*p)->next;
	hrr_object_del(o);
}

static void add_symbol(const uint64_t *a, uint64_t address, int name, int size)
{
	struct hrr_symbol_info *s = calloc(1, sizeof *s);

	if (s == NULL)
		return;
	*s = (struct hrr_symbol_info){symbols, address, (const char *)(uintptr_t)a[name], a[size],
				      hrr_object_find(a[0], false)};
	symbols = s;
}

/* The run time has put the variable's address where the compiler wants it. */
static void managed_att(struct hrr_call *c)
{
	struct managed *m;

	if (c->api != HRR_API___hipRegisterManagedVar || c->a[1] == 0)
		return;
	uint64_t base = *(const uint64_t *)(uintptr_t)c->a[1], size = c->a[4];
	if (base == 0 || size == 0)
		return;
	for (m = managed; m != NULL && m->base != base; m = m->next)
		;
	if (m == NULL && (m = calloc(1, sizeof *m)) != NULL) {
		m->next = managed;
		m->base = base;
		managed = m;
		n_managed++;
	}
	struct hrr_host_range *h = hrr_managed_known(c, base, size);
	if (m == NULL || h == NULL)
		return;
	m->object = hrr_object_find(c->a[0], false);
	if ((hrr_proc->hub->options & HRR_OPT_HOST_OFF) == 0) {
		hrr_host_snapshot(&c->snaps, h, base, size);
		hrr_snapshots_att(c->t, c->snaps);
	}
	hrr_host_unref(h);
}

void hrr_managed_att(struct hrr_call *c)
{
	pthread_mutex_lock(&hrr_kernel_lock);
	managed_att(c);
	pthread_mutex_unlock(&hrr_kernel_lock);
}

void hrr_managed_each(const struct hrr_object *o,
		      void (*each)(void *self, struct hrr_host_range *h), void *self)
{
	struct hrr_host_range *some[64];
	unsigned n = 0;

	if (n_managed == 0)
		return;
	pthread_mutex_lock(&hrr_kernel_lock);
	for (const struct managed *m = managed; m != NULL && n < 64; m = m->next) {
		if (m->object != o)
			continue;
		struct hrr_where w = hrr_where_is(m->base);
		if (w.host != NULL)
			some[n++] = w.host;
	}
	pthread_mutex_unlock(&hrr_kernel_lock);
	for (unsigned i = 0; i < n; i++) {
		each(self, some[i]);
		hrr_host_unref(some[i]);
	}
}

void hrr_register_leave(enum hrr_api api, const uint64_t *a, int64_t ret)
{
	if (api == HRR_API___hipPushCallConfiguration || api == HRR_API___hipPopCallConfiguration)
		return;
	pthread_mutex_lock(&hrr_kernel_lock);
	switch (api) {
	case HRR_API___hipRegisterFatBinary: {
		const struct wrapper *w = (const void *)(uintptr_t)a[0];
		if (ret != 0 && w != NULL && w->magic == WRAPPER_MAGIC) {
			hrr_object_add((uint64_t)ret, w->binary, false);
			keep(api, a, ret);
		}
		break;
	}
	case HRR_API___hipRegisterFunction:
		hrr_kernel_put(a[1], hrr_kernel_new(hrr_object_find(a[0], false),
						    (const char *)(uintptr_t)a[3]));
		keep(api, a, ret);
		break;
	case HRR_API___hipRegisterVar:
		add_symbol(a, a[1], 3, 5);
		keep(api, a, ret);
		break;
	case HRR_API___hipRegisterManagedVar:
		add_symbol(a, a[1], 3, 4);
		keep(api, a, ret);
		break;
	case HRR_API___hipUnregisterFatBinary:
		forget_object(a[0]);
		break;
	default:
		break;
	}
	pthread_mutex_unlock(&hrr_kernel_lock);
}

void hrr_register_replay(struct hrr_thread *t)
{
	static _Atomic uint32_t done; /* the process that has them written */
	uint32_t gen = t->gen;

	if (atomic_load_explicit(&done, memory_order_acquire) == gen)
		return;
	pthread_mutex_lock(&hrr_kernel_lock);
	if (atomic_load(&done) != gen) {
		for (size_t i = 0; i < n_kept; i++) {
			struct hrr_call c = {
			    .api = kept[i].api, .a = kept[i].a, .t = t, .ret = kept[i].ret};
			hrr_b_begin(t, HRR_R_LEAVE, c.api);
			hrr_encode_args(t, &c, true);
			managed_att(&c);
			struct hrr_rec *r = hrr_b_rec(t);
			r->ret = c.ret;
			if (!t->failed)
				r->seq = hrr_take_seq();
			hrr_snapshots_free(c.snaps, hrr_b_commit(t));
		}
		atomic_store_explicit(&done, gen, memory_order_release);
	}
	pthread_mutex_unlock(&hrr_kernel_lock);
}

static struct hrr_symbol_info *symbol_at(uint64_t address)
{
	for (struct hrr_symbol_info *s = symbols; s != NULL; s = s->next)
		if (s->address == address)
			return s;
	return NULL;
}

/* Writes the object's record before the call's own is begun. */
void hrr_symbol_prepare(struct hrr_call *c)
{
	int k = hrr_api_param(c->api, "symbol", 6);

	if (k < 0 || symbols == NULL || !hrr_ok(c))
		return;
	pthread_mutex_lock(&hrr_kernel_lock);
	struct hrr_symbol_info *s = symbol_at(c->a[k]);
	if (s != NULL && s->object != NULL) {
		hrr_object_parse(s->object, s->object->image);
		hrr_object_write(c->t, s->object);
	}
	pthread_mutex_unlock(&hrr_kernel_lock);
}

uint64_t hrr_symbol_size(uint64_t address)
{
	pthread_mutex_lock(&hrr_kernel_lock);
	struct hrr_symbol_info *s = symbol_at(address);
	uint64_t size = s != NULL ? s->size : 0;
	pthread_mutex_unlock(&hrr_kernel_lock);
	return size;
}

void hrr_symbol_att(struct hrr_call *c, int param)
{
	if (param < 0 || symbols == NULL || !hrr_ok(c))
		return;
	pthread_mutex_lock(&hrr_kernel_lock);
	struct hrr_symbol_info *s = symbol_at(c->a[param]);
	if (s != NULL && s->object != NULL) {
		uint64_t v[2] = {s->object->id, s->size};
		size_t n = strlen(s->name);
		unsigned char *d = hrr_b_att(c->t, HRR_A_SYMBOL, (unsigned)param, sizeof v + n);
		if (d != NULL) {
			memcpy(d, v, sizeof v);
			memcpy(d + sizeof v, s->name, n);
		}
	}
	pthread_mutex_unlock(&hrr_kernel_lock);
}

/* --- modules --------------------------------------------------------------- */

static void module_loaded(struct hrr_call *c)
{
	uint64_t handle = *(const uint64_t *)(uintptr_t)c->a[0];
	struct hrr_object *o = hrr_object_add(handle, NULL, true);

	if (o == NULL)
		return;
	if (c->api == HRR_API_hipModuleLoad) {
		o->file = hrr_bytes_file_copy((const char *)(uintptr_t)c->a[1], &o->size);
		hrr_object_map_file(o, (const char *)(uintptr_t)c->a[1]);
	} else {
		const void *image = (const void *)(uintptr_t)c->a[1];
		const struct wrapper *w = image;
		if (w->magic == WRAPPER_MAGIC) /* hipModuleLoadFatBinary takes either */
			image = w->binary;
		hrr_object_copy(o, image); /* the program may free its own now */
		struct hrr_rect r = {o->size, 1, 1, o->size, o->size};
		o->file = o->size != 0 ? hrr_bytes_file(image, &r) : HRR_NO_FILE;
	}
	hrr_object_write(c->t, o);
}

void hrr_module_leave(struct hrr_call *c)
{
	if (!hrr_ok(c))
		return;
	pthread_mutex_lock(&hrr_kernel_lock);
	switch (c->api) {
	case HRR_API_hipModuleLoad:
	case HRR_API_hipModuleLoadData:
	case HRR_API_hipModuleLoadDataEx:
	case HRR_API_hipModuleLoadFatBinary:
		module_loaded(c);
		break;
	case HRR_API_hipModuleGetFunction:
		hrr_kernel_put(*(const uint64_t *)(uintptr_t)c->a[0],
			       hrr_kernel_new(hrr_object_find(c->a[1], true),
					      (const char *)(uintptr_t)c->a[2]));
		break;
	case HRR_API_hipGetFuncBySymbol:
		hrr_kernel_alias(*(const uint64_t *)(uintptr_t)c->a[0], c->a[1]);
		break;
	case HRR_API_hipModuleUnload: {
		struct hrr_object *o = hrr_object_find(c->a[0], true);
		if (o != NULL) {
			hrr_kernels_drop(o);
			hrr_object_del(o);
		}
		break;
	}
	default:
		break;
	}
	pthread_mutex_unlock(&hrr_kernel_lock);
}

void hrr_module_att(struct hrr_call *c)
{
	if (!hrr_ok(c))
		return;
	if (hrr_api_table[c->api].sync == HRR_SYNC_DEVICE)
		hrr_pending_device(c);
	if (c->api == HRR_API_hipModuleGetGlobal && c->a[0] != 0 && c->a[1] != 0) {
		uint64_t base = *(const uint64_t *)(uintptr_t)c->a[0];
		uint64_t size = *(const uint64_t *)(uintptr_t)c->a[1];
		hrr_variable_known(c, base, size);
		return;
	}
	if (c->api != HRR_API_hipModuleLoad && c->api != HRR_API_hipModuleLoadData &&
	    c->api != HRR_API_hipModuleLoadDataEx && c->api != HRR_API_hipModuleLoadFatBinary)
		return;
	pthread_mutex_lock(&hrr_kernel_lock);
	struct hrr_object *o = hrr_object_find(*(const uint64_t *)(uintptr_t)c->a[0], true);
	if (o != NULL && o->id != 0) {
		unsigned char *d = hrr_b_att(c->t, HRR_A_IMAGE, 1, 8);
		if (d != NULL)
			memcpy(d, &o->id, 8);
	}
	pthread_mutex_unlock(&hrr_kernel_lock);
}
