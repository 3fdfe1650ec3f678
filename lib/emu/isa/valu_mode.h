#ifndef HRR_EMU_ISA_VALU_MODE_H
#define HRR_EMU_ISA_VALU_MODE_H

#include "lib/emu/isa/internal.h"

/* What runs instead of the function of a row with F_MODE when MODE is unusual. */
isa_fn isa_mode_fn(const struct isa_op *op);

#endif
