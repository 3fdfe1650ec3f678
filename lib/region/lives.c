#include "lib/region/lives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hip/made.h"

struct entry {
	struct hrr_life life;
	size_t tag_off, tag_len; /* in tags; life.tag is not used */
	bool tagged;
};

/* Of one process. */
struct world {
	struct hrr_timeline *regions;
	struct hrr_ranges *hip; /* allocations of HIP; values are not used */
	struct hrr_buf serials; /* index of the entry, by serial of the live region */
};

struct hrr_lives {
	struct hrr_buf worlds, entries, tags, tag;
	size_t n_worlds, n;
	uint64_t now; /* while a record is applied: its time */
	uint32_t p;
};

static struct world *worlds(const struct hrr_lives *l)
{
	return (struct world *)(void *)l->worlds.data;
}

static struct entry *entries(const struct hrr_lives *l)
{
	return (struct entry *)(void *)l->entries.data;
}

struct hrr_lives *hrr_lives_new(void)
{
	return calloc(1, sizeof(struct hrr_lives));
}

void hrr_lives_free(struct hrr_lives *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->n_worlds; i++) {
		hrr_timeline_free(worlds(l)[i].regions);
		hrr_ranges_free(worlds(l)[i].hip);
		hrr_buf_release(&worlds(l)[i].serials);
	}
	hrr_buf_release(&l->worlds);
	hrr_buf_release(&l->entries);
	hrr_buf_release(&l->tags);
	hrr_buf_release(&l->tag);
	free(l);
}

static struct world *world_of(struct hrr_lives *l, uint32_t p)
{
	static const struct world none;

	while (l->n_worlds <= p) {
		if (hrr_buf_add(&l->worlds, &none, sizeof none) < 0)
			return NULL;
		l->n_worlds++;
	}
	struct world *w = &worlds(l)[p];
	if (w->regions == NULL)
		w->regions = hrr_timeline_new();
	if (w->hip == NULL)
		w->hip = hrr_ranges_new();
	return w->regions != NULL && w->hip != NULL ? w : NULL;
}

static void on_del(void *self, struct hrr_live_region *x)
{
	struct hrr_lives *l = self;
	const size_t *index = (const void *)worlds(l)[l->p].serials.data;

	entries(l)[index[x->serial - 1]].life.to = l->now;
}

static struct hrr_live_region *live_at(const struct hrr_timeline *tl, bool segment, uint64_t addr,
				       uint64_t size, int device)
{
	const struct hrr_range *x =
	    hrr_ranges_overlap(hrr_timeline_ranges(tl, segment), addr, size);
	struct hrr_live_region *live = x != NULL ? x->value : NULL;

	return live != NULL && live->device == device ? live : NULL;
}

static void check_add(struct world *w, const struct hrr_record *rec, const struct hrr_region *r,
		      hrr_lives_report *report, void *self)
{
	struct hrr_live_region *other =
	    live_at(w->regions, r->segment, r->base, r->size, r->device);
	const struct hrr_range *hip = hrr_ranges_overlap(w->hip, r->base, r->size);

	if (other != NULL && other->base == r->base && other->segment == r->segment)
		report(self, HRR_LIVES_REPLACED, rec, r, other);
	else if (other != NULL)
		report(self, HRR_LIVES_OVERLAP, rec, r, other);
	if (r->segment) {
		/* An allocator that tells of what it took from HIP is right to. */
		if (hip != NULL && (hip->base != r->base || hip->size != r->size))
			report(self, HRR_LIVES_COVERS_HIP, rec, r, NULL);
		return;
	}
	const struct hrr_live_region *segment = hrr_timeline_segment(w->regions, r->base);
	uint64_t in_base, in_size;
	if (segment != NULL) {
		in_base = segment->base;
		in_size = segment->size;
	} else {
		hip = hrr_ranges_find(w->hip, r->base);
		if (hip == NULL) {
			report(self, HRR_LIVES_OUTSIDE, rec, r, NULL);
			return;
		}
		in_base = hip->base;
		in_size = hip->size;
	}
	if (r->size > in_size || r->base - in_base > in_size - r->size)
		report(self, HRR_LIVES_STRADDLES, rec, r, segment);
}

static int region(struct hrr_lives *l, struct world *w, const struct hrr_record *rec,
		  hrr_lives_report *report, void *self, struct hrr_diag *diag)
{
	struct hrr_region r;
	int rc = hrr_region_read(rec, &r, &l->tag, diag);

	if (rc < 0)
		return rc;
	if (r.add && report != NULL)
		check_add(w, rec, &r, report, self);
	if (r.add) {
		struct entry e = {.life = {.base = r.base,
					   .size = r.size,
					   .p = rec->p,
					   .device = r.device,
					   .segment = r.segment,
					   .from = r.t,
					   .to = HRR_NO_TIME},
				  .tag_off = l->tags.len,
				  .tag_len = r.tag_len,
				  .tagged = r.tag != NULL};
		if (hrr_buf_add(&w->serials, &l->n, sizeof l->n) < 0 ||
		    hrr_buf_add(&l->tags, r.tag, r.tag_len) < 0 ||
		    hrr_buf_addc(&l->tags, '\0') < 0 || hrr_buf_add(&l->entries, &e, sizeof e) < 0)
			return -ENOMEM;
		l->n++;
	}
	l->now = r.t;
	l->p = rec->p;
	rc = hrr_timeline_apply(w->regions, &r, on_del, l);
	if (rc == 1 && report != NULL)
		report(self, HRR_LIVES_NOTHING, rec, &r, NULL);
	return rc < 0 ? rc : 0;
}

/* Memory of calls; what the table does not know is only not checked. */
static int call(struct world *w, const struct hrr_record *rec)
{
	const struct hrr_api_row *row = hrr_record_row(rec);
	struct hrr_made m;
	uint64_t base;
	bool all;

	if (row == NULL)
		return 0;
	if (hrr_record_makes(rec, row, &m)) {
		if (m.kind == HRR_GIVES_RESERVE || m.kind == HRR_GIVES_NAME || m.size == 0)
			return 0;
		return hrr_ranges_add(w->hip, m.base, m.size, NULL) == -ENOMEM ? -ENOMEM : 0;
	}
	if (!hrr_record_takes(rec, row, &base, &all) || row->takes == HRR_GIVES_RESERVE)
		return 0;
	if (!all)
		(void)hrr_ranges_del(w->hip, base, NULL);
	for (const struct hrr_range *x; all && (x = hrr_ranges_overlap(w->hip, 0, UINT64_MAX));)
		(void)hrr_ranges_del(w->hip, x->base, NULL);
	return 0;
}

int hrr_lives_record(struct hrr_lives *l, const struct hrr_record *rec, hrr_lives_report *report,
		     void *self, struct hrr_diag *diag)
{
	if (rec->kind != HRR_REC_REGION && rec->kind != HRR_REC_CALL)
		return 0;
	struct world *w = world_of(l, rec->p);
	int rc = w == NULL		       ? -ENOMEM
		 : rec->kind == HRR_REC_REGION ? region(l, w, rec, report, self, diag)
					       : call(w, rec);
	return rc == -ENOMEM ? hrr_diag_set(diag, rc, "out of memory") : rc;
}

size_t hrr_lives_count(const struct hrr_lives *l)
{
	return l->n;
}

void hrr_lives_at(const struct hrr_lives *l, size_t i, struct hrr_life *ret)
{
	const struct entry *e = &entries(l)[i];

	*ret = e->life;
	ret->tag = e->tagged ? l->tags.data + e->tag_off : NULL;
}
