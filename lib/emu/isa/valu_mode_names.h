#ifndef HRR_EMU_ISA_VALU_MODE_NAMES_H
#define HRR_EMU_ISA_VALU_MODE_NAMES_H

/* What rows mean under an unusual MODE. Comes last: it renames what other headers define. */
#include <immintrin.h>

#include "lib/emu/isa/numeric_mode.h"
#include "lib/emu/isa/table.h"
#include "lib/emu/isa/valu_mode.h"

#define MODE_AWARE
#define f2h(f) f2h_to(f, w->mode)
#define fma_f16(a, b, c) fma_f16_to(a, b, c, w->mode)
#define widen_f32(a) widen_f32_to(a)
#define fma_mix(a, b, c) f2h_to(fmaf(a, b, c), w->mode)

#endif
