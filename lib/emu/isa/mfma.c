/* Matrix instructions: MFMA and SMFMAC of CDNA, WMMA and SWMMAC of RDNA. */
#include <immintrin.h>
#include <stdlib.h>

#include "lib/emu/isa/mfma.h"
#include "lib/emu/isa/small.h"
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

static const struct {
	const char *name;
	u8 type, bits;
} types[] = {
    {"f32", MT_F32, 32}, {"xf32", MT_XF32, 32}, {"f16", MT_F16, 16}, {"bf16", MT_BF16, 16},
    {"f64", MT_F64, 64}, {"i32", MT_I32, 32},	{"i8", MT_I8, 8},    {"iu8", MT_I8, 8},
    {"iu4", MT_U4, 4},	 {"fp8", MT_FP8, 8},	{"bf8", MT_BF8, 8},  {"bf16_1k", MT_BF16, 16},
    {"fp6", MT_FP6, 6},	 {"bf6", MT_BF6, 6},	{"fp4", MT_FP4, 4},  {"f8f6f4", MT_F8F6F4, 0}};

static bool type_of(const char *s, size_t len, u8 *ret)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == len && !memcmp(types[i].name, s, len)) {
			*ret = types[i].type;
			return true;
		}
	return false;
}

unsigned isa_matrix_registers(u8 type, unsigned per_lane)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == type)
			return (types[i].bits * per_lane + 31) / 32;
	return 0;
}

/*
 * v_mfma_f32_32x32x4_2b_f16, v_mfma_f32_16x16x16f16, v_wmma_f32_16x16x16_f16, ..._fp8_bf8,
 * v_smfmac_f32_16x16x32_f16, v_mfma_scale_f32_16x16x128_f8f6f4
 */
bool isa_matrix_parse(const char *name, enum isa_arch arch, unsigned lanes, unsigned n_dst,
		      struct isa_matrix *x)
{
	static const struct {
		const char *prefix;
		bool wmma, sparse, scaled;
	} kinds[] = {{"v_mfma_scale_", false, false, true},
		     {"v_mfma_", false, false, false},
		     {"v_smfmac_", false, true, false},
		     {"v_wmma_", true, false, false},
		     {"v_swmmac_", true, true, false}};
	const char *s = NULL, *e;
	unsigned per, out;
	char *end;

	*x = (struct isa_matrix){.blocks = 1, .fnuz = arch == ISA_GFX942};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !s; i++)
		if (!strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix))) {
			s = name + strlen(kinds[i].prefix);
			x->wmma = kinds[i].wmma;
			x->sparse = kinds[i].sparse;
			x->scaled = kinds[i].scaled;
		}
	x->repeated = x->wmma && arch == ISA_GFX1100;
	e = s ? strchr(s, '_') : NULL;
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
	if (x->m > 32 || x->m != x->n || x->k > 128)
		return false;
	if (x->wmma) {
		x->per_b = (u8)(x->repeated ? x->k : x->k * 16 / lanes);
		out = x->m * x->n / lanes;
		if (!x->repeated && (x->d == MT_F16 || x->d == MT_BF16))
			out /= 2;
		if (x->m != 16)
			return false;
	} else {
		per = x->d == MT_F64 ? 2 : 1;
		x->blocks = (u16)(n_dst * 64 / per / (x->m * x->n));
		if (!x->blocks || x->m * x->blocks > 64)
			return false;
		x->per_b = (u8)(x->k * x->m * x->blocks / 64);
		out = x->m * x->n * x->blocks * per / 64;
	}
	x->per_a = x->sparse ? x->per_b / 2 : x->per_b;
	return x->per_a != 0 && out == n_dst;
}
