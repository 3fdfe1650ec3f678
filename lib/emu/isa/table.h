#ifndef HRR_EMU_ISA_TABLE_H
#define HRR_EMU_ISA_TABLE_H

#include "lib/emu/isa/internal.h"

/*
 * The instruction table: rows of the .def files, in this order, are numbered
 * through. Each row has
 *
 * name   canonical mnemonic (gfx9's where generations differ), without _e32, _e64, _sdwa, _dpp
 * spec   operands in the order of the text, destinations:sources, one letter each
 *	i 32-bit integer or bits      f float		s 16-bit integer	h half
 *	q 64-bit integer	      Q signed 64	d double
 *	P pair of 16-bit integers     p pair of halves	F pair of floats	K half of v_pk_mov
 *	x float or half (mix)	      m lane mask	u scalar 32	U scalar 64
 *	n immediate		      w, W wide vector registers (of matrices, of conversions)
 * flags  F_* of internal.h
 * archs  generations that have the mnemonic under this name or an alias;
 *	  0 for rows that exist only inside (saturating forms)
 */
#define G90A (1u << ISA_GFX90A)
#define G942 (1u << ISA_GFX942)
#define G950 (1u << ISA_GFX950)
#define G94 (G942 | G950)
#define GFX9 (G90A | G94)
#define G10 (1u << ISA_GFX1030)
#define G11 (1u << ISA_GFX1100)
#define G12 (1u << ISA_GFX1201)
#define RDNA (G10 | G11 | G12)
#define ALL (GFX9 | RDNA)

#if defined(__x86_64__)
#define ISA_VARIANTS(name)                     \
	{                                      \
		fns_base, fns_avx2, fns_avx512 \
	}
#else
#define ISA_VARIANTS(name)                   \
	{                                    \
		fns_base, fns_base, fns_base \
	}
#endif

extern const isa_fn *const isa_fns_int[3],
    *const isa_fns_f32[3], *const isa_fns_f64[3], *const isa_fns_f16[3],
						      *const isa_fns_cmp[3],
							  *const isa_fns_cross[3];
extern const isa_fn isa_fns_salu[];
isa_fn isa_scale_fn(void);

#endif
