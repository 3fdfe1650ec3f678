#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/replay/engine.h"

/*
 * The end, in one order whatever led to it: stop issuing, wait for the device, end
 * captures and destroy graph executables, unregister, free device memory, unmap. A
 * device that cannot be waited for may still write: nothing it could write to is given back.
 */

static void streams_end(struct hrr_replay *r)
{
	struct hrr_held_map *m = &r->held[HRR_H_EVENT];

	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].recorded != 0)
			HRR_CALL(r, hipEventDestroy, m->slot[i].live);
	if (r->fill_event != 0)
		HRR_CALL(r, hipEventDestroy, r->fill_event);
	m = &r->held[HRR_H_STREAM];
	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].recorded != 0)
			HRR_CALL(r, hipStreamDestroy, m->slot[i].live);
	for (int d = 0; d < HRR_MAX_DEVICES; d++)
		if (r->fill_stream[d] != 0)
			HRR_CALL(r, hipStreamDestroy, r->fill_stream[d]);
}

/* Bookkeeping only: the run time is not asked for anything. */
static void forget(struct hrr_replay *r)
{
	while (r->deferred != NULL) {
		struct hrr_deferred *d = r->deferred;
		r->deferred = d->next;
		if (d->kind == HRR_DEFER_UNREGISTER && d->reg != NULL)
			free(d->reg);
		free(d);
	}
	while (r->staged != NULL) {
		struct hrr_staged *s = r->staged;
		r->staged = s->next;
		free(s); /* its bytes may still be read: they stay */
	}
}

static int free_mem(void *self, const struct hrr_range *x)
{
	(void)self;
	hrr_mem_discard(x->value);
	return 0;
}

static void mem_forget(struct hrr_replay *r)
{
	hrr_ranges_each(r->map, free_mem, NULL);
	hrr_ranges_free(r->map);
	hrr_ranges_free(r->hostmap);
	r->map = r->hostmap = NULL;
	while (r->dead != NULL) {
		struct hrr_mem *m = r->dead;
		r->dead = m->next;
		hrr_mem_discard(m);
	}
}

int hrr_replay_finish(struct hrr_replay *r, struct hrr_diag *diag)
{
	int rc;

	if (r->finished)
		return 0;
	if (!r->timed_out && !r->v.trouble)
		hrr_outputs_due(r, UINT64_MAX); /* their calls are not in the stream */
	hrr_early_release(r);
	r->finished = true;
	r->v.host_charged = hrr_pages_charged(r->pages);
	if (!r->timed_out)
		hrr_graph_end_captures(r, HRR_ALL_DEVICES);
	rc = r->timed_out ? -ETIMEDOUT : hrr_wait_all(r);
	bool idle = rc == 0 || rc == -EPROTO; /* a device error is an end, too */
	if (rc == -EPROTO) {
		struct hrr_outcome o = {
		    .kind = HRR_FAILED, .seq = r->seq, .node = -1, .text = r->diag.what};
		hrr_report(r, &o);
		hrr_settled(r);
	}
	hrr_memcheck_tell(r);
	if (!idle) {
		r->abandoned = r->v.abandoned = true;
		hrr_diag_set(diag, -ETIMEDOUT,
			     "the device could not be waited for: what it may still write is left "
			     "alone");
	}
	hrr_graph_end(r, idle);
	hrr_host_end(r, idle);
	hrr_module_end(r);
	if (idle) {
		streams_end(r);
		hrr_arrays_end(r);
		hrr_mem_end(r);
		hrr_place_end(r);
	} else {
		forget(r);
		mem_forget(r);
		r->place = NULL; /* left alone */
	}
	hrr_blocks_free(r->blocks, !idle);
	r->blocks = NULL;
	hrr_landing_end(r, !idle);
	return idle ? 0 : -ETIMEDOUT;
}

void hrr_replay_free(struct hrr_replay *r)
{
	if (r == NULL)
		return;
	if (!r->finished)
		hrr_replay_finish(r, NULL);
	for (int i = 0; i < HRR_H_COUNT; i++)
		hrr_held_release(&r->held[i]);
	hrr_held_release(&r->ended);
	hrr_held_release(&r->gone);
	free(r->anywhere.pending);
	hrr_held_release(&r->blocked);
	hrr_held_release(&r->unplayed);
	hrr_memcheck_end(r);
	hrr_pages_free(r->pages);
	hrr_timeline_free(r->timeline);
	hrr_scratch_release(r);
	hrr_buf_release(&r->tag);
	if (r->nowhere != NULL)
		munmap(r->nowhere, HRR_PAGE);
	free(r->threads);
	free(r);
}
