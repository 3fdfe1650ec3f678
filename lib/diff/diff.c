#include "lib/diff/resync.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
			free_calls(s, s->lanes[k]->row.head);
			hrr_stream_free(s, s->lanes[k]);
			for (size_t c = 0; c < s->lanes[k]->n_known; c++)
				hrr_diff_call_free(&s->objects, s->lanes[k]->known[c]);
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
		hrr_buf_release(&s->format);
	}
	hrr_diff_works_release(&d->works);
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

bool hrr_diff_over(const struct hrr_diff *d)
{
	return d->stop || d->err < 0;
}

static struct hrr_diff_call *take(struct hrr_diff *d, struct hrr_lane *l)
{
	struct hrr_diff_call *c = hrr_row_take(&l->row);

	d->side[l->side].waiting -= hrr_diff_call_bytes(c);
	l->n_work -= c->queued;
	l->until -= l->until > 0;
	l->passed++;
	return c;
}

static bool is_work(const struct hrr_lane *l)
{
	return l->row.n && l->row.head->queued;
}

void hrr_diff_stop_after(struct hrr_diff *d, uint32_t p, uint64_t seq)
{
	d->stops = true;
	d->stop_p = p;
	d->stop_seq = seq;
}

static bool has_early(const struct hrr_row *r, uint64_t seq)
{
	for (const struct hrr_diff_call *c = r->head; c; c = c->next)
		if (c->seq <= seq)
			return true;
	return false;
}

/* Nothing that waits, or is to be read, is as early as what the run stops after. */
static bool settled(const struct hrr_diff *d)
{
	for (int side = 0; side < 2; side++) {
		const struct hrr_side *s = &d->side[side];

		if (!s->beyond && !s->ended)
			return false;
		for (size_t i = 0; i < s->n_lanes; i++) {
			const struct hrr_lane *l = s->lanes[i];

			if (l->p != d->stop_p)
				continue;
			/* Calls of a thread are in order; what is left of its streams is not. */
			if ((l->row.n && l->row.head->seq <= d->stop_seq) ||
			    has_early(&l->left, d->stop_seq))
				return false;
			for (size_t q = 0; q < l->n_queues; q++)
				if (l->queues[q].row.head->seq <= d->stop_seq)
					return false;
		}
	}
	return true;
}

/* Work of a stream goes to its queue; everything else has its answer here. */
static void pass_only(struct hrr_diff *d, struct hrr_lane *l)
{
	struct hrr_diff_call *c = take(d, l), *other;

	c->rank = l->rank;
	if (l->partner && c->queued) {
		if (hrr_stream_put(d, l, c) == 0)
			return;
		d->err = -ENOMEM;
		hrr_diff_call_free(&d->side[l->side].objects, c);
	} else if (l->partner && c->work && (other = hrr_stream_elsewhere(d, l->partner, c))) {
		hrr_diff_commit_both(d, l->side ? l->partner : l, l->side ? other : c,
				     l->side ? c : other);
	} else {
		hrr_diff_commit_only(d, l, c);
	}
}

static void pass_both(struct hrr_diff *d, struct hrr_lane *a, struct hrr_lane *b)
{
	struct hrr_diff_call *x = take(d, a), *y = take(d, b);

	if (x->orders && y->orders) {
		a->after = x->seq;
		b->after = y->seq;
		a->rank++;
		b->rank++;
	}
	hrr_diff_commit_both(d, a, x, y);
}

/*
 * What the alignment of a thread sees: calls, and between them the work on streams
 * that lies there, as one item that is the same however it is mixed.
 */
struct item {
	struct hrr_align_key key;
	size_t calls;
};

static size_t items(const struct hrr_diff *d, const struct hrr_lane *l, struct item *v)
{
	size_t n = 0, most = l->until ? l->until : l->row.n;

	for (const struct hrr_diff_call *c = l->row.head; c && most > 0; c = c->next, most--) {
		bool more = n && c->queued && v[n - 1].key.alone == HRR_ALIGN_WORK;

		if (!more && n == HRR_ALIGN_WINDOW)
			break;
		if (!more)
			v[n++] = (struct item){{0}, 0};
		v[n - 1].calls++;
		if (c->queued) {
			uint64_t on = hrr_diff_stream_key(d, l->side, c);

			v[n - 1].key.content += c->content ^ on * 0x9e3779b97f4a7c15u;
			v[n - 1].key.alone = HRR_ALIGN_WORK;
		} else {
			v[n - 1].key = (struct hrr_align_key){c->content, c->shape, c->family,
							      HRR_ALIGN_ALONE};
		}
	}
	return n;
}

/*
 * Aligns what waits at the front of a and b. Near the end of a window an
 * alignment may be a makeshift, so half of it stays for the next one, unless
 * nothing more can come. Where little is equal the place where they meet again is looked for first;
 * false: more calls are needed for that (not with may_wait false).
 */
static bool window(struct hrr_diff *d, struct hrr_lane *a, struct hrr_lane *b, bool may_wait)
{
	const bool ended = d->side[0].ended && d->side[1].ended, between = a->until && b->until;
	struct hrr_meeting m = {
	    .a = &a->row, .b = &b->row, .ended = {d->side[0].ended, d->side[1].ended}};

	if (may_wait && hrr_meet_waits(&a->search, &m))
		return false;
	struct item va[HRR_ALIGN_WINDOW], vb[HRR_ALIGN_WINDOW];
	struct hrr_align_key ka[HRR_ALIGN_WINDOW], kb[HRR_ALIGN_WINDOW];
	unsigned char ops[sizeof d->align.ops]; /* queues are aligned meanwhile */
	size_t na = items(d, a, va), nb = items(d, b, vb), i = 0, j = 0;
	bool whole =
	    (ended || between || !may_wait) && na < HRR_ALIGN_WINDOW && nb < HRR_ALIGN_WINDOW;

	for (size_t k = 0; k < na; k++)
		ka[k] = va[k].key;
	for (size_t k = 0; k < nb; k++)
		kb[k] = vb[k].key;
	size_t n = hrr_align(&d->align, ka, na, kb, nb);

	memcpy(ops, d->align.ops, n);
	if (!whole && !between && may_wait) {
		size_t same = hrr_align_same(ops, n, ka, kb);
		int rc = hrr_meet_again(&a->search, &m, same, na < nb ? na : nb, a->passed);

		if (rc < 0)
			d->err = rc;
		if (rc == HRR_MEET_WAIT)
			return false;
		if (rc == HRR_MEET_FOUND) {
			a->until = m.before[0];
			b->until = m.before[1];
			return true;
		}
	}
	for (size_t k = 0; k < n && !hrr_diff_over(d); k++) {
		if (!whole && k && (i >= (na + 1) / 2 || j >= (nb + 1) / 2))
			break;
		if (ops[k] == HRR_ALIGN_BOTH && va[i].key.alone != HRR_ALIGN_WORK) {
			pass_both(d, a, b);
			i++;
			j++;
			continue;
		}
		if (ops[k] != HRR_ALIGN_B)
			for (size_t c = va[i++].calls; c > 0 && !hrr_diff_over(d); c--)
				pass_only(d, a);
		if (ops[k] != HRR_ALIGN_A)
			for (size_t c = vb[j++].calls; c > 0 && !hrr_diff_over(d); c--)
				pass_only(d, b);
	}
	hrr_stream_step(d, a, b, false);
	return true;
}

#define MUCH 2048 /* calls that wait, most of them work, are enough to align */

static bool enough(const struct hrr_diff *d, const struct hrr_lane *l)
{
	return l->row.n - l->n_work >= HRR_ALIGN_WINDOW || l->row.n >= MUCH ||
	       d->side[l->side].ended;
}

/* Heads that need no alignment, or get one in their streams' queues. */
static bool easy(struct hrr_diff *d, struct hrr_lane *a, struct hrr_lane *b)
{
	bool work_a = is_work(a), work_b = is_work(b);

	/* In step: neither thread runs ahead of the other. */
	if (!(a->row.n && b->row.n) && !(d->side[0].ended && d->side[1].ended))
		return false;
	if (work_a || work_b) {
		if (work_a && work_b && !a->n_queues && !b->n_queues &&
		    a->row.head->content == b->row.head->content &&
		    hrr_diff_stream_key(d, 0, a->row.head) ==
			hrr_diff_stream_key(d, 1, b->row.head)) {
			a->row.head->rank = a->rank;
			b->row.head->rank = b->rank;
			pass_both(d, a, b);
			return true;
		}
		if (work_a)
			pass_only(d, a);
		if (work_b)
			pass_only(d, b);
		if ((a->n_queues || b->n_queues) && a->passed % HRR_ALIGN_WINDOW == 0)
			hrr_stream_step(d, a, b, false);
		return true;
	}
	if (!a->row.n || !b->row.n || a->row.head->content != b->row.head->content)
		return false;
	pass_both(d, a, b);
	return true;
}

/* What only one has before the place where both go on alike. */
static bool gone(struct hrr_diff *d, struct hrr_lane *a, struct hrr_lane *b)
{
	struct hrr_lane *l = a->until ? a : b;

	if (!a->until == !b->until)
		return false;
	hrr_diff_commit_only(d, l, take(d, l));
	return true;
}

static void step(struct hrr_diff *d, struct hrr_lane *a, struct hrr_lane *b)
{
	while (!hrr_diff_over(d)) {
		if (gone(d, a, b) || easy(d, a, b))
			continue;
		if ((!a->row.n && !b->row.n) || (!a->until && (!enough(d, a) || !enough(d, b))) ||
		    !window(d, a, b, true))
			return;
	}
}

static void progress(struct hrr_diff *d, struct hrr_lane *l)
{
	if (!l->partner && !l->alone)
		hrr_lane_match(d, l, false);
	if (l->partner)
		step(d, l->side ? l->partner : l, l->side ? l : l->partner);
	while (l->alone && l->row.n && !hrr_diff_over(d))
		pass_only(d, l);
}

static void progress_all(struct hrr_diff *d)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < d->side[side].n_lanes && !hrr_diff_over(d); i++)
			progress(d, d->side[side].lanes[i]);
}

/* Too much waits on a side: the longest lane has to give some of it up. */
static void relieve(struct hrr_diff *d, int side)
{
	struct hrr_side *s = &d->side[side];
	struct hrr_lane *l = NULL;

	for (size_t i = 0; i < s->n_lanes; i++)
		if (!l || s->lanes[i]->row.n > l->row.n)
			l = s->lanes[i];
	if (!l)
		return;
	if (!l->partner && !l->alone) {
		hrr_lane_match(d, l, true);
		l->alone = !l->partner;
		progress(d, l);
		return;
	}
	if (l->partner && l->partner->row.n) {
		window(d, l->side ? l->partner : l, l->side ? l : l->partner, false);
		return;
	}
	for (size_t n = l->row.n - l->row.n / 2; n > 0 && !hrr_diff_over(d); n--) {
		d->stats.given_up++;
		pass_only(d, l);
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
	if (rec->kind == HRR_REC_HEADER && s->format.len == 0 &&
	    (rc = hrr_diff_format(rec, &s->format)) < 0)
		return hrr_diag_set(diag, rc, "out of memory");
	s->scratch.of_launch =
	    rec->kind == HRR_REC_OUTPUT && hrr_recent_launch(s, rec->p, rec->seq);
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
	    (c->kind == HRR_REC_CALL && (rc = hrr_recent_add(d, side, c, rec->kernel >= 0)) < 0)) {
		hrr_diff_call_free(&s->objects, c);
		return hrr_diag_set(diag, rc, "out of memory");
	}
	s->beyond |= d->stops && c->p == d->stop_p && c->seq > d->stop_seq;
	d->stats.calls[side] += c->kind == HRR_REC_CALL;
	d->stats.results[side] += c->kind == HRR_REC_OTHER;
	hrr_row_add(&l->row, c);
	l->n_work += c->queued;
	s->waiting += hrr_diff_call_bytes(c);
	progress(d, l);
	while (s->waiting > HRR_DIFF_MAX_WAITING && !hrr_diff_over(d))
		relieve(d, side);
	return 0;
}

/* Nothing more comes: who has no partner gets the best there is, or none. */
static void finish(struct hrr_diff *d)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < d->side[side].n_lanes && !hrr_diff_over(d); i++) {
			struct hrr_lane *l = d->side[side].lanes[i];

			if (!l->partner && !l->alone) {
				hrr_lane_match(d, l, true);
				l->alone = !l->partner;
			}
			progress(d, l);
			if (l->partner && !hrr_diff_over(d))
				hrr_stream_step(d, l->side ? l->partner : l,
						l->side ? l : l->partner, true);
		}
	if (!hrr_diff_over(d))
		hrr_output_end(d);
}

/* Both headers come first: what is compared depends on the formats. */
static int begin(struct hrr_diff *d, struct hrr_diag *diag)
{
	const struct hrr_buf *a = &d->side[0].format, *b = &d->side[1].format;
	int rc = read_one(d, 0, diag);

	if (rc == 0)
		rc = read_one(d, 1, diag);
	d->mixed = a->len != b->len || (a->len > 0 && memcmp(a->data, b->data, a->len) != 0);
	d->side[0].scratch.mixed = d->side[1].scratch.mixed = d->mixed;
	return rc;
}

int hrr_diff_run(struct hrr_diff *d, struct hrr_diag *diag)
{
	int rc = begin(d, diag);

	if (rc < 0)
		return rc;
	while (!hrr_diff_over(d) && !(d->side[0].ended && d->side[1].ended)) {
		/* The side of which less waits is the one the other waits for. */
		int side = d->side[0].waiting > d->side[1].waiting;

		if (d->side[side].ended)
			side = !side;
		rc = read_one(d, side, diag);
		if (rc < 0)
			return rc;
		d->stop |= d->stops && settled(d);
	}
	finish(d);
	if (d->err == -ENOMEM)
		return hrr_diag_set(diag, -ENOMEM, "out of memory");
	return d->err;
}
