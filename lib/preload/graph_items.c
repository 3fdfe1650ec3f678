#include "lib/preload/graph_priv.h"

#include <stdlib.h>

_Atomic unsigned hrr_n_captures;
pthread_mutex_t hrr_graph_lock = PTHREAD_MUTEX_INITIALIZER;
struct hrr_graph_entry *hrr_graph_entries;

void hrr_graph_forget(void)
{
	pthread_mutex_init(&hrr_graph_lock, NULL);
	hrr_graph_entries = NULL;
	hrr_n_captures = 0;
}

struct hrr_graph_entry *hrr_graph_find(enum hrr_graph_which which, uint64_t handle)
{
	for (struct hrr_graph_entry *e = hrr_graph_entries; e != NULL; e = e->next)
		if (e->which == which && e->handle == handle)
			return e;
	return NULL;
}

struct hrr_graph_entry *hrr_graph_make(enum hrr_graph_which which, uint64_t handle)
{
	struct hrr_graph_entry *e = hrr_graph_find(which, handle);

	if (e != NULL) { /* a handle used again */
		e->items.n = 0;
		e->n_members = 0;
		e->parent = 0;
		return e;
	}
	e = calloc(1, sizeof *e);
	if (e != NULL) {
		e->which = which;
		e->handle = handle;
		e->next = hrr_graph_entries;
		hrr_graph_entries = e;
	}
	return e;
}

void hrr_graph_drop(struct hrr_graph_entry *e)
{
	for (struct hrr_graph_entry **p = &hrr_graph_entries; e != NULL && *p != NULL;
	     p = &(*p)->next)
		if (*p == e) {
			*p = e->next;
			free(e->items.v);
			free(e);
			return;
		}
}

void hrr_graph_drop_children(uint64_t parent)
{
	struct hrr_graph_entry *e = hrr_graph_entries;

	while (e != NULL) {
		struct hrr_graph_entry *next = e->next;
		if (e->parent != 0 && e->parent == parent)
			hrr_graph_drop(e);
		e = next;
	}
}

struct hrr_graph_item *hrr_graph_add(struct hrr_graph_items *x)
{
	if (x->n == x->cap) {
		size_t cap = x->cap ? x->cap * 2 : 8;
		struct hrr_graph_item *p = realloc(x->v, cap * sizeof *p);
		if (p == NULL)
			return NULL;
		x->v = p;
		x->cap = cap;
	}
	x->v[x->n] = (struct hrr_graph_item){0};
	return &x->v[x->n++];
}

void hrr_graph_append(struct hrr_graph_items *to, const struct hrr_graph_items *from)
{
	for (size_t i = 0; i < from->n; i++) {
		struct hrr_graph_item *x = hrr_graph_add(to);
		if (x != NULL)
			*x = from->v[i];
	}
}

struct hrr_graph_entry *hrr_graph_capture_of(uint64_t which)
{
	for (struct hrr_graph_entry *e = hrr_graph_entries; e != NULL; e = e->next)
		for (unsigned i = 0; e->which == HRR_IS_CAPTURE && i < e->n_members; i++)
			if (e->members[i] == which)
				return e;
	return NULL;
}

void hrr_graph_join(struct hrr_graph_entry *e, uint64_t which)
{
	for (unsigned i = 0; i < e->n_members; i++)
		if (e->members[i] == which)
			return;
	if (e->n_members < sizeof e->members / sizeof *e->members)
		e->members[e->n_members++] = which;
}

uint64_t hrr_graph_member(uint64_t stream)
{
	return stream == 2 ? (uintptr_t)&hrr_self : stream;
}
