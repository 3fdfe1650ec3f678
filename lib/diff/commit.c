#include "lib/diff/private.h"

#include <stdio.h>
#include <string.h>

void hrr_diff_emit(struct hrr_diff *d, struct hrr_diff_event *e)
{
	if (d->err < 0 || d->stop)
		return;
	int rc = d->each(d->self, e);
	if (rc < 0)
		d->err = rc;
	if (rc > 0)
		d->stop = true;
}

void hrr_row_add(struct hrr_row *r, struct hrr_diff_call *c)
{
	c->next = NULL;
	if (r->head)
		r->last->next = c;
	else
		r->head = c;
	r->last = c;
	r->n++;
}

struct hrr_diff_call *hrr_row_take(struct hrr_row *r)
{
	struct hrr_diff_call *c = r->head;

	if (!c)
		return NULL;
	r->head = c->next;
	if (!r->head)
		r->last = NULL;
	r->n--;
	c->next = NULL;
	return c;
}

static void forget(struct hrr_diff *d, struct hrr_lane *l, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hrr_diff_call_free(&d->side[0].objects, l->known[i]);
	l->n_known -= n;
	memmove(l->known, l->known + n, l->n_known * sizeof *l->known);
}

/* In order of seq: work on streams has its answer later than what its thread did after it. */
static void remember(struct hrr_diff *d, struct hrr_lane *l, struct hrr_diff_call *c)
{
	size_t i;

	if (l->n_known == HRR_LANE_KNOWN)
		forget(d, l, 1);
	for (i = l->n_known++; i > 0 && l->known[i - 1]->seq > c->seq; i--)
		l->known[i] = l->known[i - 1];
	l->known[i] = c;
}

/* Context is told once: it belongs to the event that follows it. */
static void with_context(struct hrr_diff *d, struct hrr_lane *l, struct hrr_diff_event *e)
{
	size_t n;

	if (l->side == 1)
		l = l->partner;
	if (!l) {
		hrr_diff_emit(d, e);
		return;
	}
	for (n = l->n_known; e->a && n > 0 && l->known[n - 1]->seq > e->a->seq; n--)
		;
	for (size_t i = n > HRR_DIFF_CONTEXT ? n - HRR_DIFF_CONTEXT : 0; i < n; i++)
		e->context[e->n_context++] = l->known[i];
	hrr_diff_emit(d, e);
	forget(d, l, n);
}

/* Work on a stream that one run gave it before, the other after something that orders streams. */
static int out_of_order(struct hrr_diff *d, const struct hrr_diff_call *a,
			const struct hrr_diff_call *b)
{
	struct hrr_diff_member m = {.in_a = true, .in_b = true};

	for (int side = 0; side < 2; side++) {
		uint64_t after = side ? b->after : a->after;
		struct hrr_fact *f = side ? &m.b : &m.a;
		int n = after
			    ? snprintf(d->order[side], sizeof d->order[side], "\"after call %llu\"",
				       (unsigned long long)after)
			    : snprintf(d->order[side], sizeof d->order[side], "\"from the start\"");

		*f = (struct hrr_fact){.kind = HRR_FACT_TEXT, .path = "order", .path_len = 5};
		f->value = d->order[side];
		f->value_len = (size_t)n;
	}
	return hrr_buf_add(&d->members, &m, sizeof m);
}

void hrr_diff_commit_both(struct hrr_diff *d, struct hrr_lane *la, struct hrr_diff_call *a,
			  struct hrr_diff_call *b)
{
	uint64_t pair = hrr_pair_new(d, la->thread, a);
	int rc = hrr_diff_compare(d, a, b);

	if (rc == 0 && a->queued && b->queued && a->rank != b->rank)
		rc = out_of_order(d, a, b);
	if (rc < 0 && d->err == 0)
		d->err = rc;
	if (d->members.len) {
		struct hrr_diff_event e = {.what = HRR_DIFF_CHANGED, .thread = la->thread};

		e.a = a;
		e.b = b;
		e.members = (const struct hrr_diff_member *)(void *)d->members.data;
		e.n_members = d->members.len / sizeof *e.members;
		with_context(d, la, &e);
	} else if (a->kind != HRR_REC_REGION) {
		d->stats.equal++;
	}
	bool equal = d->members.len == 0; /* settling compares outputs, which uses members */

	hrr_recent_settle(d, 0, a, pair);
	hrr_recent_settle(d, 1, b, pair);
	if (equal)
		remember(d, la, a);
	else
		hrr_diff_call_free(&d->side[0].objects, a);
	hrr_diff_call_free(&d->side[1].objects, b);
}

static bool failed(const struct hrr_diff_call *c)
{
	struct hrr_fact f;

	return hrr_diff_call_get(c, "ret", &f) && f.kind == HRR_FACT_TEXT && f.value_len > 9 &&
	       memcmp(f.value, "\"hipError", 9) == 0;
}

void hrr_diff_commit_only(struct hrr_diff *d, struct hrr_lane *l, struct hrr_diff_call *c)
{
	struct hrr_diff_event e = {.what = l->side ? HRR_DIFF_ONLY_B : HRR_DIFF_ONLY_A};

	if (l->thread == 0 && l->tid != HRR_LANE_REGIONS)
		l->thread = ++d->threads;
	e.thread = l->thread;
	*(l->side ? &e.b : &e.a) = c;
	/* What somebody noted down about a recording is not what the program did. */
	if (c->kind == HRR_REC_REGION)
		d->stats.annotations[l->side]++;
	else if (d->mixed && d->side[!l->side].format.len > 0 && failed(c))
		d->stats.unheld++; /* upstream records none that failed */
	else
		with_context(d, l, &e);
	hrr_recent_settle(d, l->side, c, HRR_PAIR_NONE);
	hrr_diff_call_free(&d->side[l->side].objects, c);
}
