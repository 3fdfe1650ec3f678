#include "lib/diff/private.h"

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

static struct hrr_diff_call *take(struct hrr_diff *d, struct hrr_lane *l)
{
	struct hrr_diff_call *c = l->head;

	l->head = c->next;
	if (!l->head)
		l->tail = &l->head;
	l->n--;
	d->side[l->side].waiting -= hrr_diff_call_bytes(c);
	return c;
}

/* Context is told once: it belongs to the event that follows it. */
static void with_context(struct hrr_diff *d, struct hrr_lane *l, struct hrr_diff_event *e)
{
	if (l->side == 1)
		l = l->partner;
	if (l)
		for (size_t i = 0; i < l->n_context; i++)
			e->context[e->n_context++] = l->context[i];
	hrr_diff_emit(d, e);
	if (!l)
		return;
	for (size_t i = 0; i < l->n_context; i++)
		hrr_diff_call_free(&d->side[0].objects, l->context[i]);
	l->n_context = 0;
}

static void remember(struct hrr_diff *d, struct hrr_lane *l, struct hrr_diff_call *c)
{
	if (l->n_context == HRR_DIFF_CONTEXT) {
		hrr_diff_call_free(&d->side[0].objects, l->context[0]);
		memmove(l->context, l->context + 1, sizeof l->context - sizeof *l->context);
		l->n_context--;
	}
	l->context[l->n_context++] = c;
}

void hrr_diff_commit_both(struct hrr_diff *d, struct hrr_lane *la, struct hrr_lane *lb)
{
	struct hrr_diff_call *a = take(d, la), *b = take(d, lb);
	uint64_t pair = hrr_pair_new(d, la->thread);
	int rc = hrr_diff_compare(d, a, b);

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

void hrr_diff_commit_only(struct hrr_diff *d, struct hrr_lane *l)
{
	struct hrr_diff_call *c = take(d, l);
	struct hrr_diff_event e = {.what = l->side ? HRR_DIFF_ONLY_B : HRR_DIFF_ONLY_A};

	if (l->thread == 0 && l->tid != HRR_LANE_REGIONS)
		l->thread = ++d->threads;
	e.thread = l->thread;
	*(l->side ? &e.b : &e.a) = c;
	/* What somebody noted down about a recording is not what the program did. */
	if (c->kind == HRR_REC_REGION)
		d->stats.annotations[l->side]++;
	else
		with_context(d, l, &e);
	hrr_recent_settle(d, l->side, c, HRR_PAIR_NONE);
	hrr_diff_call_free(&d->side[l->side].objects, c);
}
