/* Control flow: branches, calls, barriers, messages, ends. */
#include "lib/emu/isa/salu.h"

static int jump_to(struct isa_wave *w, const struct isa_inst *in, u64 pc)
{
	const struct isa_inst *t = isa_resolve(w, in, pc);

	if (!t)
		return NEXT_STOP;
	w->in = t;
	return NEXT_JUMP;
}
#define BRANCH(name, cond)                                   \
	FUNC(name)                                           \
	{                                                    \
		return (cond) ? isa_jump(w, in) : NEXT_INST; \
	}
BRANCH(s_branch, true)
BRANCH(s_cbranch_scc0, !SCC)
BRANCH(s_cbranch_scc1, SCC)
BRANCH(s_cbranch_vccz, isa_get_mask(w, R_VCC) == 0)
BRANCH(s_cbranch_vccnz, isa_get_mask(w, R_VCC) != 0)
BRANCH(s_cbranch_execz, isa_exec(w) == 0)
BRANCH(s_cbranch_execnz, isa_exec(w) != 0)
BRANCH(s_cbranch_cdbgsys, false)
BRANCH(s_cbranch_cdbguser, false)

FUNC(s_call_b64)
{
	*isa_s64(w, in->ds) = in->pc + in->size;
	return isa_jump(w, in);
}
FUNC(s_getpc_b64)
{
	*isa_s64(w, in->ds) = in->pc + in->size;
	return NEXT_INST;
}
FUNC(s_setpc_b64)
{
	return jump_to(w, in, QA);
}
FUNC(s_swappc_b64)
{
	const u64 to = QA;

	*isa_s64(w, in->ds) = in->pc + in->size;
	return jump_to(w, in, to);
}
FUNC(s_subvector_loop_begin)
{
	return isa_fail(w, in, ISA_UNIMPLEMENTED, "s_subvector_loop_begin");
}
FUNC(s_endpgm)
{
	(void)w, (void)in;
	return NEXT_END;
}
FUNC(s_endpgm_saved)
{
	(void)w, (void)in;
	return NEXT_END;
}
FUNC(s_barrier)
{
	w->in = in + 1;
	w->state = WAVE_BARRIER;
	return NEXT_YIELD;
}
FUNC(s_barrier_signal)
{
	/* signal and wait always come as a pair here: the wait does the work */
	(void)w, (void)in;
	return NEXT_INST;
}
FUNC(s_barrier_wait)
{
	w->in = in + 1;
	w->state = WAVE_BARRIER;
	return NEXT_YIELD;
}
FUNC(s_sleep)
{
	w->in = in + 1;
	return NEXT_YIELD;
}
FUNC(s_trap)
{
	if (in->imm == 3) /* debug trap: nothing is attached */
		return NEXT_INST;
	return isa_fail(w, in, ISA_TRAP, "s_trap %d", (int)in->imm);
}
FUNC(s_sendmsg)
{
	const u32 id = (u32)in->imm & 0xff;

	if (id == 1) { /* interrupt: M0 carries what the doorbell's owner wants to know */
		if (w->t->launch->hostcall)
			w->t->launch->hostcall(w->t->launch->hostcall_self, w->s[R_M0]);
		return NEXT_INST;
	}
	if (id == 3) /* dealloc vgprs */
		return NEXT_INST;
	return isa_fail(w, in, ISA_UNIMPLEMENTED, "message %u", id);
}
FUNC(s_sendmsghalt)
{
	const int r = op_s_sendmsg(w, in);

	return r == NEXT_INST ? NEXT_END : r;
}
FUNC(s_sendmsg_rtn_b32)
{
	const u32 id = (u32)in->imm & 0xff;

	if (id == 128) { /* doorbell */
		w->s[in->ds] = 0;
		return NEXT_INST;
	}
	return isa_fail(w, in, ISA_UNIMPLEMENTED, "message %u with an answer", id);
}
FUNC(s_sendmsg_rtn_b64)
{
	const u32 id = (u32)in->imm & 0xff;

	if (id == 131) { /* realtime */
		*isa_s64(w, in->ds) = w->count;
		return NEXT_INST;
	}
	return isa_fail(w, in, ISA_UNIMPLEMENTED, "message %u with an answer", id);
}
FUNC(s_sethalt)
{
	return in->imm & 1 ? isa_fail(w, in, ISA_TRAP, "s_sethalt") : NEXT_INST;
}
/*
 * Clocks count this wave's instructions: the same in each run. A tick of the real-time one is an
 * instruction, which is about what 100 MHz are here, so that kernels that wait for it wait about as
 * long as they are meant to; the other has 16, as on a product of 1.6 GHz.
 */
FUNC(s_memtime)
{
	*isa_s64(w, in->ds) = (w->count + (u64)(in - w->block)) * 16;
	return NEXT_INST;
}
FUNC(s_memrealtime)
{
	*isa_s64(w, in->ds) = w->count + (u64)(in - w->block);
	return NEXT_INST;
}
FUNC(s_nop)
{
	(void)w, (void)in;
	return NEXT_INST;
}
