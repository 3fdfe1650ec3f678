#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/replay/engine.h"

/* Kernel launches: arguments are rebuilt byte by byte, addresses in them translated. */

#define LLU(x) ((unsigned long long)(x))

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
		rc = hrr_kernarg_read(r, j, k.args, l);
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

void hrr_kernels_queued(struct hrr_replay *r, const struct hrr_writer *w, uint64_t key)
{
	r->anywhere.writer = *w;
	hrr_note_pending(r, &r->anywhere, 0, UINT64_MAX, w->seq, key, false);
}

void hrr_launch_wrote(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_launch *l,
		      uint64_t key)
{
	hrr_kernels_queued(r, &(struct hrr_writer){ev->seq, l->fn}, key);
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
		rc = hrr_host_bytes(r, ev, &l);
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
