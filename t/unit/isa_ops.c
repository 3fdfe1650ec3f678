/*
 * Each instruction on odd values, lane by lane against a scalar reference
 * (isa_ref.h): every one of its own kernel, with all lanes on, some, and none.
 */
#include "t/unit/isa_asm.h"
#include "lib/emu/isa/internal.h"
#include "t/unit/isa_ref.h"

#define GFX9 "gfx90a gfx942 gfx950"
#define RDNA "gfx1030 gfx1100 gfx1201"

/* Names by generation: gfx9|gfx10|gfx11|gfx12, the last one given goes on. "-": not there. */
static const struct ref_op ops[] = {
    {"v_mov_b32", "i:i", NULL, r_mov, 0},
    {"v_not_b32", "i:i", NULL, r_not, 0},
    {"v_bfrev_b32", "i:i", NULL, r_bfrev, 0},
    {"v_ffbh_u32|v_ffbh_u32|v_clz_i32_u32", "i:i", NULL, r_ffbh_u, 0},
    {"v_ffbl_b32|v_ffbl_b32|v_ctz_i32_b32", "i:i", NULL, r_ffbl, 0},
    {"v_ffbh_i32|v_ffbh_i32|v_cls_i32", "i:i", NULL, r_ffbh_i, 0},
    {"v_add_u32|v_add_nc_u32", "i:ii", NULL, r_add, 0},
    {"v_sub_u32|v_sub_nc_u32", "i:ii", NULL, r_sub, 0},
    {"v_subrev_u32|v_subrev_nc_u32", "i:ii", NULL, r_subrev, 0},
    {"v_and_b32", "i:ii", NULL, r_and, 0},
    {"v_or_b32", "i:ii", NULL, r_or, 0},
    {"v_xor_b32", "i:ii", NULL, r_xor, 0},
    {"v_xnor_b32", "i:ii", NULL, r_xnor, 0},
    {"v_lshlrev_b32", "i:ii", NULL, r_lshlrev, 0},
    {"v_lshrrev_b32", "i:ii", NULL, r_lshrrev, 0},
    {"v_ashrrev_i32", "i:ii", NULL, r_ashrrev, 0},
    {"v_min_i32", "i:ii", NULL, r_min_i, 0},
    {"v_max_i32", "i:ii", NULL, r_max_i, 0},
    {"v_min_u32", "i:ii", NULL, r_min_u, 0},
    {"v_max_u32", "i:ii", NULL, r_max_u, 0},
    {"v_mul_lo_u32", "i:ii", NULL, r_mul_lo, 0},
    {"v_mul_hi_u32", "i:ii", NULL, r_mul_hi_u, 0},
    {"v_mul_hi_i32", "i:ii", NULL, r_mul_hi_i, 0},
    {"v_mul_i32_i24", "i:ii", NULL, r_mul_i24, 0},
    {"v_mul_hi_i32_i24", "i:ii", NULL, r_mul_hi_i24, 0},
    {"v_mul_u32_u24", "i:ii", NULL, r_mul_u24, 0},
    {"v_mul_hi_u32_u24", "i:ii", NULL, r_mul_hi_u24, 0},
    {"v_mad_i32_i24", "i:iii", NULL, r_mad_i24, 0},
    {"v_mad_u32_u24", "i:iii", NULL, r_mad_u24, 0},
    {"v_mad_u32_u16", "i:ssi", NULL, r_mad_u32_u16, 0},
    {"v_mad_i32_i16", "i:ssi", NULL, r_mad_i32_i16, 0},
    {"v_bfe_u32", "i:iii", NULL, r_bfe_u, 0},
    {"v_bfe_i32", "i:iii", NULL, r_bfe_i, 0},
    {"v_bfi_b32", "i:iii", NULL, r_bfi, 0},
    {"v_bfm_b32", "i:ii", NULL, r_bfm, 0},
    {"v_alignbit_b32", "i:iii", NULL, r_alignbit, 0},
    {"v_alignbyte_b32", "i:iii", NULL, r_alignbyte, 0},
    {"v_min3_i32", "i:iii", NULL, r_min3_i, 0},
    {"v_max3_i32", "i:iii", NULL, r_max3_i, 0},
    {"v_med3_i32", "i:iii", NULL, r_med3_i, 0},
    {"v_min3_u32", "i:iii", NULL, r_min3_u, 0},
    {"v_max3_u32", "i:iii", NULL, r_max3_u, 0},
    {"v_med3_u32", "i:iii", NULL, r_med3_u, 0},
    {"v_add3_u32", "i:iii", NULL, r_add3, 0},
    {"v_lshl_add_u32", "i:iii", NULL, r_lshl_add, 0},
    {"v_add_lshl_u32", "i:iii", NULL, r_add_lshl, 0},
    {"v_lshl_or_b32", "i:iii", NULL, r_lshl_or, 0},
    {"v_and_or_b32", "i:iii", NULL, r_and_or, 0},
    {"v_or3_b32", "i:iii", NULL, r_or3, 0},
    {"v_xad_u32", "i:iii", NULL, r_xad, 0},
    {"v_xor3_b32", "i:iii", RDNA, r_xor3, 0},
    {"v_bcnt_u32_b32", "i:ii", NULL, r_bcnt, 0},
    {"v_sad_u8", "i:iii", NULL, r_sad_u8, 0},
    {"v_sad_u16", "i:iii", NULL, r_sad_u16, 0},
    {"v_sad_u32", "i:iii", NULL, r_sad_u32, 0},
    {"v_perm_b32", "i:iii", NULL, r_perm, 0},
    {"v_lshlrev_b64", "q:iq", NULL, r_lshlrev64, 0},
    {"v_lshrrev_b64", "q:iq", NULL, r_lshrrev64, 0},
    {"v_ashrrev_i64", "q:iq", NULL, r_ashrrev64, 0},
    {"v_mov_b64", "q:q", "gfx942 gfx950", r_mov64, 0},
    {"v_lshl_add_u64", "q:qiq", "gfx942 gfx950", r_lshl_add64, 0},
    {"v_add_co_u32", "im:ii", NULL, r_add_co, 0},
    {"v_sub_co_u32", "im:ii", NULL, r_sub_co, 0},
    {"v_subrev_co_u32", "im:ii", NULL, r_subrev_co, 0},
    {"v_addc_co_u32|v_add_co_ci_u32", "im:iim", NULL, r_addc, 0},
    {"v_subb_co_u32|v_sub_co_ci_u32", "im:iim", NULL, r_subb, 0},
    {"v_subbrev_co_u32|v_subrev_co_ci_u32", "im:iim", NULL, r_subbrev, 0},
    {"v_cndmask_b32", "i:iim", NULL, r_cndmask, 0},
    {"v_mad_u64_u32|v_mad_u64_u32|v_mad_u64_u32|v_mad_co_u64_u32", "qm:iiq", NULL, r_mad_u64, 0},
    {"v_cvt_pk_u16_u32", "i:ii", NULL, r_cvt_pk_u16, 0},
    {"v_cvt_pk_i16_i32", "i:ii", NULL, r_cvt_pk_i16, 0},
    {"v_add_u16", "i:ss", GFX9, r_add16, 0},
    {"v_sub_u16", "i:ss", GFX9, r_sub16, 0},
    {"v_mul_lo_u16", "i:ss", GFX9, r_mul16, 0},
    {"v_lshlrev_b16", "i:ss", GFX9, r_lshl16, 0},
    {"v_lshrrev_b16", "i:ss", GFX9, r_lshr16, 0},
    {"v_ashrrev_i16", "i:ss", GFX9, r_ashr16, 0},
    {"v_max_u16", "i:ss", GFX9, r_maxu16, 0},
    {"v_min_u16", "i:ss", GFX9, r_minu16, 0},
    {"v_max_i16", "i:ss", GFX9, r_maxi16, 0},
    {"v_min_i16", "i:ss", GFX9, r_mini16, 0},
    /* on RDNA the upper half of the destination stays */
    {"-|v_add_nc_u16", "h:ss", RDNA, r_add16, 0},
    {"-|v_mul_lo_u16", "h:ss", RDNA, r_mul16, 0},
    {"-|v_lshrrev_b16", "h:ss", RDNA, r_lshr16, 0},
    {"-|v_max_i16", "h:ss", RDNA, r_maxi16, 0},
    {"v_pk_add_u16", "i:PP", NULL, r_pk_add, 0},
    {"v_pk_sub_i16", "i:PP", NULL, r_pk_sub, 0},
    {"v_pk_mul_lo_u16", "i:PP", NULL, r_pk_mul, 0},
    {"v_pk_mad_u16", "i:PPP", NULL, r_pk_mad, 0},
    {"v_pk_lshlrev_b16", "i:PP", NULL, r_pk_lshl, 0},
    {"v_pk_ashrrev_i16", "i:PP", NULL, r_pk_ashr, 0},
    {"v_pk_max_i16", "i:PP", NULL, r_pk_maxi, 0},
    {"v_add_f32", "f:ff", NULL, r_addf, 0},
    {"v_sub_f32", "f:ff", NULL, r_subf, 0},
    {"v_subrev_f32", "f:ff", NULL, r_subrevf, 0},
    {"v_mul_f32", "f:ff", NULL, r_mulf, 0},
    {"v_mul_legacy_f32|v_mul_legacy_f32|v_mul_dx9_zero_f32", "f:ff", NULL, r_mul_legacy, 0},
    {"v_fma_f32", "f:fff", NULL, r_fmaf, 0},
    {"v_fmac_f32", "f:ff", NULL, r_fmacf, 0},
    {"v_min_f32|v_min_f32|v_min_f32|v_min_num_f32", "f:ff", NULL, r_minf, 0},
    {"v_max_f32|v_max_f32|v_max_f32|v_max_num_f32", "f:ff", NULL, r_maxf, 0},
    {"v_min3_f32|v_min3_f32|v_min3_f32|v_min3_num_f32", "f:fff", NULL, r_min3f, 0},
    {"v_max3_f32|v_max3_f32|v_max3_f32|v_max3_num_f32", "f:fff", NULL, r_max3f, 0},
    {"v_floor_f32", "f:f", NULL, r_floorf, 0},
    {"v_ceil_f32", "f:f", NULL, r_ceilf, 0},
    {"v_trunc_f32", "f:f", NULL, r_truncf, 0},
    {"v_rndne_f32", "f:f", NULL, r_rndnef, 0},
    {"v_fract_f32", "f:f", NULL, r_fractf, 0},
    {"v_sqrt_f32", "f:f", NULL, r_sqrtf, 1},
    {"v_rcp_f32", "f:f", NULL, r_rcpf, 1},
    {"v_rsq_f32", "f:f", NULL, r_rsqf, 1},
    {"v_exp_f32", "f:f", NULL, r_expf, 1},
    {"v_log_f32", "f:f", NULL, r_logf, 1},
    {"v_sin_f32", "f:f", NULL, r_sinf, 1},
    {"v_cos_f32", "f:f", NULL, r_cosf, 1},
    {"v_ldexp_f32", "f:fi", NULL, r_ldexpf, 0},
    {"v_frexp_exp_i32_f32", "i:f", NULL, r_frexp_exp, 0},
    {"v_frexp_mant_f32", "f:f", NULL, r_frexp_mant, 0},
    {"v_cvt_i32_f32", "i:f", NULL, r_cvt_i32_f32, 0},
    {"v_cvt_u32_f32", "i:f", NULL, r_cvt_u32_f32, 0},
    {"v_cvt_rpi_i32_f32|v_cvt_rpi_i32_f32|v_cvt_nearest_i32_f32", "i:f", NULL, r_cvt_rpi, 0},
    {"v_cvt_flr_i32_f32|v_cvt_flr_i32_f32|v_cvt_floor_i32_f32", "i:f", NULL, r_cvt_flr, 0},
    {"v_cvt_f32_i32", "f:i", NULL, r_cvt_f32_i32, 0},
    {"v_cvt_f32_u32", "f:i", NULL, r_cvt_f32_u32, 0},
    {"v_cvt_f32_ubyte0", "f:i", NULL, r_ubyte0, 0},
    {"v_cvt_f32_ubyte1", "f:i", NULL, r_ubyte1, 0},
    {"v_cvt_f32_ubyte2", "f:i", NULL, r_ubyte2, 0},
    {"v_cvt_f32_ubyte3", "f:i", NULL, r_ubyte3, 0},
    {"v_pk_add_f32", "F:FF", GFX9, r_pk_addf, 0},
    {"v_pk_mul_f32", "F:FF", GFX9, r_pk_mulf, 0},
    {"v_pk_fma_f32", "F:FFF", GFX9, r_pk_fmaf, 0},
    {"v_add_f64", "d:dd", NULL, r_addd, 0},
    {"v_mul_f64", "d:dd", NULL, r_muld, 0},
    {"v_fma_f64", "d:ddd", NULL, r_fmad, 0},
    {"v_fmac_f64", "d:dd", GFX9, r_fmacd, 0},
    {"v_min_f64|v_min_f64|v_min_f64|v_min_num_f64", "d:dd", NULL, r_mind, 0},
    {"v_max_f64|v_max_f64|v_max_f64|v_max_num_f64", "d:dd", NULL, r_maxd, 0},
    {"v_floor_f64", "d:d", NULL, r_floord, 0},
    {"v_ceil_f64", "d:d", NULL, r_ceild, 0},
    {"v_trunc_f64", "d:d", NULL, r_truncd, 0},
    {"v_rndne_f64", "d:d", NULL, r_rndned, 0},
    {"v_fract_f64", "d:d", NULL, r_fractd, 0},
    {"v_sqrt_f64", "d:d", NULL, r_sqrtd, 1},
    {"v_rcp_f64", "d:d", NULL, r_rcpd, 1},
    {"v_rsq_f64", "d:d", NULL, r_rsqd, 1},
    {"v_ldexp_f64", "d:di", NULL, r_ldexpd, 0},
    {"v_frexp_exp_i32_f64", "i:d", NULL, r_frexp_expd, 0},
    {"v_frexp_mant_f64", "d:d", NULL, r_frexp_mantd, 0},
    {"v_cvt_i32_f64", "i:d", NULL, r_cvt_i32_f64, 0},
    {"v_cvt_u32_f64", "i:d", NULL, r_cvt_u32_f64, 0},
    {"v_cvt_f64_i32", "d:i", NULL, r_cvt_f64_i32, 0},
    {"v_cvt_f64_u32", "d:i", NULL, r_cvt_f64_u32, 0},
    {"v_cvt_f32_f64", "f:d", NULL, r_cvt_f32_f64, 0},
    {"v_cvt_f64_f32", "d:f", NULL, r_cvt_f64_f32, 0},
    {"v_add_f16", "h:hh", NULL, r_addh, 0},
    {"v_sub_f16", "h:hh", NULL, r_subh, 0},
    {"v_mul_f16", "h:hh", NULL, r_mulh, 0},
    {"v_fma_f16", "H:hhh", NULL, r_fmah, 0},
    {"v_floor_f16", "h:h", NULL, r_floorh, 0},
    {"v_ceil_f16", "h:h", NULL, r_ceilh, 0},
    {"v_trunc_f16", "h:h", NULL, r_trunch, 0},
    {"v_rndne_f16", "h:h", NULL, r_rndneh, 0},
    {"v_sqrt_f16", "h:h", NULL, r_sqrth, 1},
    {"v_rcp_f16", "h:h", NULL, r_rcph, 1},
    {"v_cvt_f16_f32", "h:f", NULL, r_cvt_f16_f32, 0},
    {"v_cvt_f32_f16", "f:h", NULL, r_cvt_f32_f16, 0},
    {"v_cvt_f16_u16", "h:s", NULL, r_cvt_f16_u16, 0},
    {"v_cvt_f16_i16", "h:s", NULL, r_cvt_f16_i16, 0},
    {"v_cvt_u16_f16", "s:h", NULL, r_cvt_u16_f16, 0},
    {"v_cvt_i16_f16", "s:h", NULL, r_cvt_i16_f16, 0},
    {"v_pk_add_f16", "p:pp", NULL, r_pk_addh, 0},
    {"v_pk_mul_f16", "p:pp", NULL, r_pk_mulh, 0},
    {"v_pk_fma_f16", "p:ppp", NULL, r_pk_fmah, 0},
#define CMPS(type, s)                                           \
	{"v_cmp_lt_" #type, "m:" s, NULL, r_lt_##type, 0},      \
	    {"v_cmp_eq_" #type, "m:" s, NULL, r_eq_##type, 0},  \
	    {"v_cmp_le_" #type, "m:" s, NULL, r_le_##type, 0},  \
	    {"v_cmp_gt_" #type, "m:" s, NULL, r_gt_##type, 0},  \
	{                                                       \
		"v_cmp_ge_" #type, "m:" s, NULL, r_ge_##type, 0 \
	}
#define FCMPS(type, s)                                                     \
	CMPS(type, s), {"v_cmp_neq_" #type, "m:" s, NULL, r_ne_##type, 0}, \
	    {"v_cmp_lg_" #type, "m:" s, NULL, r_lg_##type, 0},             \
	    {"v_cmp_o_" #type, "m:" s, NULL, r_o_##type, 0},               \
	    {"v_cmp_u_" #type, "m:" s, NULL, r_u_##type, 0},               \
	    {"v_cmp_nge_" #type, "m:" s, NULL, r_nge_##type, 0},           \
	    {"v_cmp_nlg_" #type, "m:" s, NULL, r_nlg_##type, 0},           \
	    {"v_cmp_ngt_" #type, "m:" s, NULL, r_ngt_##type, 0},           \
	    {"v_cmp_nle_" #type, "m:" s, NULL, r_nle_##type, 0},           \
	{                                                                  \
		"v_cmp_nlt_" #type, "m:" s, NULL, r_nlt_##type, 0          \
	}
#define ICMPS(type, s)                                          \
	CMPS(type, s),                                          \
	{                                                       \
		"v_cmp_ne_" #type, "m:" s, NULL, r_ne_##type, 0 \
	}
    FCMPS(f32, "ff"),
    FCMPS(f64, "dd"),
    FCMPS(f16, "hh"),
    ICMPS(i32, "ii"),
    ICMPS(u32, "ii"),
    ICMPS(i64, "qq"),
    ICMPS(u64, "qq"),
    ICMPS(i16, "ss"),
    ICMPS(u16, "ss"),
    {"v_cmp_class_f32", "m:fi", NULL, r_class_f32, 0},
    {"v_cmp_class_f64", "m:di", NULL, r_class_f64, 0},
    /* scalar */
    {"s_mov_b32", "u:u", NULL, q_mov, 0},
    {"s_mov_b64", "U:U", NULL, q_mov64, 0},
    {"s_not_b32", "u:u", NULL, q_not, 0},
    {"s_bcnt0_i32_b32", "u:u", NULL, q_bcnt0, 0},
    {"s_bcnt1_i32_b64", "u:U", NULL, q_bcnt1_64, 0},
    {"s_ff1_i32_b32|s_ff1_i32_b32|s_ctz_i32_b32", "u:u", NULL, q_ff1, 0},
    {"s_ff1_i32_b64|s_ff1_i32_b64|s_ctz_i32_b64", "u:U", NULL, q_ff1_64, 0},
    {"s_flbit_i32_b32|s_flbit_i32_b32|s_clz_i32_u32", "u:u", NULL, q_flbit, 0},
    {"s_sext_i32_i8", "u:u", NULL, q_sext8, 0},
    {"s_sext_i32_i16", "u:u", NULL, q_sext16, 0},
    {"s_abs_i32", "u:u", NULL, q_abs, 0},
    {"s_add_u32|s_add_u32|s_add_u32|s_add_co_u32", "u:uu", NULL, q_add_u32, 0},
    {"s_sub_u32|s_sub_u32|s_sub_u32|s_sub_co_u32", "u:uu", NULL, q_sub_u32, 0},
    {"s_add_i32|s_add_i32|s_add_i32|s_add_co_i32", "u:uu", NULL, q_add_i32, 0},
    {"s_sub_i32|s_sub_i32|s_sub_i32|s_sub_co_i32", "u:uu", NULL, q_sub_i32, 0},
    {"s_addc_u32|s_addc_u32|s_addc_u32|s_add_co_ci_u32", "u:uu", NULL, q_addc, 0},
    {"s_subb_u32|s_subb_u32|s_subb_u32|s_sub_co_ci_u32", "u:uu", NULL, q_subb, 0},
    {"s_min_i32", "u:uu", NULL, q_min_i, 0},
    {"s_max_u32", "u:uu", NULL, q_max_u, 0},
    {"s_cselect_b32", "u:uu", NULL, q_cselect, 0},
    {"s_cselect_b64", "U:UU", NULL, q_cselect64, 0},
    {"s_and_b32", "u:uu", NULL, q_and, 0},
    {"s_and_b64", "U:UU", NULL, q_and64, 0},
    {"s_andn2_b32|s_andn2_b32|s_and_not1_b32", "u:uu", NULL, q_andn2, 0},
    {"s_andn2_b64|s_andn2_b64|s_and_not1_b64", "U:UU", NULL, q_andn2_64, 0},
    {"s_orn2_b64|s_orn2_b64|s_or_not1_b64", "U:UU", NULL, q_orn2_64, 0},
    {"s_nand_b64", "U:UU", NULL, q_nand64, 0},
    {"s_nor_b32", "u:uu", NULL, q_nor, 0},
    {"s_xnor_b64", "U:UU", NULL, q_xnor64, 0},
    {"s_lshl_b32", "u:uu", NULL, q_lshl, 0},
    {"s_lshl_b64", "U:Uu", NULL, q_lshl64, 0},
    {"s_lshr_b64", "U:Uu", NULL, q_lshr64, 0},
    {"s_ashr_i32", "u:uu", NULL, q_ashr, 0},
    {"s_ashr_i64", "U:Uu", NULL, q_ashr64, 0},
    {"s_bfm_b32", "u:uu", NULL, q_bfm, 0},
    {"s_mul_i32", "u:uu", NULL, q_mul, 0},
    {"s_mul_hi_u32", "u:uu", NULL, q_mul_hi_u, 0},
    {"s_mul_hi_i32", "u:uu", NULL, q_mul_hi_i, 0},
    {"s_bfe_u32", "u:uu", NULL, q_bfe_u32, 0},
    {"s_bfe_i32", "u:uu", NULL, q_bfe_i32, 0},
    {"s_bfe_u64", "U:Uu", NULL, q_bfe_u64, 0},
    {"s_bfe_i64", "U:Uu", NULL, q_bfe_i64, 0},
    {"s_pack_ll_b32_b16", "u:uu", NULL, q_pack_ll, 0},
    {"s_pack_lh_b32_b16", "u:uu", NULL, q_pack_lh, 0},
    {"s_pack_hh_b32_b16", "u:uu", NULL, q_pack_hh, 0},
};
#define N_OPS (sizeof(ops) / sizeof(ops[0]))

/* --- values --- */

static const uint32_t edge32[] = {
    0,		0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
    0xffc12345, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f7fffff,
    0x40490fdb, 0x4b000000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x3effffff, 0xbf000000,
    0xffffffff, 0x7fffffff, 31,		32,	    0x0000ffff, 0xffff0000, 0x00ff00ff, 0x12345678,
    0x3fc00000, 0x40200000, 0x43800000, 0xc3820000, 0x0004ffff, 0x001f0003};
#define N32 (sizeof(edge32) / sizeof(edge32[0]))
static const uint64_t edge64[] = {0,
				  0x8000000000000000,
				  0x3ff0000000000000,
				  0xbff8000000000000,
				  0x7ff0000000000000,
				  0xfff0000000000000,
				  0x7ff8000000000000,
				  0x7ff0000000000001,
				  1,
				  0x000fffffffffffff,
				  0x0010000000000000,
				  0x7fefffffffffffff,
				  0x3fefffffffffffff,
				  0x41dfffffffc00000,
				  0xc1e0000000000000,
				  0x41efffffffe00000,
				  0x4330000000000000,
				  0x3fe0000000000000,
				  0x4004000000000000,
				  0xffffffffffffffff,
				  0x7fffffffffffffff,
				  0x00000000ffffffff,
				  0xffffffff00000000,
				  0x47efffffe0000000,
				  0x36a0000000000000};
#define N64 (sizeof(edge64) / sizeof(edge64[0]))
static const uint16_t edge16[] = {0,	  0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00,
				  0x7c01, 0x0001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x3bff,
				  0x3555, 0x4248, 0x6400, 0x3800, 0xffff, 0x7fff, 0x0010,
				  0x1234, 0x5678, 0x4100, 0x4300};
#define N16 (sizeof(edge16) / sizeof(edge16[0]))

static uint32_t seed = 99;
static uint64_t rnd64(void)
{
	uint64_t r = 0;

	for (int i = 0; i < 4; i++) {
		seed = seed * 1664525u + 1013904223u;
		r = r << 16 ^ seed >> 12;
	}
	return r;
}

/* The n-th value for an operand of this type. */
static uint64_t value(char type, unsigned n)
{
	switch (type) {
	case 'd':
	case 'q':
	case 'U':
		return n < N64 ? edge64[n] : rnd64() >> (rnd64() % 3 ? 0 : rnd64() % 64);
	case 'F':
		return (uint64_t)edge32[n % N32] << 32 | edge32[(n * 7 + 3) % N32];
	case 'h':
	case 's':
	case 'p':
	case 'P':
		return (uint64_t)edge16[(n * 5 + 1) % N16] << 16 |
		       (n < N16 ? edge16[n] : (uint16_t)rnd64());
	default:
		return n < N32 ? edge32[n] : (uint32_t)rnd64() >> (rnd64() % 3 ? 0 : rnd64() % 32);
	}
}

/* --- the code under test --- */

/* Name of an instruction in a generation, into name; false when it has none. */
static bool name_in(const struct ref_op *op, const char *arch, char *name, size_t size)
{
	const unsigned gen = gen_of(arch);
	const char *s = op->name;

	if (op->archs && !strstr(op->archs, arch))
		return false;
	for (unsigned g = 9; g < gen && strchr(s, '|'); g++)
		s = strchr(s, '|') + 1;
	snprintf(name, size, "%.*s", (int)strcspn(s, "|"), s);
	return name[0] != '-';
}

/*
 * Kernel: arguments in, out, exec, vcc. Per lane 32 bytes in: a b c old; 16 out: result, old
 * scalar mask bits. Vector registers: a v[2:3] b v[4:5] c v[6:7], old and result v[8:9].
 */
static void emit(FILE *f, const struct ref_op *op, const char *name, const char *arch, unsigned n)
{
	const char *const vcc = gen_of(arch) == 9 ? "vcc" : "vcc_lo";
	const char *s = op->spec;
	unsigned src = 0;
	char text[200];
	size_t at;

	at = (size_t)snprintf(text, sizeof(text), "%s ", name);
	for (bool dst = true, first = true; *s; s++) {
		static const char *const narrow[] = {"v2", "v4", "v6"}, *const pair[] = {"v[2:3]",
											 "v[4:5]",
											 "v[6:7]"};
		static const char *const sn[] = {"s20", "s22"}, *const sp[] = {"s[20:21]",
									       "s[22:23]"};
		const char *what;

		if (*s == ':') {
			dst = false;
			continue;
		}
		if (*s == 'm')
			what = vcc;
		else if (*s == 'u')
			what = dst ? "s24" : sn[src++];
		else if (*s == 'U')
			what = dst ? "s[24:25]" : sp[src++];
		else if (dst)
			what = strchr("qdF", *s) ? "v[8:9]" : "v8";
		else
			what = strchr("qdF", *s) ? pair[src++] : narrow[src++];
		at +=
		    (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", first ? "" : ", ", what);
		first = false;
	}
	asm_kernel(f, arch, n, text, name[0] == 's', "");
}

static bool is_float_type(char t)
{
	return strchr("fdhFpH", t) != NULL;
}

/* Equal, or near enough for what hardware approximates; NaN is NaN. */
static bool same(char type, uint64_t got, uint64_t want, double ulp)
{
	if (got == want)
		return true;
	switch (type) {
	case 'f': {
		const float x = rf(got), y = rf(want);
		if (isnan(x) && isnan(y))
			return true;
		if (ulp > 0 && isfinite(x) && isfinite(y)) {
			int e;
			frexpf(y, &e);
			return fabs((double)x - (double)y) <=
			       ulp * ldexp(1, (e < -125 ? -125 : e) - 24) + 1e-45;
		}
		return false;
	}
	case 'd': {
		const double x = rd(got), y = rd(want);
		if (isnan(x) && isnan(y))
			return true;
		return ulp > 0 && isfinite(x) && isfinite(y) &&
		       fabs(x - y) <= ulp * fabs(y) * 0x1p-52;
	}
	case 'h':
	case 'H':
		return (isnan(rh(got)) && isnan(rh(want)) && got >> 16 == want >> 16) ||
		       (ulp > 0 && fabs((double)got - (double)want) <= ulp);
	case 'F':
		return same('f', got & 0xffffffff, want & 0xffffffff, ulp) &&
		       same('f', got >> 32, want >> 32, ulp);
	case 'p':
		return same('h', got & 0xffff, want & 0xffff, ulp) &&
		       same('h', got >> 16, want >> 16, ulp);
	default:
		return false;
	}
}

static void check(struct fx *f, const struct ref_op *op, const char *name, unsigned n,
		  const char *arch)
{
	const unsigned gen = gen_of(arch), lanes = gen == 9 ? 64 : 32;
	const char *const srcs = strchr(op->spec, ':') + 1;
	const char dst = op->spec[0];
	const unsigned n_src = (unsigned)strlen(srcs);
	const bool scalar = name[0] == 's';
	const unsigned rounds = scalar ? 150 : n_src == 1 ? 8 : 36;
	static const uint64_t execs[] = {~0ull, 0x5a5a00ff12345678ull, 0};
	unsigned bad = 0;

	for (unsigned r = 0; r < rounds; r++) {
		const uint64_t all = lanes == 64 ? ~0ull : 0xffffffff;
		const uint64_t exec =
		    scalar ? all : execs[r < rounds - 2 ? r % 7 == 3 : r - (rounds - 3)] & all;
		const uint64_t vcc = scalar ? r & 1 : rnd64() & all;
		uint64_t mask_got, mask_want = 0;

		for (unsigned i = 0; i < lanes; i++) {
			const unsigned k = r * (scalar ? 1 : lanes) + i;
			struct lane_in *const v = &lane_in[i];

			v->a = value(srcs[0], k % 47);
			v->b = n_src > 1 ? value(srcs[1], n_src == 1 ? 0 : k / 47 % 47) : 0;
			v->c = n_src > 2 ? value(srcs[2], (unsigned)(rnd64() % 47)) : 0;
			v->old = value(dst == 'm' || dst == 'U' || dst == 'u' ? 'q'
				       : dst == 'H'			      ? 'h'
									      : dst,
				       (unsigned)(rnd64() % 47)) |
				 (dst == 'h' || dst == 'H' ? 0xabcd0000 : 0);
		}
		if (!asm_launch(f, n, lanes, exec, vcc, 0)) {
			ok(false, "%s %s runs: %s", arch, name, f->report.what);
			return;
		}
		mask_got = lane_out[0].mask & all;
		for (unsigned i = 0; i < (scalar ? 1 : lanes); i++) {
			const struct ref_in ri = {lane_in[i].a,	  lane_in[i].b, lane_in[i].c,
						  lane_in[i].old, vcc >> i & 1, i};
			const bool on = exec >> i & 1;
			bool carry = false;
			uint64_t want = op->fn(&ri, &carry), got = lane_out[i].result;
			const bool wide = strchr("dqFU", dst) != NULL;

			if (carry && on)
				mask_want |= 1ull << i;
			if (dst == 'm')
				continue;
			/* 16-bit results: gfx9 clears the upper half, but v_fma_f16 and RDNA keep
			 * it */
			if ((dst == 'h' && gen >= 10) || dst == 'H' || (dst == 's' && gen >= 10))
				want = (want & 0xffff) | (lane_in[i].old & 0xffff0000);
			if (!wide)
				got &= 0xffffffff;
			if (!on)
				want = wide ? lane_in[i].old : lane_in[i].old & 0xffffffff;
			if (!(on ? same(is_float_type(dst) ? dst : 'i', got, want, op->ulp)
				 : got == want)) {
				if (bad++ < 3)
					diag("%s %s lane %u%s: a %llx b %llx c %llx old %llx vcc "
					     "%d: got %llx want %llx",
					     arch, name, i, on ? "" : " (off)",
					     (unsigned long long)lane_in[i].a,
					     (unsigned long long)lane_in[i].b,
					     (unsigned long long)lane_in[i].c,
					     (unsigned long long)lane_in[i].old,
					     (int)(vcc >> i & 1), (unsigned long long)got,
					     (unsigned long long)want);
			}
		}
		if (scalar) {
			const struct ref_in ri = {
			    lane_in[0].a, lane_in[0].b, lane_in[0].c, 0, vcc & 1, 0};
			bool carry = false;

			op->fn(&ri, &carry);
			if ((mask_got & 1) != carry && bad++ < 3)
				diag("%s %s: a %llx b %llx scc %d: got scc %d", arch, name,
				     (unsigned long long)lane_in[0].a,
				     (unsigned long long)lane_in[0].b, (int)(vcc & 1),
				     (int)(mask_got & 1));
		} else if (strchr(op->spec, 'm') && strchr(op->spec, 'm') < strchr(op->spec, ':')) {
			if (mask_got != mask_want && bad++ < 3) {
				const unsigned i = (unsigned)__builtin_ctzll(mask_got ^ mask_want);
				diag("%s %s: a %llx b %llx c %llx: mask %llx want %llx", arch, name,
				     (unsigned long long)lane_in[i].a,
				     (unsigned long long)lane_in[i].b,
				     (unsigned long long)lane_in[i].c, (unsigned long long)mask_got,
				     (unsigned long long)mask_want);
			}
		} else if (mask_got != vcc) {
			if (bad++ < 3)
				diag("%s %s changes vcc", arch, name);
		}
	}
	is(bad, 0, "%s %s", arch, name);
}

static void test_arch(const char *arch, const char *clang)
{
	char src[512], name[64];
	const char *path;
	struct fx f;
	FILE *s;

	snprintf(src, sizeof(src), "%s/ops-%s.s", fx_dir(), arch);
	s = fopen(src, "w");
	if (!s) {
		ok(false, "cannot write %s", src);
		return;
	}
	fprintf(s, ".text\n");
	for (unsigned i = 0; i < N_OPS; i++)
		if (name_in(&ops[i], arch, name, sizeof(name)))
			emit(s, &ops[i], name, arch, i);
	asm_metadata(s, arch, N_OPS);
	fclose(s);
	path = asm_build(arch, clang, "ops", src);
	if (!path) {
		snprintf(name, sizeof(name), "command -v %s >/dev/null", clang);
		ok(system(name) != 0, "%s assembles # skip no %s", arch, clang);
		return;
	}
	/* the code for each x86 level must do the same */
	for (unsigned v = 0; v < 3; v++) {
		isa_set_variant(v);
		if (isa_variant() != v) {
			ok(true, "x86 level %u # skip this machine has not", v);
			continue;
		}
		if (!ok(fx_load(&f, arch, path), "%s loads", arch))
			return;
		seed = 99;
		for (unsigned i = 0; i < N_OPS; i++)
			if (name_in(&ops[i], arch, name, sizeof(name)))
				check(&f, &ops[i], name, i, arch);
		fx_close(&f);
	}
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		test_arch(argv[1], argv[2]);
		return done_testing();
	}
	test_arch("gfx90a", "clang-19");
	test_arch("gfx942", "clang-19");
	test_arch("gfx1030", "clang-19");
	test_arch("gfx1100", "clang-19");
	test_arch("gfx1201", "clang-19");
	test_arch("gfx950", "clang-22");
	fx_met("isa_ops");
	return done_testing();
}
