/* LDS and scratch whose bytes are watched: loads of what nothing wrote. */
#include "lib/emu/isa/mem.h"

static const char not_written[] = "memory that nothing wrote";

static void tell(struct isa_wave *w, const struct isa_inst *in, struct isa_fault *f, u64 fresh)
{
	if (!fresh)
		return;
	f->access = isa_access_kind(in);
	f->lanes = fresh;
	f->why = not_written;
	isa_note(w, in, f);
}

void isa_watch_lds(struct isa_wave *w, const struct isa_inst *in, const struct isa_access_set *a,
		   u32 size)
{
	struct isa_fault f = {.space = ISA_LDS, .size = size};
	u64 fresh = 0;

	for (u64 left = a->lanes; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		u8 *const shadow = w->wg->lds_written + a->off[i];

		if (in->m.op == MEM_STORE || isa_was_written(shadow, a->off[i], size))
			continue;
		if (!fresh)
			f.address = a->off[i];
		fresh |= (u64)1 << i;
	}
	/* Lanes do not see what others store in the same instruction. */
	for (u64 left = in->m.op == MEM_LOAD ? 0 : a->lanes; left; left &= left - 1)
		memset(w->wg->lds_written + a->off[__builtin_ctzll(left)], 1, size);
	tell(w, in, &f, fresh);
}

/*
 * Whether the instruction before turned every lane on, s_or_saveexec -1: compilers keep scalar
 * registers in lanes of a vector register and spill that whole. Without optimisation they load it
 * before they ever stored it, and write the lanes they use.
 */
static bool is_whole_spill(const struct isa_wave *w, const struct isa_inst *in)
{
	const void *const before = isa_program_bytes(w->t->launch->prog, in->pc - 4, 4);
	u32 raw, op;

	if (!before)
		return false;
	memcpy(&raw, before, 4);
	op = raw >> 8 & 0xff;
	if (raw >> 23 != 0x17d || (raw & 0xff) != 0xc1)
		return false;
	return w->gen == 9    ? op == 0x21
	       : w->gen == 10 ? op == 0x25 || op == 0x3d
			      : op == 0x22 || op == 0x23;
}

/*
 * Compilers copy structures with what lies between their members: only an access
 * none of whose bytes was written is told.
 */
void isa_watch_scratch(struct isa_wave *w, const struct isa_inst *in,
		       const struct isa_access_set *a, u32 size, u64 wave_offset)
{
	const u64 row = (u64)w->lanes * 4;
	struct isa_fault f = {.space = ISA_SCRATCH, .size = size};
	u64 fresh = 0;

	for (u64 left = a->lanes; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		bool any = false;

		for (u32 k = 0; k < size; k++) {
			const u64 o = a->off[i] + k;
			u8 *const shadow =
			    w->scratch_written + wave_offset + (o >> 2) * row + i * 4u + (o & 3);

			any = any || *shadow;
			if (in->m.op != MEM_LOAD)
				*shadow = 1;
		}
		if (any || in->m.op == MEM_STORE)
			continue;
		if (!fresh)
			f.address = wave_offset / w->lanes + a->off[i];
		fresh |= (u64)1 << i;
	}
	if (fresh && !is_whole_spill(w, in))
		tell(w, in, &f, fresh);
}
