#include "lib/emu/runtime/capture.h"

#include <stdlib.h>
#include <string.h>

#include "lib/emu/runtime/graph_params.h"

static struct capture *captures;
static uint64_t ids;

bool capture_forbids(void)
{
	if (emu_thread.capture_mode == hipStreamCaptureModeRelaxed)
		return false;
	for (const struct capture *c = captures; c != NULL; c = c->next) {
		if (c->thread == &emu_thread && c->mode != hipStreamCaptureModeRelaxed)
			return true;
		if (c->mode == hipStreamCaptureModeGlobal &&
		    emu_thread.capture_mode == hipStreamCaptureModeGlobal)
			return true;
	}
	return false;
}

struct capture *capture_blocking(int device)
{
	for (const struct stream *s = rt.dev[device].streams; s != NULL; s = s->next)
		if (s->capture != NULL && !(s->flags & STREAM_NONBLOCKING))
			return s->capture;
	return NULL;
}

static hipError_t set_deps(struct stream *s, struct node *const *nodes, unsigned n)
{
	struct node **p = malloc((n + 1) * sizeof *p);

	if (p == NULL)
		return hipErrorOutOfMemory;
	if (n > 0)
		memcpy(p, nodes, n * sizeof *p);
	free(s->cap_deps);
	s->cap_deps = p;
	s->n_cap_deps = n;
	return hipSuccess;
}

static hipError_t add_deps(struct stream *s, struct node *const *nodes, unsigned n)
{
	struct node **p = realloc(s->cap_deps, (s->n_cap_deps + n + 1) * sizeof *p);

	if (p == NULL)
		return hipErrorOutOfMemory;
	s->cap_deps = p;
	for (unsigned i = 0; i < n; i++) {
		bool have = false;
		for (unsigned k = 0; k < s->n_cap_deps; k++)
			have = have || p[k] == nodes[i];
		if (!have)
			p[s->n_cap_deps++] = nodes[i];
	}
	return hipSuccess;
}

hipError_t capture_node(struct stream *s, struct node *n)
{
	return node_publish(n) ? set_deps(s, &n, 1) : hipErrorOutOfMemory;
}

static enum node_type type_of(const struct op *op)
{
	if (op->kind == OP_KERNEL)
		return NODE_KERNEL;
	if (op->kind == OP_SET)
		return NODE_SET;
	if (op->kind == OP_HOST)
		return NODE_HOST;
	if (op->kind == OP_ALLOC)
		return NODE_ALLOC;
	if (op->kind == OP_RELEASE)
		return NODE_FREE;
	return op->u.copy.use_2d ? NODE_COPY : NODE_COPY_1D;
}

hipError_t capture_submit(struct stream *s, struct op *op, struct work **ret_work)
{
	struct capture *c = s->capture;

	if (ret_work != NULL)
		*ret_work = NULL;
	if (c == NULL) {
		c = s->null ? capture_blocking(s->device) : NULL;
		if (c == NULL)
			return sched_submit(s, op, NULL, 0, ret_work);
		c->invalid = true;
		op_release(op);
		return hipErrorStreamCaptureImplicit;
	}
	if (c->invalid) {
		op_release(op);
		return hipErrorStreamCaptureInvalidated;
	}
	if (op->kind != OP_KERNEL && op->kind != OP_COPY && op->kind != OP_SET &&
	    op->kind != OP_HOST && op->kind != OP_ALLOC && op->kind != OP_RELEASE) {
		c->invalid = true;
		op_release(op);
		return hipErrorStreamCaptureUnsupported;
	}
	struct node *n = node_new(c->graph, type_of(op), s->cap_deps, s->n_cap_deps);
	if (n == NULL) {
		op_release(op);
		return hipErrorOutOfMemory;
	}
	n->op = *op;
	if (node_describe(n) < 0)
		return hipErrorOutOfMemory;
	return capture_node(s, n);
}

hipError_t capture_wait_check(struct stream *s)
{
	if (s->capture != NULL) {
		s->capture->invalid = true;
		return hipErrorStreamCaptureUnsupported;
	}
	struct capture *c = s->null ? capture_blocking(s->device) : NULL;
	if (c == NULL)
		return hipSuccess;
	c->invalid = true;
	return hipErrorStreamCaptureImplicit;
}

/* --- events --------------------------------------------------------------------- */

static void forget(struct capture *c, struct event *e)
{
	for (struct event **p = &c->events; *p != NULL; p = &(*p)->next_captured)
		if (*p == e) {
			*p = e->next_captured;
			break;
		}
}

void capture_event_reset(struct event *e)
{
	if (e->capture != NULL)
		forget(e->capture, e);
	e->capture = NULL;
	e->next_captured = NULL;
	free(e->cap_nodes);
	e->cap_nodes = NULL;
	e->n_cap_nodes = 0;
}

hipError_t capture_record(struct event *e, struct stream *s, bool *ret_done)
{
	struct capture *c = s->capture;

	*ret_done = c != NULL;
	if (c == NULL)
		return capture_wait_check(s) == hipSuccess ? hipSuccess
							   : hipErrorStreamCaptureImplicit;
	if (c->invalid)
		return hipErrorStreamCaptureInvalidated;
	struct node **p = malloc((s->n_cap_deps + 1) * sizeof *p);
	if (p == NULL)
		return hipErrorOutOfMemory;
	if (s->n_cap_deps > 0)
		memcpy(p, s->cap_deps, s->n_cap_deps * sizeof *p);
	capture_event_reset(e);
	work_unref(e->last);
	e->last = NULL;
	e->capture = c;
	e->cap_nodes = p;
	e->n_cap_nodes = s->n_cap_deps;
	e->next_captured = c->events;
	c->events = e;
	return hipSuccess;
}

hipError_t capture_wait(struct stream *s, struct event *e, bool *ret_done)
{
	struct capture *c = e->capture;

	*ret_done = true;
	if (c == NULL) {
		if (s->capture == NULL) {
			*ret_done = false;
			return capture_wait_check(s);
		}
		/* Work from outside cannot be waited for inside. One that never was recorded is
		 * nothing to wait for. */
		if (e->last == NULL)
			return hipSuccess;
		s->capture->invalid = true;
		return hipErrorStreamCaptureIsolation;
	}
	if (c->invalid)
		return hipErrorStreamCaptureInvalidated;
	if (s->capture == NULL) {
		if (s->null) {
			c->invalid = true;
			return hipErrorStreamCaptureImplicit;
		}
		hipError_t rc = set_deps(s, e->cap_nodes, e->n_cap_nodes);
		if (rc == hipSuccess) {
			s->capture = c;
			c->n_streams++;
		}
		return rc;
	}
	if (s->capture != c) {
		c->invalid = s->capture->invalid = true;
		return hipErrorStreamCaptureMerge;
	}
	return add_deps(s, e->cap_nodes, e->n_cap_nodes);
}

/* --- begin and end ---------------------------------------------------------------- */

static void leave(struct stream *s)
{
	s->capture = NULL;
	free(s->cap_deps);
	s->cap_deps = NULL;
	s->n_cap_deps = 0;
}

void capture_stream_gone(struct stream *s)
{
	if (s->capture == NULL)
		return;
	s->capture->invalid = true;
	if (s->capture->origin == s)
		s->capture->origin = NULL;
	s->capture->n_streams--;
	leave(s);
}

static void finish(struct capture *c)
{
	while (c->events != NULL)
		capture_event_reset(c->events);
	for (int d = 0; d < rt.n_devices; d++)
		for (struct stream *s = rt.dev[d].streams; s != NULL; s = s->next)
			if (s->capture == c)
				leave(s);
	for (struct capture **p = &captures; *p != NULL; p = &(*p)->next)
		if (*p == c) {
			*p = c->next;
			break;
		}
	if (c->graph != NULL && !c->borrowed)
		graph_free(c->graph);
	free(c);
}

/* into: the graph that nodes are added to; NULL: a new one. */
static hipError_t begin(hipStream_t stream, int mode, struct graph *into, struct node *const *deps,
			unsigned n_deps)
{
	struct stream *s;
	hipError_t e = stream_get(stream, false, &s);

	if (e == hipSuccess && s->null)
		e = hipErrorStreamCaptureUnsupported;
	if (e == hipSuccess && s->capture != NULL)
		e = hipErrorIllegalState;
	struct capture *c = e == hipSuccess ? calloc(1, sizeof *c) : NULL;
	if (e == hipSuccess &&
	    (c == NULL || (c->graph = into != NULL ? into : graph_new()) == NULL)) {
		free(c);
		e = hipErrorOutOfMemory;
	}
	if (e == hipSuccess && into != NULL) {
		c->borrowed = true;
		e = set_deps(s, deps, n_deps);
		if (e != hipSuccess)
			free(c);
	}
	if (e == hipSuccess) {
		c->origin = s;
		c->thread = &emu_thread;
		c->mode = mode;
		c->id = ++ids;
		c->n_streams = 1;
		c->next = captures;
		captures = c;
		s->capture = c;
	}
	return e;
}

/* What a program says is nodes of graph g. */
static hipError_t check_nodes(const struct graph *g, const hipGraphNode_t *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct node *x = node_get(nodes[i]);
		if (x == NULL || x->graph != g)
			return hipErrorInvalidValue;
	}
	return hipSuccess;
}

hipError_t emu_hipStreamBeginCapture(hipStream_t stream, int mode)
{
	EMU_ENTER(EMU_WORK);
	if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e = begin(stream, mode, NULL, NULL, 0);
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph,
					    hipGraphNode_t *dependencies, void *dependencyData,
					    size_t numDependencies, int mode)
{
	(void)dependencyData; /* kinds of edges there is one of */
	EMU_ENTER(EMU_WORK);
	if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed ||
	    (numDependencies > 0 && dependencies == NULL))
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	struct graph *g = graph_get(graph);
	hipError_t e =
	    g != NULL ? check_nodes(g, dependencies, numDependencies) : hipErrorInvalidValue;
	if (e == hipSuccess)
		e = begin(stream, mode, g, (struct node *const *)(void *)dependencies,
			  (unsigned)numDependencies);
	rt_unlock();
	return emu_ret(e);
}

/* Whether what is behind node x is waited for by one of the nodes. */
static bool reaches(const struct node *from, const struct node *x)
{
	if (from == x)
		return true;
	for (unsigned i = 0; i < from->n_deps; i++)
		/* Captured nodes only point back in time. */
		if (from->deps[i]->id >= x->id && reaches(from->deps[i], x))
			return true;
	return false;
}

static bool joined(const struct capture *c)
{
	for (int d = 0; d < rt.n_devices; d++)
		for (const struct stream *s = rt.dev[d].streams; s != NULL; s = s->next) {
			if (s->capture != c || s == c->origin)
				continue;
			for (unsigned i = 0; i < s->n_cap_deps; i++) {
				bool ok = false;
				for (unsigned k = 0; k < c->origin->n_cap_deps && !ok; k++)
					ok = reaches(c->origin->cap_deps[k], s->cap_deps[i]);
				if (!ok)
					return false;
			}
		}
	return true;
}

static hipError_t end_capture(struct stream *s, hipGraph_t *ret_graph)
{
	struct capture *c = s->capture;

	if (c == NULL)
		return hipErrorIllegalState;
	if (c->origin != s)
		return hipErrorStreamCaptureUnmatched;
	if (c->mode != hipStreamCaptureModeRelaxed && c->thread != &emu_thread)
		return hipErrorStreamCaptureWrongThread;
	hipError_t e = c->invalid			? hipErrorStreamCaptureInvalidated
		       : c->n_streams > 1 && !joined(c) ? hipErrorStreamCaptureUnjoined
							: hipSuccess;
	*ret_graph = NULL;
	if (e == hipSuccess && handle_add(HANDLE_GRAPH, c->graph) < 0)
		e = hipErrorOutOfMemory;
	if (e == hipSuccess) {
		*ret_graph = (hipGraph_t)(void *)c->graph;
		c->graph = NULL;
	}
	finish(c);
	return e;
}

hipError_t emu_hipStreamEndCapture(hipStream_t stream, hipGraph_t *pGraph)
{
	struct stream *s;

	EMU_ENTER(EMU_WORK);
	if (pGraph == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e = stream_get(stream, false, &s);
	if (e == hipSuccess)
		e = end_capture(s, pGraph);
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *dependencies,
						  size_t numDependencies, unsigned int flags)
{
	enum { ADD, SET };
	struct stream *s;

	EMU_ENTER(EMU_WORK);
	if (flags > SET || (numDependencies > 0 && dependencies == NULL))
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e = stream_get(stream, false, &s);
	if (e == hipSuccess && s->capture == NULL)
		e = hipErrorIllegalState;
	if (e == hipSuccess)
		e = check_nodes(s->capture->graph, dependencies, numDependencies);
	if (e == hipSuccess) {
		struct node *const *nodes = (struct node *const *)(void *)dependencies;
		e = flags == SET ? set_deps(s, nodes, (unsigned)numDependencies)
				 : add_deps(s, nodes, (unsigned)numDependencies);
	}
	rt_unlock();
	return emu_ret(e);
}

hipError_t emu_hipThreadExchangeStreamCaptureMode(int *mode)
{
	if (mode == NULL || *mode < hipStreamCaptureModeGlobal ||
	    *mode > hipStreamCaptureModeRelaxed)
		return emu_ret(hipErrorInvalidValue);
	int old = emu_thread.capture_mode;
	emu_thread.capture_mode = *mode;
	*mode = old;
	return emu_ret(hipSuccess);
}
