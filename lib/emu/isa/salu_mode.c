/* MODE and other hardware registers; registers named by M0. */
#include "lib/emu/isa/salu.h"

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
		*ret = (u32)(w->count * 16) & 0xfffffu;
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
	memmove(&w->s[in->ds], &w->s[r], 8); /* M0 may be odd */
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
	const u64 v = QA;
	unsigned r;

	if (!indexed(w, in->ds, 2, &r))
		return isa_fail(w, in, ISA_FAULT, "scalar register index out of range");
	memcpy(&w->s[r], &v, 8);
	return NEXT_INST;
}
