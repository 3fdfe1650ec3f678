#include <errno.h>
#include <string.h>

#include "lib/replay/engine.h"

/* The memset family. */

#define LLU(x) ((unsigned long long)(x))

static enum hrr_api sibling(enum hrr_api api, bool *ret_spt, bool *ret_wait)
{
	*ret_wait = false;
	*ret_spt = true;
	switch (api) {
	case HRR_API_hipMemset_spt:
	case HRR_API_hipMemsetAsync_spt:
		return HRR_API_hipMemsetAsync;
	case HRR_API_hipMemset2D_spt:
	case HRR_API_hipMemset2DAsync_spt:
		return HRR_API_hipMemset2DAsync;
	case HRR_API_hipMemset3D_spt:
	case HRR_API_hipMemset3DAsync_spt:
		return HRR_API_hipMemset3DAsync;
	default:
		*ret_spt = false;
		return api;
	}
}

struct set {
	uint64_t dst, width, height, depth, pitch, slice;
	struct hipPitchedPtr *box; /* 3D: the scratch copy, NULL otherwise */
};

static int read_set(struct hrr_replay *r, struct hrr_event *ev, struct set *s)
{
	uint64_t each = ev->row->unit;

	*s = (struct set){.height = 1, .depth = 1};
	if (hrr_api_param(ev->api, "pitchedDevPtr", 13) >= 0) {
		const struct hipExtent *x = (const void *)(uintptr_t)hrr_arg_of(ev, "extent");
		s->box = (void *)(uintptr_t)hrr_arg_of(ev, "pitchedDevPtr");
		if (s->box == NULL || x == NULL)
			return hrr_fail(r, "its structures were not recorded");
		s->dst = HRR_P(s->box->ptr);
		s->width = x->width;
		s->height = x->height;
		s->depth = x->depth;
		s->pitch = s->box->pitch;
		if (__builtin_mul_overflow(s->pitch, s->box->ysize, &s->slice))
			return hrr_fail(r, "the box is larger than memory");
		return 0;
	}
	s->dst = hrr_arg_of(ev, "dst") | hrr_arg_of(ev, "dest");
	if (hrr_api_param(ev->api, "width", 5) >= 0) {
		s->width = hrr_arg_of(ev, "width");
		s->height = hrr_arg_of(ev, "height");
		s->pitch = hrr_arg_of(ev, "pitch") | hrr_arg_of(ev, "dstPitch");
	} else {
		s->width = hrr_arg_of(ev, "sizeBytes") | hrr_arg_of(ev, "count");
		s->pitch = UINT64_MAX;
	}
	if (__builtin_mul_overflow(s->width, each, &s->width))
		return hrr_fail(r, "%llu elements are more than memory", LLU(s->width));
	s->slice = UINT64_MAX;
	return 0;
}

int hrr_do_set(struct hrr_replay *r, struct hrr_event *ev)
{
	bool spt, wait;
	enum hrr_api api = sibling(ev->api, &spt, &wait);
	int i = hrr_api_param(ev->api, "stream", 6);
	uint64_t recorded = i >= 0 ? ev->w[i] : 0, key = hrr_stream_key(ev, recorded, spt);
	uint64_t stream, need;
	struct set s = {0};
	struct hrr_where w;
	int rc = hrr_stream(r, ev, recorded, spt, &stream);

	if (rc == 0)
		rc = read_set(r, ev, &s);
	if (rc == 0)
		rc =
		    hrr_span(r, "destination", s.width, s.height, s.depth, s.pitch, s.slice, &need);
	if (rc < 0)
		return rc;
	w = (struct hrr_where){.live = HRR_P(r->nowhere)};
	if (need != 0) {
		struct hrr_operand op = {"destination", s.dst, need, -1};
		if (s.dst == 0)
			return hrr_fail(r, "destination is a null pointer");
		rc = hrr_translate(r, &op, HRR_END_DEVICE, &w);
		if (rc < 0)
			return rc;
	}
	memcpy(ev->live, ev->w, sizeof ev->live);
	if (s.box != NULL)
		s.box->ptr = (void *)(uintptr_t)w.live;
	else
		ev->live[0] = w.live;
	i = hrr_api_param(api, "stream", 6);
	if (i >= 0)
		ev->live[i] = stream;
	struct hrr_graph *g = hrr_capture_of(r, key);
	if (g == NULL)
		hrr_order_fills(r, stream);
	int64_t got = hrr_call(r, api, ev->live);
	rc = hrr_settle(r, ev, got);
	if (rc < 0 || w.mem == NULL)
		return rc;
	if (g != NULL)
		return hrr_graph_use(r, g, w.mem);
	hrr_note_pending(r, w.mem, w.addr, need, ev->seq, key, s.height == 1 && s.depth == 1);
	return 0;
}
