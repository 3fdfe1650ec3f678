#include <errno.h>
#include <stdio.h>

#include "lib/replay/engine.h"

/*
 * From recorded addresses to live ones. Everything that takes an address goes
 * through hrr_translate; nothing else backs a segment.
 */

#define LLU(x) ((unsigned long long)(x))

static void operand_text(const struct hrr_operand *op, struct hrr_buf *b)
{
	hrr_buf_addf(b, "%s 0x%llx", op->what, LLU(op->addr));
	if (op->need != 0 && op->blob >= 0)
		hrr_buf_addf(b, " (%llu bytes, blob %lld)", LLU(op->need), (long long)op->blob);
	else if (op->need != 0)
		hrr_buf_addf(b, " (%llu bytes)", LLU(op->need));
}

static const struct hrr_past *past_find(struct hrr_replay *r, uint64_t addr)
{
	size_t n = r->n_past < HRR_PAST ? r->n_past : HRR_PAST;

	for (size_t i = 1; i <= n; i++) {
		const struct hrr_past *p = &r->past[(r->n_past - i) % HRR_PAST];
		if (addr >= p->base && addr - p->base < p->size)
			return p;
	}
	return NULL;
}

void hrr_explain(struct hrr_replay *r, uint64_t addr, struct hrr_buf *b)
{
	const struct hrr_past *p = past_find(r, addr);

	if (p != NULL) {
		hrr_buf_addf(b, "; it was %s 0x%llx + %llu until ", hrr_mem_kind_name(p->kind),
			     LLU(p->base), LLU(p->size));
		if (p->seq != 0)
			hrr_buf_addf(b, "call %llu", LLU(p->seq));
		else
			hrr_buf_addf(b, "the region record at line %llu", LLU(p->line));
		return;
	}
	const struct hrr_range *lo = hrr_ranges_before(r->map, addr);
	const struct hrr_range *hi = hrr_ranges_after(r->map, addr);
	uint64_t below = lo != NULL ? addr - (lo->base + lo->size) : UINT64_MAX;
	uint64_t above = hi != NULL ? hi->base - addr : UINT64_MAX;
	if (lo == NULL && hi == NULL)
		return;
	const struct hrr_range *x = below <= above ? lo : hi;
	const struct hrr_mem *m = x->value;
	hrr_buf_addf(b, "; nearest is %s 0x%llx + %llu, which %s", hrr_mem_kind_name(m->kind),
		     LLU(x->base), LLU(x->size), below <= above ? "ends" : "begins");
	if (below <= above && below == 0)
		hrr_buf_adds(b, " right here");
	else
		hrr_buf_addf(b, " %llu bytes %s", LLU(below <= above ? below : above),
			     below <= above ? "before" : "after");
}

static int not_mapped(struct hrr_replay *r, const struct hrr_operand *op, enum hrr_end end)
{
	struct hrr_buf b = {0};

	operand_text(op, &b);
	if (end == HRR_END_DEVICE) {
		hrr_buf_adds(&b, " is not mapped: no allocation, no live segment");
		hrr_explain(r, op->addr, &b);
	} else {
		hrr_buf_adds(&b, " is no host memory this stream knows");
	}
	const char *s = hrr_buf_str(&b);
	int rc = hrr_diag_set(&r->diag, -ENXIO, "%s", s != NULL ? s : "not mapped");
	hrr_buf_release(&b);
	return rc;
}

static int past_end(struct hrr_replay *r, const struct hrr_operand *op, const struct hrr_where *w)
{
	const struct hrr_mem *m = w->mem;
	struct hrr_buf b = {0};

	operand_text(op, &b);
	hrr_buf_addf(&b, " runs past the end of %s 0x%llx + %llu: %llu bytes are left there",
		     hrr_mem_kind_name(m->kind), LLU(m->base), LLU(m->size),
		     LLU(m->size - (w->addr - m->base)));
	const char *s = hrr_buf_str(&b);
	int rc = hrr_diag_set(&r->diag, -ERANGE, "%s", s != NULL ? s : "past the end");
	hrr_buf_release(&b);
	return rc;
}

static bool is_registered(void *self, const struct hrr_range *x)
{
	(void)self;
	return ((const struct hrr_mem *)x->value)->kind == HRR_MEM_REGISTERED;
}

struct hrr_mem *hrr_mem_at(const struct hrr_ranges *in, uint64_t addr)
{
	const struct hrr_range *x = hrr_ranges_find(in, addr);

	if (x != NULL && is_registered(NULL, x))
		x = hrr_ranges_longest_if(in, addr, is_registered, NULL);
	return x != NULL ? x->value : NULL;
}

bool hrr_where_is(const struct hrr_replay *r, uint64_t addr, struct hrr_where *ret)
{
	struct hrr_mem *m = hrr_mem_at(r->map, addr);

	if (m == NULL)
		return false;
	uint64_t off = addr - m->base;
	/* Another number of host memory: whoever uses it uses that. */
	ret->mem = m->of != NULL ? m->of : m;
	ret->live = ret->mem->live + off;
	ret->addr = ret->mem->base + off;
	return true;
}

static bool where_on_host(const struct hrr_replay *r, uint64_t addr, struct hrr_where *ret)
{
	ret->mem = hrr_mem_at(r->hostmap, addr);
	if (ret->mem == NULL)
		return false;
	ret->live = ret->mem->host + (addr - ret->mem->base);
	ret->addr = addr;
	return true;
}

int hrr_translate(struct hrr_replay *r, const struct hrr_operand *op, enum hrr_end end,
		  struct hrr_where *ret)
{
	if (op->addr == 0) {
		*ret = (struct hrr_where){0};
		return 0;
	}
	bool there = end == HRR_END_DEVICE ? hrr_where_is(r, op->addr, ret)
					   : where_on_host(r, op->addr, ret);
	if (!there && end == HRR_END_DEVICE) {
		int rc = hrr_segment_back(r, op->addr);
		if (rc < 0)
			return rc;
		there = rc > 0 && hrr_where_is(r, op->addr, ret);
	}
	if (!there)
		return not_mapped(r, op, end);
	if (op->need > ret->mem->size - (ret->addr - ret->mem->base))
		return past_end(r, op, ret);
	if (r->blocked.n != 0 && end == HRR_END_DEVICE)
		return hrr_block_check(r, op->what, op->addr, op->need, ret->mem);
	return 0;
}

bool hrr_is_device(struct hrr_replay *r, uint64_t addr)
{
	const struct hrr_range *x = hrr_ranges_find(r->map, addr);

	if (x != NULL) {
		const struct hrr_mem *m = x->value;
		return m->kind == HRR_MEM_DEVICE || m->kind == HRR_MEM_MANAGED ||
		       m->kind == HRR_MEM_SEGMENT ||
		       (m->kind == HRR_MEM_ALIAS && hrr_ranges_find(r->hostmap, addr) == NULL);
	}
	if (hrr_ranges_find(r->hostmap, addr) != NULL)
		return false;
	return hrr_timeline_segment(r->timeline, addr) != NULL;
}
