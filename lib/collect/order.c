#include "lib/collect/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The rings of a process in one order. Within a ring numbers only grow, so the
 * lowest number at any ring's front comes next; records without a number of
 * their own say which number they follow. Nothing is moved: lines are printed
 * out of the rings. What cannot be printed yet because a call with a lower
 * number is still on its way is moved aside when its ring is half full.
 *
 * A key is twice the number, odd for what follows it.
 */
#define NONE UINT64_MAX
/* Numbers that were taken and never used: the calls of threads that were killed, or all of those of
 * a damaged ring. */
#define MAX_GAPS ((size_t)1 << 20)

uint64_t out_seq(const struct process *p, uint64_t seq)
{
	size_t lo = 0, hi = p->n_gaps; /* in order */

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (p->gaps[mid] < seq)
			lo = mid + 1;
		else
			hi = mid;
	}
	return seq - lo;
}

static uint64_t key_of(const struct hrr_rec *r)
{
	return r->type == HRR_R_ENTER || r->type == HRR_R_LEAVE ? 2 * r->seq : 2 * r->seq + 1;
}

static void look(struct queue *q)
{
	const struct hrr_rec *r = queue_peek(q);

	if (r != NULL && r->seq > NONE / 4) {
		q->damaged = true;
		r = NULL;
	}
	q->key = r == NULL ? NONE : key_of(r);
}

static void learn(struct process *p, struct queue *q, const struct hrr_rec *r)
{
	switch (r->type) {
	case HRR_R_OBJECT:
		if (r->size >= sizeof(struct hrr_rec_object))
			learn_object(p, r);
		break;
	case HRR_R_KERNEL:
		if (r->size >= sizeof(struct hrr_rec_kernel))
			learn_kernel(p, r);
		break;
	case HRR_R_RANGE:
	case HRR_R_REGION: {
		const struct hrr_rec_region *g = (const struct hrr_rec_region *)(const void *)r;
		if (r->size < sizeof *g)
			break;
		learn_range(p, g->base, g->size, HRR_MEM_HSA, r->words != 0);
		if (r->type == HRR_R_RANGE)
			break;
		struct hrr_region x = {.add = r->words != 0,
				       .segment = true,
				       .kind_known = true,
				       .device = (int)r->ret,
				       .base = g->base,
				       .size = r->words != 0 ? g->size : 0,
				       .t = r->t,
				       .tag = "hsa pool",
				       .tag_len = 8};
		hrr_write_region(&p->out, p->p, &x);
		p->regions++;
		break;
	}
	case HRR_R_RUNTIME:
		if (r->size >= sizeof(struct hrr_rec_runtime))
			print_runtime(p, r);
		break;
	case HRR_R_MARKER:
		if (r->size >= sizeof(struct hrr_rec_marker))
			print_marker(p, q, r);
		break;
	default:
		break;
	}
}

static bool group_done(struct process *p)
{
	struct queue *q = p->group;
	const struct hrr_rec *r;

	while ((r = queue_peek(q)) != NULL) {
		if (r->type == HRR_R_OUTPUT && r->size >= sizeof(struct hrr_rec_output))
			print_output(p, q, r);
		bool end = r->type != HRR_R_OUTPUT;
		if (!end || r->type == HRR_R_END)
			queue_next(q, r);
		if (end) {
			p->group = NULL;
			return true;
		}
	}
	return false;
}

/* The call at the front of q, whose number is next. False: it has not returned. */
static bool take_call(struct process *p, struct queue *q, bool final)
{
	const struct hrr_rec *r = queue_peek(q), *leave = r;

	if (r->type == HRR_R_ENTER) {
		uint64_t at = q->rd + r->size;
		leave = queue_at(q, at);
		while (leave != NULL && leave->type == HRR_R_PAD) {
			at += leave->size;
			leave = queue_at(q, at);
		}
		if (leave != NULL && leave->type != HRR_R_LEAVE) {
			q->damaged = true;
			return false;
		}
		if (leave == NULL) {
			if (!final)
				return false;
			print_call(p, q, r, false);
			p->cut = true;
			queue_next(q, r);
			p->next++;
			return true;
		}
		q->rd = at;
	}
	bool left = (leave->flags & HRR_F_LEFT) != 0;
	if (left) {
		if (leave == r)
			r = q->entered.len != 0 ? (const void *)q->entered.data : NULL;
		if (r != NULL)
			print_call(p, q, r, false);
		else
			add_gap(p, p->next);
	} else {
		print_call(p, q, leave, true);
	}
	q->entered.len = 0;
	bool more = (leave->flags & HRR_F_MORE) != 0;
	queue_next(q, leave);
	p->next++;
	if (more) {
		p->group = q;
		group_done(p);
	}
	return true;
}

void add_gap(struct process *p, uint64_t seq)
{
	known_note(p, &(struct saved){.what = SAVED_GAP, .u.gap = seq});
	if (p->n_gaps == MAX_GAPS)
		return;
	if (p->n_gaps == p->cap_gaps) {
		size_t cap = p->cap_gaps ? p->cap_gaps * 2 : 16;
		uint64_t *g = realloc(p->gaps, cap * sizeof *g);
		if (g == NULL)
			return;
		p->gaps = g;
		p->cap_gaps = cap;
	}
	p->gaps[p->n_gaps++] = seq;
}

static void open_rings(struct process *p, uint32_t n)
{
	char path[4352], spill[4352];

	while (p->n_q < n && n < 65536) {
		if (p->n_q == p->cap_q) {
			uint32_t cap = p->cap_q ? p->cap_q * 2 : 8;
			ptrdiff_t group = p->group != NULL ? p->group - p->q : -1;
			struct queue *q = realloc(p->q, cap * sizeof *q);
			if (q == NULL)
				return;
			p->q = q;
			p->cap_q = cap;
			p->group = group >= 0 ? q + group : NULL;
		}
		p->q[p->n_q++] = (struct queue){.spill_fd = -1};
	}
	for (uint32_t i = 0; i < p->n_q; i++) {
		if (p->q[i].ring != NULL)
			continue;
		process_path(p, "r", i, path, sizeof path);
		process_path(p, "s", i, spill, sizeof spill);
		int rc = queue_open(&p->q[i], path, spill, p->c->recover ? (int)p->slot : -1);
		if (rc < 0 && rc != -ENOENT && rc != -EAGAIN) { /* these: not there yet */
			struct hrr_diag diag = {0};
			hrr_diag_set(&diag, rc, "cannot take up a thread's ring: %s",
				     strerror(-rc));
			fail_output(p->c, &diag);
		}
	}
}

static void make_room(struct process *p)
{
	char path[4352];

	for (uint32_t i = 0; i < p->n_q; i++) {
		struct queue *q = &p->q[i];
		if (q->ring == NULL)
			continue;
		if (q->damaged || q->head - q->tail <= q->size / 2)
			continue;
		if (q->spill_end == 0 && q->head - q->rd <= q->size / 4)
			continue; /* printed, and given back by the flush that follows */
		process_path(p, "s", i, path, sizeof path);
		queue_spill(q, path);
	}
}

int process_drain(struct process *p, bool final)
{
	/* First the last number given, then the rings: what a number up to it follows is there. */
	uint64_t limit = atomic_load_explicit(&p->ctl->seq, memory_order_acquire);
	uint64_t before = p->next, out = p->out.len;

	if (final)
		limit = NONE / 2 - 1;
	open_rings(p, atomic_load_explicit(&p->ctl->rings, memory_order_acquire));
	if (p->regroup != 0 && p->regroup <= p->n_q && p->q[p->regroup - 1].ring != NULL)
		p->group = &p->q[p->regroup - 1];
	p->regroup = 0;
	for (uint32_t i = 0; i < p->n_q; i++) {
		struct queue *q = &p->q[i];
		q->key = NONE;
		if (q->ring == NULL)
			continue;
		queue_look(q);
		if (p->group != q)
			look(q);
	}
	for (;;) {
		if (p->group != NULL) {
			struct queue *g = p->group;
			if (!group_done(p) && !final)
				break;
			p->group = NULL;
			look(g);
		}
		struct queue *best = NULL;
		uint64_t second = NONE;
		for (uint32_t i = 0; i < p->n_q; i++) {
			uint64_t k = p->q[i].key;
			if (best == NULL || k < best->key) {
				second = best != NULL ? best->key : NONE;
				best = &p->q[i];
			} else if (k < second) {
				second = k;
			}
		}
		if (best == NULL || best->key == NONE)
			break;
		bool stuck = false;
		while (best->key <= second && best->key != NONE && p->group == NULL) {
			uint64_t seq = best->key / 2;
			if ((best->key & 1) == 0) {
				if (seq > limit || (seq > p->next && !final)) {
					stuck = true;
					break;
				}
				/* A number that has been, or more unused ones than can be. */
				if (seq < p->next || seq - p->next > MAX_GAPS - p->n_gaps) {
					best->damaged = true;
					look(best);
					break;
				}
				for (; final && p->next < seq; p->next++)
					add_gap(p, p->next); /* its call never came to write it */
				if (!take_call(p, best, final)) {
					stuck = true;
					break;
				}
			} else {
				const struct hrr_rec *r = queue_peek(best);
				if (seq >= p->next && !final) {
					stuck = true;
					break;
				}
				learn(p, best, r);
				queue_next(best, r);
			}
			if (p->group == NULL)
				look(best);
			if (p->out.len > (256 << 10) || p->held > p->c->hub->arena_size / 8)
				process_flush(p);
		}
		if (stuck)
			break;
	}
	bool moved = p->next != before || p->out.len != out;
	process_flush(p);
	make_room(p);
	return moved;
}
