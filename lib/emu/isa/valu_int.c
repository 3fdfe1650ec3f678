/* Lane functions of valu_int.def, for each x86 level. */
#include <immintrin.h>

#include "lib/emu/isa/small.h"
#include "lib/emu/isa/numeric_more.h"
#include "lib/emu/isa/table.h"

#define VALU_DEF "lib/emu/isa/valu_int.def"

#include "lib/emu/isa/variant_base.h"
#include "lib/emu/isa/valu_int.inc"
#include "lib/emu/isa/variant_end.h"

#if defined(__x86_64__)
#include "lib/emu/isa/variant_avx2.h"
#include "lib/emu/isa/valu_int.inc"
#include "lib/emu/isa/variant_end.h"

#include "lib/emu/isa/variant_avx512.h"
#include "lib/emu/isa/valu_int.inc"
#include "lib/emu/isa/variant_end.h"
#endif

const isa_fn *const isa_fns_int[3] = ISA_VARIANTS(int);
