/* Counters that all workgroups of a launch share (ds_gws_*): the barrier over a whole grid. */
#include "lib/emu/isa/gws.h"

/* Generation in the upper half; how many more must come in the lower. */
static u64 state_of(u64 generation, u32 more)
{
	return generation << 32 | more;
}

void isa_gws_start(struct isa_gws *g, u64 n_groups)
{
	/* as the HIP run time leaves them: one wave of each workgroup comes */
	for (unsigned i = 0; i < ISA_GWS; i++)
		atomic_init(&g->counter[i], state_of(0, (u32)(n_groups - 1)));
}

/* What the instruction names; NULL and the launch ended where that is nothing. */
static _Atomic u64 *named(struct isa_wave *w, const struct isa_inst *in)
{
	if (!w->t->launch->cooperative) {
		isa_fail(w, in, ISA_BAD_LAUNCH,
			 "barrier over a grid that was not launched "
			 "cooperatively,");
		return NULL;
	}
	return &w->t->gws->counter[((w->s[R_M0] >> 16) + (u32)in->imm) % ISA_GWS];
}

/* Done by the wave, EXEC or not. */
static u32 value(const struct isa_wave *w, const struct isa_inst *in)
{
	const u64 e = isa_exec(w);

	return isa_vp(w, in, 0)[e ? __builtin_ctzll(e) : 0];
}

int isa_gws_init(struct isa_wave *w, const struct isa_inst *in)
{
	_Atomic u64 *const c = named(w, in);

	if (!c)
		return NEXT_STOP;
	atomic_store(c, state_of(atomic_load(c) >> 32, value(w, in)));
	return NEXT_INST;
}

int isa_gws_barrier(struct isa_wave *w, const struct isa_inst *in)
{
	_Atomic u64 *const c = named(w, in);
	u64 now, next;

	if (!c)
		return NEXT_STOP;
	now = atomic_load(c);
	if (w->gws_waits) { /* it has come; is the last one there? */
		if (now >> 32 == w->gws_turn) {
			w->in = in;
			return NEXT_YIELD;
		}
		w->gws_waits = false;
		return NEXT_INST;
	}
	do {
		next = (u32)now ? now - 1 : state_of((now >> 32) + 1, value(w, in));
	} while (!atomic_compare_exchange_weak(c, &now, next));
	if (!(u32)now)
		return NEXT_INST;
	w->gws_waits = true;
	w->gws_turn = (u32)(now >> 32);
	w->in = in;
	return NEXT_YIELD;
}
