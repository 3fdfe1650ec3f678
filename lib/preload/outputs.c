#include "lib/preload/preload.h"

#include <stdlib.h>
#include <string.h>

/* What a call made known, into the ring: outputs that were on their way (pending.c). */

static void write_output(struct hrr_thread *t, const struct hrr_pending *p, uint64_t addr,
			 const struct hrr_rect *rect, bool freed, uint64_t at)
{
	hrr_b_begin(t, HRR_R_OUTPUT, 0);
	if (!hrr_b_room(t, sizeof(struct hrr_rec_output))) {
		hrr_b_commit(t);
		return;
	}
	struct hrr_rec_output *o = (struct hrr_rec_output *)(void *)t->start;
	memset((char *)o + sizeof o->r, 0, sizeof *o - sizeof o->r);
	t->p = t->start + sizeof *o;
	o->call = p->call;
	o->node = p->node;
	if (rect->height > 1 || rect->depth > 1) {
		o->width = rect->width;
		o->height = rect->height;
		o->depth = rect->depth;
		o->pitch = rect->pitch;
		o->slice = rect->slice;
	}
	o->r.t = at;
	if (freed)
		o->b = (struct hrr_bytes){addr, hrr_rect_bytes(rect), HRR_NO_FILE};
	else
		hrr_bytes_rec(t, offsetof(struct hrr_rec_output, b), (const void *)(uintptr_t)addr,
			      rect, false);
	hrr_b_commit(t);
}

struct writing {
	struct hrr_thread *t;
	struct hrr_pending *p;
	uint64_t at;
};

static void changed_piece(void *self, uint64_t addr, uint64_t size)
{
	struct writing *w = self;
	struct hrr_rect r = {size, 1, 1, size, size};

	write_output(w->t, w->p, addr, &r, false, w->at);
}

static void end_of_group(struct hrr_thread *t)
{
	hrr_b_begin(t, HRR_R_END, 0);
	t->must = true; /* the reader waits for it */
	if (!hrr_b_commit(t))
		atomic_store(&hrr_proc->hub->off, HRR_OFF_ALONE);
	t->must = false;
}

void hrr_outputs_write(struct hrr_call *c)
{
	uint64_t at = hrr_now() - hrr_proc->ctl->t0;

	for (struct hrr_pending *p = c->outputs; p != NULL;) {
		struct hrr_pending *next = p->next;
		/* What hipHostFree took away is nobody's to read any more. */
		bool freed = p->host != NULL && p->host->freed;
		if (freed && p->kernel) {
			;
		} else if (p->kernel) {
			struct writing w = {c->t, p, at};
			hrr_host_changed(p->host, changed_piece, &w);
		} else {
			write_output(c->t, p, p->addr, &p->rect, freed, at);
			if (p->host != NULL && !freed)
				hrr_host_settle(p->host, p->addr, p->rect.width);
		}
		if (p->host != NULL)
			hrr_host_unref(p->host);
		free(p);
		p = next;
	}
	c->outputs = NULL;
	end_of_group(c->t);
}
