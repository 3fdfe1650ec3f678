#ifndef HRR_EMU_ISA_SALU_H
#define HRR_EMU_ISA_SALU_H

#include "lib/emu/isa/numeric_mode.h"

/* Scalar instructions by hand: one function for each SX row of salu.def. */
#define FUNC(name) int op_##name(struct isa_wave *w, const struct isa_inst *in)
#define SU(name, spec, archs, expr)
#define SA(name, spec, archs, expr)
#define SI(name, spec, archs, expr)
#define SF(name, spec, archs, expr)
#define SH(name, spec, archs, expr)
#define SUZ(name, spec, archs, expr)
#define SUC(name, spec, archs, expr, scc)
#define SQ(name, spec, archs, expr)
#define SQZ(name, spec, archs, expr)
#define SC(name, spec, archs, cond)
#define SAVE(name, archs, expr)
#define WREX(name, archs, expr)
#define SX(name, spec, archs) FUNC(name);
#include "lib/emu/isa/salu.def"
#undef SU
#undef SA
#undef SI
#undef SF
#undef SH
#undef SUZ
#undef SUC
#undef SQ
#undef SQZ
#undef SC
#undef SAVE
#undef WREX
#undef SX

/* their operands */
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

#endif
