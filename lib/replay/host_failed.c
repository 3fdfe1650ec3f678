#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/replay/engine.h"

/*
 * hipHostRegister and hipHostUnregister recorded as failing: issued as they were, and undone where
 * they succeed here, so that what is registered is what the program had.
 */

struct at { /* a live address, and the registration there or over these bytes */
	uint64_t live, size;
	struct hrr_mem *found;
};

static int is_there(void *self, const struct hrr_range *x)
{
	struct at *a = self;
	struct hrr_mem *m = x->value;

	a->found = m->reg != NULL && m->reg->live == a->live ? m : NULL;
	return a->found != NULL;
}

static struct hrr_mem *registered_here(struct hrr_replay *r, uint64_t live)
{
	struct at a = {.live = live};

	hrr_ranges_each(r->hostmap, is_there, &a);
	return a.found;
}

static struct hrr_block *block_here(struct hrr_replay *r, uint64_t live)
{
	struct hrr_block *b = hrr_blocks_first(r->blocks);

	while (b != NULL && live - HRR_P(b->map) >= b->size)
		b = b->next;
	return b;
}

/* Registers it where it was. It is in the maps: without the run time it stays recorded memory. */
static void again(struct hrr_replay *r, struct hrr_mem *m)
{
	struct hrr_registration *g = m->reg;
	char buf[32];
	int64_t e = HRR_CALL(r, hipHostRegister, g->live, g->size, g->flags);

	if (e == hipSuccess)
		return;
	hrr_warn(r, r->seq, NULL, "0x%llx (%llu bytes) could not be registered again: %s",
		 (unsigned long long)g->base, (unsigned long long)g->size, hrr_error_text(e, buf));
	m->reg = NULL;
	hrr_registration_gone(g);
}

/* Run times that keep one registration an address let go of all of them with one call. */
static int lost(void *self, const struct hrr_range *x)
{
	struct at *a = self;
	struct hrr_mem *m = x->value;
	bool over = m->reg != NULL && m->reg->live < a->live + a->size &&
		    a->live < m->reg->live + m->reg->size;

	a->found = over ? m : NULL;
	return over;
}

void hrr_registrations_keep(struct hrr_replay *r, const struct hrr_registration *g)
{
	struct at a = {.live = g->live, .size = g->size};
	uint64_t dev = 0;

	hrr_ranges_each(r->hostmap, lost, &a);
	if (a.found != NULL &&
	    HRR_CALL(r, hipHostGetDevicePointer, HRR_P(&dev), a.found->reg->live, 0) != hipSuccess)
		again(r, a.found);
}

static int undo_register(struct hrr_replay *r, struct hrr_event *ev)
{
	struct hrr_registration *g = calloc(1, sizeof *g);

	if (g == NULL)
		return hrr_trouble(r, -ENOMEM, "out of memory");
	*g = (struct hrr_registration){.base = ev->w[0],
				       .size = ev->w[1],
				       .live = ev->live[0],
				       .block = block_here(r, ev->live[0]),
				       .device = r->device,
				       .undone = true};
	if (g->block != NULL)
		g->block->registrations++;
	if (r->captures != 0 || !hrr_idle(r))
		return hrr_defer(r, HRR_DEFER_UNREGISTER, ev, g->base, g->live, g);
	return hrr_unregister_now(r, g);
}

static void undo_unregister(struct hrr_replay *r, uint64_t live)
{
	struct hrr_mem *m = registered_here(r, live);
	struct hrr_registration *g = r->stuck;

	if (m != NULL) {
		again(r, m);
		return;
	}
	while (g != NULL && g->live != live)
		g = g->next;
	if (g != NULL) { /* at last */
		hrr_stuck_del(r, g);
		hrr_registration_gone(g);
	}
}

/* Bytes of which replay has none, or not all, cannot be registered as they were. */
static bool in_part(struct hrr_replay *r, const struct hrr_event *ev)
{
	uint64_t addr = ev->w[0], size = ev->w[1];
	const struct hrr_range *x = hrr_ranges_find(r->hostmap, addr);

	if (addr == 0 || size == 0 || addr + size < addr)
		return false;
	if (hrr_blocks_find(r->blocks, addr, size) != NULL || x != NULL)
		return false;
	return ev->recorded == hipErrorHostMemoryAlreadyRegistered ||
	       hrr_blocks_touch(r->blocks, addr, size) ||
	       hrr_ranges_overlap(r->hostmap, addr, size) != NULL;
}

int hrr_failing_registration(struct hrr_replay *r, struct hrr_event *ev)
{
	bool makes = hrr_handler_of(ev->api) == hrr_do_register;
	int rc = hrr_unregister_deferred(r, ev->w[0], makes ? ev->w[1] : 1);

	if (rc < 0)
		return rc;
	if (makes && in_part(r, ev))
		return 1;
	int64_t e = hrr_call(r, ev->api, ev->live);
	rc = hrr_settle(r, ev, e);
	if (e != hipSuccess)
		return rc;
	char why[sizeof r->diag.what];
	memcpy(why, r->diag.what, sizeof why);
	int rc2 = 0;
	if (makes)
		rc2 = undo_register(r, ev);
	else
		undo_unregister(r, ev->live[0]);
	if (r->trouble)
		return rc2;
	memcpy(r->diag.what, why, sizeof why);
	return rc;
}
