#include "lib/diff/private.h"

#include <errno.h>
#include <stdlib.h>

int hrr_diff_new(struct hrr_diff **ret, struct hrr_source *a, struct hrr_source *b,
		 int (*each)(void *self, const struct hrr_diff_event *e), void *self)
{
	struct hrr_diff *d = calloc(1, sizeof *d);

	if (!d)
		return -ENOMEM;
	d->side[0].source = a;
	d->side[1].source = b;
	d->each = each;
	d->self = self;
	d->pairs = calloc(HRR_DIFF_MEMORY, sizeof *d->pairs);
	for (int i = 0; i < 2; i++) {
		d->side[i].objects.other = &d->side[!i].objects;
		d->side[i].recent = calloc(HRR_DIFF_MEMORY, sizeof *d->side[i].recent);
	}
	if (!d->pairs || !d->side[0].recent || !d->side[1].recent) {
		hrr_diff_free(d);
		return -ENOMEM;
	}
	*ret = d;
	return 0;
}

static void free_calls(struct hrr_side *s, struct hrr_diff_call *c)
{
	while (c) {
		struct hrr_diff_call *next = c->next;

		hrr_diff_call_free(&s->objects, c);
		c = next;
	}
}

void hrr_diff_free(struct hrr_diff *d)
{
	if (!d)
		return;
	for (int i = 0; i < 2; i++) {
		struct hrr_side *s = &d->side[i];

		for (size_t k = 0; k < s->n_lanes; k++) {
			free_calls(s, s->lanes[k]->head);
			for (size_t c = 0; c < s->lanes[k]->n_context; c++)
				hrr_diff_call_free(&s->objects, s->lanes[k]->context[c]);
			free(s->lanes[k]);
		}
		for (unsigned k = 0; d->pairs && k < HRR_DIFF_MEMORY; k++)
			free_calls(s, d->pairs[k].head[i]);
		free(s->lanes);
		free(s->recent);
		hrr_map_release(&s->by_tid);
		hrr_map_release(&s->by_seq);
		hrr_buf_release(&s->scratch.facts);
		hrr_buf_release(&s->scratch.refs);
		hrr_buf_release(&s->scratch.text);
	}
	for (int i = 0; i < 2; i++)
		hrr_objects_release(&d->side[i].objects);
	hrr_buf_release(&d->members);
	free(d->pairs);
	free(d);
}

const struct hrr_diff_stats *hrr_diff_get_stats(const struct hrr_diff *d)
{
	return &d->stats;
}

static bool over(const struct hrr_diff *d)
{
	return d->stop || d->err < 0;
}

static size_t keys(const struct hrr_lane *l, struct hrr_align_key *k)
{
	size_t n = 0;

	for (const struct hrr_diff_call *c = l->head; c && n < HRR_ALIGN_WINDOW; c = c->next)
		k[n++] = (struct hrr_align_key){c->content, c->shape, c->family};
	return n;
}

/*
 * Aligns what waits at the front of a and b. Near the end of a window an
 * alignment may be a makeshift, so half of it stays for the next one, unless
 * nothing more can come.
 */
static void window(struct hrr_diff *d, struct hrr_lane *a, struct hrr_lane *b, bool all)
{
	struct hrr_align_key ka[HRR_ALIGN_WINDOW], kb[HRR_ALIGN_WINDOW];
	size_t na = keys(a, ka), nb = keys(b, kb), done_a = 0, done_b = 0;
	size_t n = hrr_align(&d->align, ka, na, kb, nb);
	bool whole = all && na == a->n && nb == b->n;

	for (size_t i = 0; i < n && !over(d); i++) {
		if (!whole && (done_a >= HRR_ALIGN_WINDOW / 2 || done_b >= HRR_ALIGN_WINDOW / 2))
			break;
		if (d->align.ops[i] == HRR_ALIGN_BOTH)
			hrr_diff_commit_both(d, a, b);
		else
			hrr_diff_commit_only(d, d->align.ops[i] == HRR_ALIGN_A ? a : b);
		done_a += d->align.ops[i] != HRR_ALIGN_B;
		done_b += d->align.ops[i] != HRR_ALIGN_A;
	}
}

static bool enough(const struct hrr_diff *d, const struct hrr_lane *l)
{
	return l->n >= HRR_ALIGN_WINDOW || d->side[l->side].ended;
}

static void step(struct hrr_diff *d, struct hrr_lane *a, struct hrr_lane *b)
{
	while (!over(d)) {
		while (a->head && b->head && a->head->content == b->head->content && !over(d))
			hrr_diff_commit_both(d, a, b);
		if ((!a->head && !b->head) || !enough(d, a) || !enough(d, b))
			return;
		window(d, a, b, d->side[0].ended && d->side[1].ended);
	}
}

static void progress(struct hrr_diff *d, struct hrr_lane *l)
{
	if (!l->partner && !l->alone)
		hrr_lane_match(d, l, false);
	if (l->partner)
		step(d, l->side ? l->partner : l, l->side ? l : l->partner);
	while (l->alone && l->head && !over(d))
		hrr_diff_commit_only(d, l);
}

static void progress_all(struct hrr_diff *d)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < d->side[side].n_lanes && !over(d); i++)
			progress(d, d->side[side].lanes[i]);
}

/* Too much waits on a side: the longest lane has to give some of it up. */
static void relieve(struct hrr_diff *d, int side)
{
	struct hrr_side *s = &d->side[side];
	struct hrr_lane *l = NULL;

	for (size_t i = 0; i < s->n_lanes; i++)
		if (!l || s->lanes[i]->n > l->n)
			l = s->lanes[i];
	if (!l)
		return;
	if (!l->partner && !l->alone) {
		hrr_lane_match(d, l, true);
		l->alone = !l->partner;
		progress(d, l);
		return;
	}
	if (l->partner && l->partner->head) {
		window(d, l->side ? l->partner : l, l->side ? l : l->partner, true);
		return;
	}
	for (size_t n = l->n - l->n / 2; n > 0 && !over(d); n--) {
		d->stats.given_up++;
		hrr_diff_commit_only(d, l);
	}
}

static int read_one(struct hrr_diff *d, int side, struct hrr_diag *diag)
{
	struct hrr_side *s = &d->side[side];
	struct hrr_record *rec;
	struct hrr_diff_call *c;
	struct hrr_lane *l;
	int rc = hrr_source_next(s->source, &rec, diag);

	if (rc == 0) {
		s->ended = true;
		progress_all(d);
		return 0;
	}
	if (rc < 0)
		return rc;
	rc = hrr_diff_call_read(&s->objects, &s->scratch, rec, &c, diag);
	if (rc < 0) {
		if (diag && rc != -ENOMEM)
			hrr_diag_at(diag, hrr_source_name(s->source, rec), rec->lineno);
		return rc;
	}
	if (!c)
		return 0;
	if (c->kind == HRR_REC_OUTPUT) {
		hrr_output_arrived(d, side, c);
		return 0;
	}
	if ((rc = hrr_lane_find(d, side, c, &l)) < 0 ||
	    (c->kind == HRR_REC_CALL && (rc = hrr_recent_add(d, side, c)) < 0)) {
		hrr_diff_call_free(&s->objects, c);
		return hrr_diag_set(diag, rc, "out of memory");
	}
	d->stats.calls[side] += c->kind == HRR_REC_CALL;
	d->stats.results[side] += c->kind == HRR_REC_OTHER;
	*l->tail = c;
	l->tail = &c->next;
	l->n++;
	s->waiting += hrr_diff_call_bytes(c);
	progress(d, l);
	while (s->waiting > HRR_DIFF_MAX_WAITING && !over(d))
		relieve(d, side);
	return 0;
}

/* Nothing more comes: who has no partner gets the best there is, or none. */
static void finish(struct hrr_diff *d)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < d->side[side].n_lanes && !over(d); i++) {
			struct hrr_lane *l = d->side[side].lanes[i];

			if (!l->partner && !l->alone) {
				hrr_lane_match(d, l, true);
				l->alone = !l->partner;
			}
			progress(d, l);
		}
	if (!over(d))
		hrr_output_end(d);
}

int hrr_diff_run(struct hrr_diff *d, struct hrr_diag *diag)
{
	while (!over(d) && !(d->side[0].ended && d->side[1].ended)) {
		/* The side of which less waits is the one the other waits for. */
		int side = d->side[0].waiting > d->side[1].waiting;
		int rc;

		if (d->side[side].ended)
			side = !side;
		rc = read_one(d, side, diag);
		if (rc < 0)
			return rc;
	}
	finish(d);
	if (d->err == -ENOMEM)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	return d->err;
}
