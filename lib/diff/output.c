#include "lib/diff/private.h"

#include <errno.h>

static struct hrr_recent *recent_of(const struct hrr_side *s, uint64_t p, uint64_t seq)
{
	uint64_t i;

	return hrr_map_get(&s->by_seq, p, seq, &i) ? &s->recent[i] : NULL;
}

bool hrr_recent_launch(const struct hrr_side *s, uint64_t p, uint64_t seq)
{
	const struct hrr_recent *r = recent_of(s, p, seq);

	return r && r->launch;
}

int hrr_recent_add(struct hrr_diff *d, int side, struct hrr_diff_call *c, bool launch)
{
	struct hrr_side *s = &d->side[side];
	struct hrr_recent *r = &s->recent[s->n_recent % HRR_DIFF_MEMORY];
	uint64_t old;

	/* One that still waits keeps its outputs in itself; only new ones are then late. */
	if (r->used)
		(void)hrr_map_del(&s->by_seq, r->p, r->seq, &old);
	*r = (struct hrr_recent){c->p, c->seq, HRR_PAIR_WAITS, c, true, launch};
	if (hrr_map_set(&s->by_seq, c->p, c->seq, s->n_recent % HRR_DIFF_MEMORY) < 0) {
		r->used = false;
		return -ENOMEM;
	}
	s->n_recent++;
	return 0;
}

uint64_t hrr_pair_new(struct hrr_diff *d, uint32_t thread, const struct hrr_diff_call *c)
{
	uint64_t id = HRR_PAIR_FIRST + d->n_pairs++;
	struct hrr_pair *p = &d->pairs[id % HRR_DIFF_MEMORY];

	for (int side = 0; side < 2; side++) {
		while (p->id && p->head[side]) {
			struct hrr_diff_call *out = p->head[side];
			struct hrr_diff_event e = {.what = side ? HRR_DIFF_OUTPUT_ONLY_B
								: HRR_DIFF_OUTPUT_ONLY_A};

			e.thread = p->thread;
			e.of = p->of;
			*(side ? &e.b : &e.a) = out;
			p->head[side] = out->next;
			if (d->mixed && d->side[!side].format.len > 0)
				d->stats.unheld++;
			else
				hrr_diff_emit(d, &e);
			hrr_diff_call_free(&d->side[side].objects, out);
		}
		p->head[side] = NULL;
		p->tail[side] = &p->head[side];
	}
	p->id = id;
	p->thread = thread;
	p->of = NULL;
	if (c && hrr_diff_work_of(&d->works, c, &p->of) < 0 && d->err == 0)
		d->err = -ENOMEM;
	return id;
}

void hrr_output_end(struct hrr_diff *d)
{
	for (unsigned i = 0; i < HRR_DIFF_MEMORY; i++)
		(void)hrr_pair_new(d, 0, NULL);
}

static void compare(struct hrr_diff *d, const struct hrr_pair *p, struct hrr_diff_call *a,
		    struct hrr_diff_call *b)
{
	struct hrr_diff_event e = {.what = HRR_DIFF_OUTPUT, .thread = p->thread, .of = p->of};
	struct hrr_fact f;

	if (hrr_diff_call_get(a, "unknown", &f) || hrr_diff_call_get(b, "unknown", &f)) {
		d->stats.outputs_unknown++;
		return;
	}
	int rc = hrr_diff_compare(d, a, b);
	if (rc < 0 && d->err == 0)
		d->err = rc;
	if (d->members.len == 0) {
		d->stats.outputs_equal++;
		return;
	}
	e.a = a;
	e.b = b;
	e.members = (const struct hrr_diff_member *)(void *)d->members.data;
	e.n_members = d->members.len / sizeof *e.members;
	hrr_diff_emit(d, &e);
}

/* out, of a call that has found its counterpart. Taken. */
static void deliver(struct hrr_diff *d, int side, struct hrr_diff_call *out, uint64_t pair)
{
	struct hrr_pair *p = &d->pairs[pair % HRR_DIFF_MEMORY];
	struct hrr_diff_call *there;

	out->next = NULL;
	if (pair == HRR_PAIR_NONE) { /* told with its call */
		hrr_diff_call_free(&d->side[side].objects, out);
		return;
	}
	if (p->id != pair) {
		d->stats.outputs_late++;
		hrr_diff_call_free(&d->side[side].objects, out);
		return;
	}
	there = p->head[!side];
	if (!there) {
		*p->tail[side] = out;
		p->tail[side] = &out->next;
		return;
	}
	p->head[!side] = there->next;
	if (!p->head[!side])
		p->tail[!side] = &p->head[!side];
	compare(d, p, side ? there : out, side ? out : there);
	hrr_diff_call_free(&d->side[side].objects, out);
	hrr_diff_call_free(&d->side[!side].objects, there);
}

void hrr_output_arrived(struct hrr_diff *d, int side, struct hrr_diff_call *out)
{
	struct hrr_recent *r = recent_of(&d->side[side], out->p, out->seq);

	d->stats.outputs[side]++;
	if (!r) {
		d->stats.outputs_late++;
		hrr_diff_call_free(&d->side[side].objects, out);
	} else if (r->pair == HRR_PAIR_WAITS) {
		*r->call->outputs_tail = out;
		r->call->outputs_tail = &out->next;
	} else {
		deliver(d, side, out, r->pair);
	}
}

void hrr_recent_settle(struct hrr_diff *d, int side, struct hrr_diff_call *c, uint64_t pair)
{
	struct hrr_recent *r = recent_of(&d->side[side], c->p, c->seq);

	if (r && r->call == c) {
		r->pair = pair;
		r->call = NULL;
	}
	while (c->outputs) {
		struct hrr_diff_call *out = c->outputs;

		c->outputs = out->next;
		deliver(d, side, out, pair);
	}
	c->outputs_tail = &c->outputs;
}
