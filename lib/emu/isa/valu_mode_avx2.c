/* Lane functions for an unusual MODE, for AVX2 machines. */
#include "lib/emu/isa/valu_mode_names.h"

#if defined(__x86_64__)
#include "lib/emu/isa/variant_avx2.h"
#include "lib/emu/isa/valu_mode.inc"
#include "lib/emu/isa/variant_end.h"

const isa_fn *const *const isa_mode_avx2 = modes_avx2;
#endif
