#include "lib/collect/private.h"

#include <stdlib.h>
#include <string.h>

#define MAX_KNOWN ((uint64_t)1 << 24) /* objects or kernels of a process */

/* Room for index n (from 1) in an array of elements of size bytes; false: refused. They are
 * numbered one after the other, so a number far behind all others is none. */
static bool grow(void **v, uint64_t *have, uint64_t n, size_t size)
{
	if (n == 0 || n > MAX_KNOWN || n > 65536 + 2 * *have)
		return false;
	if (n < *have)
		return true;
	uint64_t cap = *have ? *have : 64;
	while (cap <= n)
		cap *= 2;
	char *p = realloc(*v, cap * size);
	if (p == NULL)
		return false;
	memset(p + *have * size, 0, (cap - *have) * size);
	*v = p;
	*have = cap;
	return true;
}

void learn_object(struct process *p, const struct hrr_rec *r)
{
	const struct hrr_rec_object *o = (const struct hrr_rec_object *)(const void *)r;
	void *v = p->objects;

	if (!grow(&v, &p->n_objects, o->object, sizeof *p->objects))
		return;
	p->objects = v;
	struct object *x = &p->objects[o->object];
	if (o->b.file == 0 && o->b.size > r->size - sizeof *o)
		return;
	x->known = store_bytes(p, &o->b, o + 1, &x->id);
	if (x->known)
		known_note(p, &(struct saved){.what = SAVED_OBJECT,
					      .u.object = {.number = o->object, .id = x->id}});
}

void known_object(struct process *p, uint64_t number, const struct hrr_id *id)
{
	void *v = p->objects;

	if (!grow(&v, &p->n_objects, number, sizeof *p->objects))
		return;
	p->objects = v;
	p->objects[number] = (struct object){*id, true};
}

void learn_kernel(struct process *p, const struct hrr_rec *r)
{
	const struct hrr_rec_kernel *k = (const struct hrr_rec_kernel *)(const void *)r;
	const unsigned char *at = (const unsigned char *)(k + 1);
	size_t room = r->size - sizeof *k;
	void *v = p->kernels;
	char id[HRR_ID_TEXT + 1];

	if ((uint64_t)k->n_args * sizeof(struct hrr_rec_arg) + k->name_len > room ||
	    !grow(&v, &p->n_kernels, k->kernel, sizeof *p->kernels))
		return;
	p->kernels = v;
	if (p->kernels[k->kernel].known)
		return;
	struct kernel x = {.layout = k->r.ret == 0,
			   .object = k->object,
			   .n_args = k->n_args,
			   .args = malloc(k->n_args * sizeof *x.args + 1)};
	if (x.args == NULL)
		return;
	memcpy(x.args, at, k->n_args * sizeof *x.args);
	hrr_buf_adds(&x.head, "{\"name\":");
	hrr_json_put_str(&x.head, (const char *)at + k->n_args * sizeof *x.args, k->name_len);
	if (k->object != 0 && k->object < p->n_objects && p->objects[k->object].known) {
		hrr_id_text(&p->objects[k->object].id, id);
		hrr_buf_addf(&x.head, ",\"object\":\"%s\"", id);
	}
	x.known = true;
	p->kernels[k->kernel] = x;
	known_note_kernel(p, k->kernel);
}

void known_kernel(struct process *p, uint64_t number, const struct kernel *from)
{
	void *v = p->kernels;
	struct kernel x = {
	    .known = true, .layout = from->layout, .object = from->object, .n_args = from->n_args};

	if (!grow(&v, &p->n_kernels, number, sizeof *p->kernels))
		return;
	p->kernels = v;
	x.args = p->kernels[number].known ? NULL : malloc(x.n_args * sizeof *x.args + 1);
	if (x.args == NULL || hrr_buf_add(&x.head, from->head.data, from->head.len) < 0) {
		free(x.args);
		return;
	}
	memcpy(x.args, from->args, x.n_args * sizeof *x.args);
	p->kernels[number] = x;
}

void learn_range(struct process *p, uint64_t base, uint64_t size, uint64_t kind, bool add)
{
	if (p->ranges == NULL)
		p->ranges = hrr_ranges_new();
	if (p->ranges == NULL)
		return;
	known_note(p, &(struct saved){.what = SAVED_RANGE, .u.range = {base, size, kind, add}});
	if (add)
		hrr_ranges_add(p->ranges, base, size, (void *)(uintptr_t)kind);
	else
		hrr_ranges_del(p->ranges, base, NULL);
}

bool is_address(const struct process *p, uint64_t word)
{
	return p->ranges != NULL && hrr_ranges_find(p->ranges, word) != NULL;
}

void pending_add(struct process *p, const struct pending *x)
{
	struct pending *y = malloc(sizeof *y);

	known_note(
	    p, &(struct saved){.what = SAVED_PENDING,
			       .u.pending = {x->call, x->node, x->addr, x->size, x->t, x->tid}});
	if (y == NULL)
		return;
	*y = *x;
	y->next = NULL;
	*p->pending_last = y;
	p->pending_last = &y->next;
}

void pending_del(struct process *p, uint64_t call, uint64_t node, uint64_t addr)
{
	for (struct pending **pp = &p->pending; *pp != NULL; pp = &(*pp)->next) {
		struct pending *y = *pp;
		if (y->call != call || y->node != node || y->addr != addr)
			continue;
		known_note(
		    p, &(struct saved){.what = SAVED_RESOLVED,
				       .u.pending = {.call = call, .node = node, .addr = addr}});
		*pp = y->next;
		if (y->next == NULL)
			p->pending_last = pp;
		free(y);
		return;
	}
}

void known_release(struct process *p)
{
	for (uint64_t i = 0; i < p->n_kernels; i++) {
		free(p->kernels[i].args);
		hrr_buf_release(&p->kernels[i].head);
	}
	free(p->kernels);
	free(p->objects);
	if (p->ranges != NULL)
		hrr_ranges_free(p->ranges);
	p->kernels = NULL;
	p->objects = NULL;
	p->ranges = NULL;
	p->n_kernels = p->n_objects = 0;
}
