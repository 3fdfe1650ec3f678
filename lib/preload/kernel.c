#include "lib/preload/kernel_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Kernels by what a launch names: the host stub, or a function handle. Read
 * without a lock: slots are written once, key last, and a table that is full is
 * replaced and left to whoever still reads it.
 */
struct slot {
	_Atomic uint64_t key;
	struct hrr_kernel_info *_Atomic kernel; /* NULL: gone */
};
struct table {
	size_t cap, used; /* cap: a power of two */
	struct slot slots[];
};
static struct table *_Atomic kernels;
static _Atomic uint64_t ids;

static size_t hash(uint64_t key, size_t cap)
{
	return (size_t)(key * 0x9e3779b97f4a7c15ull >> 20) & (cap - 1);
}

static struct slot *slot_of(struct table *t, uint64_t key)
{
	for (size_t i = hash(key, t->cap);; i = (i + 1) & (t->cap - 1)) {
		uint64_t k = atomic_load_explicit(&t->slots[i].key, memory_order_acquire);
		if (k == key || k == 0)
			return &t->slots[i];
	}
}

static struct hrr_kernel_info *lookup(uint64_t key)
{
	struct table *t = atomic_load_explicit(&kernels, memory_order_acquire);

	if (t == NULL || key == 0)
		return NULL;
	struct slot *s = slot_of(t, key);
	return atomic_load_explicit(&s->key, memory_order_acquire) == key
		   ? atomic_load_explicit(&s->kernel, memory_order_acquire)
		   : NULL;
}

static bool grow(struct table *old)
{
	size_t cap = old == NULL ? 256 : old->cap * 2;
	struct table *t = calloc(1, sizeof *t + cap * sizeof *t->slots);

	if (t == NULL)
		return false;
	t->cap = cap;
	for (size_t i = 0; old != NULL && i < old->cap; i++) {
		struct hrr_kernel_info *k = old->slots[i].kernel;
		if (k == NULL)
			continue;
		struct slot *s = slot_of(t, old->slots[i].key);
		s->kernel = k;
		s->key = old->slots[i].key;
		t->used++;
	}
	atomic_store_explicit(&kernels, t, memory_order_release);
	return true;
}

void hrr_kernel_put(uint64_t handle, struct hrr_kernel_info *k)
{
	struct table *t = kernels;

	if (handle == 0 || k == NULL)
		return;
	if (t == NULL || t->used * 2 >= t->cap) {
		if (!grow(t))
			return;
		t = kernels;
	}
	struct slot *s = slot_of(t, handle);
	atomic_store_explicit(&s->kernel, k, memory_order_release);
	if (s->key == 0) {
		t->used++;
		atomic_store_explicit(&s->key, handle, memory_order_release);
	}
}

void hrr_kernel_alias(uint64_t handle, uint64_t other)
{
	hrr_kernel_put(handle, lookup(other));
}

void hrr_kernels_drop(const struct hrr_object *o)
{
	struct table *t = kernels;

	for (size_t i = 0; t != NULL && i < t->cap; i++) {
		struct hrr_kernel_info *k = t->slots[i].kernel;
		if (k != NULL && k->object == o)
			atomic_store(&t->slots[i].kernel, NULL);
	}
}

struct hrr_kernel_info *hrr_kernel_new(struct hrr_object *o, const char *name)
{
	struct hrr_kernel_info *k = calloc(1, sizeof *k);

	if (k == NULL || o == NULL || name == NULL || (k->name = strdup(name)) == NULL) {
		free(k);
		return NULL;
	}
	k->object = o;
	return k;
}

void hrr_kernel_forget(void)
{
	struct table *t = kernels;

	pthread_mutex_init(&hrr_kernel_lock, NULL);
	hrr_objects_forget();
	for (size_t i = 0; t != NULL && i < t->cap; i++)
		if (t->slots[i].kernel != NULL) {
			t->slots[i].kernel->id = 0;
			t->slots[i].kernel->state = 0;
		}
}

static void layout(struct hrr_kernel_info *k)
{
	if (!k->object->parsed)
		hrr_object_parse(k->object, k->object->image);
	const struct hrr_kernel *have = hrr_object_kernel(k->object, k->name);
	if (have == NULL || k->args != NULL)
		return;
	struct hrr_kernel_arg *args = calloc(have->n_explicit + 1, sizeof *args);
	if (args == NULL)
		return;
	for (uint32_t i = 0; i < have->n_explicit; i++) {
		args[i] = (struct hrr_kernel_arg){have->args[i].offset, have->args[i].size,
						  have->args[i].kind};
		if (args[i].offset + args[i].size > k->kernarg)
			k->kernarg = args[i].offset + args[i].size;
	}
	k->n_args = have->n_explicit;
	k->args = args;
}

static bool write_kernel(struct hrr_thread *t, struct hrr_kernel_info *k)
{
	size_t len = strlen(k->name), args = k->n_args * sizeof(struct hrr_rec_arg);
	size_t rest = (args + len + 7) & ~(size_t)7;

	if (!hrr_object_write(t, k->object))
		return false;
	hrr_b_begin(t, HRR_R_KERNEL, 0);
	if (!hrr_b_room(t, sizeof(struct hrr_rec_kernel) + rest))
		return hrr_b_commit(t);
	uint64_t id = atomic_fetch_add(&ids, 1) + 1;
	struct hrr_rec_kernel *r = (struct hrr_rec_kernel *)(void *)t->start;
	r->kernel = id;
	r->object = k->object->id;
	r->n_args = k->n_args;
	r->name_len = (uint32_t)len;
	r->r.ret = k->args != NULL ? 0 : -1;
	unsigned char *p = t->start + sizeof *r;
	memset(p + rest - (rest ? 8 : 0), 0, rest ? 8 : 0);
	memcpy(p, k->args, args);
	memcpy(p + args, k->name, len);
	t->p = p + rest;
	if (!hrr_b_commit(t))
		return false;
	atomic_store_explicit(&k->id, id, memory_order_release);
	return true;
}

struct hrr_kernel_info *hrr_kernel_of(struct hrr_thread *t, uint64_t handle)
{
	struct hrr_kernel_info *k = lookup(handle);

	if (k == NULL || atomic_load_explicit(&k->id, memory_order_acquire) != 0)
		return k;
	pthread_mutex_lock(&hrr_kernel_lock);
	if (k->state == 0) {
		layout(k);
		k->state = k->args != NULL ? 1 : -1;
	}
	if (k->id == 0 && !write_kernel(t, k))
		k = NULL;
	pthread_mutex_unlock(&hrr_kernel_lock);
	return k;
}
