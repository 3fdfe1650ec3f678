/* Matrix instructions: MFMA of CDNA and WMMA of RDNA. */
#include <immintrin.h>
#include <stdlib.h>

#include "lib/emu/isa/fp8.h"
#include "lib/emu/isa/mfma.h"
#include "lib/emu/isa/numeric.h"
#include "lib/emu/isa/table.h"

#include "lib/emu/isa/variant_base.h"
#include "lib/emu/isa/mfma.inc"
#include "lib/emu/isa/variant_end.h"

#if defined(__x86_64__)
#include "lib/emu/isa/variant_avx2.h"
#include "lib/emu/isa/mfma.inc"
#include "lib/emu/isa/variant_end.h"

#include "lib/emu/isa/variant_avx512.h"
#include "lib/emu/isa/mfma.inc"
#include "lib/emu/isa/variant_end.h"
#endif

const isa_fn *const isa_fns_matrix[3] = ISA_VARIANTS(mfma);

static bool type_of(const char *s, size_t len, u8 *ret)
{
	static const struct {
		const char *name;
		u8 type;
	} types[] = {{"f32", MT_F32}, {"xf32", MT_XF32}, {"f16", MT_F16}, {"bf16", MT_BF16},
		     {"f64", MT_F64}, {"i32", MT_I32},	 {"i8", MT_I8},	  {"iu8", MT_I8},
		     {"iu4", MT_U4},  {"fp8", MT_FP8},	 {"bf8", MT_BF8}, {"bf16_1k", MT_BF16}};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == len && !memcmp(types[i].name, s, len)) {
			*ret = types[i].type;
			return true;
		}
	return false;
}

/* v_mfma_f32_32x32x4_2b_f16, v_mfma_f32_16x16x16f16, v_wmma_f32_16x16x16_f16, ..._fp8_bf8 */
bool isa_matrix_parse(const char *name, enum isa_arch arch, unsigned lanes, unsigned n_dst,
		      struct isa_matrix *x)
{
	const char *s = name, *e;
	char *end;
	unsigned per;

	*x = (struct isa_matrix){.blocks = 1, .fnuz = arch == ISA_GFX942};
	x->wmma = !strncmp(s, "v_wmma_", 7);
	x->repeated = x->wmma && arch == ISA_GFX1100;
	s += 7;
	e = strchr(s, '_');
	if (!e || !type_of(s, (size_t)(e - s), &x->d))
		return false;
	x->m = (u16)strtoul(e + 1, &end, 10);
	if (*end != 'x')
		return false;
	x->n = (u16)strtoul(end + 1, &end, 10);
	if (*end != 'x')
		return false;
	x->k = (u16)strtoul(end + 1, &end, 10);
	s = end + (*end == '_');
	if (*s >= '0' && *s <= '9') { /* blocks: "2b_" */
		strtoul(s, &end, 10);
		s = end + 2;
	}
	if (type_of(s, strlen(s), &x->a)) {
		x->b = x->a;
	} else {
		e = strchr(s, '_');
		if (!e || !type_of(s, (size_t)(e - s), &x->a) ||
		    !type_of(e + 1, strlen(e + 1), &x->b))
			return false;
	}
	if (x->wmma) {
		x->per_lane = (u8)(x->repeated ? x->k : x->k * 16 / lanes);
		return x->m == 16 && x->n == 16;
	}
	per = x->d == MT_F64 ? 2 : 1;
	x->blocks = (u16)(n_dst * 64 / per / (x->m * x->n));
	if (!x->blocks || x->m * x->blocks > 64 || x->k > 128)
		return false;
	x->per_lane = (u8)(x->k * x->m * x->blocks / 64);
	return x->per_lane != 0;
}
