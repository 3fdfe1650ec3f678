#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/replay/place.h"

#include "lib/hip/made.h"
#include "lib/region/timeline.h"
#include "lib/replay/engine.h"

/* Before HIP starts: which addresses device memory will want, held without access. */

#define SCAN_MAX                                                                        \
	((uint64_t)1 << 46) /* one span; a damaged size must not hold the address space \
			     */
#define USER_END ((uint64_t)1 << 47)

struct hrr_place *hrr_place_new(void)
{
	struct hrr_place *p = calloc(1, sizeof *p);

	if (p == NULL)
		return NULL;
	p->spans = hrr_ranges_new();
	p->chunks = hrr_ranges_new();
	if (p->spans == NULL || p->chunks == NULL) {
		hrr_place_free(p);
		return NULL;
	}
	return p;
}

bool hrr_span_hold(struct hrr_span *s)
{
	void *want = (void *)(uintptr_t)s->base;
	void *got = mmap(want, s->size, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (got != MAP_FAILED && got != want) {
		munmap(got, s->size);
		got = MAP_FAILED;
	}
	s->state = got == MAP_FAILED ? HRR_SPAN_LOST : HRR_SPAN_HELD;
	return s->state == HRR_SPAN_HELD;
}

void hrr_span_drop(struct hrr_span *s)
{
	if (s->state == HRR_SPAN_HELD)
		munmap((void *)(uintptr_t)s->base, s->size);
	s->state = HRR_SPAN_LOST;
}

static int free_span(void *self, const struct hrr_range *x)
{
	(void)self;
	hrr_span_drop(x->value);
	free(x->value);
	return 0;
}

static int free_chunk(void *self, const struct hrr_range *x)
{
	(void)self;
	free(x->value);
	return 0;
}

void hrr_place_free(struct hrr_place *p)
{
	if (p == NULL)
		return;
	if (p->spans != NULL)
		hrr_ranges_each(p->spans, free_span, NULL);
	if (p->chunks != NULL)
		hrr_ranges_each(p->chunks, free_chunk, NULL);
	hrr_ranges_free(p->spans);
	hrr_ranges_free(p->chunks);
	free(p);
}

int hrr_place_want(struct hrr_place *p, uint64_t base, uint64_t size)
{
	if (base == 0 || size == 0 || size > SCAN_MAX || base >= USER_END || size > USER_END - base)
		return 0; /* no address of ours: it will be translated */
	uint64_t lo = base & ~(HRR_SPAN_ROUND - 1);
	uint64_t hi = (base + size + HRR_SPAN_ROUND - 1) & ~(HRR_SPAN_ROUND - 1);
	uint64_t first = lo & ~(HRR_SPAN_WIDE - 1);
	uint64_t end = (hi + HRR_SPAN_WIDE - 1) & ~(HRR_SPAN_WIDE - 1);
	const struct hrr_range *x = hrr_ranges_find(p->spans, lo);
	if (x != NULL && end <= x->base + x->size) {
		struct hrr_span *in = x->value;
		in->lo = lo < in->lo ? lo : in->lo;
		in->hi = hi > in->hi ? hi : in->hi;
		return 0;
	}
	struct hrr_span *s = calloc(1, sizeof *s);
	if (s == NULL)
		return -ENOMEM;
	/* Spans that touch become one: run times carve short reservations elsewhere. */
	uint64_t from = first != 0 ? first - 1 : 0;
	while ((x = hrr_ranges_overlap(p->spans, from, end + 1 - from)) != NULL) {
		struct hrr_span *old = x->value;
		first = x->base < first ? x->base : first;
		end = x->base + x->size > end ? x->base + x->size : end;
		lo = old->lo < lo ? old->lo : lo;
		hi = old->hi > hi ? old->hi : hi;
		hrr_ranges_del(p->spans, x->base, old);
		free(old);
		from = first != 0 ? first - 1 : 0;
	}
	*s = (struct hrr_span){first, end - first, lo, hi, HRR_SPAN_WANTED};
	int rc = hrr_ranges_add(p->spans, first, end - first, s);
	if (rc < 0)
		free(s);
	return rc;
}

int hrr_place_scan(struct hrr_place *p, const struct hrr_record *rec)
{
	const struct hrr_api_row *row = hrr_record_row(rec);
	struct hrr_region g;
	struct hrr_made made;

	if (rec->kind == HRR_REC_REGION) {
		struct hrr_buf tag = {0};
		int rc = 0;
		if (hrr_region_read(rec, &g, &tag, NULL) == 0 && g.add && g.segment)
			rc = hrr_place_want(p, g.base, g.size);
		hrr_buf_release(&tag);
		return rc;
	}
	if (row == NULL || row->gives.kind == HRR_GIVES_NOTHING)
		return 0;
	/* Those that the engine backs itself; others get what the run time chooses. */
	hrr_handler *handler = hrr_handler_of((enum hrr_api)(row - hrr_api_table));
	if ((handler != hrr_do_alloc && handler != hrr_do_vmm) ||
	    !hrr_record_makes(rec, row, &made) || made.host)
		return 0;
	return hrr_place_want(p, made.base, made.size);
}

struct spans {
	struct hrr_span **v;
	size_t n;
};

static int gather(void *self, const struct hrr_range *x)
{
	struct spans *all = self;

	all->v[all->n++] = x->value;
	return 0;
}

/* Where the wide span is not free, what is really needed may be. */
static bool hold_narrow(struct hrr_place *p, struct hrr_span *s)
{
	if (s->lo == s->base && s->hi == s->base + s->size)
		return false;
	hrr_ranges_del(p->spans, s->base, s);
	s->base = s->lo;
	s->size = s->hi - s->lo;
	if (hrr_ranges_add(p->spans, s->base, s->size, s) < 0) {
		free(s);
		return false;
	}
	return hrr_span_hold(s);
}

int hrr_place_reserve(struct hrr_place *p)
{
	size_t n = hrr_ranges_count(p->spans);
	struct spans all = {.v = calloc(n + 1, sizeof *all.v)};

	if (all.v == NULL)
		return -ENOMEM;
	hrr_ranges_each(p->spans, gather, &all);
	for (size_t i = 0; i < all.n; i++)
		if (hrr_span_hold(all.v[i]) || hold_narrow(p, all.v[i]))
			p->held++;
	p->wanted = n;
	free(all.v);
	return p->held == n ? 0 : 1;
}
