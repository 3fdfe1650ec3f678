#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/*
 * Registered host memory. A registration is a range of a block that the run time
 * was told about; it is marked from a successful hipHostRegister until a successful
 * hipHostUnregister, and what is marked at the end is unregistered then. The block below it
 * stays in any case. States of a registration:
 *   in the maps        recorded as registered: m->reg
 *   deferred           recorded as unregistered, the device was busy: r->deferred
 *   stuck              the run time would not unregister it: r->stuck, tried again at the end
 * A call recorded as failing that succeeds here is undone: host_failed.c.
 */

#define LLU(x) ((unsigned long long)(x))

static struct hrr_mem *registered(const struct hrr_range *x)
{
	struct hrr_mem *m = x != NULL ? x->value : NULL;

	return m != NULL && m->kind == HRR_MEM_REGISTERED && m->reg != NULL ? m : NULL;
}

static struct hrr_mem *registered_at(struct hrr_replay *r, uint64_t base)
{
	return registered(hrr_ranges_at(r->hostmap, base));
}

/* Some run times take any address of a registration to unregister it. */
static struct hrr_mem *registered_around(struct hrr_replay *r, uint64_t addr)
{
	struct hrr_mem *m = registered_at(r, addr);

	return m != NULL ? m : registered(hrr_ranges_find(r->hostmap, addr));
}

static struct hrr_registration *stuck_at(struct hrr_replay *r, uint64_t base)
{
	struct hrr_registration *g = r->stuck;

	while (g != NULL && (g->base != base || g->block == NULL || g->block->aside))
		g = g->next;
	return g;
}

void hrr_stuck_del(struct hrr_replay *r, struct hrr_registration *g)
{
	struct hrr_registration **at = &r->stuck;

	while (*at != NULL && *at != g)
		at = &(*at)->next;
	if (*at != NULL)
		*at = g->next;
}

/* The registration is with the run time no more. */
void hrr_registration_gone(struct hrr_registration *g)
{
	if (g->block != NULL)
		g->block->registrations--;
	free(g);
}

static void registration_stuck(struct hrr_replay *r, struct hrr_registration *g)
{
	g->next = r->stuck;
	r->stuck = g;
}

int hrr_unregister_now(struct hrr_replay *r, struct hrr_registration *g)
{
	int64_t e = HRR_CALL(r, hipHostUnregister, g->live);
	char buf[32];

	hrr_host_changed(r, g->base, g->size);
	if (e == hipSuccess) {
		if (g->undone)
			hrr_registrations_keep(r, g);
		hrr_registration_gone(g);
		return 0;
	}
	int rc = hrr_fail(r, "unregistering 0x%llx (%llu bytes): %s", LLU(g->base), LLU(g->size),
			  hrr_error_text(e, buf));
	registration_stuck(r, g);
	return rc;
}

/*
 * The address is still registered here, and the recorded program registered it
 * again with success. Where the run time keeps it, the old mapping is set aside.
 */
static int replace(struct hrr_replay *r, uint64_t addr)
{
	struct hrr_mem *m = registered_at(r, addr);
	struct hrr_registration *g = m != NULL ? m->reg : stuck_at(r, addr);

	if (g == NULL)
		return 0;
	if (r->captures == 0) {
		int rc = hrr_wait_all(r);
		if (rc < 0)
			return rc;
	}
	if (m != NULL) {
		m->reg = NULL;
		hrr_mem_drop(r, m, r->seq);
	} else {
		hrr_stuck_del(r, g);
	}
	hrr_host_changed(r, g->base, g->size);
	if (HRR_CALL(r, hipHostUnregister, g->live) == hipSuccess) {
		hrr_registration_gone(g);
		return 0;
	}
	hrr_block_aside(r->blocks, g->block);
	registration_stuck(r, g);
	return 0;
}

struct view { /* bytes of a mapping, and whether a registration holds some of them */
	uint64_t live, size;
	bool taken;
};

static bool holds(const struct hrr_registration *g, const struct view *v)
{
	return g != NULL && g->live < v->live + v->size && v->live < g->live + g->size;
}

static int hold_one(void *self, const struct hrr_range *x)
{
	const struct hrr_mem *m = x->value;
	struct view *v = self;

	v->taken = v->taken || holds(m->reg, v);
	return v->taken;
}

/* Whether the run time has some of it registered: recorded so, put off, or stuck. */
static bool taken(struct hrr_replay *r, const struct hrr_block *b, uint64_t addr, uint64_t size)
{
	struct view v = {.live = HRR_P(hrr_block_at(b, addr)), .size = size};

	/* What is registered there is registered at these recorded addresses. */
	if (hrr_ranges_overlap(r->hostmap, addr, size) != NULL)
		hrr_ranges_each(r->hostmap, hold_one, &v);
	for (const struct hrr_registration *g = r->stuck; g != NULL && !v.taken; g = g->next)
		v.taken = holds(g, &v);
	for (const struct hrr_deferred *d = r->deferred; d != NULL && !v.taken; d = d->next)
		v.taken = d->kind == HRR_DEFER_UNREGISTER && holds(d->reg, &v);
	return v.taken;
}

static int registration_enter(struct hrr_replay *r, struct hrr_registration *g)
{
	uint64_t dev = 0;
	struct hrr_mem *m = hrr_mem_new(r, HRR_MEM_REGISTERED, g->base, g->size);

	if (m == NULL)
		return -ENOMEM;
	m->host = g->live;
	m->live = g->live;
	if (HRR_CALL(r, hipHostGetDevicePointer, HRR_P(&dev), g->live, 0) == hipSuccess && dev != 0)
		m->live = dev;
	m->reg = g;
	int rc = hrr_mem_enter(r, m);
	if (rc < 0)
		free(m);
	return rc;
}

/* Bytes that the run time has registered still, although their unregister was recorded: waits. */
int hrr_unregister_deferred(struct hrr_replay *r, uint64_t addr, uint64_t size)
{
	if (r->captures != 0)
		return 0;
	for (struct hrr_deferred *d = r->deferred; d != NULL; d = d->next)
		if (d->kind == HRR_DEFER_UNREGISTER && d->reg->base < addr + size &&
		    addr < d->reg->base + d->reg->size)
			return hrr_wait_all(r);
	return 0;
}

/* What landed in the pages of [*first, *end) or shares one with that, and so on: rounded out. */
static int landings_near(struct hrr_replay *r, struct hrr_ranges *in, uint64_t *first,
			 uint64_t *end)
{
	const struct hrr_range *x;

	while ((x = hrr_ranges_overlap(in, *first, HRR_PAGE)) != NULL && x->base < *first)
		*first = x->base & ~(HRR_PAGE - 1);
	for (uint64_t at = *first; at < *end; at = x->base + x->size) {
		x = hrr_ranges_overlap(in, at, *end - at);
		if (x == NULL)
			break;
		if (x->base + x->size > UINT64_MAX - HRR_PAGE)
			return hrr_fail(r, "0x%llx + %llu is no range of addresses", LLU(x->base),
					LLU(x->size));
		uint64_t lo = x->base & ~(HRR_PAGE - 1);
		uint64_t hi = (x->base + x->size + HRR_PAGE - 1) & ~(HRR_PAGE - 1);
		*first = lo < *first ? lo : *first;
		*end = hi > *end ? hi : *end;
	}
	return 0;
}

static int landing_move(struct hrr_replay *r, struct hrr_landing *l, struct hrr_block *b)
{
	const struct hrr_rows *w = &l->rows;
	int rc = hrr_landing_arrived(r, l);

	if (rc < 0)
		return rc;
	if (w->height == 0)
		memcpy(hrr_block_at(b, l->addr), l->data, l->size);
	else
		hrr_copy_rows(hrr_block_at(b, l->addr), w->pitch, w->slice, l->data, w->width,
			      w->width * w->height, w->width, w->height, w->depth);
	hrr_landing_retire(r, l);
	return 0;
}

/* What landed in the pages of [addr, addr + size) becomes part of the pages. */
static int absorb_landings(struct hrr_replay *r, uint64_t addr, uint64_t size)
{
	uint64_t first = addr & ~(HRR_PAGE - 1), was;
	uint64_t end = (addr + size + HRR_PAGE - 1) & ~(HRR_PAGE - 1);
	struct hrr_ranges *const in[] = {r->landings, r->rects};
	const struct hrr_range *x;
	struct hrr_block *block;
	int rc;

	do {
		was = end - first;
		rc = landings_near(r, r->landings, &first, &end);
		if (rc == 0)
			rc = landings_near(r, r->rects, &first, &end);
	} while (rc == 0 && end - first != was);
	if (rc < 0 || (hrr_ranges_overlap(r->landings, first, end - first) == NULL &&
		       hrr_ranges_overlap(r->rects, first, end - first) == NULL))
		return rc;
	rc = hrr_blocks_get(r->blocks, first, end - first, false, &block, &r->diag);
	for (int i = 0; i < 2; i++)
		while (rc == 0 && (x = hrr_ranges_overlap(in[i], first, end - first)) != NULL)
			rc = landing_move(r, x->value, block);
	return rc;
}

int hrr_block_for(struct hrr_replay *r, uint64_t addr, uint64_t size, bool fresh,
		  struct hrr_block **ret)
{
	int rc = hrr_blocks_get(r->blocks, addr, size, fresh, ret, &r->diag);

	return rc < 0 ? rc : absorb_landings(r, addr, size);
}

int hrr_do_register(struct hrr_replay *r, struct hrr_event *ev)
{
	uint64_t addr = ev->w[0], size = ev->w[1];
	struct hrr_block *block;
	int rc;

	if (size == 0 || addr + size < addr)
		return hrr_fail(r, "0x%llx + %llu is no range of addresses", LLU(addr), LLU(size));
	rc = hrr_unregister_deferred(r, addr, size);
	if (rc == 0)
		rc = replace(r, addr);
	if (rc < 0)
		return rc;
	/* A view of its own where bytes are registered already: run times refuse overlaps. */
	block = hrr_blocks_find(r->blocks, addr, size);
	rc = hrr_block_for(r, addr, size, block != NULL && taken(r, block, addr, size), &block);
	if (rc < 0)
		return rc;
	struct hrr_registration *g = calloc(1, sizeof *g);
	if (g == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	*g = (struct hrr_registration){.base = addr,
				       .size = size,
				       .live = HRR_P(hrr_block_at(block, addr)),
				       .flags = ev->w[2],
				       .block = block,
				       .device = r->device};
	ev->live[0] = g->live;
	ev->live[1] = size;
	ev->live[2] = ev->w[2];
	int64_t e = hrr_call(r, ev->api, ev->live);
	rc = hrr_settle(r, ev, e);
	if (e != hipSuccess) {
		free(g);
		return rc;
	}
	block->registrations++;
	hrr_host_changed(r, addr, size);
	rc = registration_enter(r, g);
	if (rc < 0)
		registration_stuck(r, g);
	return rc;
}

int hrr_do_unregister(struct hrr_replay *r, struct hrr_event *ev)
{
	struct hrr_mem *m = registered_around(r, ev->w[0]);

	if (m == NULL)
		return hrr_fail(r, "0x%llx is not registered", LLU(ev->w[0]));
	struct hrr_registration *g = m->reg;
	bool now = r->captures == 0 && hrr_idle(r);
	m->reg = NULL;
	hrr_mem_drop(r, m, r->seq);
	if (!now) {
		r->owed_wait = true;
		return hrr_defer(r, HRR_DEFER_UNREGISTER, ev, g->base, g->live, g);
	}
	int rc = hrr_unregister_now(r, g);
	if (rc < 0 && r->diag.what[0] != '\0')
		ev->th->last_error = hipErrorUnknown;
	int rc2 = hrr_settled(r);
	return rc < 0 ? rc : rc2;
}

static int end_one(void *self, const struct hrr_range *x)
{
	struct hrr_replay *r = self;
	struct hrr_mem *m = x->value;

	if (m->kind == HRR_MEM_REGISTERED && m->reg != NULL) {
		struct hrr_registration *g = m->reg;
		m->reg = NULL;
		g->next = r->stuck;
		r->stuck = g;
	}
	return 0;
}

/* idle false: the device may still write there; nothing is unregistered or unmapped. */
void hrr_host_end(struct hrr_replay *r, bool idle)
{
	hrr_ranges_each(r->hostmap, end_one, r);
	while (r->stuck != NULL) {
		struct hrr_registration *g = r->stuck;
		r->stuck = g->next;
		char buf[32];
		int64_t e = idle ? HRR_CALL(r, hipHostUnregister, g->live) : hipSuccess;
		if (e != hipSuccess)
			hrr_warn(r, 0, "hipHostUnregister",
				 "0x%llx (%llu bytes) is still registered at the end: %s",
				 LLU(g->base), LLU(g->size), hrr_error_text(e, buf));
		hrr_registration_gone(g);
	}
}

int hrr_host_place(struct hrr_replay *r, const struct hrr_operand *op, uint64_t *ret_live,
		   struct hrr_mem **ret_mem)
{
	const struct hrr_mem *m = hrr_mem_at(r->hostmap, op->addr);
	struct hrr_where w;
	struct hrr_block *block;

	*ret_live = 0;
	*ret_mem = NULL;
	if (m != NULL) {
		bool fits = op->need <= m->size - (op->addr - m->base);
		if (fits || m->kind != HRR_MEM_REGISTERED) {
			int rc = hrr_translate(r, op, HRR_END_HOST, &w);
			if (rc < 0)
				return rc;
			*ret_live = w.live;
			*ret_mem = w.mem;
			return 0;
		}
	}
	/* Pages that have storage are the recorded program's memory, registered or not. */
	if (!hrr_blocks_touch(r->blocks, op->addr, op->need))
		return 0;
	int rc = hrr_block_for(r, op->addr, op->need, false, &block);
	if (rc == 0)
		*ret_live = HRR_P(hrr_block_at(block, op->addr));
	return rc;
}
