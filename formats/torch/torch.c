#include "formats/torch/torch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "formats/torch/history.h"
#include "lib/base/utf8.h"

#define TICK 1000 /* ns: the history counts microseconds */
/* Ticks with more changes than this keep their order without looking for what overlaps. */
#define TICK_MAX 64
#define T_MAX ((UINT64_C(1) << 53) - 1) /* formats/events: what an integer may be */

/* A change that waits for its tick to be whole. */
struct change {
	struct hrr_region r;
	uint64_t size;
	int frames;
};

struct import {
	struct hrr_buf *b;
	const struct hrr_torch_options *opt;
	struct hrr_torch_stats *stats;
	const struct hrr_torch_snapshot *s;
	uint64_t zero, t0;	  /* of the sidecar: ns since 1970, and on the stream's clock */
	uint64_t begin;		  /* of the stream, ns since 1970 */
	struct hrr_timeline *old; /* what is live where the stream begins, until then */
	uint64_t t;		  /* of the tick, µs since 1970 */
	struct hrr_buf tick;	  /* of struct change */
	struct hrr_buf tag;
	uint64_t inside;
	bool out_of_range;
};

/* --- tags --- */

/* NAME FILE:LINE of a frame. False when it is none that says anything. */
static bool add_frame(struct import *m, int frame)
{
	const struct hrr_pickle *p = &m->s->pickle;
	size_t name_len, file_len;
	const char *name = hrr_pickle_str(p, hrr_pickle_get(p, frame, "name"), &name_len);
	const char *file = hrr_pickle_str(p, hrr_pickle_get(p, frame, "filename"), &file_len);
	uint64_t line = 0;

	if (name == NULL || file == NULL || (file_len == 2 && memcmp(file, "??", 2) == 0))
		return false;
	/* Names are bounded before they are looked at: one may stand in many frames. */
	if (file_len > HRR_TORCH_MAX_TAG) {
		file += file_len - HRR_TORCH_MAX_TAG;
		file_len = HRR_TORCH_MAX_TAG;
	}
	const char *slash = memrchr(file, '/', file_len);
	if (slash != NULL) {
		file_len -= (size_t)(slash + 1 - file);
		file = slash + 1;
	}
	(void)hrr_pickle_u64(p, hrr_pickle_get(p, frame, "line"), &line);
	int bad = m->tag.len > 0 ? hrr_buf_adds(&m->tag, " < ") : 0;
	bad |=
	    hrr_buf_add(&m->tag, name, name_len < HRR_TORCH_MAX_TAG ? name_len : HRR_TORCH_MAX_TAG);
	bad |= hrr_buf_addc(&m->tag, ' ');
	bad |= hrr_buf_add(&m->tag, file, file_len);
	bad |= hrr_buf_addc(&m->tag, ':');
	bad |= hrr_buf_addu(&m->tag, line);
	return bad == 0;
}

static void frames_tag(struct import *m, int frames)
{
	const struct hrr_pickle *p = &m->s->pickle;
	unsigned n = 0, seen = 0;

	m->tag.len = 0;
	for (uint32_t c = hrr_pickle_first(p, frames);
	     c != 0 && n < m->opt->frames && seen < 4 * HRR_TORCH_MAX_FRAMES;
	     c = hrr_pickle_next(p, c), seen++) {
		size_t before = m->tag.len;
		if (!add_frame(m, hrr_pickle_item(p, c))) {
			m->tag.len = before;
			continue;
		}
		n++;
		if (m->tag.len <= HRR_TORCH_MAX_TAG)
			continue;
		/* Whole frames, but for a first one that is too long by itself. */
		m->tag.len = before;
		if (before == 0 && add_frame(m, hrr_pickle_item(p, c))) {
			size_t at = 0, len;
			while ((len = hrr_utf8_len((const unsigned char *)m->tag.data + at,
						   m->tag.len - at)) > 0 &&
			       at + len <= HRR_TORCH_MAX_TAG)
				at += len;
			m->tag.len = at;
		}
		return;
	}
}

/* --- writing --- */

static int write_change(struct import *m, const struct change *c, uint64_t t)
{
	struct hrr_region r = c->r;

	r.t = t;
	if (r.add && m->opt->frames > 0 && c->frames >= 0) {
		frames_tag(m, c->frames);
		if (m->tag.len > 0) {
			r.tag = m->tag.data;
			r.tag_len = m->tag.len;
		}
	}
	if (r.add)
		m->stats->adds++;
	else
		m->stats->dels++;
	return hrr_write_region(m->b, -1, &r);
}

static int write_old(void *self, const struct hrr_range *x)
{
	struct import *m = self;
	const struct hrr_live_region *live = x->value;
	const struct change c = {.r = {.add = true,
				       .segment = live->segment,
				       .kind_known = true,
				       .device = live->device,
				       .base = live->base,
				       .size = live->size},
				 /* One more, so that 0 is none. */
				 .frames = (int)(intptr_t)live->user - 1};

	return write_change(m, &c, HRR_NO_TIME);
}

/* The stream begins: what is live then was there before. */
static int begin(struct import *m)
{
	int rc = hrr_ranges_each(hrr_timeline_ranges(m->old, true), write_old, m);

	if (rc == 0)
		rc = hrr_ranges_each(hrr_timeline_ranges(m->old, false), write_old, m);
	hrr_timeline_free(m->old);
	m->old = NULL;
	return rc;
}

static int apply_old(struct import *m, const struct change *c)
{
	int rc = hrr_timeline_apply(m->old, &c->r, NULL, NULL);

	if (rc < 0 || !c->r.add)
		return rc < 0 ? rc : 0;
	const struct hrr_ranges *all = hrr_timeline_ranges(m->old, c->r.segment);
	const struct hrr_range *x = hrr_ranges_at(all, c->r.base);
	if (x != NULL && ((struct hrr_live_region *)x->value)->device == c->r.device)
		((struct hrr_live_region *)x->value)->user = (void *)((intptr_t)c->frames + 1);
	return 0;
}

static bool overlap(const struct change *a, const struct change *b)
{
	return a->r.device == b->r.device && a->r.base <= b->r.base + (b->size - 1) &&
	       b->r.base <= a->r.base + (a->size - 1);
}

/*
 * A tick says only that something happened within it. A call inside the same tick
 * that still used a block must find it, and one that already uses a block, too: what
 * comes acts at the tick's begin, what goes at its end, unless something comes at
 * its place within the tick. Then the order of the history holds.
 */
static bool goes_late(const struct change *c, size_t i, size_t n)
{
	if (c[i].r.add || n > TICK_MAX)
		return false;
	for (size_t j = i + 1; j < n; j++)
		if (c[j].r.add && overlap(&c[i], &c[j]))
			return false;
	return true;
}

static int end_tick(struct import *m)
{
	struct change *c = (void *)m->tick.data;
	size_t n = m->tick.len / sizeof *c;
	uint64_t now = m->t * TICK;
	int rc = 0;

	m->tick.len = 0;
	if (n == 0)
		return 0;
	if (m->opt->realtime != 0 && now + (TICK - 1) < m->begin) {
		m->stats->before += n;
		for (size_t i = 0; rc == 0 && i < n; i++)
			rc = apply_old(m, &c[i]);
		return rc;
	}
	if (m->old != NULL)
		rc = begin(m);
	uint64_t end = now + (TICK - 1) - m->zero;
	now = now < m->zero ? 0 : now - m->zero;
	if (end > T_MAX) {
		m->out_of_range = true;
		return -ERANGE;
	}
	if (m->opt->end != HRR_NO_TIME && now > m->opt->end)
		m->stats->after += n;
	else
		m->inside += n;
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (!goes_late(c, i, n))
			rc = write_change(m, &c[i], now);
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (goes_late(c, i, n))
			rc = write_change(m, &c[i], end);
	return rc;
}

static int put(void *self, struct hrr_region *r, uint64_t t, uint64_t size, int frames)
{
	struct import *m = self;
	const struct change c = {*r, size, frames};
	int rc = 0;

	if (t == HRR_NO_TIME)
		return apply_old(m, &c);
	if (t != m->t)
		rc = end_tick(m);
	m->t = t;
	return rc < 0 ? rc : hrr_buf_add(&m->tick, &c, sizeof c);
}

static int write_head(struct import *m)
{
	bool own = m->opt->realtime == 0;
	struct hrr_buf *b = m->b;
	int bad = hrr_buf_addf(b, "{\"regions\":1,\"clock\":\"%s\",\"resolution\":%d",
			       own ? "realtime" : "monotonic", m->zero % TICK == 0 ? TICK : 1);

	if (!own || m->zero != 0)
		bad |= hrr_buf_addf(b, ",\"t0\":\"%llu\"",
				    (unsigned long long)(own ? m->zero : m->t0));
	if (m->opt->pid >= 0)
		bad |= hrr_buf_addf(b, ",\"pid\":%lld", (long long)m->opt->pid);
	bad |= hrr_buf_adds(b, "}\n");
	return bad != 0 ? -ENOMEM : 0;
}

static uint64_t first_time(const struct hrr_torch_snapshot *s)
{
	uint64_t t = s->n_events > 0 ? UINT64_MAX : 0;

	for (size_t i = 0; i < s->n_events; i++)
		if (hrr_torch_events(s)[i].t < t)
			t = hrr_torch_events(s)[i].t;
	return t * TICK;
}

static int import(struct import *m, struct hrr_torch_snapshot *s)
{
	const struct hrr_torch_sink sink = {put, m};

	m->old = hrr_timeline_new();
	if (m->old == NULL)
		return -ENOMEM;
	m->zero = m->opt->realtime != 0 ? m->opt->realtime : first_time(s);
	m->t0 = m->opt->t0;
	m->begin = m->zero;
	/* Its zero is a tick's begin, so that a reader knows the ticks (formats/regions). */
	uint64_t off = m->zero % TICK;
	if (m->t0 >= off) {
		m->zero -= off;
		m->t0 -= off;
	}
	int rc = write_head(m);
	if (rc == 0)
		rc = hrr_torch_history(s, &sink, m->stats);
	if (rc == 0)
		rc = end_tick(m);
	if (rc == 0 && m->old != NULL)
		rc = begin(m);
	return rc;
}

int hrr_torch_import(struct hrr_buf *b, const void *data, size_t len,
		     const struct hrr_torch_options *opt, struct hrr_torch_stats *ret,
		     struct hrr_diag *diag)
{
	struct hrr_torch_snapshot s;
	struct hrr_torch_stats stats = {0};
	struct import m = {.b = b, .opt = opt, .stats = &stats, .s = &s};
	size_t before = b->len;
	int rc = hrr_torch_read(&s, data, len, diag);

	if (rc < 0)
		return rc;
	stats.segments = s.n_segments;
	stats.blocks = s.n_blocks;
	stats.events = s.n_events;
	stats.devices = s.devices;
	stats.backward = s.backward;
	stats.empty = s.empty;
	stats.unknown = s.unknown;
	memcpy(stats.unknown_name, s.unknown_name, sizeof stats.unknown_name);
	stats.no_times = s.no_times;
	rc = import(&m, &s);
	uint64_t stamped = m.inside + stats.before + stats.after;
	stats.clock_suspect = opt->realtime != 0 && stamped > 0 && m.inside * 10 < stamped;
	hrr_timeline_free(m.old);
	hrr_buf_release(&m.tick);
	hrr_buf_release(&m.tag);
	hrr_torch_release(&s);
	if (rc == 0) {
		*ret = stats;
		return 0;
	}
	b->len = before;
	if (m.out_of_range)
		return hrr_diag_set(diag, rc,
				    "the history runs more than 2^53 ns past the stream's begin: "
				    "it is not of this run");
	return hrr_diag_set(diag, rc, "out of memory");
}

int hrr_torch_warnings(const struct hrr_torch_stats *st, struct hrr_buf *b)
{
	int bad = 0;

	if (st->no_times)
		bad |= hrr_buf_adds(b, "its history has no times (PyTorch before 2.1): left out\n");
	if (st->unknown > 0)
		bad |= hrr_buf_addf(b, "%" PRIu64 " events of a kind not known left out (%s)\n",
				    st->unknown, st->unknown_name);
	if (st->backward > 0)
		bad |= hrr_buf_addf(b, "%" PRIu64 " events stamped before their predecessor\n",
				    st->backward);
	if (st->unmatched + st->differ > 0)
		bad |= hrr_buf_addf(b,
				    "its history does not fit: %" PRIu64
				    " events without match, %" PRIu64
				    " addresses left otherwise than it says\n",
				    st->unmatched, st->differ);
	if (st->clock_suspect)
		bad |= hrr_buf_addf(b,
				    "its clock is hardly the stream's: of what it says %" PRIu64
				    " changes are before and %" PRIu64 " after\n",
				    st->before, st->after);
	return bad;
}
