#ifndef HRR_EMU_ISA_VALU_MODE_H
#define HRR_EMU_ISA_VALU_MODE_H

#include "lib/emu/isa/internal.h"

/* What runs instead of the function of a row with F_MODE when MODE is unusual. */
isa_fn isa_mode_fn(const struct isa_op *op);

/* For each x86 level: the tables of f32, f64, f16 and cmp; NULL for rows without F_MODE. */
extern const isa_fn *const *const isa_mode_base;
extern const isa_fn *const *const isa_mode_avx2;
extern const isa_fn *const *const isa_mode_avx512;

#endif
