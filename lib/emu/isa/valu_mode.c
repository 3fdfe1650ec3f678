/*
 * Lane functions for an unusual MODE: the rows marked F_MODE once more, with
 * rounding of halves and flushing of denormals as MODE says.
 */
#include "lib/emu/isa/valu_mode.h"

#include <immintrin.h>

#include "lib/emu/isa/numeric_mode.h"
#include "lib/emu/isa/table.h"

#define MODE_AWARE
#define f2h(f) f2h_to(f, w->mode)
#define fma_f16(a, b, c) fma_f16_to(a, b, c, w->mode)
#define widen_f32(a) widen_f32_to(a)
#define fma_mix(a, b, c) f2h_to(fmaf(a, b, c), w->mode)

#include "lib/emu/isa/variant_base.h"
#include "lib/emu/isa/valu_mode.inc"
#include "lib/emu/isa/variant_end.h"

#if defined(__x86_64__)
#include "lib/emu/isa/variant_avx2.h"
#include "lib/emu/isa/valu_mode.inc"
#include "lib/emu/isa/variant_end.h"

#include "lib/emu/isa/variant_avx512.h"
#include "lib/emu/isa/valu_mode.inc"
#include "lib/emu/isa/variant_end.h"
#define MODES                                        \
	{                                            \
		modes_base, modes_avx2, modes_avx512 \
	}
#else
#define MODES                                      \
	{                                          \
		modes_base, modes_base, modes_base \
	}
#endif

isa_fn isa_mode_fn(const struct isa_op *op)
{
	static const isa_fn *const *const modes[3] = MODES;
	static const u8 at[] = {[CLASS_F32] = 1, [CLASS_F64] = 2, [CLASS_F16] = 3, [CLASS_CMP] = 4};

	if (op->cls >= sizeof(at) || !at[op->cls])
		return NULL;
	return modes[isa_variant()][at[op->cls] - 1][op->index];
}
