#include "lib/diff/private.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Which thread of one recording is which of the other. The first of a process is
 * its main thread. Others are matched by behaviour: at once where the first
 * calls are the same, after more calls (or at the end) with the one that has
 * most in common; among equals the first that began.
 */
#define ENOUGH 32	  /* calls that make a behaviour */
#define PATIENCE (8 * 32) /* calls after which the best there is will do */

int hrr_lane_find(struct hrr_diff *d, int side, const struct hrr_diff_call *c,
		  struct hrr_lane **ret)
{
	struct hrr_side *s = &d->side[side];
	uint64_t tid = c->kind == HRR_REC_REGION ? HRR_LANE_REGIONS : c->tid, i;

	if (hrr_map_get(&s->by_tid, c->p, tid, &i)) {
		*ret = s->lanes[i];
		return 0;
	}
	if (s->n_lanes == s->cap_lanes) {
		size_t cap = s->cap_lanes ? s->cap_lanes * 2 : 16;
		struct hrr_lane **v = realloc(s->lanes, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		s->lanes = v;
		s->cap_lanes = cap;
	}
	struct hrr_lane *l = calloc(1, sizeof *l);

	if (!l || hrr_map_set(&s->by_tid, c->p, tid, s->n_lanes) < 0) {
		free(l);
		return -ENOMEM;
	}
	l->side = side;
	l->p = c->p;
	l->tid = tid;
	s->lanes[s->n_lanes++] = l;
	*ret = l;
	return 0;
}

/* Rank of a lane among the threads of its process; regions have none. */
static bool is_first(const struct hrr_side *s, const struct hrr_lane *l)
{
	for (size_t i = 0; i < s->n_lanes; i++)
		if (s->lanes[i]->p == l->p && s->lanes[i]->tid != HRR_LANE_REGIONS)
			return s->lanes[i] == l;
	return false;
}

/* How much two lanes have in common at their beginning; *ret_same: all of it, as far as known. */
static unsigned likeness(const struct hrr_lane *a, const struct hrr_lane *b, bool *ret_same)
{
	const struct hrr_diff_call *x = a->row.head, *y = b->row.head;
	unsigned like = 0;
	int n = 0;

	*ret_same = true;
	for (; x && y && n < ENOUGH; n++, x = x->next, y = y->next) {
		if (x->content == y->content)
			like += 4;
		else if (x->shape == y->shape)
			like += 2;
		else if (x->family == y->family)
			like += 1;
		else
			break;
		if (x->content != y->content)
			*ret_same = false;
	}
	if (n < ENOUGH && (x || y))
		*ret_same = false;
	return like;
}

static void marry(struct hrr_diff *d, struct hrr_lane *a, struct hrr_lane *b)
{
	a->partner = b;
	b->partner = a;
	a->thread = b->thread = a->tid == HRR_LANE_REGIONS ? 0 : ++d->threads;
}

void hrr_lane_match(struct hrr_diff *d, struct hrr_lane *l, bool final)
{
	struct hrr_side *s = &d->side[l->side], *t = &d->side[!l->side];
	struct hrr_lane *best = NULL;
	unsigned most = 0;
	bool main = is_first(s, l);

	if (!main && l->tid != HRR_LANE_REGIONS && !final && !s->ended && l->row.n < ENOUGH)
		return;
	for (size_t i = 0; i < t->n_lanes; i++) {
		struct hrr_lane *m = t->lanes[i];
		bool same;

		if (m->p != l->p || m->partner || m->alone)
			continue;
		if (m->tid == HRR_LANE_REGIONS || l->tid == HRR_LANE_REGIONS) {
			if (m->tid != l->tid)
				continue;
			marry(d, l, m);
			return;
		}
		if (main != is_first(t, m))
			continue;
		if (main) {
			marry(d, l, m);
			return;
		}
		if (!final && !t->ended && m->row.n < ENOUGH)
			continue;
		unsigned like = likeness(l, m, &same);

		if (same) {
			marry(d, l, m);
			return;
		}
		if (!final && !t->ended && m->row.n < PATIENCE)
			continue;
		if (!best || like > most) {
			best = m;
			most = like;
		}
	}
	if (best && (final || l->row.n >= PATIENCE || (s->ended && t->ended)))
		marry(d, l, best);
}
