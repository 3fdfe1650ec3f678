#ifndef HRR_T_UNIT_ISA_ASM_H
#define HRR_T_UNIT_ISA_ASM_H

#include "t/unit/isa_tools.h"

/*
 * Kernels of a few instructions, assembled while the test runs. Each reads per
 * lane a v[2:3], b v[4:5], c v[6:7], old v[8:9] and writes back v[8:9] and a mask
 * (VCC, for scalar ones SCC). v10 is the lane, v11 sixteen times it, s[4:5] the
 * input, s[6:7] the output, s[8:9] EXEC under test, s[10:11] VCC before.
 */
struct lane_in {
	uint64_t a, b, c, old;
};
struct lane_out {
	uint64_t result, mask;
};
static struct lane_in lane_in[64];
static struct lane_out lane_out[64];

static unsigned gen_of(const char *arch)
{
	return !strcmp(arch, "gfx1030")	  ? 10
	       : !strcmp(arch, "gfx1100") ? 11
	       : !strcmp(arch, "gfx1201") ? 12
					  : 9;
}

static inline void asm_kernel(FILE *f, const char *arch, unsigned n, const char *text, bool scalar,
			      const char *more)
{
	const unsigned gen = gen_of(arch);
	const bool wide = gen == 9, late = gen >= 11;

	fprintf(f, ".globl k%u\n.p2align 8\n.type k%u,@function\nk%u:\n", n, n, n);
	fprintf(f, "%s s[4:7], s[0:1], 0x0\n%s s[8:11], s[0:1], 0x10\n",
		late ? "s_load_b128" : "s_load_dwordx4", late ? "s_load_b128" : "s_load_dwordx4");
	fprintf(f, gen == 12 ? "s_wait_kmcnt 0x0\n" : "s_waitcnt lgkmcnt(0)\n");
	if (gen == 10)
		fprintf(f, "v_mov_b32 v10, v0\n");
	else
		fprintf(f, "v_and_b32 v10, 0x3ff, v0\n");
	fprintf(f, "v_lshlrev_b32 v1, 5, v10\nv_lshlrev_b32 v11, 4, v10\n");
	fprintf(f, "%s v[2:5], v1, s[4:5]\n%s v[6:9], v1, s[4:5] offset:16\n",
		late ? "global_load_b128" : "global_load_dwordx4",
		late ? "global_load_b128" : "global_load_dwordx4");
	fprintf(f, gen == 12 ? "s_wait_loadcnt 0x0\n" : "s_waitcnt vmcnt(0)\n");
	fprintf(f, "v_mov_b32 v12, 0\nv_mov_b32 v13, 0\n");
	if (scalar) {
		fprintf(f, "v_readfirstlane_b32 s20, v2\nv_readfirstlane_b32 s21, v3\n"
			   "v_readfirstlane_b32 s22, v4\nv_readfirstlane_b32 s23, v5\n"
			   "s_mov_b64 s[24:25], 0\ns_cmp_lg_u32 s10, 0\n");
		fprintf(f,
			"%s\ns_cselect_b32 s26, 1, 0\nv_mov_b32 v8, s24\nv_mov_b32 v9, "
			"s25\nv_mov_b32 v12, s26\n",
			text);
	} else if (wide) {
		fprintf(f,
			"s_mov_b64 vcc, s[10:11]\ns_mov_b64 exec, s[8:9]\n%s\ns_mov_b64 exec, -1\n"
			"v_mov_b32 v12, vcc_lo\nv_mov_b32 v13, vcc_hi\n",
			text);
	} else {
		fprintf(f,
			"s_mov_b32 vcc_lo, s10\ns_mov_b32 exec_lo, s8\n%s\ns_mov_b32 exec_lo, "
			"-1\nv_mov_b32 v12, vcc_lo\n",
			text);
	}
	fprintf(f, "v_mov_b32 v10, v12\nv_mov_b32 v12, v8\nv_mov_b32 v14, v10\nv_mov_b32 v15, "
		   "v13\nv_mov_b32 v13, v9\n");
	fprintf(f, "%s v11, v[12:15], s[6:7]\ns_endpgm\n",
		late ? "global_store_b128" : "global_store_dwordx4");
	fprintf(f,
		".section .rodata\n.p2align 6\n.amdhsa_kernel "
		"k%u\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
		".amdhsa_float_denorm_mode_32 3\n.amdhsa_next_free_vgpr 16\n.amdhsa_next_free_sgpr "
		"32\n%s%s.end_amdhsa_kernel\n.text\n",
		n, wide ? ".amdhsa_accum_offset 16\n" : ".amdhsa_wavefront_size32 1\n", more);
}

static inline void asm_metadata(FILE *f, const char *arch, unsigned n)
{
	fprintf(f, ".amdgpu_metadata\namdhsa.version: [1, 1]\namdhsa.kernels:\n");
	for (unsigned i = 0; i < n; i++)
		fprintf(f,
			"  - .name: k%u\n    .symbol: k%u.kd\n    .kernarg_segment_size: 32\n"
			"    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 0\n"
			"    .private_segment_fixed_size: 0\n    .wavefront_size: %d\n"
			"    .sgpr_count: 32\n    .vgpr_count: 16\n"
			"    .max_flat_workgroup_size: 64\n",
			i, i, gen_of(arch) == 9 ? 64 : 32);
	fprintf(f, ".end_amdgpu_metadata\n");
}

/* One launch of kernel k over the lanes in in[]. */
static inline bool asm_launch(struct fx *f, unsigned k, unsigned lanes, uint64_t exec, uint64_t vcc,
			      uint32_t lds)
{
	static unsigned char kernarg[64];
	const unsigned keep = f->n_spans;
	struct isa_launch l = {
	    .prog = f->prog, .lds = lds, .grid = {lanes, 1, 1}, .block = {lanes, 1, 1}};
	uint64_t args[4];
	char name[32];
	const struct hrr_kernel *kern;

	snprintf(name, sizeof(name), "k%u", k);
	kern = hrr_codeobj_kernel(&f->co, name);
	if (!kern || !kern->kd) {
		snprintf(f->report.what, sizeof(f->report.what), "no kernel %s", name);
		return false;
	}
	l.kd = f->base + kern->kd;

	args[0] = fx_map(f, lane_in, sizeof(lane_in));
	args[1] = fx_map(f, lane_out, sizeof(lane_out));
	args[2] = exec;
	args[3] = vcc;
	memcpy(kernarg, args, sizeof(args));
	l.kernarg = fx_map(f, kernarg, sizeof(kernarg));
	l.mem = (struct isa_mem){f, fx_find};
	l.budget = 10000;
	l.go_on = f->go_on;
	memset(lane_out, 0xee, sizeof(lane_out));
	const bool good = isa_run(&l, &f->report) == 0 && f->report.status == ISA_DONE;
	f->n_spans = keep;
	return good;
}

/* Assembles and links text; NULL, as a skipped or failed test, when that cannot be done. */
static inline const char *asm_build(const char *arch, const char *clang, const char *what,
				    const char *src)
{
	static char path[512];
	char cmd[2048];

	if (!isa_has(clang, what))
		return NULL;
	snprintf(path, sizeof(path), "%s/%s-%s.co", fx_dir(), what, arch);
	snprintf(cmd, sizeof(cmd), "%s -x assembler -target amdgcn-amd-amdhsa -mcpu=%s %s -o %s",
		 clang, arch, src, path);
	return ok(!system(cmd), "%s assembles for %s", what, arch) ? path : NULL;
}

#endif
