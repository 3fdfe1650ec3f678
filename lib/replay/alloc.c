#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/* Allocations and what gives them back. */

#define LLU(x) ((unsigned long long)(x))

/* Recorded base and size of what a device allocation made. */
static int read_alloc(struct hrr_replay *r, struct hrr_event *ev, uint64_t *base, uint64_t *size)
{
	uint64_t pitch;

	if (hrr_api_param(ev->api, "pitchedDevPtr", 13) >= 0) {
		const struct hipPitchedPtr *p =
		    (const void *)(uintptr_t)hrr_arg_of(ev, "pitchedDevPtr");
		const struct hipExtent *x = (const void *)(uintptr_t)hrr_arg_of(ev, "extent");
		if (p == NULL || x == NULL)
			return hrr_fail(r, "its structures were not recorded");
		*base = HRR_P(p->ptr);
		if (__builtin_mul_overflow(p->pitch, x->height, size) ||
		    __builtin_mul_overflow(*size, x->depth, size))
			return hrr_fail(r, "the box is larger than memory");
		return 0;
	}
	*base = ev->w[0]; /* every other one returns the address first */
	if (hrr_api_param(ev->api, "pitch", 5) >= 0) {
		pitch = hrr_arg_of(ev, "pitch");
		if (__builtin_mul_overflow(pitch, hrr_arg_of(ev, "height"), size))
			return hrr_fail(r, "the rectangle is larger than memory");
		return 0;
	}
	*size = hrr_arg_of(ev, "size") | hrr_arg_of(ev, "sizeBytes");
	return 0;
}

/* Ranges that must be gone, since something new is at their addresses: their release is missing. */
static void drop_overlaps(struct hrr_replay *r, uint64_t base, uint64_t size)
{
	uint64_t at = base, end = base + size;

	while (at < end) {
		const struct hrr_range *x = hrr_ranges_overlap(r->map, at, end - at);
		if (x == NULL)
			return;
		struct hrr_mem *m = x->value;
		at = x->base + x->size;
		if (m->kind == HRR_MEM_REGISTERED || m->kind == HRR_MEM_SEGMENT)
			continue;
		hrr_warn(r, r->seq, NULL,
			 "%s 0x%llx + %llu is still there at 0x%llx: its release is not in the "
			 "stream",
			 hrr_mem_kind_name(m->kind), LLU(m->base), LLU(m->size), LLU(base));
		hrr_mem_drop(r, m, r->seq);
	}
}

int hrr_do_alloc(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t base = 0, size = 0, stream = 0;
	int i = hrr_api_param(ev->api, "stream", 6);
	int rc = read_alloc(r, ev, &base, &size);

	if (rc == 0 && i >= 0)
		rc = hrr_stream(r, ev, ev->w[i], false, &stream);
	if (rc < 0 || base == 0 || size == 0)
		return rc;
	if (base + size < base)
		return hrr_fail(r, "0x%llx + %llu is no range of addresses", LLU(base), LLU(size));
	if (hrr_ranges_overlap(r->map, base, size) != NULL)
		drop_overlaps(r, base, size);
	struct hrr_mem *m = hrr_mem_new(r, HRR_MEM_DEVICE, base, size);
	if (m == NULL)
		return -ENOMEM;
	rc = hrr_mem_back(r, m, stream);
	if (rc < 0) {
		free(m);
		return rc;
	}
	rc = hrr_mem_enter(r, m);
	if (rc < 0)
		hrr_mem_drop(r, m, r->seq);
	return rc;
}

/* Memory whose address the run time chooses: issued as recorded. */
static int chosen(struct hrr_replay *r, struct hrr_event *ev, enum hrr_mem_kind kind,
		  enum hrr_mem_free how)
{
	uint64_t base = ev->w[0], size = ev->w[1], live = 0, dev = 0;
	int saved;

	if (base == 0 || size == 0)
		return 0;
	if (base + size < base)
		return hrr_fail(r, "0x%llx + %llu is no range of addresses", LLU(base), LLU(size));
	int rc = hrr_host_room(r, size);
	if (rc < 0)
		return rc;
	if (hrr_ranges_overlap(r->map, base, size) != NULL)
		drop_overlaps(r, base, size);
	memcpy(ev->live, ev->w, sizeof ev->live);
	ev->live[0] = HRR_P(&live);
	hrr_relax(r, &saved);
	int64_t e = hrr_call(r, ev->api, ev->live);
	hrr_unrelax(r, saved);
	if (e == hipErrorOutOfMemory && r->captures == 0 && r->dead != NULL && hrr_wait_all(r) == 0)
		e = hrr_call(r, ev->api, ev->live);
	rc = hrr_settle(r, ev, e);
	if (e != hipSuccess)
		return rc;
	struct hrr_mem *m = hrr_mem_new(r, kind, base, size);
	if (m == NULL)
		return -ENOMEM;
	m->host_counted = true;
	r->host_bytes += size;
	m->live = m->host = live;
	m->how = how;
	if (kind == HRR_MEM_PINNED &&
	    HRR_CALL(r, hipHostGetDevicePointer, HRR_P(&dev), live, 0) == hipSuccess && dev != 0)
		m->live = dev;
	r->used[r->device] = true;
	memset((void *)(uintptr_t)live, r->opt.fill_byte, size);
	rc = hrr_mem_enter(r, m);
	if (rc < 0)
		hrr_mem_drop(r, m, r->seq);
	return rc;
}

int hrr_do_host_alloc(struct hrr_replay *r, struct hrr_event *ev)
{
	return chosen(r, ev, HRR_MEM_PINNED, HRR_FREE_HOST);
}

int hrr_do_managed(struct hrr_replay *r, struct hrr_event *ev)
{
	return chosen(r, ev, HRR_MEM_MANAGED, HRR_FREE_DEVICE);
}

int hrr_managed_new(struct hrr_replay *r, uint64_t base, uint64_t size)
{
	uint64_t live = 0;
	char buf[32];

	if (base + size < base)
		return hrr_fail(r, "0x%llx + %llu is no range of addresses", LLU(base), LLU(size));
	if (hrr_ranges_overlap(r->map, base, size) != NULL)
		drop_overlaps(r, base, size);
	int rc = hrr_host_room(r, size);
	if (rc < 0)
		return rc;
	int64_t e = HRR_CALL(r, hipMallocManaged, HRR_P(&live), size, 1);
	if (e != hipSuccess)
		return hrr_fail(r, "no memory for it: %s", hrr_error_text(e, buf));
	struct hrr_mem *m = hrr_mem_new(r, HRR_MEM_MANAGED, base, size);
	if (m == NULL) {
		HRR_CALL(r, hipFree, live);
		return -ENOMEM;
	}
	m->live = m->host = live;
	m->how = HRR_FREE_DEVICE;
	m->host_counted = true;
	r->host_bytes += size;
	r->used[r->device] = true;
	memset((void *)(uintptr_t)live, 0, size);
	rc = hrr_mem_enter(r, m);
	if (rc < 0)
		hrr_mem_drop(r, m, r->seq);
	return rc;
}

int hrr_graph_memory(struct hrr_replay *r, uint64_t base, uint64_t size, uint64_t live,
		     struct hrr_mem **ret)
{
	if (hrr_ranges_overlap(r->map, base, size) != NULL)
		drop_overlaps(r, base, size);
	struct hrr_mem *m = hrr_mem_new(r, HRR_MEM_DEVICE, base, size);
	if (m == NULL)
		return -ENOMEM;
	m->live = live;
	m->how = HRR_FREE_GRAPH;
	int rc = hrr_mem_enter(r, m);
	if (rc < 0)
		hrr_mem_drop(r, m, r->seq);
	*ret = rc == 0 ? m : NULL;
	return rc;
}

static int give_back(struct hrr_replay *r, struct hrr_event *ev, const struct hrr_ranges *in,
		     unsigned kinds, bool waits)
{
	uint64_t base = ev->w[0];

	if (base == 0)
		return 0;
	const struct hrr_range *x = hrr_ranges_at(in, base);
	struct hrr_mem *m = x != NULL ? x->value : NULL;
	if (m == NULL || (kinds >> m->kind & 1) == 0) {
		struct hrr_buf b = {0};
		hrr_explain(r, base, &b);
		const char *s = hrr_buf_str(&b);
		int rc = hrr_fail(r, "0x%llx is no allocation of this stream%s", LLU(base),
				  s != NULL ? s : "");
		hrr_buf_release(&b);
		return rc;
	}
	if (m->how == HRR_FREE_GRAPH) { /* left over by a graph, whose next launch makes it anew */
		int s = hrr_api_param(ev->api, "stream", 6);
		int rc = s >= 0 ? hrr_stream(r, ev, ev->w[s], false, &ev->live[s]) : 0;
		ev->live[0] = m->live;
		return rc < 0 ? rc : hrr_issue(r, ev);
	}
	hrr_mem_drop(r, m, ev->seq);
	r->owed_wait = r->owed_wait || waits;
	return hrr_settle_if_idle(r);
}

int hrr_do_free(struct hrr_replay *r, struct hrr_event *ev)
{
	/* Run times take pinned memory here, too. */
	return give_back(r, ev, r->map,
			 1u << HRR_MEM_DEVICE | 1u << HRR_MEM_MANAGED | 1u << HRR_MEM_PINNED, true);
}

int hrr_do_free_async(struct hrr_replay *r, struct hrr_event *ev)
{
	return give_back(r, ev, r->map, 1u << HRR_MEM_DEVICE, false);
}

int hrr_do_host_free(struct hrr_replay *r, struct hrr_event *ev)
{
	return give_back(r, ev, r->hostmap, 1u << HRR_MEM_PINNED, true);
}

/* The device's address of host memory may be another number than the host's. */
int hrr_do_host_pointer(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t dev = ev->w[0], host = ev->w[1], got = 0;
	struct hrr_operand op = {"host address", host, 0, -1};
	struct hrr_where w;
	int rc = hrr_translate(r, &op, HRR_END_HOST, &w);

	if (rc < 0)
		return rc;
	ev->live[0] = HRR_P(&got);
	ev->live[1] = w.live;
	ev->live[2] = ev->w[2];
	rc = hrr_issue(r, ev);
	if (rc < 0 || w.mem == NULL)
		return rc;
	uint64_t off = host - w.mem->base;
	if (dev == host || dev < off)
		return 0;
	const struct hrr_range *x = hrr_ranges_at(r->map, dev - off);
	if (x != NULL && ((struct hrr_mem *)x->value)->kind == HRR_MEM_ALIAS) {
		struct hrr_mem *old = x->value;
		if (old->of == w.mem)
			return 0;
		hrr_mem_drop(r, old, r->seq);
	}
	struct hrr_mem *m = hrr_mem_new(r, HRR_MEM_ALIAS, dev - off, w.mem->size);
	if (m == NULL)
		return -ENOMEM;
	m->live = w.mem->live;
	rc = hrr_mem_enter(r, m);
	if (rc < 0) {
		free(m);
		return rc;
	}
	m->of = w.mem;
	w.mem->n_aliases++;
	return 0;
}

int hrr_do_peer(struct hrr_replay *r, struct hrr_event *ev)
{
	int peer = (int)ev->w[0];
	int rc;

	ev->live[0] = ev->w[0];
	ev->live[1] = ev->w[1];
	rc = hrr_issue(r, ev);
	return rc < 0 || ev->api != HRR_API_hipDeviceEnablePeerAccess
		   ? rc
		   : hrr_place_peer(r, peer, r->device);
}
