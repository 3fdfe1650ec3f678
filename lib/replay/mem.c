#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/replay/engine.h"

/* The map of memory: what is live at which recorded address, and what becomes of it. */

static const char *const kind_names[] = {
    [HRR_MEM_DEVICE] = "device memory",
    [HRR_MEM_MANAGED] = "managed memory",
    [HRR_MEM_PINNED] = "pinned host memory",
    [HRR_MEM_REGISTERED] = "registered host memory",
    [HRR_MEM_ALIAS] = "an address of a symbol or of host memory",
    [HRR_MEM_SEGMENT] = "segment",
};

const char *hrr_mem_kind_name(enum hrr_mem_kind kind)
{
	return kind_names[kind];
}

struct hrr_mem *hrr_mem_new(struct hrr_replay *r, enum hrr_mem_kind kind, uint64_t base,
			    uint64_t size)
{
	struct hrr_mem *m = calloc(1, sizeof *m);

	if (m == NULL) {
		hrr_trouble(r, -ENOMEM, "out of memory");
		return NULL;
	}
	m->kind = kind;
	m->base = base;
	m->size = size;
	m->device = r->device;
	m->seq = r->seq;
	return m;
}

int hrr_mem_enter(struct hrr_replay *r, struct hrr_mem *m)
{
	int rc = hrr_ranges_add(r->map, m->base, m->size, m);

	if (rc == 0 && m->host != 0) {
		rc = hrr_ranges_add(r->hostmap, m->base, m->size, m);
		if (rc < 0)
			hrr_ranges_del(r->map, m->base, m);
	}
	if (rc == 0)
		return 0;
	if (rc == -ENOMEM)
		return hrr_trouble(r, rc, "out of memory");
	return hrr_fail(r, "0x%llx + %llu is no range of addresses", (unsigned long long)m->base,
			(unsigned long long)m->size);
}

struct alias {
	const struct hrr_mem *of;
	struct hrr_mem *found;
};

static int find_alias(void *self, const struct hrr_range *x)
{
	struct alias *a = self;
	struct hrr_mem *m = x->value;

	a->found = m->of == a->of ? m : NULL;
	return a->found != NULL;
}

void hrr_mem_drop(struct hrr_replay *r, struct hrr_mem *m, uint64_t seq)
{
	struct alias a = {.of = m};

	if (m->of != NULL)
		m->of->n_aliases--;
	m->of = NULL;
	while (m->n_aliases != 0 && hrr_ranges_each(r->map, find_alias, &a) != 0)
		hrr_mem_drop(r, a.found, seq);
	hrr_memcheck_mem_gone(r, m);
	hrr_blocks_forget(r, m);
	hrr_ranges_del(r->map, m->base, m);
	if (m->host != 0)
		hrr_ranges_del(r->hostmap, m->base, m);
	r->past[r->n_past++ % HRR_PAST] =
	    (struct hrr_past){m->base, m->size, seq, r->line, m->kind};
	m->dead = true;
	m->freed_seq = seq;
	m->freed_line = r->line;
	m->next = r->dead;
	r->dead = m;
}

int hrr_host_room(struct hrr_replay *r, uint64_t size)
{
	uint64_t used = r->host_bytes + r->landing_bytes, limit = r->opt.max_host_bytes;

	if (limit == 0)
		limit = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	if (used <= limit && size <= limit - used)
		return 0;
	return hrr_refuse(r,
			  "%llu bytes of host memory: %llu are in use, the limit is %llu "
			  "(--max-host-bytes, else the machine's)",
			  (unsigned long long)size, (unsigned long long)used,
			  (unsigned long long)limit);
}

static int mem_free(struct hrr_replay *r, struct hrr_mem *m)
{
	int64_t e = hipSuccess;
	int rc = 0, device = r->device;
	char buf[32];

	switch (m->how) {
	case HRR_FREE_DEVICE:
		rc = hrr_set_device(r, m->device);
		if (rc == 0)
			e = HRR_CALL(r, hipFree, m->live);
		break;
	case HRR_FREE_HOST:
		e = HRR_CALL(r, hipHostFree, m->host);
		break;
	case HRR_FREE_PLACED:
		hrr_place_release(r, m);
		break;
	case HRR_FREE_NONE:
	case HRR_FREE_GRAPH:
		break;
	}
	if (e != hipSuccess)
		rc = hrr_fail(r, "freeing %s 0x%llx: %s", hrr_mem_kind_name(m->kind),
			      (unsigned long long)m->base, hrr_error_text(e, buf));
	if (m->region != NULL)
		m->region->user = NULL;
	if (m->host_counted)
		r->host_bytes -= m->size;
	hrr_mem_discard(m);
	int rc2 = hrr_set_device(r, device);
	return rc < 0 ? rc : rc2;
}

void hrr_mem_discard(struct hrr_mem *m)
{
	free(m->pending);
	free(m->told);
	free(m);
}

int hrr_mem_reap(struct hrr_replay *r)
{
	for (struct hrr_mem **at = &r->dead; *at != NULL;) {
		struct hrr_mem *m = *at;
		if (m->graph_refs != 0) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		uint64_t seq = m->freed_seq, line = m->freed_line;
		const char *api =
		    hrr_api_table[m->how == HRR_FREE_HOST ? HRR_API_hipHostFree : HRR_API_hipFree]
			.name;
		if (mem_free(r, m) < 0)
			hrr_late_failure(r, api, seq, line);
	}
	return 0;
}

/* --- fresh memory ---------------------------------------------------------- */

static uint64_t fill_stream(struct hrr_replay *r)
{
	uint64_t *s = &r->fill_stream[r->device];

	if (*s == 0) {
		const uint64_t non_blocking = 1;
		if (HRR_CALL(r, hipStreamCreateWithFlags, HRR_P(s), non_blocking) != hipSuccess)
			*s = 0;
	}
	return *s;
}

/*
 * Fills on a stream of the engine's own, so that no recorded stream is ordered
 * by it. Inside an open capture nothing waits: the fill is queued, and what is
 * issued outside the capture is ordered behind it; what the capture holds runs after its end.
 */
int hrr_mem_fill(struct hrr_replay *r, uint64_t live, uint64_t size, uint64_t stream)
{
	uint64_t byte = (uint64_t)r->opt.fill_byte;
	int64_t e;
	char buf[32];
	int saved;

	if (stream != 0 && r->captures == 0) {
		e = HRR_CALL(r, hipMemsetAsync, live, byte, size, stream);
	} else {
		hrr_relax(r, &saved);
		uint64_t s = fill_stream(r);
		e = s != 0 ? HRR_CALL(r, hipMemsetAsync, live, byte, size, s)
			   : HRR_CALL(r, hipMemset, live, byte, size);
		if (e == hipSuccess && r->captures != 0) {
			if (r->fill_event == 0)
				HRR_CALL(r, hipEventCreateWithFlags, HRR_P(&r->fill_event), 2);
			HRR_CALL(r, hipEventRecord, r->fill_event, s);
			r->fill_pending = true;
		} else if (e == hipSuccess) {
			e = HRR_CALL(r, hipStreamSynchronize, s);
		}
		hrr_unrelax(r, saved);
	}
	return e == hipSuccess ? 0
			       : hrr_fail(r, "filling %llu bytes of fresh memory: %s",
					  (unsigned long long)size, hrr_error_text(e, buf));
}

int hrr_mem_fill_now(struct hrr_replay *r, uint64_t live, uint64_t size)
{
	int rc = hrr_mem_fill(r, live, size, 0), saved;

	if (rc < 0 || r->captures == 0)
		return rc;
	hrr_relax(r, &saved);
	rc = hrr_wait_stream(r, fill_stream(r));
	hrr_unrelax(r, saved);
	return rc;
}

void hrr_order_fills(struct hrr_replay *r, uint64_t live_stream)
{
	if (r->fill_pending && r->fill_event != 0 && live_stream != 0)
		HRR_CALL(r, hipStreamWaitEvent, live_stream, r->fill_event, 0);
}

void hrr_flush_fills(struct hrr_replay *r)
{
	if (!r->fill_pending || r->captures != 0)
		return;
	for (int d = 0; d < HRR_MAX_DEVICES; d++)
		if (r->fill_stream[d] != 0)
			hrr_wait_stream(r, r->fill_stream[d]);
	r->fill_pending = false;
}

static int mem_alloc(struct hrr_replay *r, struct hrr_mem *m)
{
	char buf[32];

	m->how = HRR_FREE_NONE;
	int rc = hrr_place_alloc(r, m);
	if (rc < 0)
		return rc;
	if (rc > 0) {
		m->how = HRR_FREE_PLACED;
		m->live = m->base;
		return 0;
	}
	int64_t e = HRR_CALL(r, hipMalloc, HRR_P(&m->live), m->size);
	if (e != hipSuccess) {
		int err = e == hipErrorOutOfMemory ? -ENOMEM : -EPROTO;
		hrr_fail(r, "%llu bytes of device memory for 0x%llx: %s",
			 (unsigned long long)m->size, (unsigned long long)m->base,
			 hrr_error_text(e, buf));
		return err;
	}
	m->how = HRR_FREE_DEVICE;
	return 0;
}

static void mem_undo(struct hrr_replay *r, struct hrr_mem *m)
{
	if (m->how == HRR_FREE_PLACED)
		hrr_place_release(r, m);
	else
		HRR_CALL(r, hipFree, m->live);
	m->how = HRR_FREE_NONE;
}

/*
 * What a segment shares its addresses with (an allocation the annotation spans, too) shares its
 * storage where both are placed, and has bytes by now: those stay.
 */
static int fill_fresh(struct hrr_replay *r, const struct hrr_mem *m, uint64_t stream)
{
	uint64_t end = m->base + m->size, stop;
	int rc = 0;

	if (m->kind != HRR_MEM_SEGMENT || m->how != HRR_FREE_PLACED)
		return hrr_mem_fill(r, m->live, m->size, stream);
	for (uint64_t at = m->base; rc == 0 && at < end; at = stop) {
		const struct hrr_range *x = hrr_ranges_overlap(r->map, at, end - at);
		bool in = x != NULL && x->base <= at;
		bool placed =
		    x != NULL && ((const struct hrr_mem *)x->value)->how == HRR_FREE_PLACED;
		stop = x == NULL ? end : in ? x->base + x->size : x->base;
		stop = stop < end ? stop : end;
		if (!in || !placed)
			rc = hrr_mem_fill(r, m->live + (at - m->base), stop - at, stream);
	}
	return rc;
}

int hrr_mem_back(struct hrr_replay *r, struct hrr_mem *m, uint64_t stream)
{
	int saved, rc, device = r->device;

	/* Memory of an earlier life at these addresses: its work has to end first. */
	for (struct hrr_mem *d = r->dead; d != NULL && stream == 0 && r->captures == 0; d = d->next)
		if (d->how == HRR_FREE_PLACED && d->base < m->base + m->size &&
		    m->base < d->base + d->size) {
			rc = hrr_wait_all(r);
			if (rc < 0)
				return rc;
			break;
		}
	rc = hrr_set_device(r, m->device);
	if (rc < 0)
		return rc;
	hrr_relax(r, &saved);
	rc = mem_alloc(r, m);
	if (rc == -ENOMEM && r->captures == 0 && (r->dead != NULL || r->deferred != NULL) &&
	    hrr_wait_all(r) == 0)
		rc = mem_alloc(r, m); /* what was only put off is free now */
	hrr_unrelax(r, saved);
	if (rc == 0) {
		rc = fill_fresh(r, m, stream);
		if (rc < 0)
			mem_undo(r, m);
	}
	if (rc == 0)
		hrr_memcheck_mem(r, m);
	if (rc == 0) {
		r->used[m->device] = true;
		if (m->how == HRR_FREE_PLACED)
			r->v.placed++;
		else if (r->v.not_placed++ == 0)
			r->v.not_placed_first = m->base;
	}
	int rc2 = hrr_set_device(r, device);
	return rc < 0 ? rc : rc2;
}

static int drop_one(void *self, const struct hrr_range *x)
{
	struct hrr_mem *m = x->value;
	struct hrr_mem **list = self;

	if (!m->dead) {
		m->dead = true;
		m->next = *list;
		*list = m;
	}
	return 0;
}

void hrr_mem_end(struct hrr_replay *r)
{
	hrr_ranges_each(r->map, drop_one, &r->dead);
	hrr_ranges_free(r->map);
	hrr_ranges_free(r->hostmap);
	r->map = r->hostmap = NULL;
	for (struct hrr_mem *m = r->dead; m != NULL; m = m->next)
		m->graph_refs = 0;
	while (r->dead != NULL)
		hrr_mem_reap(r);
}
