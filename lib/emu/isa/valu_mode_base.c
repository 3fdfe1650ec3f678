/* Lane functions for an unusual MODE, for plain x86-64. */
#include "lib/emu/isa/valu_mode_names.h"

#include "lib/emu/isa/variant_base.h"
#include "lib/emu/isa/valu_mode.inc"
#include "lib/emu/isa/variant_end.h"

const isa_fn *const *const isa_mode_base = modes_base;
