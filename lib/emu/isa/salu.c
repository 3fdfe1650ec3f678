/* Scalar instructions and control flow. */
#include "lib/emu/isa/numeric_mode.h"
#include "lib/emu/isa/table.h"

INLINE u32 ctz64(u64 v)
{
	return v ? (u32)__builtin_ctzll(v) : ~0u;
}
INLINE u32 clz64(u64 v)
{
	return v ? (u32)__builtin_clzll(v) : ~0u;
}
static u64 bit_replicate(u32 v)
{
	u64 r = 0;

	for (unsigned i = 0; i < 32; i++)
		r |= (u64)(v >> i & 1) * 3 << (2 * i);
	return r;
}
static u64 wqm(u64 v)
{
	const u64 any = (v | v >> 1 | v >> 2 | v >> 3) & 0x1111111111111111ull;

	return any * 15;
}
static u64 quadmask(u64 v)
{
	u64 r = 0;

	for (unsigned i = 0; i < 16; i++)
		r |= (u64)((v >> (4 * i) & 15) != 0) << i;
	return r;
}
/* Field of B: offset in bits 4:0 (5:0), width in bits 22:16. */
static u32 sbfe_u32(u32 a, u32 b)
{
	const u32 n = b >> 16 & 127, v = a >> (b & 31);

	return n >= 32 ? v : v & ((1u << n) - 1);
}
static u32 sbfe_i32(u32 a, u32 b)
{
	const u32 off = b & 31, n = b >> 16 & 127;
	const u32 width = n > 32 - off ? 32 - off : n;

	return width == 0 ? 0 : (u32)((i32)(a << (32 - off - width)) >> (32 - width));
}
static u64 sbfe_u64(u64 a, u32 b)
{
	const u32 n = b >> 16 & 127;
	const u64 v = a >> (b & 63);

	return n >= 64 ? v : v & (((u64)1 << n) - 1);
}
static u64 sbfe_i64(u64 a, u32 b)
{
	const u32 off = b & 63, n = b >> 16 & 127;
	const u32 width = n > 64 - off ? 64 - off : n;

	return width == 0 ? 0 : (u64)((i64)(a << (64 - off - width)) >> (64 - width));
}

#define FUNC(name) static int op_##name(struct isa_wave *w, const struct isa_inst *in)
#define A isa_su32(w, in, 0)
#define B isa_su32(w, in, 1)
#define C isa_su32(w, in, 2)
#define QA isa_su64(w, in, 0)
#define QB isa_su64(w, in, 1)
#define K ((u32)(i32)in->imm)
#define KB K
#define OLD (w->s[in->ds])
#define QOLD (*isa_s64(w, in->ds))
#define SCC (w->s[R_SCC])

/* floats, flushed as MODE says */
#define XA flush_in32(A, 'f', w->mode)
#define XB flush_in32(B, 'f', w->mode)
#define FA u2f(XA)
#define FB u2f(XB)
#define FC u2f(flush_in32(C, 'f', w->mode))
#define HXA flush_in32(A & 0xffffu, 'h', w->mode)
#define HXB flush_in32(B & 0xffffu, 'h', w->mode)
#define HA h2f(HXA)
#define HB h2f(HXB)
#define f2h(f) f2h_to(f, w->mode)
#define fma_f16(a, b, c) fma_f16_to(a, b, c, w->mode)
#define SA SU
#define SI SU
#define SF(name, spec, archs, expr) SU(name, spec, archs, flush_out32(expr, 'f', w->mode))
#define SH(name, spec, archs, expr) SU(name, spec, archs, flush_out32(expr, 'h', w->mode))
#define SU(name, spec, archs, expr)    \
	FUNC(name)                     \
	{                              \
		const u32 r_ = (expr); \
		w->s[in->ds] = r_;     \
		return NEXT_INST;      \
	}
#define SUZ(name, spec, archs, expr)   \
	FUNC(name)                     \
	{                              \
		const u32 r_ = (expr); \
		w->s[in->ds] = r_;     \
		SCC = r_ != 0;         \
		return NEXT_INST;      \
	}
#define SUC(name, spec, archs, expr, scc)                                     \
	FUNC(name)                                                            \
	{                                                                     \
		const u32 A_ = in->n_src > 0 ? A : 0, SCC_ = SCC, OLD_ = OLD, \
			  B_ = in->n_src > 1 ? B : 0, R = (expr);             \
		(void)A_, (void)B_, (void)SCC_, (void)OLD_;                   \
		w->s[in->ds] = R;                                             \
		SCC = (scc) != 0;                                             \
		return NEXT_INST;                                             \
	}
#define SQ(name, spec, archs, expr)       \
	FUNC(name)                        \
	{                                 \
		const u64 r_ = (expr);    \
		*isa_s64(w, in->ds) = r_; \
		return NEXT_INST;         \
	}
#define SQZ(name, spec, archs, expr)      \
	FUNC(name)                        \
	{                                 \
		const u64 r_ = (expr);    \
		*isa_s64(w, in->ds) = r_; \
		SCC = r_ != 0;            \
		return NEXT_INST;         \
	}
#define SC(name, spec, archs, cond)   \
	FUNC(name)                    \
	{                             \
		SCC = (cond) ? 1 : 0; \
		return NEXT_INST;     \
	}
#define SAVE(name, archs, expr)                                       \
	FUNC(name##_b64)                                              \
	{                                                             \
		const u64 S_ = QA, E_ = isa_exec(w), r_ = (expr);     \
		*isa_s64(w, in->ds) = E_;                             \
		isa_set_exec(w, r_);                                  \
		SCC = r_ != 0;                                        \
		return NEXT_INST;                                     \
	}                                                             \
	FUNC(name##_b32)                                              \
	{                                                             \
		const u32 S_ = A, E_ = (u32)isa_exec(w), r_ = (expr); \
		w->s[in->ds] = E_;                                    \
		isa_set_exec(w, r_);                                  \
		SCC = r_ != 0;                                        \
		return NEXT_INST;                                     \
	}
#define WREX(name, archs, expr)                                       \
	FUNC(name##_b64)                                              \
	{                                                             \
		const u64 S_ = QA, E_ = isa_exec(w), r_ = (expr);     \
		*isa_s64(w, in->ds) = r_;                             \
		isa_set_exec(w, r_);                                  \
		SCC = r_ != 0;                                        \
		return NEXT_INST;                                     \
	}                                                             \
	FUNC(name##_b32)                                              \
	{                                                             \
		const u32 S_ = A, E_ = (u32)isa_exec(w), r_ = (expr); \
		w->s[in->ds] = r_;                                    \
		isa_set_exec(w, r_);                                  \
		SCC = r_ != 0;                                        \
		return NEXT_INST;                                     \
	}
#define SX(name, spec, archs)
#include "lib/emu/isa/salu.def"
#undef SA
#undef SI
#undef SF
#undef SH
#undef SU
#undef SUZ
#undef SUC
#undef SQ
#undef SQZ
#undef SC
#undef SAVE
#undef WREX
#undef SX

FUNC(s_cmov_b32)
{
	if (SCC)
		w->s[in->ds] = A;
	return NEXT_INST;
}
FUNC(s_cmov_b64)
{
	if (SCC)
		*isa_s64(w, in->ds) = QA;
	return NEXT_INST;
}
FUNC(s_cmovk_i32)
{
	if (SCC)
		w->s[in->ds] = K;
	return NEXT_INST;
}

/* --- control flow ------------------------------------------------------------ */

static int jump(struct isa_wave *w, const struct isa_inst *in)
{
	const struct isa_inst *t = atomic_load_explicit(&in->target, memory_order_acquire);

	if (!t) {
		t = isa_resolve(w, in, in->target_pc);
		if (!t)
			return NEXT_STOP;
	}
	w->in = t;
	return NEXT_JUMP;
}
static int jump_to(struct isa_wave *w, const struct isa_inst *in, u64 pc)
{
	const struct isa_inst *t = isa_resolve(w, in, pc);

	if (!t)
		return NEXT_STOP;
	w->in = t;
	return NEXT_JUMP;
}
#define BRANCH(name, cond)                               \
	FUNC(name)                                       \
	{                                                \
		return (cond) ? jump(w, in) : NEXT_INST; \
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
	return jump(w, in);
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
FUNC(s_barrier_signal_isfirst)
{
	return isa_fail(w, in, ISA_UNIMPLEMENTED, "s_barrier_signal_isfirst");
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
/* A clock that counts this wave's instructions: the same in each run. */
FUNC(s_memtime)
{
	*isa_s64(w, in->ds) = w->count + (u64)(in - w->block);
	return NEXT_INST;
}
FUNC(s_memrealtime)
{
	*isa_s64(w, in->ds) = (w->count + (u64)(in - w->block)) / 16;
	return NEXT_INST;
}
FUNC(s_nop)
{
	(void)w, (void)in;
	return NEXT_INST;
}

/* --- hardware registers ------------------------------------------------------ */

enum { HW_MODE = 1, HW_STATUS, HW_TRAPSTS, HW_ID, HW_GPR_ALLOC, HW_LDS_ALLOC };

/* simm16: register in bits 5:0, first bit in 10:6, width - 1 in 15:11. */
static int read_hwreg(struct isa_wave *w, const struct isa_inst *in, unsigned reg, u32 *ret)
{
	switch (reg) {
	case HW_MODE:
		*ret = w->mode;
		return 0;
	case HW_STATUS:
		*ret = SCC | (isa_exec(w) == 0) << 9 | (isa_get_mask(w, R_VCC) == 0) << 10;
		return 0;
	case HW_TRAPSTS:
	case HW_ID:
	case HW_GPR_ALLOC:
		*ret = 0;
		return 0;
	case HW_LDS_ALLOC:
		*ret = (w->lds_size + 255) / 256 << 12;
		return 0;
	case 15: /* SH_MEM_BASES: private aperture, shared aperture */
		*ret = APERTURE_PRIVATE >> 16 | (APERTURE_SHARED >> 16) << 16;
		return 0;
	case 20: /* FLAT_SCR_LO, FLAT_SCR_HI; XCC_ID on gfx942 */
	case 21:
		*ret = w->gen == 9 ? 0 : w->s[R_FLAT_SCRATCH + reg - 20];
		return 0;
	case 23: /* HW_ID1, HW_ID2 */
	case 24:
		*ret = 0;
		return 0;
	case 29: /* SHADER_CYCLES */
		*ret = (u32)w->count & 0xfffffu;
		return 0;
	default:
		return isa_fail(w, in, ISA_UNIMPLEMENTED, "hardware register %u", reg);
	}
}
FUNC(s_getreg_b32)
{
	const unsigned reg = (unsigned)in->imm & 63, off = (unsigned)in->imm >> 6 & 31;
	const unsigned width = ((unsigned)in->imm >> 11 & 31) + 1;
	u32 v = 0;
	const int r = read_hwreg(w, in, reg, &v);

	if (r)
		return r;
	w->s[in->ds] = bfe_u32(v, off, 31 & width) | (width == 32 ? v : 0);
	return NEXT_INST;
}
static int write_hwreg(struct isa_wave *w, const struct isa_inst *in, u32 value)
{
	const unsigned reg = (unsigned)in->imm & 63, off = (unsigned)in->imm >> 6 & 31;
	const unsigned width = ((unsigned)in->imm >> 11 & 31) + 1;
	const u32 mask = (width == 32 ? ~0u : (1u << width) - 1) << off;

	if (reg == HW_MODE) {
		w->mode = (w->mode & ~mask) | (value << off & mask);
		if (w->gen == 12) /* has no such bit */
			w->mode &= ~MODE_IEEE;
		/* the run loop looks at MODE between runs of straight code */
		w->in = in + 1;
		return NEXT_JUMP;
	}
	if (reg == HW_STATUS || reg == HW_TRAPSTS)
		return NEXT_INST;
	if (w->gen >= 10 && (reg == 20 || reg == 21)) {
		w->s[R_FLAT_SCRATCH + reg - 20] = value;
		return NEXT_INST;
	}
	return isa_fail(w, in, ISA_UNIMPLEMENTED, "write to hardware register %u", reg);
}
FUNC(s_setreg_b32)
{
	return write_hwreg(w, in, A);
}
FUNC(s_setreg_imm32_b32)
{
	return write_hwreg(w, in, A);
}
FUNC(s_round_mode)
{
	w->mode = (w->mode & ~15u) | ((u32)in->imm & 15);
	w->in = in + 1;
	return NEXT_JUMP;
}
FUNC(s_denorm_mode)
{
	w->mode = (w->mode & ~0xf0u) | ((u32)in->imm & 15) << 4;
	w->in = in + 1;
	return NEXT_JUMP;
}

/* --- indexed registers ------------------------------------------------------- */

FUNC(s_set_gpr_idx_on)
{
	w->s[R_M0] = (w->s[R_M0] & ~0xf0ffu) | (A & 0xff) | (K & 15) << 12;
	w->gpr_idx = K & 15;
	w->in = in + 1;
	return NEXT_JUMP;
}
FUNC(s_set_gpr_idx_off)
{
	w->gpr_idx = 0;
	w->in = in + 1;
	return NEXT_JUMP;
}
FUNC(s_set_gpr_idx_mode)
{
	w->s[R_M0] = (w->s[R_M0] & ~0xf000u) | (K & 15) << 12;
	w->gpr_idx = K & 15;
	w->in = in + 1;
	return NEXT_JUMP;
}
FUNC(s_set_gpr_idx_idx)
{
	w->s[R_M0] = (w->s[R_M0] & ~0xffu) | (A & 0xff);
	return NEXT_INST;
}
static bool indexed(struct isa_wave *w, u64 reg, unsigned n, unsigned *ret)
{
	const u64 r = reg + w->s[R_M0];

	*ret = (unsigned)r;
	return r + n <= R_VCC + 2;
}
#define SRC_REG ((in->src[0].off) / 4)
FUNC(s_movrels_b32)
{
	unsigned r;

	if (!indexed(w, SRC_REG, 1, &r))
		return isa_fail(w, in, ISA_FAULT, "scalar register index out of range");
	w->s[in->ds] = w->s[r];
	return NEXT_INST;
}
FUNC(s_movrels_b64)
{
	unsigned r;

	if (!indexed(w, SRC_REG, 2, &r))
		return isa_fail(w, in, ISA_FAULT, "scalar register index out of range");
	*isa_s64(w, in->ds) = *isa_s64(w, r);
	return NEXT_INST;
}
FUNC(s_movreld_b32)
{
	unsigned r;

	if (!indexed(w, in->ds, 1, &r))
		return isa_fail(w, in, ISA_FAULT, "scalar register index out of range");
	w->s[r] = A;
	return NEXT_INST;
}
FUNC(s_movreld_b64)
{
	unsigned r;

	if (!indexed(w, in->ds, 2, &r))
		return isa_fail(w, in, ISA_FAULT, "scalar register index out of range");
	*isa_s64(w, r) = QA;
	return NEXT_INST;
}

#define ROW(name) op_##name,
#define SU(name, spec, archs, expr) ROW(name)
#define SA(name, spec, archs, expr) ROW(name)
#define SI(name, spec, archs, expr) ROW(name)
#define SF(name, spec, archs, expr) ROW(name)
#define SH(name, spec, archs, expr) ROW(name)
#define SUZ(name, spec, archs, expr) ROW(name)
#define SUC(name, spec, archs, expr, scc) ROW(name)
#define SQ(name, spec, archs, expr) ROW(name)
#define SQZ(name, spec, archs, expr) ROW(name)
#define SC(name, spec, archs, cond) ROW(name)
#define SAVE(name, archs, expr) ROW(name##_b64) ROW(name##_b32)
#define WREX(name, archs, expr) ROW(name##_b64) ROW(name##_b32)
#define SX(name, spec, archs) ROW(name)
const isa_fn isa_fns_salu[] = {
#include "lib/emu/isa/salu.def"
};
