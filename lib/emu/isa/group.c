/* Workgroups: their storage, and turns for their waves. */
#include "lib/emu/isa/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ROWS_SIZE ((size_t)ROW_ALL * ISA_ROW)
/* Behind scratch: a byte-wise access looks at whole dwords. */
#define SCRATCH_SLACK 64u

static void group_free(struct isa_wg *g)
{
	if (!g)
		return;
	for (u32 i = 0; i < g->n_alloc; i++) {
		munmap(g->waves[i].rows, ROWS_SIZE);
		free(g->waves[i].scratch);
		free(g->waves[i].scratch_written);
	}
	free(g->waves);
	free(g->lds);
	free(g->lds_written);
	free(g);
}

/* Waves with register files: those that are there, and new ones. */
static bool fit_waves(struct isa_wg *g, u32 n)
{
	struct isa_wave *list;

	if (n <= g->n_alloc)
		return true;
	list = aligned_alloc(64, n * sizeof(*list));
	if (!list)
		return false;
	memset(list, 0, n * sizeof(*list));
	if (g->n_alloc)
		memcpy(list, g->waves, g->n_alloc * sizeof(*list));
	free(g->waves);
	g->waves = list;
	for (; g->n_alloc < n; g->n_alloc++) {
		struct isa_wave *const w = &g->waves[g->n_alloc];
		void *const rows = mmap(NULL, ROWS_SIZE, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (rows == MAP_FAILED)
			return false;
		w->rows = rows;
		w->v = w->rows + (size_t)ROW_TEMPS * ISA_LANES;
	}
	return true;
}

/* Takes bytes out of what the launch may have for scratch and LDS. */
static bool take_room(struct isa_thread *t, u64 bytes)
{
	return atomic_fetch_add(t->all_room, bytes) + bytes <= t->launch->room || !t->launch->room;
}

/* All of it holds the fill byte when a group starts: what was written is filled again then. */
static bool fit_scratch(struct isa_wave *w, u64 size, u8 fill)
{
	const bool other = w->scratch_fill != fill;

	if (size > w->scratch_room) {
		if (!take_room(w->t, size))
			return false;
		free(w->scratch);
		free(w->scratch_written);
		w->scratch_written = NULL;
		w->scratch = fill ? malloc(size + SCRATCH_SLACK) : calloc(1, size + SCRATCH_SLACK);
		w->scratch_room = w->scratch ? size : 0;
		if (!w->scratch)
			return false;
		if (fill)
			memset(w->scratch, fill, size + SCRATCH_SLACK);
		w->scratch_used = 0;
	} else if (other && w->scratch) {
		w->scratch_used = w->scratch_room;
	}
	w->scratch_fill = fill;
	w->scratch_size = w->scratch_open = size;
	return true;
}

/* One byte for each byte of LDS and scratch; with that, nothing is open to the fast path. */
static bool fit_watch(struct isa_wg *g, const struct isa_kernel *k)
{
	if (k->lds && !g->lds_written)
		g->lds_written = malloc(g->lds_room);
	if (k->lds && !g->lds_written)
		return false;
	for (u32 i = 0; i < k->waves; i++) {
		struct isa_wave *const w = &g->waves[i];

		w->lds_open = 0;
		w->scratch_open = 0;
		if (w->scratch_size && !w->scratch_written)
			w->scratch_written = calloc(1, w->scratch_room + SCRATCH_SLACK);
		if (w->scratch_size && !w->scratch_written)
			return false;
	}
	return true;
}

static bool fit(struct isa_wg *g, struct isa_thread *t)
{
	const struct isa_kernel *const k = t->kernel;
	const u64 scratch = (u64)k->scratch * k->lanes;

	if (!fit_waves(g, k->waves))
		return false;
	if (k->lds > g->lds_room) {
		if (!take_room(t, k->lds))
			return false;
		free(g->lds);
		free(g->lds_written);
		g->lds_written = NULL;
		g->lds_room = 0;
		g->lds = aligned_alloc(64, ((size_t)k->lds + 63) / 64 * 64);
		if (!g->lds)
			return false;
		g->lds_room = k->lds;
	}
	for (u32 i = 0; i < k->waves; i++) {
		struct isa_wave *const w = &g->waves[i];

		w->wg = g;
		w->t = t;
		w->index = i;
		w->lds = g->lds;
		w->lds_size = w->lds_open = k->lds;
		if (!fit_scratch(w, scratch, t->launch->poison_lds))
			return false;
	}
	return !t->launch->watch_own || fit_watch(g, k);
}

struct isa_wg *isa_group_take(struct isa_thread *t)
{
	struct isa_wg *g = t->spare;

	if (g)
		t->spare = g->next;
	else
		g = calloc(1, sizeof(*g));
	if (g && !fit(g, t)) {
		group_free(g);
		g = NULL;
	}
	return g;
}

void isa_group_put(struct isa_thread *t, struct isa_wg *g)
{
	g->next = t->spare;
	t->spare = g;
}

void isa_groups_trim(struct isa_thread *t, bool all)
{
	struct isa_wg **const from = all || !t->spare ? &t->spare : &t->spare->next;

	while (*from) {
		struct isa_wg *const next = (*from)->next;
		group_free(*from);
		*from = next;
	}
}

void isa_group_start(struct isa_wg *g, struct isa_thread *t, u64 order)
{
	const struct isa_launch *const l = t->launch;
	const struct isa_kernel *const k = t->kernel;
	u32 items = 1;

	g->order = order;
	g->id[0] = (u32)(order % k->groups[0]);
	g->id[1] = (u32)(order / k->groups[0] % k->groups[1]);
	g->id[2] = (u32)(order / k->groups[0] / k->groups[1]);
	for (unsigned d = 0; d < 3; d++) {
		const u32 left = l->grid[d] - g->id[d] * l->block[d];
		g->dim[d] = left < l->block[d] ? left : l->block[d];
		items *= g->dim[d];
	}
	g->n_waves = (items + k->lanes - 1) / k->lanes;
	g->n_done = 0;
	if (k->lds)
		memset(g->lds, l->poison_lds, k->lds);
	if (k->lds && g->lds_written)
		memset(g->lds_written, 0, k->lds);
	for (u32 i = 0; i < g->n_waves; i++) {
		struct isa_wave *const w = &g->waves[i];

		if (w->scratch_used) {
			memset(w->scratch, l->poison_lds, w->scratch_used);
			if (w->scratch_written)
				memset(w->scratch_written, 0, w->scratch_used);
			w->scratch_used = 0;
		}
		isa_wave_init(w, k, l);
		w->in = t->entry;
	}
	t->waves += g->n_waves;
}

/* Whether the launch has used up its budget: counted together now and then. */
static bool over_budget(struct isa_thread *t)
{
	const u64 budget = t->launch->budget, mine = t->instructions - t->counted;

	if (!budget || mine < t->quantum)
		return false;
	t->counted = t->instructions;
	if (atomic_fetch_add(t->all_instructions, mine) + mine <= budget)
		return false;
	t->report.status = ISA_BUDGET;
	snprintf(t->report.what, sizeof(t->report.what), "instruction budget of %llu used up",
		 (unsigned long long)budget);
	return true;
}

enum isa_pass isa_group_pass(struct isa_wg *g, struct isa_thread *t, u64 slice)
{
	for (;;) {
		bool sliced = false;

		for (u32 i = 0; i < g->n_waves; i++) {
			struct isa_wave *const w = &g->waves[i];
			const u64 before = w->count;
			int next;

			if (w->state == WAVE_DONE || w->state == WAVE_BARRIER)
				continue;
			next = isa_step(w, slice);
			t->instructions += w->count - before;
			if (next == NEXT_END) {
				w->state = WAVE_DONE;
				g->n_done++;
			} else if (next == NEXT_STOP) {
				return PASS_STOP;
			} else if (w->state != WAVE_BARRIER) {
				sliced = true;
			}
		}
		if (over_budget(t))
			return PASS_STOP;
		if (g->n_done == g->n_waves)
			return PASS_DONE;
		if (sliced)
			return PASS_WAITS;
		/* all that are left wait at the barrier */
		for (u32 i = 0; i < g->n_waves; i++)
			if (g->waves[i].state == WAVE_BARRIER)
				g->waves[i].state = WAVE_READY;
	}
}
