/* Vector memory and LDS, for each x86 level. */
#include <immintrin.h>

#include "lib/emu/isa/mem.h"
#include "lib/emu/isa/table.h"

#include "lib/emu/isa/variant_base.h"
#include "lib/emu/isa/mem.inc"
#include "lib/emu/isa/variant_end.h"

#if defined(__x86_64__)
#include "lib/emu/isa/variant_avx2.h"
#include "lib/emu/isa/mem.inc"
#include "lib/emu/isa/variant_end.h"

#include "lib/emu/isa/variant_avx512.h"
#include "lib/emu/isa/mem.inc"
#include "lib/emu/isa/variant_end.h"
#endif

const isa_fn *const isa_fns_mem[3] = ISA_VARIANTS(mem);
