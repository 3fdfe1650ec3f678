/* Operand preparation and lane crossing, for each x86 level. */
#include <immintrin.h>

#include "lib/emu/isa/gws.h"
#include "lib/emu/isa/numeric_bits.h"
#include "lib/emu/isa/table.h"

#include "lib/emu/isa/variant_base.h"
#include "lib/emu/isa/cross.inc"
#include "lib/emu/isa/variant_end.h"

#if defined(__x86_64__)
#include "lib/emu/isa/variant_avx2.h"
#include "lib/emu/isa/cross.inc"
#include "lib/emu/isa/variant_end.h"

#include "lib/emu/isa/variant_avx512.h"
#include "lib/emu/isa/cross.inc"
#include "lib/emu/isa/variant_end.h"
#endif

const isa_fn *const isa_fns_cross[3] = ISA_VARIANTS(cross);
