#include <errno.h>
#include <stdlib.h>

#include "lib/replay/engine.h"

/* Memory HIP never saw: segments of the timeline, backed on the first device access. */

#define LLU(x) ((unsigned long long)(x))
#define STRAY_TOLD 20 /* messages about accesses outside every block; all are counted */

static void region_gone(void *self, struct hrr_live_region *x)
{
	struct hrr_replay *r = self;
	struct hrr_mem *m = x->user;

	if (!x->segment) {
		hrr_memcheck_block_gone(r, x);
		return;
	}
	hrr_held_del(&r->blocked, x->base);
	if (m == NULL)
		return;
	x->user = NULL;
	m->region = NULL;
	hrr_mem_drop(r, m, 0);
}

/* Blocks give bounds: of the range at base, as long as it is there. */
static int bounded(struct hrr_replay *r, uint64_t base)
{
	return hrr_held_add(&r->blocked, base, 1) != NULL
		   ? 0
		   : hrr_trouble(r, -ENOMEM, "out of memory");
}

void hrr_blocks_forget(struct hrr_replay *r, const struct hrr_mem *m)
{
	const struct hrr_live_region *seg =
	    r->blocked.n != 0 ? hrr_timeline_segment(r->timeline, m->base) : NULL;

	if (seg == NULL || seg->base != m->base)
		hrr_held_del(&r->blocked, m->base);
}

int hrr_region_record(struct hrr_replay *r, const struct hrr_record *rec)
{
	struct hrr_region g = {0};

	r->tag.len = 0;
	int rc = hrr_region_read(rec, &g, &r->tag, &r->diag);
	if (rc == 0)
		rc = hrr_timeline_apply(r->timeline, &g, region_gone, r);
	if (rc < 0)
		return rc;
	if (rc > 0)
		r->v.unmatched_del++;
	r->v.regions++;
	if (g.add && g.segment) { /* its blocks may have been told before */
		struct hrr_live_region *seg = hrr_timeline_segment(r->timeline, g.base);
		if (seg != NULL && (hrr_timeline_block(r->timeline, g.base) != NULL ||
				    hrr_timeline_block_after(r->timeline, seg, g.base) != NULL))
			rc = bounded(r, seg->base);
	} else if (g.add) {
		const struct hrr_live_region *seg = hrr_timeline_segment(r->timeline, g.base);
		const struct hrr_range *x = hrr_ranges_find(r->map, g.base);
		uint64_t base = seg != NULL ? seg->base : x != NULL ? x->base : 0;
		struct hrr_live_region *b = hrr_timeline_block(r->timeline, g.base);
		if (b != NULL && b->base == g.base)
			hrr_memcheck_block(r, b, true);
		rc = base != 0 ? bounded(r, base) : 0;
	}
	return rc < 0 ? rc : hrr_settle_if_idle(r);
}

int hrr_segment_back(struct hrr_replay *r, uint64_t addr)
{
	struct hrr_live_region *x = hrr_timeline_segment(r->timeline, addr);

	if (x == NULL || x->user != NULL)
		return 0;
	if (x->device < 0 || x->device >= r->n_devices)
		return hrr_fail(r, "segment 0x%llx is on device %d: this run time has %d",
				LLU(x->base), x->device, r->n_devices);
	struct hrr_mem *m = hrr_mem_new(r, HRR_MEM_SEGMENT, x->base, x->size);
	if (m == NULL)
		return -ENOMEM;
	m->device = x->device;
	m->seq = 0;
	int rc = hrr_mem_back(r, m, 0);
	if (rc == 0)
		rc = hrr_mem_enter(r, m);
	if (rc < 0) {
		free(m);
		return rc;
	}
	m->region = x;
	x->user = m;
	r->v.backed++;
	return 1;
}

static void near_text(struct hrr_buf *b, const struct hrr_live_region *k, uint64_t addr)
{
	bool below = k->base <= addr;
	char tag[128] = "";

	if (k->tag != NULL)
		hrr_mask(tag, sizeof tag, k->tag, __builtin_strlen(k->tag));
	hrr_buf_addf(
	    b, "; nearest block 0x%llx + %llu%s%s%s %s %llu bytes %s", LLU(k->base), LLU(k->size),
	    tag[0] != '\0' ? " '" : "", tag, tag[0] != '\0' ? "'" : "", below ? "ends" : "begins",
	    LLU(below ? addr - (k->base + k->size) : k->base - addr), below ? "before" : "after");
}

static void stray(struct hrr_replay *r, const char *what, uint64_t addr, uint64_t need,
		  const struct hrr_live_region *seg, const struct hrr_live_region *in)
{
	struct hrr_buf b = {0};

	r->v.stray++;
	if (r->v.stray > STRAY_TOLD && !r->opt.strict_regions)
		return;
	if (in != NULL) {
		hrr_buf_addf(&b, "%s 0x%llx (%llu bytes) runs past the end of block 0x%llx + %llu",
			     what, LLU(addr), LLU(need), LLU(in->base), LLU(in->size));
		if (in->tag != NULL) {
			char tag[128];
			hrr_mask(tag, sizeof tag, in->tag, __builtin_strlen(in->tag));
			hrr_buf_addf(&b, " '%s'", tag);
		}
	} else {
		hrr_buf_addf(&b,
			     "%s 0x%llx lies in 0x%llx + %llu but in no live block: out of bounds "
			     "or stale",
			     what, LLU(addr), LLU(seg->base), LLU(seg->size));
		struct hrr_live_region *lo = hrr_timeline_block_before(r->timeline, seg, addr);
		struct hrr_live_region *hi = hrr_timeline_block_after(r->timeline, seg, addr);
		uint64_t below = lo != NULL ? addr - (lo->base + lo->size) : UINT64_MAX;
		uint64_t above = hi != NULL ? hi->base - addr : UINT64_MAX;
		if (lo != NULL || hi != NULL)
			near_text(&b, below <= above ? lo : hi, addr);
	}
	struct hrr_outcome o = {.kind = r->opt.strict_regions ? HRR_FAILED : HRR_WARNED,
				.seq = r->seq,
				.node = -1,
				.addr = addr,
				.size = need,
				.text = hrr_buf_str(&b)};
	hrr_report(r, &o);
	hrr_buf_release(&b);
}

int hrr_block_check(struct hrr_replay *r, const char *what, uint64_t addr, uint64_t need,
		    const struct hrr_mem *m)
{
	const struct hrr_live_region *seg = hrr_timeline_segment(r->timeline, addr);
	struct hrr_live_region whole = {
	    .base = m->base, .size = m->size, .device = m->device, .segment = true};

	if (seg == NULL)
		seg = &whole;
	if (hrr_held_find(&r->blocked, seg->base) == NULL)
		return 0; /* bounds are known only where the sidecar has blocks */
	const struct hrr_live_region *in = hrr_timeline_block(r->timeline, addr);
	if (in != NULL && need <= in->size - (addr - in->base))
		return 0;
	stray(r, what, addr, need, seg, in);
	return 0;
}
