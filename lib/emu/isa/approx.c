#include "lib/emu/isa/approx.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * What is known of hardware's errors. The ISA documents of RDNA state units in the last place for
 * all but sines and matrices; the LLVM manual says the same of exp2, log2 and sqrt. CDNA's
 *documents are silent: the same units are taken.
 *
 *	float	1 unit in the last place
 *	half	0.51
 *	double	2^29: as good as a float, the seed of an iteration
 *
 * Of sine and cosine nothing is stated. Vulkan asks an absolute 2^-11 (half: 2^-7) of drivers that
 * have nothing but these instructions for it.
 *
 * Random bits that round to 8-bit floats are added in a way that is told in part: the number beside
 * may be due. Of dot products of halves it is not told whether they round in between.
 *
 * Matrix instructions add K products to a sum in an order that is not stated, and each addition may
 * lose one unit in the last place of the sum of their magnitudes.
 */
#define ULP_F16 0x1p-10
#define ULP_BF16 0x1p-7
#define ULP_F32 0x1p-23
#define ULP_F64 0x1p-52

static const struct {
	const char *name; /* without v_ or v_s_ */
	struct hrr_emu_error error;
} table[] = {
    {"sin_f32", {0x1p-11, HRR_EMU_OF_ONE, HRR_TYPE_F32}},
    {"cos_f32", {0x1p-11, HRR_EMU_OF_ONE, HRR_TYPE_F32}},
    {"sin_f16", {0x1p-7, HRR_EMU_OF_ONE, HRR_TYPE_F16}},
    {"cos_f16", {0x1p-7, HRR_EMU_OF_ONE, HRR_TYPE_F16}},
    {"exp_f32", {ULP_F32, HRR_EMU_OF_RESULT, HRR_TYPE_F32}},
    {"exp_legacy_f32", {ULP_F32, HRR_EMU_OF_RESULT, HRR_TYPE_F32}},
    {"log_f32", {ULP_F32, HRR_EMU_OF_RESULT, HRR_TYPE_F32}},
    {"log_legacy_f32", {ULP_F32, HRR_EMU_OF_RESULT, HRR_TYPE_F32}},
    {"rcp_f32", {ULP_F32, HRR_EMU_OF_RESULT, HRR_TYPE_F32}},
    {"rcp_iflag_f32", {ULP_F32, HRR_EMU_OF_RESULT, HRR_TYPE_F32}},
    {"rsq_f32", {ULP_F32, HRR_EMU_OF_RESULT, HRR_TYPE_F32}},
    {"sqrt_f32", {ULP_F32, HRR_EMU_OF_RESULT, HRR_TYPE_F32}},
    {"exp_f16", {0.51 * ULP_F16, HRR_EMU_OF_RESULT, HRR_TYPE_F16}},
    {"log_f16", {0.51 * ULP_F16, HRR_EMU_OF_RESULT, HRR_TYPE_F16}},
    {"rcp_f16", {0.51 * ULP_F16, HRR_EMU_OF_RESULT, HRR_TYPE_F16}},
    {"rsq_f16", {0.51 * ULP_F16, HRR_EMU_OF_RESULT, HRR_TYPE_F16}},
    {"sqrt_f16", {0.51 * ULP_F16, HRR_EMU_OF_RESULT, HRR_TYPE_F16}},
    {"rcp_f64", {0x1p29 * ULP_F64, HRR_EMU_OF_RESULT, HRR_TYPE_F64}},
    {"rsq_f64", {0x1p29 * ULP_F64, HRR_EMU_OF_RESULT, HRR_TYPE_F64}},
    {"dot2_f16_f16", {2 * ULP_F16, HRR_EMU_OF_TERMS, HRR_TYPE_F16}},
    {"dot2_bf16_bf16", {2 * ULP_BF16, HRR_EMU_OF_TERMS, HRR_TYPE_BF16}},
    {"dot4_f32_fp8_fp8", {4 * ULP_F32, HRR_EMU_OF_TERMS, HRR_TYPE_F32}},
    {"dot4_f32_fp8_bf8", {4 * ULP_F32, HRR_EMU_OF_TERMS, HRR_TYPE_F32}},
    {"dot4_f32_bf8_fp8", {4 * ULP_F32, HRR_EMU_OF_TERMS, HRR_TYPE_F32}},
    {"dot4_f32_bf8_bf8", {4 * ULP_F32, HRR_EMU_OF_TERMS, HRR_TYPE_F32}},
    {"cvt_sr_fp8_f32", {0x1p-3, HRR_EMU_OF_RESULT, HRR_TYPE_NONE}},
    {"cvt_sr_bf8_f32", {0x1p-2, HRR_EMU_OF_RESULT, HRR_TYPE_NONE}},
    {"sqrt_f64", {0x1p29 * ULP_F64, HRR_EMU_OF_RESULT, HRR_TYPE_F64}},
};

/* v_mfma_f32_16x16x4..., v_wmma_bf16_16x16x16_bf16: type of the sum, and K behind the second x. */
static int matrix(const char *shape, struct hrr_emu_error *ret_error)
{
	static const struct {
		const char *name;
		double ulp;
		enum hrr_type type;
	} sums[] = {{"f16_", ULP_F16, HRR_TYPE_F16},
		    {"bf16_", ULP_BF16, HRR_TYPE_BF16},
		    {"f32_", ULP_F32, HRR_TYPE_F32},
		    {"f64_", ULP_F64, HRR_TYPE_F64}};
	unsigned k;

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		const size_t n = strlen(sums[i].name);

		if (strncmp(shape, sums[i].name, n) != 0 ||
		    sscanf(shape + n, "%*ux%*ux%u", &k) != 1)
			continue;
		*ret_error =
		    (struct hrr_emu_error){k * sums[i].ulp, HRR_EMU_OF_TERMS, sums[i].type};
		return 0;
	}
	return -ENOENT;
}

int isa_approx_error(const char *mnemonic, struct hrr_emu_error *ret_error)
{
	static const char *const matrices[] = {"v_mfma_scale_", "v_mfma_", "v_smfmac_", "v_wmma_",
					       "v_swmmac_"};
	const char *name = mnemonic;

	for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++)
		if (strncmp(name, matrices[i], strlen(matrices[i])) == 0)
			return matrix(name + strlen(matrices[i]), ret_error);
	if (strncmp(name, "v_s_", 4) == 0)
		name += 4;
	else if (strncmp(name, "v_", 2) == 0)
		name += 2;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(name, table[i].name) == 0) {
			*ret_error = table[i].error;
			return 0;
		}
	return -ENOENT;
}
