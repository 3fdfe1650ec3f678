#include "lib/hip/array_format.h"
#include "lib/replay/engine.h"

/*
 * HIP arrays: handles of memory that has no address. Copies from and to them are
 * copies with one end left to the run time; textures on them are not replayed.
 */

/* Bytes of an element, by what the call was given; 0: it does not say. */
static uint32_t element(const struct hrr_event *ev)
{
	const void *p = (const void *)(uintptr_t)ev->w[1];

	if (p == NULL)
		return 0;
	if (ev->api == HRR_API_hipArrayCreate) {
		const struct HIP_ARRAY_DESCRIPTOR *d = p;
		return d->NumChannels <= 4 ? hrr_array_format_bytes(d->Format) * d->NumChannels : 0;
	}
	if (ev->api == HRR_API_hipArray3DCreate) {
		const struct HIP_ARRAY3D_DESCRIPTOR *d = p;
		return d->NumChannels <= 4 ? hrr_array_format_bytes(d->Format) * d->NumChannels : 0;
	}
	const struct hipChannelFormatDesc *d = p;
	int64_t bits = (int64_t)d->x + d->y + d->z + d->w;
	return bits > 0 && bits <= 4 * 64 ? (uint32_t)bits / 8 : 0;
}

int hrr_do_array(struct hrr_replay *r, struct hrr_event *ev)
{
	int rc = hrr_do_generic(r, ev);
	struct hrr_held *h = hrr_held_find(&r->held[HRR_H_ARRAY], ev->w[0]);

	if (rc == 0 && ev->row->release < 0 && h != NULL)
		h->extra = element(ev);
	return rc;
}

int hrr_array_end_of(struct hrr_replay *r, struct hrr_event *ev, const void *recorded, bool dst,
		     struct hrr_copy *c)
{
	int rc =
	    hrr_handle(r, ev, HRR_H_ARRAY, HRR_P(recorded), dst ? &c->dst_array : &c->src_array);
	const struct hrr_held *h = hrr_held_find(&r->held[HRR_H_ARRAY], HRR_P(recorded));

	if (rc == 0 && recorded != NULL) {
		if (h == NULL || h->extra == 0)
			return hrr_fail(r, "array 0x%llx: its format is not known",
					(unsigned long long)HRR_P(recorded));
		c->element = h->extra;
	}
	return rc;
}

void hrr_arrays_end(struct hrr_replay *r)
{
	struct hrr_held_map *m = &r->held[HRR_H_ARRAY];

	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].recorded != 0)
			HRR_CALL(r, hipFreeArray, m->slot[i].live);
}
