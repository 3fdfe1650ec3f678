#include "lib/region/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/record.h"

/* Segments and blocks share addresses, so each kind has its own tree. */
struct hrr_timeline {
	struct hrr_ranges *segments, *blocks; /* values: struct hrr_live_region, owned */
	uint64_t serial, records, unmatched;
};

static void region_free(struct hrr_live_region *x)
{
	free(x->tag);
	free(x);
}

static int free_each(void *self, const struct hrr_range *x)
{
	(void)self;
	region_free(x->value);
	return 0;
}

struct hrr_timeline *hrr_timeline_new(void)
{
	struct hrr_timeline *tl = calloc(1, sizeof *tl);

	if (tl == NULL)
		return NULL;
	tl->segments = hrr_ranges_new();
	tl->blocks = hrr_ranges_new();
	if (tl->segments == NULL || tl->blocks == NULL) {
		hrr_timeline_free(tl);
		return NULL;
	}
	return tl;
}

void hrr_timeline_free(struct hrr_timeline *tl)
{
	if (tl == NULL)
		return;
	struct hrr_ranges *trees[] = {tl->segments, tl->blocks};
	for (int i = 0; i < 2; i++) {
		if (trees[i] != NULL)
			hrr_ranges_each(trees[i], free_each, NULL);
		hrr_ranges_free(trees[i]);
	}
	free(tl);
}

static bool on_device(void *self, const struct hrr_range *x)
{
	const struct hrr_live_region *live = x->value;

	return live->device == *(const int *)self;
}

static struct hrr_live_region *live_at(struct hrr_ranges *tree, uint64_t base, int device)
{
	const struct hrr_range *x = hrr_ranges_at_if(tree, base, on_device, &device);

	return x != NULL ? x->value : NULL;
}

static void end_life(struct hrr_ranges *tree, struct hrr_live_region *x,
		     void (*on_del)(void *, struct hrr_live_region *), void *self)
{
	if (on_del != NULL)
		on_del(self, x);
	(void)hrr_ranges_del(tree, x->base, x);
	region_free(x);
}

int hrr_timeline_apply(struct hrr_timeline *tl, const struct hrr_region *r,
		       void (*on_del)(void *self, struct hrr_live_region *x), void *self)
{
	struct hrr_ranges *tree = r->segment ? tl->segments : tl->blocks;
	struct hrr_live_region *x;

	if (!r->add) {
		tl->records++;
		if (!r->kind_known)
			tree = tl->blocks;
		x = live_at(tree, r->base, r->device);
		if (x == NULL && !r->kind_known) {
			tree = tl->segments;
			x = live_at(tree, r->base, r->device);
		}
		if (x == NULL) {
			tl->unmatched++;
			return 1;
		}
		end_life(tree, x, on_del, self);
		return 0;
	}

	if (r->size == 0 || r->size > HRR_REGION_MAX)
		return -EINVAL;
	struct hrr_live_region *fresh = calloc(1, sizeof *fresh);
	if (fresh == NULL)
		return -ENOMEM;
	*fresh = (struct hrr_live_region){
	    .base = r->base,
	    .size = r->size,
	    .device = r->device,
	    .segment = r->segment,
	    .t_add = r->t,
	    .serial = tl->serial + 1,
	};
	if (r->tag != NULL) {
		fresh->tag = strndup(r->tag, r->tag_len);
		if (fresh->tag == NULL) {
			region_free(fresh);
			return -ENOMEM;
		}
	}
	x = live_at(tree, r->base, r->device);
	int rc = hrr_ranges_add(tree, r->base, r->size, fresh);
	if (rc < 0) {
		region_free(fresh);
		return rc;
	}
	if (x != NULL)
		end_life(tree, x, on_del, self);
	tl->serial++;
	tl->records++;
	return 0;
}

static struct hrr_live_region *holding(const struct hrr_ranges *tree, uint64_t addr)
{
	const struct hrr_range *x = hrr_ranges_find(tree, addr);

	return x != NULL ? x->value : NULL;
}

struct hrr_live_region *hrr_timeline_segment(struct hrr_timeline *tl, uint64_t addr)
{
	return holding(tl->segments, addr);
}

struct hrr_live_region *hrr_timeline_block(struct hrr_timeline *tl, uint64_t addr)
{
	return holding(tl->blocks, addr);
}

/* Inside seg, or anywhere when seg is NULL. */
static struct hrr_live_region *within(const struct hrr_range *x, const struct hrr_live_region *seg)
{
	if (x == NULL)
		return NULL;
	if (seg != NULL && (x->base < seg->base || x->size > seg->size ||
			    x->base - seg->base > seg->size - x->size))
		return NULL;
	return x->value;
}

struct hrr_live_region *hrr_timeline_block_before(struct hrr_timeline *tl,
						  const struct hrr_live_region *seg, uint64_t addr)
{
	return within(hrr_ranges_before(tl->blocks, addr), seg);
}

struct hrr_live_region *hrr_timeline_block_after(struct hrr_timeline *tl,
						 const struct hrr_live_region *seg, uint64_t addr)
{
	return within(hrr_ranges_after(tl->blocks, addr), seg);
}

const struct hrr_ranges *hrr_timeline_ranges(const struct hrr_timeline *tl, bool segments)
{
	return segments ? tl->segments : tl->blocks;
}

uint64_t hrr_timeline_records(const struct hrr_timeline *tl)
{
	return tl->records;
}

uint64_t hrr_timeline_unmatched(const struct hrr_timeline *tl)
{
	return tl->unmatched;
}

int hrr_region_read(const struct hrr_record *rec, struct hrr_region *ret, struct hrr_buf *tag_buf,
		    struct hrr_diag *diag)
{
	const struct hrr_json *j = &rec->json;
	int kind = hrr_json_get(j, 0, "kind"), device = hrr_json_get(j, 0, "device"),
	    tag = hrr_json_get(j, 0, "tag");
	struct hrr_region r = {.t = rec->t};
	uint64_t v = 0;

	r.add = hrr_json_is(j, hrr_json_get(j, 0, "region"), "add");
	r.segment = hrr_json_is(j, kind, "segment");
	r.kind_known = kind >= 0;
	if (r.kind_known && !r.segment && !hrr_json_is(j, kind, "block"))
		return hrr_diag_set(diag, -EINVAL,
				    "bad region: \"kind\" is neither \"segment\" nor \"block\"");
	if (r.add && !r.kind_known)
		return hrr_diag_set(diag, -EINVAL, "bad region: no member \"kind\"");
	if (device >= 0 && (hrr_json_u64(j, device, &v) < 0 || v > HRR_REGION_MAX_DEVICE))
		return hrr_diag_set(diag, -EINVAL,
				    "bad region: \"device\" is not a number up to %d",
				    HRR_REGION_MAX_DEVICE);
	r.device = (int)v;
	if (hrr_json_addr(j, hrr_json_get(j, 0, "base"), &r.base) < 0)
		return hrr_diag_set(diag, -EINVAL, "bad region: \"base\" is not an address");
	if (r.add) {
		if (hrr_json_u64(j, hrr_json_get(j, 0, "size"), &r.size) < 0 || r.size == 0 ||
		    r.size > HRR_REGION_MAX || r.base > UINT64_MAX - (r.size - 1))
			return hrr_diag_set(diag, -EINVAL,
					    "bad region: \"size\" is not from 1 to 2^47 and inside "
					    "the address space");
	}
	if (tag >= 0) {
		tag_buf->len = 0;
		int rc = hrr_json_str(j, tag, tag_buf);
		if (rc == -EINVAL)
			return hrr_diag_set(diag, rc, "bad region: \"tag\" is not a string");
		if (rc < 0 || hrr_buf_str(tag_buf) == NULL)
			return hrr_diag_set(diag, -ENOMEM, "out of memory");
		r.tag = tag_buf->data;
		r.tag_len = tag_buf->len;
	}
	*ret = r;
	return 0;
}
