#ifndef HRR_EMU_ISA_SALU_H
#define HRR_EMU_ISA_SALU_H

#include "lib/emu/isa/numeric_mode.h"

/* Scalar instructions by hand: one function for each SX row of salu.def. */
#define FUNC(name) int op_##name(struct isa_wave *w, const struct isa_inst *in)
#define SX(name, spec, archs) FUNC(name);
#include "lib/emu/isa/salu.def"

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
