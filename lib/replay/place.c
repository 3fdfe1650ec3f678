#include "lib/replay/place.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/replay/engine.h"

/*
 * Device memory at its recorded addresses: a span is reserved with the address
 * as a wish, physical memory is mapped into it as allocations come. A span that comes out
 * elsewhere is given back and kept without access, so that nothing else gets its numbers.
 */

/* Device memory, as the run time's layout has it; at most sizeof box. */
struct prop_box {
	uint64_t words[8];
};
static void device_prop(struct hrr_replay *r, struct prop_box *box, int device)
{
	const struct hrr_struct *st =
	    hrr_struct_at(hrr_api_table[HRR_API_hipMemCreate].params[2].st, r->hip->layout);

	*box = (struct prop_box){0};
	hrr_field_set(st, box, "type", hipMemAllocationTypePinned);
	hrr_field_set(st, box, "location.type", hipMemLocationTypeDevice);
	hrr_field_set(st, box, "location.id", (uint64_t)device);
}

static uint64_t granule_of(struct hrr_replay *r, struct hrr_place *p)
{
	struct prop_box prop;
	size_t g = 0;

	if (p->granule != 0)
		return p->granule;
	device_prop(r, &prop, r->device);
	int64_t e = HRR_CALL(r, hipMemGetAllocationGranularity, HRR_P(&g), HRR_P(&prop),
			     hipMemAllocationGranularityMinimum);
	if (e != hipSuccess || g == 0 || (g & (g - 1)) != 0 || g > HRR_SPAN_ROUND)
		g = 0;
	p->off = g == 0;
	p->granule = g;
	return g;
}

/* Asks the run time for a held span. */
static bool span_own(struct hrr_replay *r, struct hrr_place *p, struct hrr_span *s)
{
	uint64_t got = 0;

	if (s->state == HRR_SPAN_OURS)
		return true;
	if (s->state != HRR_SPAN_HELD || p->off)
		return false;
	munmap((void *)(uintptr_t)s->base, s->size);
	int64_t e = HRR_CALL(r, hipMemAddressReserve, HRR_P(&got), s->size, 0, s->base, 0);
	if (e == hipSuccess && got == s->base) {
		s->state = HRR_SPAN_OURS;
		return true;
	}
	if (e == hipSuccess)
		HRR_CALL(r, hipMemAddressFree, got, s->size);
	if (e == hipErrorNotSupported)
		p->off = true;
	/* Still nobody's: a host number in there would be taken for a device number. */
	if (hrr_span_hold(s))
		s->state = HRR_SPAN_LOST;
	return false;
}

static int own_one(void *self, const struct hrr_range *x)
{
	struct hrr_replay *r = self;

	span_own(r, r->place, x->value);
	return 0;
}

/* Every span is asked for at once: later the run time's own things may be there. */
void hrr_replay_set_place(struct hrr_replay *r, struct hrr_place *p)
{
	hrr_place_free(r->place);
	r->place = p;
	if (!r->opt.no_placement && hrr_ranges_count(p->spans) != 0 && granule_of(r, p) != 0)
		hrr_ranges_each(p->spans, own_one, r);
}

/*
 * For streams that could not be scanned: spans where there are none yet, rounded
 * out generously, or to the granule when something is near.
 */
static int span_missing(struct hrr_replay *r, struct hrr_place *p, uint64_t first, uint64_t end,
			uint64_t round)
{
	uint64_t from = first, to = end;

	first &= ~(round - 1);
	end = (end + round - 1) & ~(round - 1);
	while (first < end) {
		const struct hrr_range *x = hrr_ranges_overlap(p->spans, first, end - first);
		if (x != NULL && x->base <= first) {
			first = x->base + x->size;
			continue;
		}
		uint64_t stop = x != NULL ? x->base : end;
		struct hrr_span *s = calloc(1, sizeof *s);
		if (s == NULL)
			return -ENOMEM;
		*s = (struct hrr_span){first, stop - first, first, stop, HRR_SPAN_WANTED};
		if (hrr_ranges_add(p->spans, first, stop - first, s) < 0) {
			free(s);
			return -ENOMEM;
		}
		hrr_span_hold(s);
		if (!span_own(r, p, s) && round > p->granule && !p->off) {
			hrr_span_drop(s);
			hrr_ranges_del(p->spans, first, s);
			free(s);
			return span_missing(r, p, from, to, p->granule);
		}
		first = stop;
	}
	return 0;
}

static int chunk_access(struct hrr_replay *r, const struct hrr_chunk *c, uint32_t users)
{
	struct hipMemAccessDesc desc[HRR_MAX_DEVICES] = {0};
	uint64_t n = 0;

	for (int d = 0; d < r->n_devices && d < HRR_MAX_DEVICES; d++)
		if (d == c->device || c->open || (users >> d & 1) != 0) {
			desc[n].location.type = hipMemLocationTypeDevice;
			desc[n].location.id = d;
			desc[n++].flags = hipMemAccessFlagsProtReadWrite;
		}
	return HRR_CALL(r, hipMemSetAccess, c->base, c->size, HRR_P(desc), n) == hipSuccess
		   ? 0
		   : -EPROTO;
}

/*
 * Who may use a segment is not recorded, since HIP was not asked: where the run time lets it,
 * everybody, as the recorded kernels did.
 */
static void chunk_open(struct hrr_replay *r, struct hrr_chunk *c)
{
	if (c->open || r->n_devices == 1)
		return;
	c->open = true;
	if (chunk_access(r, c, 0) < 0) {
		c->open = false;
		chunk_access(r, c, r->place->peers[c->device]);
	}
}

static void chunk_free(struct hrr_replay *r, struct hrr_chunk *c)
{
	HRR_CALL(r, hipMemUnmap, c->base, c->size);
	HRR_CALL(r, hipMemRelease, c->handle);
	hrr_ranges_del(r->place->chunks, c->base, c);
	free(c);
}

static struct hrr_chunk *chunk_new(struct hrr_replay *r, uint64_t base, uint64_t size, int device)
{
	struct prop_box prop;
	struct hrr_chunk *c = calloc(1, sizeof *c);

	if (c == NULL)
		return NULL;
	*c = (struct hrr_chunk){.base = base, .size = size, .device = device};
	device_prop(r, &prop, device);
	if (HRR_CALL(r, hipMemCreate, HRR_P(&c->handle), size, HRR_P(&prop), 0) != hipSuccess)
		goto fail;
	if (HRR_CALL(r, hipMemMap, base, size, 0, c->handle, 0) != hipSuccess)
		goto release;
	if (chunk_access(r, c, r->place->peers[device]) < 0 ||
	    hrr_ranges_add(r->place->chunks, base, size, c) < 0)
		goto unmap;
	return c;
unmap:
	HRR_CALL(r, hipMemUnmap, base, size);
release:
	HRR_CALL(r, hipMemRelease, c->handle);
fail:
	free(c);
	return NULL;
}

/* Lets go of the chunks of [first, end). */
static void chunks_drop(struct hrr_replay *r, uint64_t first, uint64_t end)
{
	while (first < end) {
		const struct hrr_range *x =
		    hrr_ranges_overlap(r->place->chunks, first, end - first);
		if (x == NULL)
			return;
		struct hrr_chunk *c = x->value;
		first = c->base + c->size;
		if (c->users != 0 && --c->users == 0)
			chunk_free(r, c);
	}
}

int hrr_place_alloc(struct hrr_replay *r, struct hrr_mem *m)
{
	struct hrr_place *p = r->place;

	if (p == NULL || r->opt.no_placement || p->off || m->base == 0 || m->size == 0 ||
	    m->base >= (uint64_t)1 << 47 || m->size > ((uint64_t)1 << 47) - m->base ||
	    m->device >= HRR_MAX_DEVICES)
		return 0;
	uint64_t g = granule_of(r, p);
	if (g == 0)
		return 0;
	uint64_t first = m->base & ~(g - 1), end = (m->base + m->size + g - 1) & ~(g - 1);
	if (span_missing(r, p, first, end, HRR_SPAN_ROUND) < 0)
		return -ENOMEM;
	for (uint64_t at = first; at < end;) {
		const struct hrr_range *s = hrr_ranges_find(p->spans, at);
		if (s == NULL || !span_own(r, p, s->value))
			goto undo_all;
		uint64_t stop = s->base + s->size < end ? s->base + s->size : end;
		while (at < stop) {
			const struct hrr_range *x = hrr_ranges_overlap(p->chunks, at, stop - at);
			struct hrr_chunk *c = NULL;
			if (x != NULL && x->base <= at)
				c = x->value;
			else
				c = chunk_new(r, at, (x != NULL ? x->base : stop) - at, m->device);
			if (c == NULL || c->device != m->device) {
				chunks_drop(r, first, at);
				return 0;
			}
			c->users++;
			if (m->kind == HRR_MEM_SEGMENT)
				chunk_open(r, c);
			at = c->base + c->size;
		}
		continue;
	undo_all:
		chunks_drop(r, first, at);
		return 0;
	}
	return 1;
}

void hrr_place_release(struct hrr_replay *r, struct hrr_mem *m)
{
	uint64_t g = r->place->granule;

	chunks_drop(r, m->base & ~(g - 1), (m->base + m->size + g - 1) & ~(g - 1));
}

bool hrr_place_covers(struct hrr_replay *r, uint64_t base, uint64_t size)
{
	struct hrr_place *p = r->place;

	if (p == NULL || r->opt.no_placement || granule_of(r, p) == 0 || size == 0 ||
	    base >= (uint64_t)1 << 47 || size > ((uint64_t)1 << 47) - base ||
	    span_missing(r, p, base, base + size, HRR_SPAN_ROUND) < 0)
		return false;
	const struct hrr_range *s = hrr_ranges_find(p->spans, base);
	return s != NULL && base + size <= s->base + s->size && span_own(r, p, s->value);
}

struct peer_job {
	struct hrr_replay *r;
	int owner;
};

static int peer_one(void *self, const struct hrr_range *x)
{
	struct peer_job *j = self;
	struct hrr_chunk *c = x->value;

	return c->device == j->owner ? chunk_access(j->r, c, j->r->place->peers[j->owner]) : 0;
}

int hrr_place_peer(struct hrr_replay *r, int owner, int user)
{
	struct peer_job j = {r, owner};

	if (r->place == NULL || owner < 0 || owner >= HRR_MAX_DEVICES || user < 0 ||
	    user >= HRR_MAX_DEVICES)
		return 0;
	r->place->peers[owner] |= (uint32_t)1 << user;
	return hrr_ranges_each(r->place->chunks, peer_one, &j);
}

static int span_end(void *self, const struct hrr_range *x)
{
	struct hrr_replay *r = self;
	struct hrr_span *s = x->value;

	if (s->state == HRR_SPAN_OURS)
		HRR_CALL(r, hipMemAddressFree, s->base, s->size);
	if (s->state == HRR_SPAN_OURS)
		s->state = HRR_SPAN_LOST;
	return 0;
}

void hrr_place_end(struct hrr_replay *r)
{
	if (r->place == NULL)
		return;
	chunks_drop(r, 0, UINT64_MAX);
	hrr_ranges_each(r->place->spans, span_end, r);
	hrr_place_free(r->place);
	r->place = NULL;
}
