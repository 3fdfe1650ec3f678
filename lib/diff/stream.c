#include "lib/diff/resync.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Work that a thread gives to different streams is in no order that means
 * anything: two runs of one program may mix it otherwise. So the alignment of a
 * thread (diff.c) sees to calls that are of no stream, or that order streams, and
 * puts work of a stream into a queue of its own, where it is aligned again, with
 * the work on the same stream only. What is left over there is compared by all but
 * the stream: a call that moved to another one is one difference.
 *
 * Queues are short: after PATIENCE more calls of its thread a call without a
 * counterpart has none.
 */
#define PATIENCE 2048
#define MAX_LEFT 256 /* calls that wait for a counterpart on another stream */

uint64_t hrr_diff_stream_key(const struct hrr_diff *d, int side, const struct hrr_diff_call *c)
{
	const struct hrr_objects *o = &d->side[side].objects;
	const struct hrr_object *x;

	if (c->stream == 0)
		return 0;
	if (c->stream == HRR_STREAM_UNDECLARED)
		return 1;
	x = &o->v[c->stream];
	if (x->pair == HRR_OBJECT_LOST)
		return 3 + 4 * (uint64_t)c->stream + ((uint64_t)side << 40);
	if (x->pair == HRR_OBJECT_NONE) /* not aligned yet: as things stand, the n-th is the n-th */
		return 2 + 4 * (uint64_t)x->number;
	return 4 + 4 * (uint64_t)(side == 0 ? c->stream : x->pair);
}

void hrr_stream_free(struct hrr_side *s, struct hrr_lane *l)
{
	struct hrr_diff_call *c;

	for (size_t i = 0; i <= l->n_queues; i++) {
		struct hrr_row *r = i < l->n_queues ? &l->queues[i].row : &l->left;
		while ((c = hrr_row_take(r)) != NULL)
			hrr_diff_call_free(&s->objects, c);
	}
	free(l->queues);
}

static struct hrr_queue *queue_of(struct hrr_lane *l, uint32_t stream)
{
	for (size_t i = 0; i < l->n_queues; i++)
		if (l->queues[i].stream == stream)
			return &l->queues[i];
	return NULL;
}

static struct hrr_queue *counterpart(const struct hrr_diff *d, const struct hrr_queue *q,
				     const struct hrr_lane *l)
{
	uint64_t key = hrr_diff_stream_key(d, !l->side, q->row.head);

	for (size_t i = 0; i < l->n_queues; i++)
		if (hrr_diff_stream_key(d, l->side, l->queues[i].row.head) == key)
			return &l->queues[i];
	return NULL;
}

static void drop_empty(struct hrr_lane *l)
{
	for (size_t i = l->n_queues; i-- > 0;)
		if (l->queues[i].row.n == 0)
			l->queues[i] = l->queues[--l->n_queues];
}

/* Heads that are the same. */
static void same_heads(struct hrr_diff *d, struct hrr_lane *a, struct hrr_row *ra,
		       struct hrr_row *rb)
{
	while (ra->n && rb->n && ra->head->content == rb->head->content && !hrr_diff_over(d)) {
		struct hrr_diff_call *x = hrr_row_take(ra), *y = hrr_row_take(rb);

		hrr_diff_commit_both(d, a, x, y);
	}
}

int hrr_stream_put(struct hrr_diff *d, struct hrr_lane *l, struct hrr_diff_call *c)
{
	struct hrr_queue *q = queue_of(l, c->stream), *other;

	if (!q) {
		if (l->n_queues == l->cap_queues) {
			size_t cap = l->cap_queues ? l->cap_queues * 2 : 4;
			struct hrr_queue *v = realloc(l->queues, cap * sizeof *v);

			if (!v)
				return -ENOMEM;
			l->queues = v;
			l->cap_queues = cap;
		}
		q = &l->queues[l->n_queues++];
		*q = (struct hrr_queue){.stream = c->stream};
	}
	c->passed = l->passed;
	c->after = l->after;
	hrr_row_add(&q->row, c);
	other = counterpart(d, q, l->partner);
	if (other) {
		same_heads(d, l->side ? l->partner : l, l->side ? &other->row : &q->row,
			   l->side ? &q->row : &other->row);
		drop_empty(l);
		drop_empty(l->partner);
	}
	return 0;
}

static size_t keys(const struct hrr_row *r, struct hrr_align_key *k)
{
	size_t n = 0;

	for (const struct hrr_diff_call *c = r->head; c && n < HRR_ALIGN_WINDOW; c = c->next)
		k[n++] = (struct hrr_align_key){c->content, c->shape, c->family, HRR_ALIGN_ALONE};
	return n;
}

static bool long_ago(const struct hrr_lane *l, const struct hrr_row *r)
{
	return r->n && l->passed - r->head->passed > 2 * HRR_RESYNC_MOST;
}

static bool waited(const struct hrr_lane *l, const struct hrr_row *r)
{
	return r->n && l->passed - r->head->passed > PATIENCE;
}

/* Before the place where both go on alike; a moved call has its counterpart among what is left. */
static void leave(struct hrr_lane *l, struct hrr_row *r, size_t n)
{
	for (; n > 0; n--)
		hrr_row_add(&l->left, hrr_row_take(r));
}

/* One stream's work, as far as it can be told already. */
static void align(struct hrr_diff *d, struct hrr_lane *a, struct hrr_row *ra, struct hrr_lane *b,
		  struct hrr_row *rb, bool final)
{
	struct hrr_align_key ka[HRR_ALIGN_WINDOW], kb[HRR_ALIGN_WINDOW];
	struct hrr_queue *q = ra->n ? queue_of(a, ra->head->stream) : NULL;
	struct hrr_meeting m = {.a = ra, .b = rb};

	while (!hrr_diff_over(d)) {
		same_heads(d, a, ra, rb);
		bool full = ra->n >= HRR_ALIGN_WINDOW && rb->n >= HRR_ALIGN_WINDOW;
		if ((!ra->n && !rb->n) || (!full && !final && !waited(a, ra) && !waited(b, rb)))
			return;
		/* What waits in queues is not counted elsewhere: no longer than a search may need.
		 */
		m.ended[0] = m.ended[1] = final || long_ago(a, ra) || long_ago(b, rb);
		if (q && ra->n && rb->n && hrr_meet_waits(&q->search, &m))
			return;
		size_t na = keys(ra, ka), nb = keys(rb, kb),
		       n = hrr_align(&d->align, ka, na, kb, nb);

		if (na && nb && (na == HRR_ALIGN_WINDOW || nb == HRR_ALIGN_WINDOW)) {
			size_t same = hrr_align_same(d->align.ops, n, ka, kb);
			int rc = hrr_meet_again(&q->search, &m, same, na < nb ? na : nb, a->passed);

			if (rc < 0)
				d->err = rc;
			if (rc == HRR_MEET_WAIT)
				return;
			if (rc == HRR_MEET_FOUND) {
				leave(a, ra, m.before[0]);
				leave(b, rb, m.before[1]);
				continue;
			}
		}
		size_t left = final && ra->n <= HRR_ALIGN_WINDOW && rb->n <= HRR_ALIGN_WINDOW
				  ? n
				  : HRR_ALIGN_WINDOW / 2;
		for (size_t i = 0; i < n && left > 0 && !hrr_diff_over(d); i++, left--) {
			enum hrr_align_op op = (enum hrr_align_op)d->align.ops[i];
			struct hrr_diff_call *x = op != HRR_ALIGN_B ? hrr_row_take(ra) : NULL;
			struct hrr_diff_call *y = op != HRR_ALIGN_A ? hrr_row_take(rb) : NULL;

			if (x && y)
				hrr_diff_commit_both(d, a, x, y);
			else
				hrr_row_add(x ? &a->left : &b->left, x ? x : y);
			if (!full && !final && !waited(a, ra) && !waited(b, rb))
				break;
		}
	}
}

/* One of r; the stream of c is key. */
static struct hrr_diff_call *elsewhere(const struct hrr_diff *d, int side, struct hrr_row *r,
				       const struct hrr_diff_call *c, uint64_t key)
{
	struct hrr_diff_call **at = &r->head, *before = NULL;

	for (; *at; before = *at, at = &(*at)->next) {
		struct hrr_diff_call *x = *at;

		if (x->work != c->work || x->rank != c->rank ||
		    hrr_diff_stream_key(d, side, x) == key)
			continue;
		*at = x->next;
		if (r->last == x)
			r->last = before;
		x->next = NULL;
		r->n--;
		return x;
	}
	return NULL;
}

struct hrr_diff_call *hrr_stream_elsewhere(struct hrr_diff *d, struct hrr_lane *l,
					   const struct hrr_diff_call *c)
{
	uint64_t key = hrr_diff_stream_key(d, !l->side, c);
	struct hrr_diff_call *x = elsewhere(d, l->side, &l->left, c, key);

	for (size_t i = 0; !x && i < l->n_queues; i++)
		x = elsewhere(d, l->side, &l->queues[i].row, c, key);
	drop_empty(l);
	return x;
}

static void settle(struct hrr_diff *d, struct hrr_lane *a, struct hrr_lane *b, bool final)
{
	struct hrr_row kept = {0};
	struct hrr_diff_call *x, *y;

	while (a->left.n && !hrr_diff_over(d)) {
		x = hrr_row_take(&a->left);
		y = elsewhere(d, 1, &b->left, x, hrr_diff_stream_key(d, 0, x));
		if (y)
			hrr_diff_commit_both(d, a, x, y);
		else
			hrr_row_add(&kept, x);
	}
	while (a->left.n)
		hrr_row_add(&kept, hrr_row_take(&a->left));
	a->left = kept;
	for (int i = 0; i < 2; i++) {
		struct hrr_lane *l = i ? b : a;

		while (l->left.n && !hrr_diff_over(d) &&
		       (final || l->left.n > MAX_LEFT ||
			l->passed - l->left.head->passed > 2 * PATIENCE))
			hrr_diff_commit_only(d, l, hrr_row_take(&l->left));
	}
}

void hrr_stream_step(struct hrr_diff *d, struct hrr_lane *a, struct hrr_lane *b, bool final)
{
	struct hrr_row none = {0};

	for (size_t i = 0; i < a->n_queues; i++) {
		struct hrr_queue *q = counterpart(d, &a->queues[i], b);

		align(d, a, &a->queues[i].row, b, q ? &q->row : &none, final);
		drop_empty(b);
	}
	drop_empty(a);
	for (size_t i = 0; i < b->n_queues; i++)
		if (!counterpart(d, &b->queues[i], a))
			align(d, a, &none, b, &b->queues[i].row, final);
	drop_empty(b);
	settle(d, a, b, final);
}
