#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/replay/engine.h"

/* Kernel launches: arguments are rebuilt byte by byte, addresses in them translated. */

#define LLU(x) ((unsigned long long)(x))
#define MAX_ARGS 4096

/* The members of "kernel", found in one walk. */
struct kernel_nodes {
	int name, object, grid, block, lds, args;
};

static void kernel_nodes(const struct hrr_json *j, int at, struct kernel_nodes *k)
{
	*k = (struct kernel_nodes){-1, -1, -1, -1, -1, -1};
	for (uint32_t n = (uint32_t)at + 1; n < j->nodes[at].next; n = j->nodes[n + 1].next) {
		const char *s = j->text + j->nodes[n].off;
		int v = (int)n + 1;
		switch (j->nodes[n].len) {
		case 3:
			if (memcmp(s, "lds", 3) == 0)
				k->lds = v;
			break;
		case 4:
			if (memcmp(s, "name", 4) == 0)
				k->name = v;
			else if (memcmp(s, "grid", 4) == 0)
				k->grid = v;
			else if (memcmp(s, "args", 4) == 0)
				k->args = v;
			break;
		case 5:
			if (memcmp(s, "block", 5) == 0)
				k->block = v;
			break;
		case 6:
			if (memcmp(s, "object", 6) == 0)
				k->object = v;
			break;
		default:
			break;
		}
	}
}

static int read_dims(struct hrr_replay *r, const struct hrr_json *j, int node, const char *what,
		     uint32_t d[3])
{
	int n = 0;
	uint64_t v;

	if (node < 0 || j->nodes[node].type != HRR_JSON_ARRAY)
		return hrr_fail(r, "\"kernel\": %s is missing", what);
	for (uint32_t k = (uint32_t)node + 1; k < j->nodes[node].next; k = j->nodes[k].next) {
		if (n == 3 || hrr_json_u64(j, (int)k, &v) < 0 || v > UINT32_MAX)
			return hrr_fail(r, "\"kernel\": %s is no [x,y,z]", what);
		d[n++] = (uint32_t)v;
	}
	return n == 3 ? 0 : hrr_fail(r, "\"kernel\": %s is no [x,y,z]", what);
}

struct arg {
	uint64_t offset, size;
	int hex, ptr;
};

static int read_arg(struct hrr_replay *r, const struct hrr_json *j, uint32_t at, struct arg *a)
{
	int off = -1, size = -1;

	a->hex = a->ptr = -1;
	if (j->nodes[at].type != HRR_JSON_OBJECT)
		return hrr_fail(r, "\"kernel\": an argument is no object");
	for (uint32_t n = at + 1; n < j->nodes[at].next; n = j->nodes[n + 1].next) {
		const char *s = j->text + j->nodes[n].off;
		size_t len = j->nodes[n].len;
		if (len == 6 && memcmp(s, "offset", 6) == 0)
			off = (int)n + 1;
		else if (len == 4 && memcmp(s, "size", 4) == 0)
			size = (int)n + 1;
		else if (len == 3 && memcmp(s, "hex", 3) == 0)
			a->hex = (int)n + 1;
		else if (len == 3 && memcmp(s, "ptr", 3) == 0)
			a->ptr = (int)n + 1;
	}
	if (off < 0 || size < 0 || hrr_json_u64(j, off, &a->offset) < 0 ||
	    hrr_json_u64(j, size, &a->size) < 0)
		return hrr_fail(r, "\"kernel\": an argument needs offset and size");
	if (a->offset > HRR_MAX_KERNARG || a->size > HRR_MAX_KERNARG - a->offset)
		return hrr_fail(
		    r, "\"kernel\": argument at offset %llu with %llu bytes: more than %zu",
		    LLU(a->offset), LLU(a->size), HRR_MAX_KERNARG);
	return 0;
}

static int arg_bytes(struct hrr_replay *r, const struct hrr_json *j, const struct arg *a,
		     unsigned char *to)
{
	size_t len = 0;
	const char *s = a->hex >= 0 ? hrr_json_raw(j, a->hex, &len) : NULL;

	if (s == NULL || len != a->size * 2)
		return hrr_fail(r, "argument at offset %llu: %llu bytes, but %zu hex digits",
				LLU(a->offset), LLU(a->size), len);
	return hrr_hex(s, len, to)
		   ? 0
		   : hrr_fail(r, "argument at offset %llu: no hex digits", LLU(a->offset));
}

int hrr_launch_uses(struct hrr_replay *r, struct hrr_launch *l, struct hrr_mem *m)
{
	if (m == NULL)
		return 0;
	for (size_t i = 0; i < l->n_mems; i++)
		if (l->mems[i] == m)
			return 0;
	if (l->n_mems == l->cap_mems) {
		size_t cap = l->cap_mems == 0 ? 16 : l->cap_mems * 2;
		struct hrr_mem **v = hrr_scratch(r, cap * sizeof(struct hrr_mem *));
		if (v == NULL)
			return hrr_trouble(r, -ENOMEM, "out of memory");
		for (size_t i = 0; i < l->n_mems; i++)
			v[i] = l->mems[i];
		l->mems = v;
		l->cap_mems = cap;
	}
	l->mems[l->n_mems++] = m;
	return 0;
}

static int arg_pointer(struct hrr_replay *r, const struct arg *a, unsigned index, uint64_t at,
		       unsigned char *bytes, struct hrr_launch *l)
{
	struct hrr_where w = {0};
	char what[96];
	uint64_t addr;

	if (at > a->size || a->size - at < 8)
		return hrr_fail(r, "argument %u: an address at byte %llu of %llu", index, LLU(at),
				LLU(a->size));
	memcpy(&addr, bytes + at, 8);
	if (addr == 0)
		return 0;
	/* The usual way, without text. */
	if (r->blocked.n != 0 || !hrr_where_is(r, addr, &w)) {
		if (at == 0 && a->size == 8)
			snprintf(what, sizeof what, "argument %u (offset %llu)", index,
				 LLU(a->offset));
		else
			snprintf(what, sizeof what, "argument %u (offset %llu, byte %llu)", index,
				 LLU(a->offset), LLU(at));
		struct hrr_operand op = {what, addr, 0, -1};
		int rc = hrr_translate(r, &op, HRR_END_DEVICE, &w);
		if (rc == -ENXIO && (hrr_ranges_find(r->map, addr - 1) != NULL ||
				     hrr_timeline_segment(r->timeline, addr - 1) != NULL))
			return 0; /* one past the end: is not translated, and is not an error */
		if (rc == -ENXIO && hrr_memcheck_dead(r, addr)) {
			r->diag.what[0] = '\0';
			return 0; /* the access itself says more than the argument */
		}
		if (rc < 0)
			return rc;
	}
	memcpy(bytes + at, &w.live, 8);
	return hrr_launch_uses(r, l, w.mem);
}

/*
 * The one place where what the record holds meets what the kernel takes: each argument of its
 * layout has to lie in one of the record's, all n of them as a is. l->params becomes as the layout
 * says. Nothing is made up for what is missing: the kernel would run on it.
 */
static int hold_args(struct hrr_replay *r, const struct arg *a, size_t n, struct hrr_launch *l)
{
	const struct hrr_layout *k = &l->fn->layout;
	size_t at = 0;

	if (k->args == NULL)
		return hrr_refuse(r, "what arguments it takes is not known: %s", k->why);
	for (uint32_t i = 0; i < k->n; i++) {
		uint64_t from = k->args[i].offset, end = from + k->args[i].size;
		size_t tries = 0;
		/* Both are in order as a rule: the next is where the last one was, or behind it. */
		while (tries < n && (a[at].offset > from || a[at].offset + a[at].size < end)) {
			at = at + 1 < n ? at + 1 : 0;
			tries++;
		}
		if (tries == n)
			return hrr_refuse(r,
					  "it takes %u arguments, and number %u (offset %llu, %u "
					  "bytes) is not in the record, which holds %zu",
					  k->n, i, LLU(from), k->args[i].size, n);
		l->params[i] = l->buf + from;
	}
	return 0;
}

static int read_args(struct hrr_replay *r, const struct hrr_json *j, int node, struct hrr_launch *l)
{
	const struct hrr_layout *layout = &l->fn->layout;
	struct arg a, *all;
	size_t n = 0, size = 0;
	int rc = 0;

	if (node < 0 || j->nodes[node].type != HRR_JSON_ARRAY)
		return hrr_fail(r, "\"kernel\": args is missing");
	for (uint32_t k = (uint32_t)node + 1; k < j->nodes[node].next; k = j->nodes[k].next, n++) {
		rc = read_arg(r, j, k, &a);
		if (rc < 0)
			return rc;
		if (a.offset + a.size > size)
			size = a.offset + a.size;
	}
	if (n > MAX_ARGS)
		return hrr_fail(r, "\"kernel\": %zu arguments, more than %d", n, MAX_ARGS);
	/* Whatever order a run time has them in, none reaches out of it. */
	l->buf = hrr_scratch(r, size + 8 + layout->most);
	l->params = hrr_scratch(r, (layout->n + 1u) * sizeof *l->params);
	all = hrr_scratch(r, (n + 1) * sizeof *all);
	if (l->buf == NULL || l->params == NULL || all == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	l->size = size;
	n = 0;
	for (uint32_t k = (uint32_t)node + 1; k < j->nodes[node].next; k = j->nodes[k].next, n++) {
		rc = read_arg(r, j, k, &a);
		if (rc == 0)
			rc = arg_bytes(r, j, &a, l->buf + a.offset);
		if (rc < 0)
			return rc;
		all[n] = a;
		if (a.ptr < 0)
			continue;
		for (uint32_t p = (uint32_t)a.ptr + 1; p < j->nodes[a.ptr].next;
		     p = j->nodes[p].next) {
			uint64_t at;
			if (hrr_json_u64(j, (int)p, &at) < 0)
				return hrr_fail(r, "\"kernel\": ptr holds no byte offsets");
			rc = arg_pointer(r, &a, (unsigned)n, at, l->buf + a.offset, l);
			if (rc < 0)
				return rc;
		}
	}
	return hold_args(r, all, n, l);
}

/* What went wrong, with the kernel in front. */
static int in_kernel(struct hrr_replay *r, const struct hrr_function *fn, int rc)
{
	char why[sizeof r->diag.what];

	memcpy(why, r->diag.what, sizeof why);
	return hrr_diag_set(&r->diag, rc, "kernel %s: %.*s", fn->name, (int)sizeof why - 1, why);
}

int hrr_kernel_read(struct hrr_replay *r, struct hrr_event *ev, int kernel, uint64_t function,
		    struct hrr_launch *l)
{
	const struct hrr_json *j = ev->j;
	struct kernel_nodes k;
	size_t len = 0;
	uint64_t lds = 0;
	int rc;

	*l = (struct hrr_launch){0};
	if (kernel < 0 || j->nodes[kernel].type != HRR_JSON_OBJECT)
		return hrr_fail(r, "its kernel was not recorded");
	kernel_nodes(j, kernel, &k);
	const char *name = k.name >= 0 ? hrr_json_raw(j, k.name, &len) : NULL;
	if (name == NULL)
		return hrr_fail(r, "\"kernel\": name is missing");
	struct hrr_held *h =
	    function != 0 ? hrr_held_find(&r->held[HRR_H_FUNCTION], function) : NULL;
	if (h != NULL && (r->opt.n_replace == 0 || !hrr_replaced(r, name, len))) {
		l->fn = h->info;
		l->live_fn = h->live;
	} else {
		rc = hrr_module_function(r, name, len, k.object, j, &l->fn, &l->live_fn);
		if (rc < 0)
			return rc;
	}
	rc = read_dims(r, j, k.grid, "grid", l->grid);
	if (rc == 0)
		rc = read_dims(r, j, k.block, "block", l->block);
	if (rc == 0 && k.lds >= 0 && (hrr_json_u64(j, k.lds, &lds) < 0 || lds > UINT32_MAX))
		rc = hrr_fail(r, "\"kernel\": lds is no size");
	l->lds = (uint32_t)lds;
	if (rc == 0)
		rc = read_args(r, j, k.args, l);
	return rc < 0 && !r->trouble ? in_kernel(r, l->fn, rc) : rc;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void note_time(struct hrr_function *fn, uint64_t ns)
{
	if (fn->total == 0 || ns < fn->min)
		fn->min = ns;
	if (ns > fn->max)
		fn->max = ns;
	fn->total += ns;
}

static int event_arg(struct hrr_replay *r, struct hrr_event *ev, const char *name, uint64_t *ret)
{
	return hrr_handle(r, ev, HRR_H_EVENT, hrr_arg_of(ev, name), ret);
}

static const struct hipLaunchConfig_t *config_of(const struct hrr_event *ev)
{
	int i = hrr_api_param(ev->api, "config", 6);

	/* Both kinds have stream and attributes at the same places. */
	return i >= 0 ? (const void *)(uintptr_t)ev->w[i] : NULL;
}

/* Attributes that change what is launched, not only how fast it goes. */
static int attributes(struct hrr_replay *r, const struct hrr_event *ev, bool *ret_cooperative)
{
	const struct hipLaunchConfig_t *c = config_of(ev);
	uint32_t v[3];

	*ret_cooperative = false;
	if (c == NULL || c->attrs == NULL)
		return 0;
	for (unsigned i = 0; i < c->numAttrs; i++) {
		memcpy(v, c->attrs[i].val, sizeof v);
		if (c->attrs[i].id == hipLaunchAttributeCooperative)
			*ret_cooperative = v[0] != 0;
		else if (c->attrs[i].id == hipLaunchAttributeClusterDimension &&
			 (v[0] > 1 || v[1] > 1 || v[2] > 1))
			return hrr_refuse(r, "launches in clusters are not replayed");
	}
	return 0;
}

/* A foreign stream's launch attributes hold the cooperative one (2), switched on. */
static bool cooperative_attr(const struct hrr_event *ev)
{
	const struct hrr_json *j = ev->j;
	int f = hrr_json_get(j, 0, "foreign"), a = -1;
	uint64_t n, stride;
	size_t len = 0;

	if (f >= 0 && j->nodes[f].type == HRR_JSON_OBJECT)
		a = hrr_json_get(j, f, "attrs");
	if (a < 0 || j->nodes[a].type != HRR_JSON_OBJECT ||
	    hrr_json_u64(j, hrr_json_get(j, a, "n"), &n) < 0 ||
	    hrr_json_u64(j, hrr_json_get(j, a, "stride"), &stride) < 0)
		return false;
	int hex = hrr_json_get(j, a, "hex");
	const char *s = hex >= 0 ? hrr_json_raw(j, hex, &len) : NULL;
	/* id u32 @0, value @8; stride is of the recorded run time */
	for (uint64_t i = 0;
	     s != NULL && stride >= 12 && stride < 4096 && i < n && (i + 1) * stride * 2 <= len;
	     i++, s += stride * 2)
		if (memcmp(s, "02000000", 8) == 0 && memcmp(s + 16, "00000000", 8) != 0)
			return true;
	return false;
}

/* ret: what the run time answered. */
static int issue(struct hrr_replay *r, struct hrr_event *ev, struct hrr_launch *l, uint64_t stream,
		 uint64_t start, uint64_t stop, bool cooperative, int64_t *ret)
{
	void *extra[] = {(void *)1, l->buf, (void *)2, &l->size, (void *)3};
	bool ext = ev->api == HRR_API_hipExtModuleLaunchKernel ||
		   ev->api == HRR_API_hipHccModuleLaunchKernel;
	bool coop = cooperative || ev->api == HRR_API_hipLaunchCooperativeKernel ||
		    ev->api == HRR_API_hipLaunchCooperativeKernel_spt ||
		    ev->api == HRR_API_hipModuleLaunchCooperativeKernel || cooperative_attr(ev);
	uint64_t g[3] = {l->grid[0], l->grid[1], l->grid[2]};
	uint64_t with = l->size != 0 ? HRR_P(extra) : 0; /* a kernel may have no arguments */

	if (coop && r->hip->fn[HRR_API_hipModuleLaunchCooperativeKernel] != NULL) {
		*ret = HRR_CALL(r, hipModuleLaunchCooperativeKernel, l->live_fn, g[0], g[1], g[2],
				l->block[0], l->block[1], l->block[2], l->lds, stream,
				HRR_P(l->params));
		return 0;
	}
	if (!ext && start == 0 && stop == 0) {
		*ret = HRR_CALL(r, hipModuleLaunchKernel, l->live_fn, g[0], g[1], g[2], l->block[0],
				l->block[1], l->block[2], l->lds, stream, 0, HRR_P(extra));
		return 0;
	}
	for (int i = 0; !ext && i < 3; i++) {
		if (g[i] * l->block[i] > UINT32_MAX)
			return hrr_refuse(r,
					  "a grid of %llu blocks of %u work-items: with events it "
					  "is counted in 32 bits",
					  LLU(g[i]), l->block[i]);
		g[i] *= l->block[i];
	}
	*ret = HRR_CALL(r, hipExtModuleLaunchKernel, l->live_fn, (uint32_t)g[0], (uint32_t)g[1],
			(uint32_t)g[2], l->block[0], l->block[1], l->block[2], l->lds, stream, 0,
			with, start, stop, hrr_arg_of(ev, "flags"));
	return 0;
}

void hrr_launch_wrote(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_launch *l,
		      uint64_t key)
{
	for (size_t i = 0; i < l->n_mems; i++) {
		struct hrr_mem *m = l->mems[i];
		m->writer = (struct hrr_writer){ev->seq, l->fn};
		hrr_note_pending(r, m, m->base, m->size, ev->seq, key, false);
	}
}

static int captured(struct hrr_replay *r, struct hrr_graph *g, const struct hrr_launch *l)
{
	int rc = hrr_graph_fn(r, g, l->fn);

	for (size_t i = 0; rc == 0 && i < l->n_mems; i++)
		rc = hrr_graph_use(r, g, l->mems[i]);
	return rc;
}

int hrr_do_launch(struct hrr_replay *r, struct hrr_event *ev)
{
	int s = hrr_api_param(ev->api, "stream", 6);
	bool spt = strstr(ev->row->name, "_spt") != NULL;
	uint64_t stream, start = 0, stop = 0, t0 = 0;
	struct hrr_launch l;
	char buf[32];

	if (s < 0)
		s = hrr_api_param(ev->api, "hStream", 7);
	uint64_t recorded = s >= 0 ? ev->w[s] : 0;
	if (config_of(ev) != NULL)
		recorded = HRR_P(config_of(ev)->stream);
	bool cooperative = false;
	uint64_t key = hrr_stream_key(ev, recorded, spt);
	int rc = hrr_stream(r, ev, recorded, spt, &stream);
	if (rc == 0)
		rc = attributes(r, ev, &cooperative);
	if (rc == 0)
		rc = event_arg(r, ev, "startEvent", &start);
	if (rc == 0)
		rc = event_arg(r, ev, "stopEvent", &stop);
	if (rc == 0)
		rc = hrr_kernel_read(r, ev, ev->rec->kernel, hrr_arg_of(ev, "f"), &l);
	if (rc == 0)
		rc = hrr_host_bytes(r, ev);
	if (rc < 0)
		return rc;
	struct hrr_graph *g = hrr_capture_of(r, key);
	bool wait = g == NULL && r->captures == 0 &&
		    (r->opt.sync_after_launch || r->opt.timing || r->opt.hashes != NULL);
	if (g == NULL)
		hrr_order_fills(r, stream);
	if (wait && r->opt.timing) {
		rc = hrr_wait_launch(r, stream);
		t0 = now_ns();
	}
	if (rc < 0)
		return rc;
	int64_t e = 0;
	rc = issue(r, ev, &l, stream, start, stop, cooperative, &e);
	if (rc < 0)
		return rc;
	r->v.launches++;
	l.fn->launches++;
	rc = hrr_settle(r, ev, e);
	if (e != hipSuccess) {
		if (rc < 0)
			return in_kernel(r, l.fn, rc);
		return rc;
	}
	if (g != NULL)
		return captured(r, g, &l);
	hrr_launch_wrote(r, ev, &l, key);
	if (!wait)
		return 0;
	rc = hrr_wait_launch(r, stream);
	if (rc == -EPROTO)
		return hrr_fail(r, "kernel %s (call %llu) ended with %s", l.fn->name, LLU(ev->seq),
				hrr_error_text(r->device_error, buf));
	if (rc == 0 && r->opt.timing)
		note_time(l.fn, now_ns() - t0);
	if (rc == 0 && r->opt.hashes != NULL)
		rc = hrr_hash_launch(r, ev, &l);
	return rc;
}
