/* Makes a predecoded instruction out of its text and the table. */
#include <stdio.h>

#include "lib/emu/isa/build.h"

static int run_refused(struct isa_wave *w, const struct isa_inst *in)
{
	/* extra->dual is not used by these: the text lies behind the extra */
	return isa_fail(w, in, ISA_UNIMPLEMENTED, "%s", (const char *)(in->extra + 1));
}

const char *isa_refused(const struct isa_inst *in)
{
	return in->fn == run_refused ? (const char *)(in->extra + 1) : NULL;
}

static int run_approx(struct isa_wave *w, const struct isa_inst *in)
{
	w->t->approx[in->op]++;
	return in->inner(w, in);
}

static bool build_one(struct isa_build *b, const char *text)
{
	int row;

	if (!isa_text_split(text, b->arch, &b->t))
		return isa_refuse(b, "text");
	if (b->t.name_len > 7 && !memcmp(b->t.name, "v_dual_", 7)) {
		static const char *const dual[] = {
		    "v_fmac_f32",    "v_fmaak_f32",   "v_fmamk_f32",	   "v_mul_f32",
		    "v_add_f32",     "v_sub_f32",     "v_subrev_f32",	   "v_mul_dx9_zero_f32",
		    "v_mov_b32",     "v_cndmask_b32", "v_max_f32",	   "v_min_f32",
		    "v_max_num_f32", "v_min_num_f32", "v_dot2acc_f32_f16", "v_dot2acc_f32_bf16",
		    "v_add_nc_u32",  "v_lshlrev_b32", "v_and_b32"};
		row = -1;
		for (size_t i = 0; i < sizeof(dual) / sizeof(dual[0]); i++)
			if (strlen(dual[i]) == b->t.name_len - 5 &&
			    !memcmp(dual[i] + 2, b->t.name + 7, b->t.name_len - 7))
				row = isa_op_find(dual[i], strlen(dual[i]));
	} else {
		row = isa_op_find(b->t.name, b->t.name_len);
	}
	if (row < 0 || !isa_op_at((unsigned)row)->archs) {
		snprintf(b->why, sizeof(b->why), "%.*s", (int)b->t.name_len, b->t.name);
		return false;
	}
	b->op = isa_op_at((unsigned)row);
	b->in->op = (u16)row;
	b->in->fn = isa_op_fn((unsigned)row);
	b->in->flags |= b->op->flags;
	b->in->m = b->op->m;
	isa_table_mark(b->arch, (unsigned)row);
	if (b->op->cls == CLASS_SALU) {
		/* waits and hints have no operands worth reading */
		if (!strcmp(b->op->spec, ":")) {
			b->in->run = b->in->fn;
			if (!strncmp(b->op->name, "s_endpgm", 8))
				b->in->flags |= F_CTRL;
			return true;
		}
		return isa_build_scalar(b);
	}
	if (!isa_modifiers(b))
		return false;
	switch (b->op->cls) {
	case CLASS_MEM:
		return isa_build_mem(b);
	case CLASS_SMEM:
		return isa_build_smem(b);
	case CLASS_MFMA:
		return isa_build_matrix(b);
	case CLASS_SCALE:
		return isa_build_scale(b);
	default:
		return isa_build_vector(b);
	}
}

static void approximate(struct isa_inst *in)
{
	if (in->flags & F_APPROX) {
		in->inner = in->run;
		in->run = run_approx;
	}
}

static bool reads_row(const struct isa_inst *in, i32 dst)
{
	if (in->dv == dst) /* accumulates, or both write it */
		return true;
	for (unsigned k = 0; k < in->n_src; k++) {
		if (in->src[k].rel && in->src[k].off == (uintptr_t)(i64)dst)
			return true;
		if (in->extra && in->extra->mod[k].kind == PREP_VGPR &&
		    in->extra->mod[k].row * ISA_ROW == dst)
			return true;
	}
	return false;
}

/* "X :: Y": two instructions that read before either writes. */
static bool build_dual(struct isa_build *b, const char *text, const char *second)
{
	struct isa_build y = {.code = b->code, .arch = b->arch, .gen = b->gen};
	struct isa_inst *const yi = isa_code_alloc(b->code, sizeof(*yi));
	struct isa_extra *x;
	char first[200];

	if (!yi || (size_t)(second - text) >= sizeof(first))
		return isa_refuse(b, "out of memory");
	memcpy(first, text, (size_t)(second - text));
	first[second - text] = '\0';
	y.in = yi;
	yi->pc = b->in->pc;
	yi->id = b->in->id;
	yi->size = b->in->size;
	memcpy(yi->raw, b->in->raw, sizeof(yi->raw));
	if (!build_one(b, first))
		return false;
	if (!build_one(&y, second + 2)) {
		snprintf(b->why, sizeof(b->why), "%s", y.why);
		return false;
	}
	x = isa_code_alloc(b->code, sizeof(*x));
	if (!x)
		return isa_refuse(b, "out of memory");
	*x = b->in->extra ? *b->in->extra : b->x;
	x->dual = yi;
	x->dual_run = b->in->run;
	x->dual_dst = b->in->dv;
	x->dual_hazard = reads_row(yi, b->in->dv);
	b->in->flags |= yi->flags & (F_MODE | F_FP32 | F_FP64);
	if (x->dual_hazard)
		b->in->dv = ROW_TMP_DUAL * ISA_ROW;
	b->in->extra = x;
	b->in->run = isa_run_dual_fn();
	return true;
}

/* LLVM remarks on odd operands in comments; they are not for us. */
static void strip(char *to, size_t size, const char *text)
{
	size_t n = 0;

	while (*text && n + 1 < size) {
		if (!strncmp(text, "/*", 2)) {
			const char *const end = strstr(text, "*/");
			if (!end)
				break;
			text = end + 2;
			continue;
		}
		if (*text == ';')
			break;
		to[n++] = *text++;
	}
	while (n && (to[n - 1] == ' ' || to[n - 1] == '\t'))
		n--;
	to[n] = '\0';
}

int isa_build(struct isa_code *code, enum isa_arch arch, const char *full, struct isa_inst *in)
{
	char text[512];
	struct isa_build b = {.code = code, .arch = arch, .in = in};
	const struct isa_inst keep = *in;
	const char *second;
	bool ok;

	strip(text, sizeof(text), full);
	second = strstr(text, " :: ");
	b.gen = arch <= ISA_GFX950 ? 9 : arch == ISA_GFX1030 ? 10 : arch == ISA_GFX1100 ? 11 : 12;
	ok = second ? build_dual(&b, text, second + 1) : build_one(&b, text);
	if (ok) {
		approximate(in);
		return 0;
	}
	*in = keep;
	in->flags = F_CTRL; /* nothing behind it is reached */
	in->run = in->fn = run_refused;
	in->extra = isa_code_alloc(code, sizeof(*in->extra) + sizeof(b.why));
	if (!in->extra)
		return -12; /* ENOMEM */
	memcpy(in->extra + 1, b.why, sizeof(b.why));
	return 1;
}
