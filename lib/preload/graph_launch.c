#include "lib/preload/graph_priv.h"

#include <stdlib.h>

bool hrr_graph_launches(enum hrr_api api)
{
	return api == HRR_API_hipGraphLaunch || api == HRR_API_hipGraphLaunch_spt;
}

static uint64_t launch_stream(const struct hrr_call *c)
{
	return hrr_stream_of(c->api, c->a[1]);
}

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

static void before(struct hrr_call *c, const struct hrr_graph_item *x)
{
	for (unsigned i = 0; i < x->n_hosts; i++) {
		struct hrr_where w = hrr_where_is(x->hosts[i]);
		if (w.host == NULL)
			continue;
		hrr_host_snapshot(&c->snaps, w.host, w.base, w.size);
		hrr_host_unref(w.host);
	}
	if (!x->copy)
		return;
	struct hrr_where w = hrr_where_is(x->op.src);
	if (w.host != NULL && w.size <= hrr_proc->hub->host_limit)
		hrr_host_snapshot(&c->snaps, w.host, x->op.src, hrr_rect_span(&x->op.srect));
	else if (x->dir == HRR_DIR_H2D || x->dir == HRR_DIR_H2H)
		rows(&c->snaps, x->op.src, &x->op.srect);
	if (w.host != NULL)
		hrr_host_unref(w.host);
}

static void after(struct hrr_call *c, const struct hrr_graph_item *x)
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
static struct hrr_graph_items items_of(uint64_t exec)
{
	struct hrr_graph_items x = {0};

	pthread_mutex_lock(&hrr_graph_lock);
	struct hrr_graph_entry *e = hrr_graph_find(HRR_IS_EXEC, exec);
	if (e != NULL)
		hrr_graph_append(&x, &e->items);
	pthread_mutex_unlock(&hrr_graph_lock);
	return x;
}

void hrr_graph_enter(struct hrr_call *c)
{
	struct hrr_launch_args l;

	if (hrr_graph_is_kernel(c->api) && hrr_launch_describe(c->api, c->a, &l))
		hrr_kernel_of(c->t, l.stub); /* its records must be out before */
	if (!hrr_graph_launches(c->api) || (hrr_proc->hub->options & HRR_OPT_HOST_OFF) != 0 ||
	    (hrr_n_captures != 0 && hrr_capturing(launch_stream(c))))
		return;
	struct hrr_graph_items x = items_of(c->a[0]);
	for (size_t i = 0; i < x.n; i++)
		before(c, &x.v[i]);
	free(x.v);
}

void hrr_graph_launched(struct hrr_call *c)
{
	if (c->snaps != NULL)
		hrr_snapshots_att(c->t, c->snaps);
	struct hrr_graph_items x = items_of(c->a[0]);
	if (hrr_n_captures != 0 &&
	    hrr_capturing(launch_stream(c))) { /* a child graph of what is captured */
		pthread_mutex_lock(&hrr_graph_lock);
		struct hrr_graph_entry *e =
		    hrr_graph_capture_of(hrr_graph_member(launch_stream(c)));
		if (e != NULL)
			hrr_graph_append(&e->items, &x);
		pthread_mutex_unlock(&hrr_graph_lock);
		c->flags |= HRR_F_CAPTURED;
	} else {
		if (hrr_n_pending != 0)
			hrr_pending_work(launch_stream(c));
		for (size_t i = 0; i < x.n; i++)
			after(c, &x.v[i]);
	}
	free(x.v);
}
