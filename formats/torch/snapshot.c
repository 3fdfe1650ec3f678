#include "formats/torch/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/region/timeline.h"

/*
 * The same node may stand in a pickle any number of times, two bytes each. So that
 * a small file cannot ask for much work, each segment, block and event may be met
 * only once, as in every file PyTorch writes.
 */
struct reading {
	struct hrr_torch_snapshot *s;
	const struct hrr_pickle *p;
	unsigned char *met; /* a bit per node */
	struct hrr_diag *diag;
	const char *in; /* for messages: "segments[N]" and so on */
	char where[96];
};

static int no_memory(struct reading *r)
{
	return hrr_diag_set(r->diag, -ENOMEM, "out of memory");
}

static int bad(struct reading *r, const char *why)
{
	return hrr_diag_set(r->diag, -EINVAL, "bad snapshot: %s: %s", r->where, why);
}

static int meet(struct reading *r, int node)
{
	unsigned char bit = (unsigned char)(1 << (node & 7));

	if (r->met[node >> 3] & bit)
		return bad(r, "it stands in the file twice");
	r->met[node >> 3] |= bit;
	return 0;
}

/* A member that has to be a number from 0 to max. */
static int number(struct reading *r, int dict, const char *key, uint64_t max, uint64_t *ret)
{
	if (hrr_pickle_u64(r->p, hrr_pickle_get(r->p, dict, key), ret) == 0 && *ret <= max)
		return 0;
	return hrr_diag_set(r->diag, -EINVAL,
			    "bad snapshot: %s: \"%s\" is not a number from 0 to %llu", r->where,
			    key, (unsigned long long)max);
}

static int range(struct reading *r, uint64_t base, uint64_t size)
{
	if (size > HRR_REGION_MAX || (size > 0 && base > UINT64_MAX - (size - 1)))
		return bad(r, "its size is past 2^47 or the end of the address space");
	return 0;
}

/* Streams are handles, in some builds negative ones: a name, not a number. */
static uint64_t stream(const struct reading *r, int dict)
{
	int node = hrr_pickle_if(r->p, hrr_pickle_get(r->p, dict, "stream"), HRR_PICKLE_INT);

	return node < 0 ? 0 : hrr_pickle_at(r->p, node)->v;
}

static int frames(const struct reading *r, int dict)
{
	return hrr_pickle_if(r->p, hrr_pickle_get(r->p, dict, "frames"), HRR_PICKLE_LIST);
}

static int read_block(struct reading *r, const struct hrr_torch_piece *segment, int dict,
		      uint64_t *at)
{
	struct hrr_torch_piece x = *segment;
	uint64_t requested = 0;
	int state = hrr_pickle_get(r->p, dict, "state");
	int rc = meet(r, dict);

	if (rc == 0)
		rc = number(r, dict, "size", HRR_REGION_MAX, &x.size);
	x.base = *at; /* before PyTorch 2.1 blocks had no address: they follow one another */
	if (rc == 0 && hrr_pickle_get(r->p, dict, "address") >= 0)
		rc = number(r, dict, "address", UINT64_MAX, &x.base);
	if (rc == 0)
		rc = range(r, x.base, x.size);
	if (rc < 0)
		return rc;
	*at = x.base + x.size;
	if (hrr_pickle_is(r->p, state, "inactive"))
		return 0;
	if (hrr_pickle_is(r->p, state, "active_allocated"))
		x.state = HRR_TORCH_ACTIVE;
	else if (hrr_pickle_is(r->p, state, "active_pending_free") ||
		 hrr_pickle_is(r->p, state, "active_awaiting_free"))
		x.state = HRR_TORCH_PENDING;
	else
		return bad(r, "\"state\" is not one that is known");
	/* What was asked for is what may be used; the rest is the allocator's rounding. */
	if (hrr_pickle_u64(r->p, hrr_pickle_get(r->p, dict, "requested_size"), &requested) == 0 &&
	    requested > 0 && requested <= x.size)
		x.size = requested;
	x.frames = frames(r, dict);
	if (x.size == 0) {
		r->s->empty++;
		return 0;
	}
	if (hrr_buf_add(&r->s->blocks, &x, sizeof x) < 0)
		return no_memory(r);
	r->s->n_blocks++;
	return 0;
}

static int read_segment(struct reading *r, int dict, size_t number_of)
{
	struct hrr_torch_piece x = {.state = HRR_TORCH_ACTIVE};
	uint64_t device = 0;
	size_t n = 0;
	int rc = meet(r, dict);

	if (rc == 0)
		rc = number(r, dict, "device", HRR_REGION_MAX_DEVICE, &device);
	if (rc == 0)
		rc = number(r, dict, "address", UINT64_MAX, &x.base);
	if (rc == 0)
		rc = number(r, dict, "total_size", HRR_REGION_MAX, &x.size);
	if (rc == 0)
		rc = range(r, x.base, x.size);
	if (rc < 0)
		return rc;
	x.device = (int)device;
	x.stream = stream(r, dict);
	x.frames = frames(r, dict);
	int node =
	    hrr_pickle_if(r->p, hrr_pickle_get(r->p, dict, "is_expandable"), HRR_PICKLE_BOOL);
	x.expandable = node >= 0 && hrr_pickle_at(r->p, node)->v != 0;
	int blocks = hrr_pickle_if(r->p, hrr_pickle_get(r->p, dict, "blocks"), HRR_PICKLE_LIST);
	if (blocks < 0)
		return bad(r, "no list \"blocks\"");
	if (x.size == 0)
		r->s->empty++;
	else if (hrr_buf_add(&r->s->segments, &x, sizeof x) < 0)
		return no_memory(r);
	else
		r->s->n_segments++;
	uint64_t at = x.base;
	rc = meet(r, blocks);
	for (uint32_t c = hrr_pickle_first(r->p, blocks); rc == 0 && c != 0;
	     c = hrr_pickle_next(r->p, c)) {
		snprintf(r->where, sizeof r->where, "segments[%zu].blocks[%zu]", number_of, n++);
		int item = hrr_pickle_if(r->p, hrr_pickle_item(r->p, c), HRR_PICKLE_DICT);
		rc = item < 0 ? bad(r, "not a dict") : read_block(r, &x, item, &at);
	}
	return rc;
}

static int read_segments(struct reading *r, int list)
{
	size_t n = 0;
	int rc = 0;

	for (uint32_t c = hrr_pickle_first(r->p, list); rc == 0 && c != 0;
	     c = hrr_pickle_next(r->p, c), n++) {
		snprintf(r->where, sizeof r->where, "segments[%zu]", n);
		int item = hrr_pickle_if(r->p, hrr_pickle_item(r->p, c), HRR_PICKLE_DICT);
		rc = item < 0 ? bad(r, "not a dict") : read_segment(r, item, n);
	}
	return rc;
}

/* --- history --- */

static int action_of(const struct reading *r, int node)
{
	static const struct {
		const char *name;
		int action; /* -1: says nothing about memory */
	} known[] = {
	    {"alloc", HRR_TORCH_ALLOC},
	    {"free_requested", HRR_TORCH_FREE_REQUESTED},
	    {"free_completed", HRR_TORCH_FREE_COMPLETED},
	    {"segment_alloc", HRR_TORCH_SEGMENT_ALLOC},
	    {"segment_free", HRR_TORCH_SEGMENT_FREE},
	    {"segment_map", HRR_TORCH_SEGMENT_MAP},
	    {"segment_unmap", HRR_TORCH_SEGMENT_UNMAP},
	    {"snapshot", -1},
	    {"oom", -1},
	    {"user_defined", -1},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (hrr_pickle_is(r->p, node, known[i].name))
			return known[i].action;
	return -2;
}

static int read_event(struct reading *r, int dict, uint16_t device, uint64_t *last)
{
	struct hrr_torch_event e = {.device = device};
	int node = hrr_pickle_get(r->p, dict, "action");
	size_t len;
	const char *name = hrr_pickle_str(r->p, node, &len);
	int rc = meet(r, dict);

	if (rc < 0)
		return rc;
	if (name == NULL)
		return bad(r, "no \"action\"");
	int action = action_of(r, node);
	if (action == -2 && r->s->unknown++ == 0)
		hrr_mask(r->s->unknown_name, sizeof r->s->unknown_name, name, len);
	if (action < 0)
		return 0;
	if (hrr_pickle_get(r->p, dict, "time_us") < 0) {
		r->s->no_times = true;
		return 0;
	}
	e.action = (uint8_t)action;
	rc = number(r, dict, "addr", UINT64_MAX, &e.base);
	if (rc == 0)
		rc = number(r, dict, "size", HRR_REGION_MAX, &e.size);
	if (rc == 0)
		rc = range(r, e.base, e.size);
	if (rc == 0) /* the year 2255; a thousand times as much fits 64 bits */
		rc = number(r, dict, "time_us", (uint64_t)9 * 1000 * 1000 * 1000 * 1000 * 1000,
			    &e.t);
	if (rc < 0)
		return rc;
	/* The order of a history is what happened; a clock that was set back is not. */
	if (e.t < *last) {
		e.t = *last;
		r->s->backward++;
	}
	*last = e.t;
	e.stream = stream(r, dict);
	e.frames = frames(r, dict);
	if (e.size == 0) {
		r->s->empty++;
		return 0;
	}
	if (hrr_buf_add(&r->s->events, &e, sizeof e) < 0)
		return no_memory(r);
	r->s->n_events++;
	return 0;
}

static int read_traces(struct reading *r, int list)
{
	uint64_t device = 0;
	int rc = 0;

	for (uint32_t c = hrr_pickle_first(r->p, list); rc == 0 && c != 0;
	     c = hrr_pickle_next(r->p, c), device++) {
		int trace = hrr_pickle_if(r->p, hrr_pickle_item(r->p, c), HRR_PICKLE_LIST);
		uint64_t last = 0;
		size_t n = 0;
		snprintf(r->where, sizeof r->where, "device_traces[%llu]",
			 (unsigned long long)device);
		if (trace < 0)
			return bad(r, "not a list");
		if (device > HRR_REGION_MAX_DEVICE)
			return bad(r, "too many devices");
		rc = meet(r, trace);
		for (uint32_t e = hrr_pickle_first(r->p, trace); rc == 0 && e != 0;
		     e = hrr_pickle_next(r->p, e), n++) {
			snprintf(r->where, sizeof r->where, "device_traces[%llu][%zu]",
				 (unsigned long long)device, n);
			int item = hrr_pickle_if(r->p, hrr_pickle_item(r->p, e), HRR_PICKLE_DICT);
			rc = item < 0 ? bad(r, "not a dict")
				      : read_event(r, item, (uint16_t)device, &last);
		}
	}
	r->s->devices = device;
	if (r->s->no_times) {
		r->s->events.len = 0;
		r->s->n_events = 0;
	}
	return rc;
}

int hrr_torch_read(struct hrr_torch_snapshot *s, const void *data, size_t len,
		   struct hrr_diag *diag)
{
	*s = (struct hrr_torch_snapshot){0};
	struct reading r = {.s = s, .p = &s->pickle, .diag = diag};
	int rc = hrr_pickle_read(&s->pickle, data, len, diag);

	if (rc < 0)
		return rc;
	r.met = calloc(1, hrr_pickle_count(r.p) / 8 + 1);
	if (r.met == NULL) {
		rc = no_memory(&r);
		goto out;
	}
	int root = (int)s->pickle.root, segments = root, traces = -1;
	if (hrr_pickle_if(r.p, root, HRR_PICKLE_LIST) < 0) {
		segments =
		    hrr_pickle_if(r.p, hrr_pickle_get(r.p, root, "segments"), HRR_PICKLE_LIST);
		traces = hrr_pickle_get(r.p, root, "device_traces");
	}
	if (segments < 0) {
		rc = hrr_diag_set(diag, -EINVAL,
				  "not a PyTorch memory snapshot: no list \"segments\" in it");
		goto out;
	}
	rc = read_segments(&r, segments);
	if (rc == 0 && traces >= 0)
		rc = read_traces(&r, traces);
out:
	free(r.met);
	if (rc < 0)
		hrr_torch_release(s);
	return rc;
}

void hrr_torch_release(struct hrr_torch_snapshot *s)
{
	hrr_pickle_release(&s->pickle);
	hrr_buf_release(&s->segments);
	hrr_buf_release(&s->blocks);
	hrr_buf_release(&s->events);
	*s = (struct hrr_torch_snapshot){0};
}
