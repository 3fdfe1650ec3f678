#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/* What a program reserves and maps by itself: ranges of addresses, and memory behind them. */

#define LLU(x) ((unsigned long long)(x))

/* Recorded address reservations: inside a placed span the addresses are ours already. */
int hrr_do_vmm(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t base = ev->w[0], size = ev->w[1], live = base;

	if (ev->api == HRR_API_hipMemAddressFree) {
		const struct hrr_range *x = hrr_ranges_at(r->map, base);
		struct hrr_mem *m = x != NULL ? x->value : NULL;
		if (m == NULL)
			return hrr_fail(r, "0x%llx was not reserved in this stream", LLU(base));
		int rc = 0;
		if (m->owner != 0) {
			ev->live[0] = m->live;
			ev->live[1] = size;
			rc = hrr_issue(r, ev);
		}
		hrr_mem_drop(r, m, ev->seq);
		return rc;
	}
	if (base == 0 || size == 0 || base + size < base)
		return hrr_fail(r, "0x%llx + %llu is no range of addresses", LLU(base), LLU(size));
	struct hrr_mem *m = hrr_mem_new(r, HRR_MEM_DEVICE, base, size);
	if (m == NULL)
		return -ENOMEM;
	int rc = 0;
	if (!hrr_place_covers(r, base, size)) {
		memcpy(ev->live, ev->w, sizeof ev->live);
		ev->live[0] = HRR_P(&live);
		ev->live[3] = r->opt.no_placement ? 0 : base;
		rc = hrr_issue(r, ev);
		m->owner = 1;
	}
	m->live = live;
	if (rc == 0)
		rc = hrr_mem_enter(r, m);
	if (rc < 0)
		free(m);
	return rc;
}

/*
 * Fills memory that has no address yet, at one that is given back at once. The wait is for a stream
 * of the engine's own, which an open capture lets pass.
 */
static int fill(struct hrr_replay *r, uint64_t handle, uint64_t size)
{
	struct hipMemAccessDesc desc = {.location.type = hipMemLocationTypeDevice,
					.location.id = r->device,
					.flags = hipMemAccessFlagsProtReadWrite};
	uint64_t at = 0;
	char buf[32];
	int rc = 0;

	int64_t e = HRR_CALL(r, hipMemAddressReserve, HRR_P(&at), size, 0, 0, 0);
	if (e != hipSuccess)
		goto fail;
	e = HRR_CALL(r, hipMemMap, at, size, 0, handle, 0);
	if (e == hipSuccess) {
		e = HRR_CALL(r, hipMemSetAccess, at, size, HRR_P(&desc), 1);
		if (e == hipSuccess)
			rc = hrr_mem_fill_now(r, at, size);
		HRR_CALL(r, hipMemUnmap, at, size);
	}
	HRR_CALL(r, hipMemAddressFree, at, size);
fail:
	return e == hipSuccess ? rc
			       : hrr_fail(r, "filling %llu bytes of fresh memory: %s", LLU(size),
					  hrr_error_text(e, buf));
}

int hrr_do_mem_create(struct hrr_replay *r, struct hrr_event *ev)
{
	int rc = hrr_do_generic(r, ev), device = r->device, saved;
	const struct hrr_held *h = hrr_held_find(&r->held[HRR_H_MEMHANDLE], ev->w[0]);
	const void *prop = (const void *)(uintptr_t)ev->w[2];
	const struct hrr_struct *st = hrr_struct_at(ev->row->params[2].st, r->hip->layout);

	if (rc < 0 || h == NULL || prop == NULL)
		return rc;
	uint64_t handle = h->live;
	if (hrr_field(st, prop, "location.type") == hipMemLocationTypeDevice)
		rc = hrr_set_device(r, (int)hrr_field(st, prop, "location.id"));
	if (rc == 0) {
		hrr_relax(r, &saved);
		rc = fill(r, handle, ev->w[1]);
		hrr_unrelax(r, saved);
	}
	int rc2 = hrr_set_device(r, device);
	return rc < 0 ? rc : rc2;
}
