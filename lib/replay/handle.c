#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/* Recorded handle -> live handle: open addressing with linear probing, deletion by shifting back.
 */

#define HELD_FIRST 64
#define STREAM_LEGACY 1
#define STREAM_PER_THREAD 2

static size_t held_hash(uint64_t k)
{
	k ^= k >> 32;
	k *= 0x9e3779b97f4a7c15u;
	return (size_t)(k >> 20);
}

struct hrr_held *hrr_held_find(const struct hrr_held_map *m, uint64_t recorded)
{
	if (m->n == 0 || recorded == 0)
		return NULL;
	for (size_t i = held_hash(recorded) & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
		if (m->slot[i].recorded == recorded)
			return &m->slot[i];
		if (m->slot[i].recorded == 0)
			return NULL;
	}
}

static struct hrr_held *held_slot(struct hrr_held_map *m, uint64_t recorded)
{
	size_t i = held_hash(recorded) & (m->cap - 1);

	while (m->slot[i].recorded != 0 && m->slot[i].recorded != recorded)
		i = (i + 1) & (m->cap - 1);
	return &m->slot[i];
}

static int held_grow(struct hrr_held_map *m)
{
	struct hrr_held_map bigger = {.cap = m->cap == 0 ? HELD_FIRST : m->cap * 2, .n = m->n};

	bigger.slot = calloc(bigger.cap, sizeof *bigger.slot);
	if (bigger.slot == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].recorded != 0)
			*held_slot(&bigger, m->slot[i].recorded) = m->slot[i];
	free(m->slot);
	*m = bigger;
	return 0;
}

struct hrr_held *hrr_held_add(struct hrr_held_map *m, uint64_t recorded, uint64_t live)
{
	if (recorded == 0 || (m->n * 2 >= m->cap && held_grow(m) < 0))
		return NULL;
	struct hrr_held *h = held_slot(m, recorded);
	if (h->recorded == 0)
		m->n++;
	*h = (struct hrr_held){.recorded = recorded, .live = live};
	return h;
}

void hrr_held_del(struct hrr_held_map *m, uint64_t recorded)
{
	struct hrr_held *h = hrr_held_find(m, recorded);

	if (h == NULL)
		return;
	size_t hole = (size_t)(h - m->slot), mask = m->cap - 1;
	for (size_t i = (hole + 1) & mask; m->slot[i].recorded != 0; i = (i + 1) & mask) {
		size_t home = held_hash(m->slot[i].recorded) & mask;
		/* Moves back only when its home is not between the hole and itself. */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			m->slot[hole] = m->slot[i];
			hole = i;
		}
	}
	m->slot[hole] = (struct hrr_held){0};
	m->n--;
}

void hrr_held_release(struct hrr_held_map *m)
{
	free(m->slot);
	*m = (struct hrr_held_map){0};
}

int hrr_handle(struct hrr_replay *r, const struct hrr_event *ev, enum hrr_handle type,
	       uint64_t recorded, uint64_t *ret)
{
	if (recorded == 0) {
		*ret = 0;
		return 0;
	}
	if (type == HRR_H_STREAM)
		return hrr_stream(r, ev, recorded, false, ret);
	struct hrr_held *h = hrr_held_find(&r->held[type], recorded);
	if (h == NULL)
		return hrr_fail(r,
				"%s 0x%llx was not made in this stream: the call that made it may "
				"be missing (cut, filtered, or refused)",
				hrr_handle_names[type], (unsigned long long)recorded);
	if (type == HRR_H_GRAPH && h->live == 0 && h->info != NULL)
		return hrr_refuse(r, "graph 0x%llx: %s", (unsigned long long)recorded,
				  ((const struct hrr_graph *)h->info)->bad);
	*ret = h->live;
	return 0;
}

/*
 * The per-thread default stream of a recorded thread is one blocking stream of
 * its own, since it waits for and is waited for by the null stream. It is held under a number no
 * recorded handle has.
 */
uint64_t hrr_stream_key(const struct hrr_event *ev, uint64_t recorded, bool spt)
{
	if ((recorded == 0 && spt) || recorded == STREAM_PER_THREAD)
		return (uint64_t)0xfffe << 48 | (uint64_t)(unsigned)ev->th->device << 40 |
		       (ev->th->tid & 0xffffffffff);
	return recorded == STREAM_LEGACY ? 0 : recorded;
}

static int thread_stream(struct hrr_replay *r, const struct hrr_event *ev, uint64_t key,
			 uint64_t *ret)
{
	uint64_t s = 0;
	int saved;
	char buf[32];

	hrr_relax(r, &saved);
	int64_t e = HRR_CALL(r, hipStreamCreateWithFlags, HRR_P(&s), 0);
	hrr_unrelax(r, saved);
	if (e != hipSuccess)
		return hrr_fail(r, "no stream for thread %llu: %s", (unsigned long long)ev->th->tid,
				hrr_error_text(e, buf));
	struct hrr_held *h = hrr_held_add(&r->held[HRR_H_STREAM], key, s);
	if (h == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	h->device = ev->th->device;
	*ret = s;
	return 0;
}

int hrr_stream(struct hrr_replay *r, const struct hrr_event *ev, uint64_t recorded, bool spt,
	       uint64_t *ret)
{
	uint64_t key = hrr_stream_key(ev, recorded, spt);

	if (key == 0) {
		*ret = 0;
		return 0;
	}
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_STREAM], key);
	if (h != NULL) {
		*ret = h->live;
		return 0;
	}
	if (key != recorded)
		return thread_stream(r, ev, key, ret);
	h = hrr_held_find(&r->ended, recorded);
	if (h != NULL)
		return hrr_fail(r, "stream 0x%llx ended when device %d was reset",
				(unsigned long long)recorded, h->device);
	return hrr_fail(r,
			"stream 0x%llx was not made in this stream of calls: the call that made it "
			"may be missing (cut, filtered, or refused)",
			(unsigned long long)recorded);
}

struct hrr_graph *hrr_capture_of(struct hrr_replay *r, uint64_t stream_key)
{
	if (r->captures == 0)
		return NULL;
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_STREAM], stream_key);
	return h != NULL ? h->info : NULL;
}
