/*
 * Lane functions for an unusual MODE: the rows marked F_MODE once more, with
 * rounding of halves and flushing of denormals as MODE says. A file for each x86
 * level, because they take long to compile.
 */
#include "lib/emu/isa/valu_mode.h"

#include "lib/emu/isa/table.h"

isa_fn isa_mode_fn(const struct isa_op *op)
{
#if defined(__x86_64__)
	const isa_fn *const *const modes[3] = {isa_mode_base, isa_mode_avx2, isa_mode_avx512};
#else
	const isa_fn *const *const modes[3] = {isa_mode_base, isa_mode_base, isa_mode_base};
#endif
	static const u8 at[] = {[CLASS_F32] = 1, [CLASS_F64] = 2, [CLASS_F16] = 3, [CLASS_CMP] = 4};

	if (op->cls >= sizeof(at) || !at[op->cls])
		return NULL;
	return modes[isa_variant()][at[op->cls] - 1][op->index];
}
