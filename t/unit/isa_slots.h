#ifndef HRR_T_UNIT_ISA_SLOTS_H
#define HRR_T_UNIT_ISA_SLOTS_H

#include "t/unit/isa_asm.h"

/*
 * One kernel with many slots of a few instructions each: it loads operands and
 * state, jumps to a slot, and stores all that the slot may have changed. So
 * thousands of instructions are assembled at once, and one launch tries one
 * of them on many rows of operands (a workgroup of one wave each).
 *
 * A slot finds a v[2:3] b v[4:5] c v[6:7] old v[8:9], their first lane in
 * s[20:21] s[22:23] s[24:25], EXEC, VCC, SCC (bit 0 of VCC) and MODE[7:0] as
 * asked for, v10 the lane, v11 sixteen times it, s[4:5] the lane_in of its wave
 * (32 bytes a lane), s[12:13] a free page of memory of the wave, M0 all ones; it may
 * use v12 to v19, a0 and up, s30 and up to s59. It leaves its result in v[8:9] or
 * s[24:25].
 */
#define SLOT_BYTES 256
#define SLOT_ROWS 40   /* waves of one launch at most */
#define SLOT_PAGE 8192 /* bytes of memory of each wave */
#define SLOT_LDS 8192

struct slot_ctl {
	uint64_t exec, vcc;
};
struct slot_out {
	uint64_t result, vcc, sdst;
	uint32_t scc, mode;
	uint64_t exec, second; /* EXEC and v[18:19] after */
};
static struct lane_in slot_in[SLOT_ROWS][64];
static struct slot_out slot_out[SLOT_ROWS][64];
static struct slot_ctl slot_ctl[SLOT_ROWS];
static unsigned char slot_page[SLOT_ROWS][SLOT_PAGE];

/* Text being put together: one line of assembler a slot. */
struct slots {
	const char *arch;
	unsigned gen, lanes;
	char **text; /* owned; NULL: the assembler refused it */
	char **why;  /* owned; what it said */
	unsigned n, cap;
	struct fx fx;
	bool loaded;
};

static inline void slots_init(struct slots *s, const char *arch)
{
	memset(s, 0, sizeof(*s));
	s->arch = arch;
	s->gen = gen_of(arch);
	s->lanes = s->gen == 9 ? 64 : 32;
}

static inline unsigned slots_add(struct slots *s, const char *text)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 1024;
		s->text = realloc(s->text, s->cap * sizeof(*s->text));
		s->why = realloc(s->why, s->cap * sizeof(*s->why));
		if (!s->text || !s->why)
			abort();
	}
	s->text[s->n] = strdup(text);
	s->why[s->n] = NULL;
	return s->n++;
}

static inline void slots_release(struct slots *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		free(s->text[i]);
		free(s->why[i]);
	}
	free(s->text);
	free(s->why);
	if (s->loaded)
		fx_close(&s->fx);
}

static inline void slots_head(FILE *f, const struct slots *s)
{
	const unsigned gen = s->gen;
	const bool late = gen >= 11, wide = gen == 9;
	const char *const add = gen == 12 ? "s_add_co_u32" : "s_add_u32";
	const char *const addc = gen == 12 ? "s_add_co_ci_u32" : "s_addc_u32";
	const char *const load = late ? "s_load_b128" : "s_load_dwordx4";
	const char *const wait = gen == 12 ? "s_wait_kmcnt 0x0" : "s_waitcnt lgkmcnt(0)";
	const char *const vload = late ? "global_load_b128" : "global_load_dwordx4";

	fprintf(f, ".text\n.globl k0\n.p2align 8\n.type k0,@function\nk0:\n");
	fprintf(f, "s_mov_b32 s3, %s\n", gen == 12 ? "ttmp9" : "s2");
	fprintf(f, "%s s[4:7], s[0:1], 0x0\n%s s[12:15], s[0:1], 0x10\n", load, load);
	fprintf(f, "%s s[32:35], s[0:1], 0x20\n%s\n", load, wait);
	fprintf(f, "s_lshl_b32 s16, s3, 4\n%s s12, s12, s16\n%s s13, s13, 0\n", add, addc);
	fprintf(f, "%s s[8:11], s[12:13], 0x0\n", load);
	fprintf(f, "s_mul_i32 s16, s3, 2048\n%s s4, s4, s16\n%s s5, s5, 0\n", add, addc);
	fprintf(f, "s_mul_i32 s16, s3, 3072\n%s s6, s6, s16\n%s s7, s7, 0\n%s\n", add, addc, wait);
	fprintf(f, "s_mul_i32 s16, s3, %d\n%s s12, s32, s16\n%s s13, s33, 0\n", SLOT_PAGE, add,
		addc);
	fprintf(f, "s_getpc_b64 s[16:17]\nL0: %s s16, s16, slots-L0\n%s s17, s17, 0\n", add, addc);
	fprintf(f, "%s s16, s16, s14\n%s s17, s17, 0\n", add, addc);
	fprintf(f, "s_getpc_b64 s[18:19]\nL1: %s s18, s18, after-L1\n%s s19, s19, 0\n", add, addc);
	if (gen == 10)
		fprintf(f, "v_mov_b32 v10, v0\n");
	else
		fprintf(f, "v_and_b32 v10, 0x3ff, v0\n");
	fprintf(f, "v_lshlrev_b32 v1, 5, v10\nv_lshlrev_b32 v11, 4, v10\n");
	fprintf(f, "%s v[2:5], v1, s[4:5]\n%s v[6:9], v1, s[4:5] offset:16\n", vload, vload);
	fprintf(f, gen == 12 ? "s_wait_loadcnt 0x0\n" : "s_waitcnt vmcnt(0)\n");
	fprintf(f, "v_mov_b32 v18, 0\nv_mov_b32 v19, 0\n");
	for (int i = 0; i < 6; i++)
		fprintf(f, "v_readfirstlane_b32 s%d, v%d\n", 20 + i, 2 + i);
	fprintf(f, "s_mov_b32 m0, -1\n");
	fprintf(f, wide ? "s_mov_b64 vcc, s[10:11]\ns_mov_b64 exec, s[8:9]\n"
			: "s_mov_b32 vcc_lo, s10\ns_mov_b32 exec_lo, s8\n");
	fprintf(f, "s_setreg_b32 hwreg(HW_REG_MODE, 0, 10), s15\ns_bitcmp1_b32 s10, 0\n"
		   "s_setpc_b64 s[16:17]\n");
	fprintf(f, "after:\ns_cselect_b32 s26, 1, 0\ns_getreg_b32 s27, hwreg(HW_REG_MODE, 0, 8)\n"
		   "s_mov_b64 s[28:29], exec\ns_mov_b64 exec, -1\n");
	fprintf(f, "v_mov_b32 v14, vcc_lo\nv_mov_b32 v15, %s\n", wide ? "vcc_hi" : "0");
	fprintf(f, "v_mov_b32 v12, v8\nv_mov_b32 v13, v9\nv_mul_u32_u24 v1, 48, v10\n");
	fprintf(f,
		"v_mov_b32 v2, s24\nv_mov_b32 v3, s25\nv_mov_b32 v4, s26\nv_mov_b32 v5, s27\n"
		"v_mov_b32 v16, s28\nv_mov_b32 v17, %s\n",
		wide ? "s29" : "0");
	fprintf(f,
		"%s v1, v[12:15], s[6:7]\n%s v1, v[2:5], s[6:7] offset:16\n"
		"%s v1, v[16:19], s[6:7] offset:32\ns_endpgm\n",
		late ? "global_store_b128" : "global_store_dwordx4",
		late ? "global_store_b128" : "global_store_dwordx4",
		late ? "global_store_b128" : "global_store_dwordx4");
	fprintf(f, ".p2align 8\nslots:\n");
}

/* Number of lines slots_head writes and what follows; the kernel's descriptor. */
static inline void slots_tail(FILE *f, const struct slots *s)
{
	fprintf(
	    f,
	    ".section .rodata\n.p2align 6\n.amdhsa_kernel k0\n"
	    ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_float_denorm_mode_32 3\n"
	    ".amdhsa_group_segment_fixed_size %d\n.amdhsa_private_segment_fixed_size 256\n"
	    ".amdhsa_next_free_vgpr %d\n.amdhsa_next_free_sgpr 64\n%s.end_amdhsa_kernel\n.text\n",
	    SLOT_LDS, s->gen == 9 ? 512 : 256,
	    s->gen == 9 ? ".amdhsa_accum_offset 256\n" : ".amdhsa_wavefront_size32 1\n");
	fprintf(f,
		".amdgpu_metadata\namdhsa.version: [1, 1]\namdhsa.kernels:\n"
		"  - .name: k0\n    .symbol: k0.kd\n    .kernarg_segment_size: 48\n"
		"    .kernarg_segment_align: 8\n    .group_segment_fixed_size: %d\n"
		"    .private_segment_fixed_size: 256\n    .wavefront_size: %u\n"
		"    .sgpr_count: 64\n    .vgpr_count: 256\n"
		"    .max_flat_workgroup_size: 64\n.end_amdgpu_metadata\n",
		SLOT_LDS, s->lanes);
}

static inline void slots_write(const struct slots *s, const char *path)
{
	FILE *const f = fopen(path, "w");

	if (!f)
		abort();
	slots_head(f, s);
	for (unsigned i = 0; i < s->n; i++) {
		/* a line of its own, so that what the assembler says of it is told apart */
		fprintf(f, ".org slots+%u\n# slot %u\n", i * SLOT_BYTES, i);
		if (!s->why[i])
			fprintf(f, "%s\n", s->text[i]);
		fprintf(f, "s_setpc_b64 s[18:19]\n");
	}
	fprintf(f, ".org slots+%u\n", s->n * SLOT_BYTES);
	slots_tail(f, s);
	fclose(f);
}

/* Which slot each line of the file belongs to; notes what the assembler said of each. */
static inline unsigned slots_refusals(struct slots *s, const char *path, const char *log)
{
	FILE *in = fopen(path, "r");
	unsigned *of = NULL, n = 0, cap = 0, found = 0, now = 0;
	char line[1024];
	bool any = false;

	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "# slot %u", &now) == 1)
			any = true;
		if (n + 2 > cap) {
			cap = cap ? 2 * cap : 8192;
			of = realloc(of, cap * sizeof(*of));
			if (!of)
				abort();
		}
		of[++n] = any ? now + 1 : 0;
	}
	if (in)
		fclose(in);
	in = fopen(log, "r");
	while (in && fgets(line, sizeof(line), in)) {
		const char *const e = strstr(line, ": error: ");
		const char *p = strstr(line, ".s:");
		unsigned at;

		if (!e || !p || sscanf(p, ".s:%u", &at) != 1 || at == 0 || at > n || !of[at])
			continue;
		if (!s->why[of[at] - 1]) {
			s->why[of[at] - 1] = strdup(e + 9);
			s->why[of[at] - 1][strcspn(s->why[of[at] - 1], "\n")] = '\0';
			found++;
		}
	}
	if (in)
		fclose(in);
	free(of);
	return found;
}

static inline bool slots_load(struct slots *s, const char *what)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s-%s.co", fx_dir(), what, s->arch);
	if (s->loaded)
		fx_close(&s->fx);
	s->loaded = false;
	if (!ok(fx_load(&s->fx, s->arch, path), "%s %s loads", s->arch, what))
		return false;
	return s->loaded = true;
}

/*
 * Assembles all slots; those the assembler refuses get why[] and stay empty. false when
 * there is no assembler (said as a skipped test) or it fails otherwise.
 */
static inline bool slots_build(struct slots *s, const char *what, const char *clang)
{
	char src[512], out[512], log[512], cmd[2048];

	if (!isa_has(clang, what))
		return false;
	snprintf(src, sizeof(src), "%s/%s-%s.s", fx_dir(), what, s->arch);
	snprintf(out, sizeof(out), "%s/%s-%s.co", fx_dir(), what, s->arch);
	snprintf(log, sizeof(log), "%s/%s-%s.log", fx_dir(), what, s->arch);
	snprintf(cmd, sizeof(cmd),
		 "%s -x assembler -target amdgcn-amd-amdhsa -mcpu=%s %s -o %s 2>%s", clang, s->arch,
		 src, out, log);
	for (int pass = 0; pass < 3; pass++) {
		slots_write(s, src);
		if (system(cmd) == 0)
			return slots_load(s, what);
		if (!slots_refusals(s, src, log))
			break;
	}
	return ok(false, "%s %s assembles, see %s", s->arch, what, log);
}

/* Runs a slot on the first rows of slot_in with slot_ctl. */
static inline bool slots_run(struct slots *s, unsigned slot, unsigned rows, uint32_t mode)
{
	static unsigned char kernarg[64];
	struct fx *const f = &s->fx;
	const unsigned keep = f->n_spans;
	struct isa_launch l = {.prog = f->prog,
			       .lds = SLOT_LDS,
			       .scratch = 256,
			       .grid = {s->lanes * rows, 1, 1},
			       .block = {s->lanes, 1, 1}};
	const struct hrr_kernel *const kern = hrr_codeobj_kernel(&f->co, "k0");
	uint64_t args[6];
	bool good;

	if (!kern || rows > SLOT_ROWS)
		return false;
	l.kd = f->base + kern->kd;
	args[0] = fx_map(f, slot_in, sizeof(slot_in));
	args[1] = fx_map(f, slot_out, sizeof(slot_out));
	args[2] = fx_map(f, slot_ctl, sizeof(slot_ctl));
	args[3] = (uint64_t)mode << 32 | slot * SLOT_BYTES;
	args[4] = fx_map(f, slot_page, sizeof(slot_page));
	args[5] = 0;
	memcpy(kernarg, args, sizeof(args));
	l.kernarg = fx_map(f, kernarg, sizeof(kernarg));
	l.mem = (struct isa_mem){f, fx_find};
	l.budget = 1000000;
	memset(slot_out, 0xee, sizeof(slot_out));
	good = isa_run(&l, &f->report) == 0 && f->report.status == ISA_DONE;
	f->n_spans = keep;
	return good;
}

#endif
