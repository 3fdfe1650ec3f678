#include <errno.h>

#include "lib/replay/engine.h"

/*
 * What the recorded program had waited for, by stream and seq. Replay waits on its own account,
 * too: that says nothing of what the program saw, so it is kept apart (r->waited). A stream that is
 * destroyed leaves its number to the next one, and goes on under another here: its work may be
 * unfinished, and events in it can be waited for later.
 */
#define NULL_STREAMS ((uint64_t)0xfffd << 48) /* and a device: no stream has such a number */
#define GONE_STREAMS ((uint64_t)0xfffc << 48) /* and which */

uint64_t hrr_work_key(const struct hrr_replay *r, uint64_t key)
{
	return key != 0 ? key : NULL_STREAMS | (uint64_t)r->device;
}

/* An archive may say otherwise. */
static bool of_null(uint64_t key)
{
	return key - NULL_STREAMS < HRR_MAX_DEVICES;
}

const struct hrr_held *hrr_work_stream(const struct hrr_replay *r, uint64_t key)
{
	const struct hrr_held *h = hrr_held_find(&r->held[HRR_H_STREAM], key);

	return h != NULL ? h : hrr_held_find(&r->gone, key);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t all_awaited(const struct hrr_replay *r)
{
	uint64_t seq = r->device_awaited[0];

	for (int d = 1; d < r->n_devices && d < HRR_MAX_DEVICES; d++)
		if (r->used[d] && r->device_awaited[d] < seq)
			seq = r->device_awaited[d];
	return seq;
}

uint64_t hrr_awaited(const struct hrr_replay *r, uint64_t key)
{
	if (of_null(key)) {
		uint64_t d = key - NULL_STREAMS;
		return later(r->null_awaited[d], r->device_awaited[d]);
	}
	const struct hrr_held *h = key != 0 ? hrr_work_stream(r, key) : NULL;
	if (h == NULL || h->device < 0 || h->device >= HRR_MAX_DEVICES)
		return all_awaited(r);
	uint64_t seq = later(h->when, r->device_awaited[h->device]);
	/* Streams that are not apart are waited for with the null stream. */
	return h->extra == HRR_STREAM_APART ? seq : later(seq, r->null_awaited[h->device]);
}

void hrr_note_wait(struct hrr_replay *r, uint64_t key, uint64_t seq)
{
	key = hrr_work_key(r, key);
	if (of_null(key)) {
		uint64_t *at = &r->null_awaited[key - NULL_STREAMS];
		*at = later(*at, seq);
		return;
	}
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_STREAM], key);
	if (h == NULL)
		h = hrr_held_find(&r->gone, key);
	if (h != NULL)
		h->when = later(h->when, seq);
}

void hrr_note_device_wait(struct hrr_replay *r, int device, uint64_t seq)
{
	if (device < 0 || device >= HRR_MAX_DEVICES)
		return;
	r->device_awaited[device] = later(r->device_awaited[device], seq);
	if (r->gone.n != 0 && all_awaited(r) >= seq)
		hrr_held_release(&r->gone);
}

void hrr_note_return(struct hrr_replay *r, struct hrr_thread *th)
{
	if (th->owes == 0)
		return;
	hrr_note_device_wait(r, th->owes_device, th->owes);
	r->owed_back = r->owed_back || (th->owes_late && r->owed_wait);
	th->owes = 0;
}

int hrr_wait_owed(struct hrr_replay *r)
{
	return r->owed_back && r->captures == 0 ? hrr_wait_all(r) : 0;
}

static bool events_follow(struct hrr_replay *r, uint64_t key, uint64_t to)
{
	const struct hrr_held_map *m = &r->held[HRR_H_EVENT];
	bool any = false;

	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].recorded != 0 && m->slot[i].owner == key &&
		    m->slot[i].when > hrr_awaited(r, key)) {
			m->slot[i].owner = to;
			any = true;
		}
	return any;
}

int hrr_stream_gone(struct hrr_replay *r, const struct hrr_held *stream, bool busy)
{
	const struct hrr_held was = *stream;
	uint64_t to = GONE_STREAMS | (++r->n_gone & 0xffffffffffff);
	bool any = events_follow(r, was.recorded, to);

	any = hrr_pending_follows(r, was.recorded, to) || any;
	if (busy)
		any = hrr_landings_follow(r, was.recorded, to) || any;
	if (!any)
		return 0;
	struct hrr_held *h = hrr_held_add(&r->gone, to, busy ? was.live : 0);
	if (h == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	h->when = was.when;
	h->device = was.device;
	h->extra = was.extra;
	return 0;
}
