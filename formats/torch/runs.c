#include "formats/torch/history.h"

#include <errno.h>

/*
 * An expandable segment is a range of addresses of which parts are mapped. A
 * snapshot reports each run of mapped memory as a segment, and so do we: a run
 * that grows or shrinks goes, and comes again with its new size.
 */
static void *value_of(uint64_t stream)
{
	return (void *)(uintptr_t)stream;
}

static int add(struct hrr_ranges *runs, int device, uint64_t base, uint64_t size, void *stream,
	       const struct hrr_torch_sink *sink, uint64_t t, int frames)
{
	struct hrr_region r = {.add = true,
			       .segment = true,
			       .kind_known = true,
			       .device = device,
			       .base = base,
			       .size = size};
	int rc = hrr_ranges_add(runs, base, size, stream);

	if (rc < 0 || sink == NULL)
		return rc;
	return sink->put(sink->self, &r, t, size, frames);
}

static int del(const struct hrr_torch_sink *sink, int device, uint64_t base, uint64_t size,
	       uint64_t t)
{
	struct hrr_region r = {.segment = true, .kind_known = true, .device = device, .base = base};

	return sink == NULL ? 0 : sink->put(sink->self, &r, t, size, -1);
}

/* Takes [base, base + size) out of all runs. Returns how many bytes were there, or negative. */
static int subtract(struct hrr_ranges *runs, const struct hrr_torch_event *e,
		    const struct hrr_torch_sink *sink, uint64_t *ret_bytes)
{
	uint64_t last = e->base + (e->size - 1);
	const struct hrr_range *found;
	int rc = 0;

	*ret_bytes = 0;
	while (rc == 0 && (found = hrr_ranges_overlap(runs, e->base, e->size)) != NULL) {
		struct hrr_range x = *found;
		uint64_t x_last = x.base + (x.size - 1);
		uint64_t from = x.base > e->base ? x.base : e->base;
		uint64_t to = x_last < last ? x_last : last;
		*ret_bytes += to - from + 1;
		(void)hrr_ranges_del(runs, x.base, NULL);
		rc = del(sink, e->device, x.base, x.size, e->t);
		if (rc == 0 && x.base < e->base)
			rc =
			    add(runs, e->device, x.base, e->base - x.base, x.value, sink, e->t, -1);
		if (rc == 0 && x_last > last)
			rc = add(runs, e->device, last + 1, x_last - last, x.value, sink, e->t, -1);
	}
	return rc;
}

/* Puts it in, joined with the runs of its stream that it touches. */
static int join(struct hrr_ranges *runs, const struct hrr_torch_event *e,
		const struct hrr_torch_sink *sink)
{
	uint64_t base = e->base, size = e->size;
	void *stream = value_of(e->stream);
	const struct hrr_range *x = hrr_ranges_before(runs, base);
	int rc = 0;

	if (x != NULL && x->base + x->size == base && x->value == stream &&
	    x->size <= HRR_REGION_MAX - size) {
		base = x->base;
		rc = del(sink, e->device, base, x->size, e->t);
		size += x->size;
		(void)hrr_ranges_del(runs, base, NULL);
	}
	x = base + size != 0 ? hrr_ranges_at(runs, base + size) : NULL;
	if (rc == 0 && x != NULL && x->value == stream && x->size <= HRR_REGION_MAX - size) {
		struct hrr_range right = *x;
		(void)hrr_ranges_del(runs, right.base, NULL);
		size += right.size;
		rc = del(sink, e->device, right.base, right.size, e->t);
	}
	if (rc == 0)
		rc = add(runs, e->device, base, size, stream, sink, e->t, e->frames);
	return rc;
}

int hrr_torch_runs_step(struct hrr_ranges *runs, const struct hrr_torch_event *e,
			const struct hrr_torch_sink *sink, struct hrr_torch_stats *stats)
{
	bool map = e->action == HRR_TORCH_SEGMENT_MAP;
	uint64_t there;
	int rc = subtract(runs, e, sink, &there);

	if (rc < 0)
		return rc;
	if (there != (map ? 0 : e->size))
		stats->unmatched++;
	return map ? join(runs, e, sink) : 0;
}

/* From what was there at the end, back through the history. */
int hrr_torch_runs_before(const struct hrr_torch_snapshot *s, struct hrr_ranges **runs,
			  struct hrr_torch_stats *stats)
{
	const struct hrr_torch_piece *x = hrr_torch_segments(s);
	const struct hrr_torch_event *events = hrr_torch_events(s);
	uint64_t there;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->n_segments; i++)
		if (x[i].expandable) {
			if (hrr_ranges_overlap(runs[x[i].device], x[i].base, x[i].size) != NULL) {
				stats->differ++;
				continue;
			}
			rc = hrr_ranges_add(runs[x[i].device], x[i].base, x[i].size,
					    value_of(x[i].stream));
		}
	for (size_t i = s->n_events; rc == 0 && i-- > 0;) {
		struct hrr_torch_event e = events[i];
		if (e.action == HRR_TORCH_SEGMENT_MAP || e.action == HRR_TORCH_SEGMENT_UNMAP) {
			rc = subtract(runs[e.device], &e, NULL, &there);
			if (there != (e.action == HRR_TORCH_SEGMENT_MAP ? e.size : 0))
				stats->differ++;
			if (rc == 0 && e.action == HRR_TORCH_SEGMENT_UNMAP)
				rc = join(runs[e.device], &e, NULL);
		}
	}
	return rc;
}
