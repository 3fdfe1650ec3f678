/* The kernel descriptor, and the registers a wave begins with. */
#include <errno.h>
#include <stdio.h>

#include "lib/emu/isa/internal.h"

/* Bytes of scratch per work-item: what a wave may have on gfx12 (the others have less), over 32
 * lanes. */
#define MAX_SCRATCH (2u << 20)

static u32 get32(const u8 *p)
{
	u32 v;
	memcpy(&v, p, 4);
	return v;
}

int isa_kernel_read(const struct isa_launch *l, struct isa_kernel *k, char *why, size_t size)
{
	const enum isa_arch arch = isa_program_arch(l->prog);
	const u8 *const kd = isa_program_bytes(l->prog, l->kd, 64);
	u64 items = 1;
	i64 entry;
	u32 user;

	if (!kd) {
		snprintf(why, size, "kernel descriptor 0x%llx outside the code object",
			 (unsigned long long)l->kd);
		return -EINVAL;
	}
	*k = (struct isa_kernel){0};
	memcpy(&entry, kd + 16, 8);
	k->entry = l->kd + (u64)entry;
	k->rsrc3 = get32(kd + 44);
	k->rsrc1 = get32(kd + 48);
	k->rsrc2 = get32(kd + 52);
	memcpy(&k->properties, kd + 56, 2);
	memcpy(&k->preload, kd + 58, 2);
	k->gen = arch <= ISA_GFX950 ? 9 : arch == ISA_GFX1030 ? 10 : arch == ISA_GFX1100 ? 11 : 12;
	k->lanes = k->gen == 9 || !(k->properties >> 10 & 1) ? 64 : 32;
	k->lds = l->lds;
	k->scratch = l->scratch;
	if ((k->preload & 127) && (arch == ISA_GFX942 || arch == ISA_GFX950 || arch == ISA_GFX90A))
		k->entry +=
		    256; /* behind the code that loads the arguments where preloading is missing */
	else
		k->preload = 0;
	for (unsigned d = 0; d < 3; d++) {
		if (!l->block[d] || !l->grid[d]) {
			snprintf(why, size, "empty grid or block");
			return -EINVAL;
		}
		items *= l->block[d];
		k->groups[d] = (l->grid[d] - 1) / l->block[d] + 1;
		if (items > 1024 || l->block[d] > 1024) {
			snprintf(why, size, "block of more than 1024 work-items");
			return -EINVAL;
		}
	}
	k->n_groups = (u64)k->groups[0] * k->groups[1];
	if (k->n_groups > UINT64_MAX / k->groups[2]) {
		snprintf(why, size, "grid too big");
		return -EINVAL;
	}
	k->n_groups *= k->groups[2];
	if (k->gen == 12 && (k->groups[1] > 65536 || k->groups[2] > 65536)) {
		snprintf(why, size,
			 "more than 65536 workgroups in y or z: their numbers have 16 bits");
		return -EINVAL;
	}
	k->waves = (u32)((items + k->lanes - 1) / k->lanes);
	user = k->rsrc2 >> 1 & 31;
	if (user > 16 + 16 || l->scratch > MAX_SCRATCH || l->lds > (1u << 20)) {
		snprintf(why, size, "kernel descriptor or sizes out of range");
		return -EINVAL;
	}
	return 0;
}

static void put64(u32 *s, u64 v)
{
	s[0] = (u32)v;
	s[1] = (u32)(v >> 32);
}

/*
 * Work-item ids of a group of this size, wave by wave in the rows they begin with.
 * Nearly all groups of a launch have the same: kept by the thread.
 */
static const u32 *group_ids(struct isa_thread *t, const struct isa_kernel *k, const u32 dim[3])
{
	u32 *const x = t->ids, *const y = x + ISA_MAX_ITEMS, *const z = y + ISA_MAX_ITEMS;
	const u32 items = k->waves * k->lanes;
	u32 at[3] = {0, 0, 0};

	if (!memcmp(t->ids_dim, dim, sizeof(t->ids_dim)) && t->ids_gen == k->gen)
		return t->ids;
	memcpy(t->ids_dim, dim, sizeof(t->ids_dim));
	t->ids_gen = k->gen;
	for (u32 i = 0; i < items; i++) {
		if (k->gen == 10) {
			x[i] = at[0];
			y[i] = at[1];
			z[i] = at[2];
		} else {
			x[i] = at[0] | at[1] << 10 | at[2] << 20;
		}
		if (++at[0] == dim[0]) {
			at[0] = 0;
			if (++at[1] == dim[1]) {
				at[1] = 0;
				at[2]++;
			}
		}
	}
	return t->ids;
}

/* Puts them into the wave's first registers; the lanes there are, as EXEC. */
static u64 take_ids(struct isa_wave *w, const struct isa_kernel *k)
{
	const struct isa_wg *const g = w->wg;
	const u32 rows = k->gen != 10 ? 1 : 1 + (k->rsrc2 >> 11 & 3);
	const u32 items = g->dim[0] * g->dim[1] * g->dim[2], first = w->index * k->lanes;
	const u32 *const ids = group_ids(w->t, k, g->dim) + first;
	const u32 n = items - first;

	for (u32 r = 0; r < rows && r < 3; r++)
		memcpy(w->v + r * ISA_LANES, ids + r * ISA_MAX_ITEMS, k->lanes * sizeof(u32));
	return n >= k->lanes ? w->full : ((u64)1 << n) - 1;
}

void isa_wave_init(struct isa_wave *w, const struct isa_kernel *k, const struct isa_launch *l)
{
	const struct isa_wg *const g = w->wg;
	const u32 user = k->rsrc2 >> 1 & 31;
	u32 at = 0;

	memset(w->s, 0, sizeof(w->s));
	w->lanes = k->lanes;
	w->gen = k->gen;
	w->full = k->lanes == 64 ? ~(u64)0 : 0xffffffffu;
	w->gpr_idx = 0;
	w->gws_waits = false;
	w->fnuz = isa_program_arch(l->prog) == ISA_GFX942;
	w->state = WAVE_READY;
	w->count = 0;
	w->mode = (k->rsrc1 >> 12 & 0xff) | (k->rsrc1 >> 26 & 1) << 23; /* FP16_OVFL */
	w->mode |= k->gen == 12 ? MODE_DX10_CLAMP			/* no IEEE bit there */
				: (k->rsrc1 >> 21 & 1 ? MODE_DX10_CLAMP : 0) |
				      (k->rsrc1 >> 23 & 1 ? MODE_IEEE : 0);
	/* user registers in the order of the property bits */
	if (k->properties & 1) {
		w->s[at] = (u32)SCRATCH_WINDOW;
		w->s[at + 1] = (u32)(SCRATCH_WINDOW >> 32) | 1u << 31;
		w->s[at + 2] = ~0u;
		w->s[at + 3] = 0x00e80000u;
		at += 4;
	}
	if (k->properties & 2)
		put64(&w->s[at], l->packet), at += 2;
	if (k->properties & 4)
		put64(&w->s[at], l->queue), at += 2;
	if (k->properties & 8)
		put64(&w->s[at], l->kernarg), at += 2;
	if (k->properties & 16)
		at += 2; /* dispatch id 0 */
	if (k->properties & 32)
		put64(&w->s[at], (u64)k->scratch << 32), at += 2;
	if (k->properties & 64)
		w->s[at++] = k->scratch;
	if (k->preload) {
		const u32 n = k->preload & 127, first = k->preload >> 7;
		struct isa_span sp;

		if (!l->mem.find(l->mem.self, l->kernarg + 4 * first, &sp))
			for (u32 i = 0; i < n && at < 32; i++) {
				const u64 a = l->kernarg + 4 * (first + i);
				if (a - sp.base + 4 <= sp.size)
					memcpy(&w->s[at], sp.host + (a - sp.base), 4);
				at++;
			}
	}
	at = user;
	for (u32 d = 0; d < 3; d++)
		if (k->rsrc2 >> (7 + d) & 1)
			w->s[at++] = g->id[d];
	if (k->rsrc2 >> 10 & 1)
		w->s[at++] = 0; /* workgroup info */
	if (k->rsrc2 & 1)
		w->s[at++] = 0; /* scratch wave offset: each wave has its own window */
	if (k->gen == 12) {
		w->s[R_TTMP + 9] = g->id[0];
		w->s[R_TTMP + 7] = g->id[1] | g->id[2] << 16;
		w->s[R_TTMP + 8] = w->index << 25;
	}
	w->s[R_SHARED_BASE + 1] = APERTURE_SHARED;
	w->s[R_SHARED_LIMIT] = ~0u;
	w->s[R_SHARED_LIMIT + 1] = APERTURE_SHARED;
	w->s[R_PRIVATE_BASE + 1] = APERTURE_PRIVATE;
	w->s[R_PRIVATE_LIMIT] = ~0u;
	w->s[R_PRIVATE_LIMIT + 1] = APERTURE_PRIVATE;
	isa_set_exec(w, take_ids(w, k));
}
