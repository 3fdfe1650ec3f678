#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/* Streams, events, waiting, and what follows the recorded thread. */

static bool is_spt(const struct hrr_event *ev)
{
	return strstr(ev->row->name, "_spt") != NULL;
}

int hrr_do_stream_destroy(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t recorded = ev->w[0], live;

	if (hrr_held_find(&r->held[HRR_H_STREAM], recorded) == NULL &&
	    hrr_held_find(&r->ended, recorded) != NULL) {
		hrr_held_del(&r->ended, recorded); /* programs release what a reset took, too */
		return 0;
	}
	int rc = hrr_stream(r, ev, recorded, false, &live);
	if (rc < 0 || live == 0)
		return rc;
	struct hrr_graph *g = hrr_capture_of(r, recorded);
	/* Unfinished work of a destroyed stream could not be asked for any more. */
	bool busy = g == NULL && HRR_CALL(r, hipStreamQuery, live) == hipErrorNotReady;
	rc = hrr_stream_gone(r, hrr_held_find(&r->held[HRR_H_STREAM], recorded), busy);
	hrr_held_del(&r->held[HRR_H_STREAM], recorded);
	if (rc < 0)
		return rc;
	if (busy)
		return hrr_defer(r, HRR_DEFER_STREAM, ev, recorded, live, NULL);
	ev->live[0] = live;
	return hrr_issue(r, ev);
}

int hrr_do_event_record(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t recorded = ev->w[0], event, stream;
	int s = hrr_api_param(ev->api, "stream", 6);
	uint64_t rs = s >= 0 ? ev->w[s] : 0, key = hrr_stream_key(ev, rs, is_spt(ev));
	enum hrr_api api = ev->api == HRR_API_hipEventRecord_spt ? HRR_API_hipEventRecord : ev->api;
	int rc = hrr_handle(r, ev, HRR_H_EVENT, recorded, &event);

	if (rc == 0)
		rc = hrr_stream(r, ev, rs, is_spt(ev), &stream);
	if (rc < 0)
		return rc;
	memcpy(ev->live, ev->w, sizeof ev->live);
	ev->live[0] = event;
	ev->live[1] = stream;
	rc = hrr_settle(r, ev, hrr_call(r, api, ev->live));
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_EVENT], recorded);
	if (rc == 0 && h != NULL) {
		h->info = hrr_capture_of(r, key);
		h->owner = hrr_work_key(r, key);
		h->when = ev->seq;
	}
	return rc;
}

int hrr_do_stream_wait(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t event, stream, key = hrr_stream_key(ev, ev->w[0], is_spt(ev));
	int rc = hrr_stream(r, ev, ev->w[0], is_spt(ev), &stream);

	if (rc == 0)
		rc = hrr_handle(r, ev, HRR_H_EVENT, ev->w[1], &event);
	if (rc < 0)
		return rc;
	rc = hrr_settle(r, ev, HRR_CALL(r, hipStreamWaitEvent, stream, event, ev->w[2]));
	if (rc < 0 || r->captures == 0)
		return rc;
	/* Waiting for an event of a capture joins it. */
	struct hrr_held *e = hrr_held_find(&r->held[HRR_H_EVENT], ev->w[1]);
	struct hrr_held *s = hrr_held_find(&r->held[HRR_H_STREAM], key);
	if (e != NULL && s != NULL && e->info != NULL)
		s->info = e->info;
	return 0;
}

static void note_event_wait(struct hrr_replay *r, uint64_t recorded)
{
	const struct hrr_held *h = hrr_held_find(&r->held[HRR_H_EVENT], recorded);

	if (h != NULL && h->when != 0)
		hrr_note_wait(r, h->owner, h->when);
}

/* A device error found while waiting is what the recorded call gets to say. */
static int waited_for(struct hrr_replay *r, int rc)
{
	if (rc == -EPROTO && !r->trouble) {
		r->diag.what[0] = '\0';
		return 0;
	}
	return rc;
}

int hrr_do_sync(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t live = 0;
	int rc = 0;

	switch (ev->row->sync) {
	case HRR_SYNC_STREAM:
		rc = hrr_stream(r, ev, ev->w[0], is_spt(ev), &live);
		if (rc == 0)
			rc = waited_for(r, hrr_wait_stream(r, live));
		if (rc < 0)
			return rc;
		rc = hrr_settle(r, ev, HRR_CALL(r, hipStreamSynchronize, live));
		if (rc == 0)
			hrr_note_wait(r, hrr_stream_key(ev, ev->w[0], is_spt(ev)), ev->seq);
		break;
	case HRR_SYNC_EVENT:
		rc = hrr_handle(r, ev, HRR_H_EVENT, ev->w[0], &live);
		if (rc == 0)
			rc = waited_for(r, hrr_wait_event(r, live));
		if (rc < 0)
			return rc;
		rc = hrr_settle(r, ev, HRR_CALL(r, hipEventSynchronize, live));
		if (rc == 0)
			note_event_wait(r, ev->w[0]);
		break;
	default:
		rc = waited_for(r, hrr_wait_all(r));
		if (rc == 0)
			rc = hrr_issue(r, ev);
		return rc;
	}
	int rc2 = hrr_settle_if_idle(r);
	return rc < 0 ? rc : rc2;
}

/* A query recorded as done is waited for; one recorded as not ready is timing, left out. */
int hrr_do_query(struct hrr_replay *r, struct hrr_event *ev)
{
	bool event = ev->api == HRR_API_hipEventQuery;
	uint64_t live;
	int rc = event ? hrr_handle(r, ev, HRR_H_EVENT, ev->w[0], &live)
		       : hrr_stream(r, ev, ev->w[0], is_spt(ev), &live);

	if (rc == 0)
		rc = event ? hrr_wait_event(r, live) : hrr_wait_stream(r, live);
	if (rc < 0)
		return rc;
	if (event)
		note_event_wait(r, ev->w[0]);
	else
		hrr_note_wait(r, hrr_stream_key(ev, ev->w[0], is_spt(ev)), ev->seq);
	return hrr_settle_if_idle(r);
}

int hrr_do_set_device(struct hrr_replay *r, struct hrr_event *ev)
{
	int rc = hrr_set_device(r, (int)ev->w[0]);

	if (rc == 0)
		ev->th->device = (int)ev->w[0];
	return rc;
}

/* The run time's last error is that of one thread; recorded threads each have their own. */
int hrr_do_last_error(struct hrr_replay *r, struct hrr_event *ev)
{
	HRR_CALL(r, hipGetLastError, 0);
	if (ev->api == HRR_API_hipGetLastError)
		ev->th->last_error = hipSuccess;
	return 0;
}

/*
 * What a thread may do while a capture is open follows the recorded thread: play() relaxes around
 * its calls. The run time's own mode, of the one thread there is, stays as it was.
 */
int hrr_do_capture_mode(struct hrr_replay *r, struct hrr_event *ev)
{
	ev->th->capture_mode = (int)ev->w[0];
	return hrr_do_ignored(r, ev);
}

int hrr_do_ignored(struct hrr_replay *r, struct hrr_event *ev)
{
	(void)ev;
	r->v.no_effect++;
	r->v.issued--;
	return 0;
}

/*
 * Everything of the device goes. The engine's own reservations have to survive, so
 * each thing is released by itself and the run time is not reset.
 */
struct reset {
	int device;
	struct hrr_mem *found;
};

static int find_on_device(void *self, const struct hrr_range *x)
{
	struct reset *s = self;
	struct hrr_mem *m = x->value;

	if (m->device != s->device || m->kind == HRR_MEM_SEGMENT || m->kind == HRR_MEM_REGISTERED)
		return 0;
	s->found = m;
	return 1;
}

static int find_registered(void *self, const struct hrr_range *x)
{
	struct reset *s = self;
	struct hrr_mem *m = x->value;

	if (m->kind != HRR_MEM_REGISTERED || m->reg == NULL || m->reg->device != s->device)
		return 0;
	s->found = m;
	return 1;
}

int hrr_do_device_reset(struct hrr_replay *r, struct hrr_event *ev)
{
	bool named = ev->api == HRR_API_hipDevicePrimaryCtxReset;
	struct reset s = {.device = named ? (int)ev->w[0] : r->device};
	int rc = hrr_wait_all(r);

	if (rc < 0)
		return rc;
	if (s.device < 0 || s.device >= r->n_devices || s.device >= HRR_MAX_DEVICES)
		return hrr_fail(r, "device %d: this run time has %d", s.device, r->n_devices);
	hrr_graph_reset(r, s.device);
	hrr_note_device_wait(r, s.device, ev->seq);
	while (s.found = NULL, hrr_ranges_each(r->hostmap, find_registered, &s) != 0) {
		struct hrr_registration *g = s.found->reg;
		s.found->reg = NULL;
		hrr_mem_drop(r, s.found, ev->seq);
		hrr_unregister_now(r, g);
	}
	while (s.found = NULL, hrr_ranges_each(r->map, find_on_device, &s) != 0)
		hrr_mem_drop(r, s.found, ev->seq);
	struct hrr_held_map *m = &r->held[HRR_H_STREAM];
	for (size_t i = 0; i < m->cap; i++)
		while (m->slot[i].recorded != 0 && m->slot[i].device == s.device) {
			HRR_CALL(r, hipStreamDestroy, m->slot[i].live);
			struct hrr_held *x = hrr_held_add(&r->ended, m->slot[i].recorded, 0);
			if (x == NULL)
				return hrr_trouble(r, -ENOMEM, "out of memory");
			x->device = s.device;
			hrr_held_del(m, m->slot[i].recorded);
		}
	/* What registered objects hold in their variables starts anew. */
	for (size_t i = 0; i < r->objects.cap; i++) {
		struct hrr_object *o = r->objects.slot[i].info;
		if (r->objects.slot[i].recorded == 0 || o->module[s.device] == 0)
			continue;
		HRR_CALL(r, hipModuleUnload, o->module[s.device]);
		o->module[s.device] = 0;
	}
	for (size_t i = 0; i < r->functions.cap; i++)
		if (r->functions.slot[i].recorded != 0)
			((struct hrr_function *)r->functions.slot[i].info)->live[s.device] = 0;
	return hrr_settled(r);
}

int hrr_do_refused(struct hrr_replay *r, struct hrr_event *ev)
{
	(void)ev;
	return hrr_refuse(r, "is not replayed");
}

/* Waiting for and writing values in memory, in stream order. */
int hrr_do_value(struct hrr_replay *r, struct hrr_event *ev)
{
	int rc = hrr_host_bytes(r, ev, NULL);

	if (ev->api == HRR_API_hipStreamWaitValue32 || ev->api == HRR_API_hipStreamWaitValue64)
		r->value_waits = true;
	return rc < 0 ? rc : hrr_do_generic(r, ev);
}
