#include "lib/preload/preload.h"

#include <stdlib.h>
#include <string.h>

/*
 * Which host memory a graph's nodes read and write, so that a launch can record
 * what they find and deliver. A node is known by the call that made it (its
 * seq), whether a stream capture or hipGraphAdd… did.
 */
#define MAX_HOSTS 6

struct item {
	uint64_t node; /* handle; 0: captured */
	uint64_t seq;
	bool copy, function;
	enum hrr_dir dir;
	struct hrr_copy_op op;
	unsigned n_hosts; /* kernels: mapped host ranges its arguments name */
	uint64_t hosts[MAX_HOSTS];
};

struct items {
	struct item *v;
	size_t n, cap;
};

enum which { GRAPH, EXEC, CAPTURE };
struct entry {
	struct entry *next;
	enum which which;
	uint64_t handle; /* graph, exec, or the capture's first stream */
	struct items items;
	uint64_t members[32]; /* CAPTURE: streams, and events (bit 63) recorded in them */
	unsigned n_members;
};

_Atomic unsigned hrr_n_captures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;

void hrr_graph_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	entries = NULL;
	hrr_n_captures = 0;
}

static struct entry *find(enum which which, uint64_t handle)
{
	for (struct entry *e = entries; e != NULL; e = e->next)
		if (e->which == which && e->handle == handle)
			return e;
	return NULL;
}

static struct entry *make(enum which which, uint64_t handle)
{
	struct entry *e = find(which, handle);

	if (e != NULL) { /* a handle used again */
		e->items.n = 0;
		e->n_members = 0;
		return e;
	}
	e = calloc(1, sizeof *e);
	if (e != NULL) {
		e->which = which;
		e->handle = handle;
		e->next = entries;
		entries = e;
	}
	return e;
}

static void drop(struct entry *e)
{
	for (struct entry **p = &entries; e != NULL && *p != NULL; p = &(*p)->next)
		if (*p == e) {
			*p = e->next;
			free(e->items.v);
			free(e);
			return;
		}
}

static struct item *add(struct items *x)
{
	if (x->n == x->cap) {
		size_t cap = x->cap ? x->cap * 2 : 8;
		struct item *p = realloc(x->v, cap * sizeof *p);
		if (p == NULL)
			return NULL;
		x->v = p;
		x->cap = cap;
	}
	x->v[x->n] = (struct item){0};
	return &x->v[x->n++];
}

static void append(struct items *to, const struct items *from)
{
	for (size_t i = 0; i < from->n; i++) {
		struct item *x = add(to);
		if (x != NULL)
			*x = from->v[i];
	}
}

static struct entry *capture_of(uint64_t which)
{
	for (struct entry *e = entries; e != NULL; e = e->next)
		for (unsigned i = 0; e->which == CAPTURE && i < e->n_members; i++)
			if (e->members[i] == which)
				return e;
	return NULL;
}

static void join(struct entry *e, uint64_t which)
{
	for (unsigned i = 0; i < e->n_members; i++)
		if (e->members[i] == which)
			return;
	if (e->n_members < sizeof e->members / sizeof *e->members)
		e->members[e->n_members++] = which;
}

/* The thread's own stream has one handle for all threads. */
static uint64_t member(uint64_t stream)
{
	return stream == 2 ? (uintptr_t)&hrr_self : stream;
}

bool hrr_capturing(uint64_t stream)
{
	pthread_mutex_lock(&lock);
	bool yes = capture_of(member(stream)) != NULL;
	pthread_mutex_unlock(&lock);
	return yes;
}

void hrr_graph_event(uint64_t event, uint64_t stream, bool wait)
{
	uint64_t key = event | (uint64_t)1 << 63;

	pthread_mutex_lock(&lock);
	struct entry *e = capture_of(wait ? key : member(stream));
	if (e != NULL)
		join(e, wait ? member(stream) : key);
	pthread_mutex_unlock(&lock);
}

void hrr_capture_copy(struct hrr_call *c, const struct hrr_copy_op *op, enum hrr_dir dir)
{
	pthread_mutex_lock(&lock);
	struct entry *e = capture_of(member(op->stream));
	struct item *x = e != NULL ? add(&e->items) : NULL;
	if (x != NULL)
		*x = (struct item){.seq = hrr_seq(c), .copy = true, .dir = dir, .op = *op};
	pthread_mutex_unlock(&lock);
}

void hrr_capture_function(uint64_t stream)
{
	pthread_mutex_lock(&lock);
	struct entry *e = capture_of(member(stream));
	struct item *x = e != NULL ? add(&e->items) : NULL;
	if (x != NULL)
		x->function = true;
	pthread_mutex_unlock(&lock);
}

static void host_of(void *self, struct hrr_host_range *h)
{
	struct item *x = self;

	if (x->n_hosts < MAX_HOSTS)
		x->hosts[x->n_hosts++] = h->base;
}

static void kernel_item(struct hrr_call *c, const struct hrr_launch_args *l, struct item *x)
{
	struct hrr_kernel_info *k = hrr_kernel_of(c->t, l->stub);

	if (k != NULL && hrr_host_wanted())
		hrr_launch_hosts(k, l, host_of, x);
}

void hrr_capture_launch(struct hrr_call *c, const struct hrr_launch_args *l)
{
	struct item x = {.seq = hrr_seq(c)};

	kernel_item(c, l, &x);
	if (x.n_hosts == 0)
		return;
	pthread_mutex_lock(&lock);
	struct entry *e = capture_of(member(l->stream));
	struct item *to = e != NULL ? add(&e->items) : NULL;
	if (to != NULL)
		*to = x;
	pthread_mutex_unlock(&lock);
}

static uint64_t out(const struct hrr_call *c, int k)
{
	return c->a[k] != 0 ? *(const uint64_t *)(uintptr_t)c->a[k] : 0;
}

bool hrr_graph_launches(enum hrr_api api)
{
	return api == HRR_API_hipGraphLaunch || api == HRR_API_hipGraphLaunch_spt;
}

static bool is_kernel(enum hrr_api api)
{
	return api == HRR_API_hipGraphAddKernelNode || api == HRR_API_hipGraphKernelNodeSetParams ||
	       api == HRR_API_hipGraphExecKernelNodeSetParams;
}

static uint64_t launch_stream(const struct hrr_call *c)
{
	return hrr_stream_of(c->api, c->a[1]);
}

/* --- launching -------------------------------------------------------------- */

static void rows(struct hrr_snapshots **s, uint64_t addr, const struct hrr_rect *r)
{
	struct hrr_rect row = {r->width, 1, 1, r->width, r->width};

	if (r->height * r->depth == 1 || r->height * r->depth > 4096) {
		hrr_host_snapshot_plain(s, addr, r->height * r->depth == 1 ? r : &row);
		return;
	}
	for (uint64_t z = 0; z < r->depth; z++)
		for (uint64_t y = 0; y < r->height; y++)
			hrr_host_snapshot_plain(s, addr + z * r->slice + y * r->pitch, &row);
}

static void before(struct hrr_call *c, const struct item *x)
{
	for (unsigned i = 0; i < x->n_hosts; i++) {
		struct hrr_where w = hrr_where_is(x->hosts[i]);
		if (w.host == NULL)
			continue;
		hrr_host_snapshot(&c->snaps, w.host, w.base, w.size);
		hrr_host_unref(w.host);
	}
	if (!x->copy || (x->dir != HRR_DIR_H2D && x->dir != HRR_DIR_H2H))
		return;
	struct hrr_where w = hrr_where_is(x->op.src);
	if (w.host != NULL && w.size <= hrr_proc->hub->host_limit)
		hrr_host_snapshot(&c->snaps, w.host, x->op.src, x->op.srect.width);
	else
		rows(&c->snaps, x->op.src, &x->op.srect);
	if (w.host != NULL)
		hrr_host_unref(w.host);
}

static void after(struct hrr_call *c, const struct item *x)
{
	if (x->function)
		hrr_pending_function(launch_stream(c));
	for (unsigned i = 0; i < x->n_hosts; i++) {
		struct hrr_where w = hrr_where_is(x->hosts[i]);
		struct hrr_rect r = {w.size, 1, 1, w.size, w.size};
		if (w.host == NULL)
			continue;
		hrr_pending_add(hrr_seq(c), x->seq, w.base, &r, w.host, true, launch_stream(c));
		hrr_host_unref(w.host);
	}
	if (!x->copy || (x->dir != HRR_DIR_D2H && x->dir != HRR_DIR_H2H))
		return;
	struct hrr_where w = hrr_where_is(x->op.dst);
	hrr_pending_att(c, x->seq, x->op.dst, hrr_rect_bytes(&x->op.drect));
	hrr_pending_add(hrr_seq(c), x->seq, x->op.dst, &x->op.drect, w.host, false,
			launch_stream(c));
	if (w.host != NULL)
		hrr_host_unref(w.host);
}

/* The executable's items as they are now; the caller frees. */
static struct items items_of(uint64_t exec)
{
	struct items x = {0};

	pthread_mutex_lock(&lock);
	struct entry *e = find(EXEC, exec);
	if (e != NULL)
		append(&x, &e->items);
	pthread_mutex_unlock(&lock);
	return x;
}

void hrr_graph_enter(struct hrr_call *c)
{
	struct hrr_launch_args l;

	if (is_kernel(c->api) && hrr_launch_describe(c->api, c->a, &l))
		hrr_kernel_of(c->t, l.stub); /* its records must be out before */
	if (!hrr_graph_launches(c->api) || (hrr_proc->hub->options & HRR_OPT_HOST_OFF) != 0 ||
	    (hrr_n_captures != 0 && hrr_capturing(launch_stream(c))))
		return;
	struct items x = items_of(c->a[0]);
	for (size_t i = 0; i < x.n; i++)
		before(c, &x.v[i]);
	free(x.v);
}

static void launched(struct hrr_call *c)
{
	if (c->snaps != NULL)
		hrr_snapshots_att(c->t, c->snaps);
	struct items x = items_of(c->a[0]);
	if (hrr_n_captures != 0 &&
	    hrr_capturing(launch_stream(c))) { /* a child graph of what is captured */
		pthread_mutex_lock(&lock);
		struct entry *e = capture_of(member(launch_stream(c)));
		if (e != NULL)
			append(&e->items, &x);
		pthread_mutex_unlock(&lock);
		c->flags |= HRR_F_CAPTURED;
	} else {
		if (hrr_n_pending != 0)
			hrr_pending_work(launch_stream(c));
		for (size_t i = 0; i < x.n; i++)
			after(c, &x.v[i]);
	}
	free(x.v);
}

/* --- building ---------------------------------------------------------------- */

/* Parameters of a node set or changed: in a graph (new or old node) or an executable. */
static void node_set(struct hrr_call *c, enum which which, uint64_t owner, uint64_t node,
		     bool fresh)
{
	struct item x = {.node = node, .seq = hrr_seq(c)};
	struct hrr_launch_args l;

	if (c->api == HRR_API_hipGraphAddHostNode) {
		x.function = true;
	} else if (is_kernel(c->api)) {
		if (!hrr_launch_describe(c->api, c->a, &l))
			return;
		kernel_item(c, &l, &x);
	} else {
		if (!hrr_copy_describe(c->api, c->a, &x.op) || x.op.unknown)
			return;
		x.copy = true;
		x.dir = hrr_copy_dir(&x.op);
	}
	pthread_mutex_lock(&lock);
	if (fresh && find(which, owner) == NULL)
		make(which, owner); /* the graph of an open capture */
	for (struct entry *e = entries; e != NULL; e = e->next) {
		if (e->which != which || (owner != 0 && e->handle != owner))
			continue;
		struct item *to = NULL;
		for (size_t i = 0; !fresh && i < e->items.n; i++)
			if (e->items.v[i].node == node)
				to = &e->items.v[i];
		if (to == NULL && (owner != 0 || fresh))
			to = add(&e->items);
		if (to != NULL)
			*to = x;
	}
	pthread_mutex_unlock(&lock);
}

static void copy_items(enum which to, uint64_t new, enum which from, uint64_t old, bool keep)
{
	struct entry *src = find(from, old);
	struct items x = {0};

	if (src != NULL)
		append(&x, &src->items);
	struct entry *dst = keep ? find(to, new) : make(to, new);
	if (dst == NULL && keep)
		dst = make(to, new);
	if (dst != NULL)
		append(&dst->items, &x);
	free(x.v);
}

static void structure(struct hrr_call *c)
{
	struct entry *e;
	uint64_t stream =
	    member(hrr_stream_of(c->api, c->a[0])); /* where the first parameter is one */

	switch (c->api) {
	case HRR_API_hipStreamBeginCapture:
	case HRR_API_hipStreamBeginCapture_spt:
	case HRR_API_hipStreamBeginCaptureToGraph:
		e = make(CAPTURE, stream);
		if (e != NULL) {
			join(e, stream);
			atomic_fetch_add(&hrr_n_captures, 1);
		}
		break;
	case HRR_API_hipStreamEndCapture:
	case HRR_API_hipStreamEndCapture_spt:
		e = find(CAPTURE, stream);
		if (e == NULL)
			break;
		if (hrr_ok(c) && out(c, 1) != 0)
			copy_items(GRAPH, out(c, 1), CAPTURE, stream, true);
		drop(e);
		atomic_fetch_sub(&hrr_n_captures, 1);
		break;
	case HRR_API_hipGraphCreate:
		make(GRAPH, out(c, 0));
		break;
	case HRR_API_hipGraphClone:
		copy_items(GRAPH, out(c, 0), GRAPH, c->a[1], false);
		break;
	case HRR_API_hipGraphAddChildGraphNode:
		copy_items(GRAPH, c->a[1], GRAPH, c->a[4], true);
		break;
	case HRR_API_hipGraphInstantiate:
	case HRR_API_hipGraphInstantiateWithFlags:
	case HRR_API_hipGraphInstantiateWithParams:
		copy_items(EXEC, out(c, 0), GRAPH, c->a[1], false);
		break;
	case HRR_API_hipGraphExecUpdate:
		copy_items(EXEC, c->a[0], GRAPH, c->a[1], false);
		break;
	case HRR_API_hipGraphDestroy:
		drop(find(GRAPH, c->a[0]));
		break;
	case HRR_API_hipGraphExecDestroy:
		drop(find(EXEC, c->a[0]));
		break;
	case HRR_API_hipGraphDestroyNode:
		for (e = entries; e != NULL; e = e->next)
			for (size_t i = 0; e->which == GRAPH && i < e->items.n; i++)
				if (e->items.v[i].node == c->a[0])
					e->items.v[i--] = e->items.v[--e->items.n];
		break;
	case HRR_API_hipGraphNodeFindInClone: { /* the clone's node has a handle of its own */
		e = find(GRAPH, c->a[2]);
		for (size_t i = 0; e != NULL && i < e->items.n; i++)
			if (e->items.v[i].node == c->a[1])
				e->items.v[i].node = out(c, 0);
		break;
	}
	default:
		break;
	}
}

void hrr_graph_att(struct hrr_call *c)
{
	struct hrr_copy_op op;
	struct hrr_launch_args l;

	if (is_kernel(c->api) && hrr_launch_describe(c->api, c->a, &l))
		hrr_kernel_att(c, &l, 0);
	else if (!hrr_graph_launches(c->api) && hrr_copy_describe(c->api, c->a, &op) && !op.unknown)
		c->dir = (uint8_t)hrr_copy_dir(&op);
	if (!hrr_ok(c) && c->api != HRR_API_hipStreamEndCapture &&
	    c->api != HRR_API_hipStreamEndCapture_spt)
		return;
	switch (c->api) {
	case HRR_API_hipGraphAddMemAllocNode: { /* its address is good for other nodes from here on
						 */
		const struct hipMemAllocNodeParams *p = (const void *)(uintptr_t)c->a[4];
		hrr_variable_known(c, (uintptr_t)p->dptr, p->bytesize);
		return;
	}
	case HRR_API_hipGraphLaunch:
	case HRR_API_hipGraphLaunch_spt:
		launched(c);
		return;
	case HRR_API_hipGraphAddMemcpyNode:
	case HRR_API_hipGraphAddMemcpyNode1D:
	case HRR_API_hipGraphAddMemcpyNodeFromSymbol:
	case HRR_API_hipGraphAddMemcpyNodeToSymbol:
	case HRR_API_hipGraphAddKernelNode:
	case HRR_API_hipGraphAddHostNode:
		node_set(c, GRAPH, c->a[1], out(c, 0), true);
		return;
	case HRR_API_hipGraphMemcpyNodeSetParams:
	case HRR_API_hipGraphMemcpyNodeSetParams1D:
	case HRR_API_hipGraphMemcpyNodeSetParamsFromSymbol:
	case HRR_API_hipGraphMemcpyNodeSetParamsToSymbol:
	case HRR_API_hipGraphKernelNodeSetParams:
		node_set(c, GRAPH, 0, c->a[0], false);
		return;
	case HRR_API_hipGraphExecMemcpyNodeSetParams:
	case HRR_API_hipGraphExecMemcpyNodeSetParams1D:
	case HRR_API_hipGraphExecMemcpyNodeSetParamsFromSymbol:
	case HRR_API_hipGraphExecMemcpyNodeSetParamsToSymbol:
	case HRR_API_hipGraphExecKernelNodeSetParams:
		node_set(c, EXEC, c->a[0], c->a[1], false);
		return;
	default:
		break;
	}
	pthread_mutex_lock(&lock);
	structure(c);
	pthread_mutex_unlock(&lock);
}
