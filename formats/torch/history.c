#include "formats/torch/history.h"

#include <errno.h>
#include <stdlib.h>

/*
 * A history is a ring: its beginning may be lost. What was live before it began
 * follows from the first thing it says about an address (a free: something was
 * there; an alloc: nothing was) and, where it says nothing, from the snapshot.
 *
 * A block is live from alloc to free_requested, when the program gave it up. The
 * free_completed that follows (at once, or when other streams have passed) ends
 * nothing more; alone (the request was lost, or not recorded) it ends the block.
 *
 *     (state of an address)  alloc     free_requested   free_completed
 *     UNKNOWN                LIVE      GIVEN, was live  GONE, was live
 *     LIVE                   LIVE !    GIVEN            GONE
 *     GIVEN                  LIVE      GIVEN !          GONE, ends nothing
 *     GONE                   LIVE      GONE !           GONE !            (!: unmatched)
 */
enum state { UNKNOWN, LIVE, GIVEN, GONE };

struct key {
	uint64_t base;
	uint32_t device, index;
};

static int by_place(const struct key *x, const struct key *y)
{
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->base < y->base ? -1 : x->base > y->base;
}

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int place = by_place(x, y);

	return place != 0 ? place : x->index < y->index ? -1 : x->index > y->index;
}

static bool is_segment(unsigned action)
{
	return action == HRR_TORCH_SEGMENT_ALLOC || action == HRR_TORCH_SEGMENT_FREE;
}

static bool is_block(unsigned action)
{
	return action <= HRR_TORCH_FREE_COMPLETED;
}

struct history {
	struct hrr_torch_snapshot *s;
	const struct hrr_torch_sink *sink;
	struct hrr_torch_stats *stats;
	bool segments;		   /* this pass is about segments, not blocks */
	struct hrr_buf what, when; /* keys of pieces, keys of events; sorted */
};

static int put_before(struct history *h, int device, uint64_t base, uint64_t size, int frames)
{
	struct hrr_region r = {.add = true,
			       .segment = h->segments,
			       .kind_known = true,
			       .device = device,
			       .base = base,
			       .size = size};

	return h->sink->put(h->sink->self, &r, HRR_NO_TIME, size, frames);
}

/* n events of one address; there: the snapshot has something at it (a piece, or NULL). */
static int one_address(struct history *h, const struct key *k, size_t n,
		       const struct hrr_torch_piece *there)
{
	struct hrr_torch_event *events = hrr_torch_events(h->s), *first = NULL;
	enum state state = UNKNOWN;

	if (n == 0)
		return put_before(h, there->device, there->base, there->size, there->frames);
	for (size_t i = 0; i < n; i++) {
		struct hrr_torch_event *e = &events[k[i].index];
		switch (e->action) {
		case HRR_TORCH_ALLOC:
		case HRR_TORCH_SEGMENT_ALLOC:
			h->stats->unmatched += state == LIVE;
			state = LIVE;
			break;
		default:
			if (state == UNKNOWN)
				first = e;
			e->ends = state == UNKNOWN || state == LIVE;
			if (e->action == HRR_TORCH_FREE_REQUESTED) {
				h->stats->unmatched += !e->ends;
				state = state == GONE ? GONE : GIVEN;
			} else {
				h->stats->unmatched += state == GONE;
				state = GONE;
			}
		}
	}
	bool live = there != NULL && there->state == HRR_TORCH_ACTIVE;
	if (state == LIVE ? !live : live)
		h->stats->differ++;
	return first == NULL
		   ? 0
		   : put_before(h, first->device, first->base, first->size, first->frames);
}

static int collect(struct history *h)
{
	const struct hrr_torch_piece *x =
	    h->segments ? hrr_torch_segments(h->s) : hrr_torch_blocks(h->s);
	size_t n = h->segments ? h->s->n_segments : h->s->n_blocks;
	const struct hrr_torch_event *e = hrr_torch_events(h->s);
	struct key k;

	h->what.len = h->when.len = 0;
	for (size_t i = 0; i < n; i++) {
		if (h->segments && x[i].expandable)
			continue;
		k = (struct key){x[i].base, (uint32_t)x[i].device, (uint32_t)i};
		if (hrr_buf_add(&h->what, &k, sizeof k) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < h->s->n_events; i++) {
		if (!(h->segments ? is_segment(e[i].action) : is_block(e[i].action)))
			continue;
		k = (struct key){e[i].base, e[i].device, (uint32_t)i};
		if (hrr_buf_add(&h->when, &k, sizeof k) < 0)
			return -ENOMEM;
	}
	if (h->what.len > 0)
		qsort(h->what.data, h->what.len / sizeof k, sizeof k, by_key);
	if (h->when.len > 0)
		qsort(h->when.data, h->when.len / sizeof k, sizeof k, by_key);
	return 0;
}

/* Walks both lists by address: what was live before the history goes to the sink. */
static int before(struct history *h, bool segments)
{
	h->segments = segments;
	int rc = collect(h);
	const struct hrr_torch_piece *x =
	    segments ? hrr_torch_segments(h->s) : hrr_torch_blocks(h->s);
	const struct key *w = (const void *)h->what.data, *e = (const void *)h->when.data;
	size_t n_w = h->what.len / sizeof *w, n_e = h->when.len / sizeof *e;

	for (size_t i = 0, j = 0; rc == 0 && (i < n_w || j < n_e);) {
		int order = i == n_w ? 1 : j == n_e ? -1 : by_place(&w[i], &e[j]);
		size_t n = 0;
		while (order >= 0 && j + n < n_e && by_place(&e[j], &e[j + n]) == 0)
			n++;
		rc = one_address(h, n > 0 ? e + j : NULL, n, order <= 0 ? &x[w[i].index] : NULL);
		j += n;
		if (order > 0)
			continue;
		size_t here = i++;
		for (; i < n_w && by_place(&w[i], &w[here]) == 0; i++)
			h->stats->differ++; /* two at one address */
	}
	return rc;
}

static int step(struct history *h, struct hrr_ranges **runs, const struct hrr_torch_event *e)
{
	struct hrr_region r = {.segment = is_segment(e->action),
			       .kind_known = true,
			       .device = e->device,
			       .base = e->base};

	if (e->action >= HRR_TORCH_SEGMENT_MAP)
		return hrr_torch_runs_step(runs[e->device], e, h->sink, h->stats);
	r.add = e->action == HRR_TORCH_ALLOC || e->action == HRR_TORCH_SEGMENT_ALLOC;
	if (!r.add && !e->ends)
		return 0;
	if (r.add)
		r.size = e->size;
	return h->sink->put(h->sink->self, &r, e->t, e->size, r.add ? e->frames : -1);
}

static int by_time(const void *a, const void *b)
{
	const struct hrr_torch_event *x = *(struct hrr_torch_event *const *)a,
				     *y = *(struct hrr_torch_event *const *)b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x < y ? -1 : x > y; /* their order in the file, device by device */
}

/* Devices have a history each; the steps of all in order of time. */
static int forward(struct history *h, struct hrr_ranges **runs)
{
	size_t n = h->s->n_events;
	struct hrr_torch_event *e = hrr_torch_events(h->s);
	int rc = 0;

	if (n == 0)
		return 0;
	struct hrr_torch_event **order = malloc(n * sizeof(struct hrr_torch_event *));
	if (order == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = &e[i];
	if (h->s->devices > 1)
		qsort(order, n, sizeof(struct hrr_torch_event *), by_time);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = step(h, runs, order[i]);
	free(order);
	return rc;
}

struct walk {
	struct history *h;
	int device;
};

static int put_run(void *self, const struct hrr_range *x)
{
	struct walk *w = self;

	return put_before(w->h, w->device, x->base, x->size, -1);
}

static int highest_device(const struct hrr_torch_snapshot *s)
{
	int device = (int)s->devices - 1;

	for (size_t i = 0; i < s->n_segments; i++)
		if (hrr_torch_segments(s)[i].device > device)
			device = hrr_torch_segments(s)[i].device;
	return device;
}

int hrr_torch_history(struct hrr_torch_snapshot *s, const struct hrr_torch_sink *sink,
		      struct hrr_torch_stats *stats)
{
	struct history h = {.s = s, .sink = sink, .stats = stats};
	int n = highest_device(s) + 1, rc = 0;
	struct hrr_ranges **runs = calloc((size_t)n + 1, sizeof(struct hrr_ranges *));

	if (runs == NULL)
		return -ENOMEM;
	for (int i = 0; rc == 0 && i < n; i++) {
		runs[i] = hrr_ranges_new();
		if (runs[i] == NULL)
			rc = -ENOMEM;
	}
	if (rc == 0)
		rc = hrr_torch_runs_before(s, runs, stats);
	if (rc == 0)
		rc = before(&h, true);
	for (struct walk w = {&h, 0}; rc == 0 && w.device < n; w.device++)
		rc = hrr_ranges_each(runs[w.device], put_run, &w);
	if (rc == 0)
		rc = before(&h, false);
	if (rc == 0)
		rc = forward(&h, runs);
	for (int i = 0; i < n; i++)
		hrr_ranges_free(runs[i]);
	free(runs);
	hrr_buf_release(&h.what);
	hrr_buf_release(&h.when);
	return rc;
}
