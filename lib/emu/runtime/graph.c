#include "lib/emu/runtime/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/event.h"
#include "lib/emu/runtime/launch.h"

static uint64_t ids;

struct graph *graph_new(void)
{
	struct graph *g = calloc(1, sizeof *g);

	if (g != NULL) {
		g->last = &g->first;
		g->id = ++ids;
	}
	return g;
}

void node_free(struct node *n)
{
	handle_del(n);
	op_release(&n->op);
	if (n->child != NULL)
		graph_free(n->child);
	free(n->deps);
	free(n->kernel_params);
	free(n);
}

void graph_free(struct graph *g)
{
	handle_del(g);
	for (struct node *n = g->first, *next; n != NULL; n = next) {
		next = n->next;
		node_free(n);
	}
	free(g);
}

struct graph *graph_get(hipGraph_t h)
{
	return handle_is(HANDLE_GRAPH, h) ? (struct graph *)(void *)h : NULL;
}

struct node *node_get(hipGraphNode_t h)
{
	return handle_is(HANDLE_NODE, h) ? (struct node *)(void *)h : NULL;
}

int node_add_dep(struct node *n, struct node *on)
{
	for (unsigned i = 0; i < n->n_deps; i++)
		if (n->deps[i] == on)
			return -EEXIST;
	struct node **p = realloc(n->deps, (n->n_deps + 1) * sizeof *p);
	if (p == NULL)
		return -ENOMEM;
	n->deps = p;
	n->deps[n->n_deps++] = on;
	return 0;
}

struct node *node_new(struct graph *g, enum node_type type, struct node *const *deps, size_t n_deps)
{
	for (size_t i = 0; i < n_deps; i++)
		if (deps[i] == NULL || deps[i]->graph != g)
			return NULL;
	struct node *n = calloc(1, sizeof *n);
	if (n == NULL)
		return NULL;
	n->graph = g;
	n->type = type;
	n->id = ++ids;
	for (size_t i = 0; i < n_deps; i++)
		if (node_add_dep(n, deps[i]) == -ENOMEM) {
			node_free(n);
			return NULL;
		}
	*g->last = n;
	g->last = &n->next;
	g->n_nodes++;
	return n;
}

bool node_publish(struct node *n)
{
	return handle_add(HANDLE_NODE, n) == 0;
}

int node_assign(struct node *dst, const struct node *src)
{
	struct op op;
	void **params = NULL;
	struct graph *child = NULL;

	if (op_copy(&op, &src->op) < 0)
		return -ENOMEM;
	if (src->child != NULL && (child = graph_clone(src->child, true)) == NULL)
		goto nomem;
	if (src->kernel_params != NULL && launch_params(&op.u.kernel, &params) < 0)
		goto nomem;
	op_release(&dst->op);
	if (dst->child != NULL)
		graph_free(dst->child);
	free(dst->kernel_params);
	dst->type = src->type;
	dst->op = op;
	dst->child = child;
	dst->kernel_params = params;
	dst->event = src->event;
	dst->func = src->func;
	dst->copy = src->copy;
	dst->copy_kind = src->copy_kind;
	dst->set = src->set;
	dst->host = src->host;
	dst->alloc = src->alloc;
	dst->grid = src->grid;
	dst->block = src->block;
	dst->disabled = src->disabled;
	return 0;
nomem:
	if (child != NULL)
		graph_free(child);
	op_release(&op);
	return -ENOMEM;
}

struct graph *graph_clone(const struct graph *g, bool keep)
{
	struct graph *c = graph_new();
	struct node **copies = calloc(g->n_nodes + 1, sizeof *copies);
	unsigned i = 0;

	if (c == NULL || copies == NULL)
		goto nomem;
	c->origin = g->id;
	if (keep)
		c->id = g->id;
	/* mark of the source: its index; edges may point forward after hipGraphAddDependencies. */
	for (struct node *n = g->first; n != NULL; n = n->next)
		n->mark = i++;
	i = 0;
	for (const struct node *n = g->first; n != NULL; n = n->next, i++) {
		copies[i] = node_new(c, n->type, NULL, 0);
		if (copies[i] == NULL || node_assign(copies[i], n) < 0)
			goto nomem;
		copies[i]->origin = n->id;
		if (keep) {
			copies[i]->id = n->id;
			copies[i]->origin = n->origin;
		}
	}
	i = 0;
	for (const struct node *n = g->first; n != NULL; n = n->next, i++)
		for (unsigned d = 0; d < n->n_deps; d++)
			if (node_add_dep(copies[i], copies[n->deps[d]->mark]) == -ENOMEM)
				goto nomem;
	free(copies);
	return c;
nomem:
	if (c != NULL)
		graph_free(c);
	free(copies);
	return NULL;
}

/* --- plans ----------------------------------------------------------------------- */

static bool later(const struct node *n)
{
	for (unsigned i = 0; i < n->n_deps; i++)
		if (n->deps[i]->mark == 0)
			return true;
	return false;
}

struct plan *plan_new(struct graph *g)
{
	struct plan *p = calloc(1, sizeof *p);
	unsigned n = 0;

	if (p == NULL)
		goto fail;
	p->refs = 1;
	p->graph = g;
	p->order = calloc(g->n_nodes + 1, sizeof *p->order);
	if (p->order == NULL)
		goto fail;
	for (struct node *x = g->first; x != NULL; x = x->next)
		x->mark = 0;
	for (bool more = true; more && n < g->n_nodes;) {
		more = false;
		for (struct node *x = g->first; x != NULL; x = x->next)
			if (x->mark == 0 && !later(x)) {
				x->mark = 1;
				p->order[n++] = x;
				more = true;
			}
	}
	if (n == g->n_nodes)
		return p;
fail: /* or a cycle */
	if (p != NULL)
		free(p->order);
	free(p);
	graph_free(g);
	return NULL;
}

struct plan *plan_ref(struct plan *p)
{
	p->refs++;
	return p;
}

void plan_unref(struct plan *p)
{
	if (p == NULL || --p->refs > 0)
		return;
	graph_free(p->graph);
	free(p->order);
	free(p);
}

static hipError_t run_child(const struct graph *g, int device);

static hipError_t run_node(const struct node *n, int device)
{
	if (n->disabled)
		return hipSuccess;
	if (n->type == NODE_CHILD)
		return run_child(n->child, device);
	if (n->type == NODE_RECORD)
		event_node_ran(n->event);
	return op_run(&n->op, device);
}

/*
 * In random mode another topological order each time: done[] says what ran. The
 * picture of the graph does not change while a launch holds its plan.
 */
static hipError_t run_shuffled(struct node *const *order, unsigned n, int device, uint64_t seed)
{
	bool *done = calloc(n + 1, sizeof *done);
	hipError_t e = hipSuccess;

	if (done == NULL)
		return hipErrorOutOfMemory;
	for (unsigned left = n; left > 0 && e == hipSuccess; left--) {
		unsigned pick = n, seen = 0;
		for (unsigned i = 0; i < n; i++) {
			bool ok = !done[i];
			for (unsigned d = 0; ok && d < order[i]->n_deps; d++)
				for (unsigned k = 0; k < n; k++)
					if (order[k] == order[i]->deps[d] && !done[k])
						ok = false;
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			if (ok && (seed >> 33) % ++seen == 0)
				pick = i;
		}
		if (pick == n)
			break;
		done[pick] = true;
		e = run_node(order[pick], device);
	}
	free(done);
	return e;
}

hipError_t plan_run(const struct plan *p, int device)
{
	hipError_t e = hipSuccess;

	if (rt.mode == SCHED_RANDOM && p->graph->n_nodes <= 256) {
		rt_lock();
		uint64_t seed = rt_random();
		rt_unlock();
		return run_shuffled(p->order, p->graph->n_nodes, device, seed);
	}
	for (unsigned i = 0; i < p->graph->n_nodes && e == hipSuccess; i++)
		e = run_node(p->order[i], device);
	return e;
}

static hipError_t run_child(const struct graph *g, int device)
{
	/* Nodes of a child are in an order that plan_new of the parent did not look at. */
	rt_lock();
	struct graph *copy = graph_clone(g, true);
	struct plan *p = copy != NULL ? plan_new(copy) : NULL;
	rt_unlock();
	if (p == NULL)
		return hipErrorOutOfMemory;
	hipError_t e = plan_run(p, device);
	rt_lock();
	plan_unref(p);
	rt_unlock();
	return e;
}
