/* Makes a predecoded instruction out of its text and the table. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/emu/isa/mem.h"
#include "lib/emu/isa/mfma.h"
#include "lib/emu/isa/numeric.h"
#include "lib/emu/isa/table.h"
#include "lib/emu/isa/text.h"

struct build {
	struct isa_code *code;
	enum isa_arch arch;
	unsigned gen;
	struct isa_text t;
	struct isa_inst *in;
	struct isa_extra x; /* copied to the code when needed */
	const struct isa_op *op;
	u32 next; /* operand to take */
	/* modifiers */
	bool clamp;
	u32 op_sel, op_sel_hi, neg_lo, neg_hi;
	bool has_op_sel, has_op_sel_hi;
	bool no_memory;
	char why[120];
};

static bool refuse(struct build *b, const char *what)
{
	snprintf(b->why, sizeof(b->why), "%s", what);
	return false;
}

static int run_refused(struct isa_wave *w, const struct isa_inst *in)
{
	/* extra->dual is not used by these: the text lies behind the extra */
	return isa_fail(w, in, ISA_UNIMPLEMENTED, "%s", (const char *)(in->extra + 1));
}

static int run_approx(struct isa_wave *w, const struct isa_inst *in)
{
	w->t->approx[in->op]++;
	return in->inner(w, in);
}

/* A wave of 32 lanes has no use for EXEC_HI: what is written there must not turn lanes on. */
static int run_exec_lo(struct isa_wave *w, const struct isa_inst *in)
{
	const int r = in->inner(w, in);

	w->s[R_EXEC + 1] = 0;
	return r;
}

/* --- modifiers ------------------------------------------------------------------------ */

static u32 bit_list(const char *arg) /* "[0,1,1]" to bits */
{
	u32 r = 0, n = 0;

	for (; *arg; arg++)
		if (*arg == '0' || *arg == '1')
			r |= (u32)(*arg - '0') << n++;
	return r;
}

static u8 sdwa_sel(const char *arg)
{
	static const char *const names[] = {"DWORD",  "BYTE_0", "BYTE_1", "BYTE_2",
					    "BYTE_3", "WORD_0", "WORD_1"};

	for (u8 i = 0; i < 7; i++)
		if (!strcmp(arg, names[i]))
			return i;
	return SEL_DWORD;
}

static bool modifier(struct build *b, const char *name, const char *arg)
{
	static const struct {
		const char *name;
		u8 kind;
	} dpp[] = {{"row_shl", DPP_ROW_SHL},
		   {"row_shr", DPP_ROW_SHR},
		   {"row_ror", DPP_ROW_ROR},
		   {"wave_shl", DPP_WAVE_SHL},
		   {"wave_rol", DPP_WAVE_ROL},
		   {"wave_shr", DPP_WAVE_SHR},
		   {"wave_ror", DPP_WAVE_ROR},
		   {"row_mirror", DPP_MIRROR},
		   {"row_half_mirror", DPP_HALF_MIRROR},
		   {"row_newbcast", DPP_SHARE},
		   {"row_share", DPP_SHARE},
		   {"row_xmask", DPP_XMASK}};
	static const char *const ignored[] = {"glc", "slc",   "dlc", "sc0", "sc1",
					      "nt",  "scope", "off", "th"};
	struct isa_extra *const x = &b->x;
	const long n = strtol(arg, NULL, 0);

	if (!strcmp(name, "offset")) {
		b->in->imm = n;
		return true;
	}
	if (!strcmp(name, "offset0"))
		return b->in->imm = n, true;
	if (!strcmp(name, "offset1"))
		return b->in->imm2 = n, true;
	if (!strcmp(name, "offen"))
		return b->in->m.offen = true;
	if (!strcmp(name, "idxen"))
		return b->in->m.idxen = true;
	if (!strcmp(name, "glc") || !strcmp(name, "sc0") ||
	    (!strcmp(name, "th") && strstr(arg, "RETURN")))
		b->in->m.rtn |= b->in->m.op == MEM_ATOMIC;
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		if (!strcmp(name, ignored[i]))
			return true;
	if (!strcmp(name, "clamp"))
		return b->clamp = true;
	if (!strcmp(name, "mul"))
		return x->omod = n == 4 ? 2 : 1, true;
	if (!strcmp(name, "div"))
		return x->omod = 3, true;
	if (!strcmp(name, "op_sel"))
		return b->op_sel = bit_list(arg), b->has_op_sel = true;
	if (!strcmp(name, "op_sel_hi"))
		return b->op_sel_hi = bit_list(arg), b->has_op_sel_hi = true;
	if (!strcmp(name, "neg_lo"))
		return b->neg_lo = bit_list(arg), true;
	if (!strcmp(name, "neg_hi"))
		return b->neg_hi = bit_list(arg), true;
	if (!strcmp(name, "dst_sel"))
		return x->dst_sel = sdwa_sel(arg), true;
	if (!strcmp(name, "dst_unused"))
		return x->dst_unused =
			   !strcmp(arg, "UNUSED_PRESERVE") ? 2 : !strcmp(arg, "UNUSED_SEXT"),
		       true;
	if (!strcmp(name, "src0_sel"))
		return x->mod[0].sel = sdwa_sel(arg), true;
	if (!strcmp(name, "src1_sel"))
		return x->mod[1].sel = sdwa_sel(arg), true;
	if (!strcmp(name, "quad_perm")) {
		u32 k = 0;
		for (; *arg; arg++)
			if (*arg >= '0' && *arg <= '3')
				x->dpp.n |= (u8)((*arg - '0') << (2 * k++ & 7));
		x->dpp.kind = DPP_QUAD;
		return true;
	}
	if (!strcmp(name, "dpp8")) {
		u32 k = 0;
		for (; *arg; arg++)
			if (*arg >= '0' && *arg <= '7' && k < 8)
				x->dpp.lane[k++] = (u8)(*arg - '0');
		x->dpp.kind = DPP_8;
		return true;
	}
	if (!strcmp(name, "row_bcast"))
		return x->dpp.kind = n == 15 ? DPP_BCAST15 : DPP_BCAST31, true;
	for (size_t i = 0; i < sizeof(dpp) / sizeof(dpp[0]); i++)
		if (!strcmp(name, dpp[i].name)) {
			x->dpp.kind = dpp[i].kind;
			x->dpp.n = (u8)n;
			return true;
		}
	if (!strcmp(name, "row_mask"))
		return x->dpp.row_mask = (u8)n, true;
	if (!strcmp(name, "bank_mask"))
		return x->dpp.bank_mask = (u8)n, true;
	if (!strcmp(name, "bound_ctrl")) /* either way of writing it means the bit */
		return x->dpp.bound_ctrl = true;
	if (!strcmp(name, "fi"))
		return x->dpp.fi = n != 0, true;
	if (!strcmp(name, "bitop3"))
		return b->in->imm = n, true;
	if (!strcmp(name, "byte_sel"))
		return x->mod[0].sel = (u8)(SEL_BYTE_0 + (n & 3)), true;
	if (!strcmp(name, "lds") && b->op->kind == MEM_FN_BUFFER && b->op->cls == CLASS_MEM)
		return b->in->m.to_lds = true;
	if (!strcmp(name, "cbsz"))
		return b->in->imm |= (n & 7), true;
	if (!strcmp(name, "abid"))
		return b->in->imm |= (n & 15) << 4, true;
	if (!strcmp(name, "blgp"))
		return b->in->imm |= (n & 7) << 8, true;
	snprintf(b->why, sizeof(b->why), "modifier %s", name);
	return false;
}

static bool modifiers(struct build *b)
{
	const char *at = b->t.mods;
	char name[40], arg[80];

	b->x.dpp.row_mask = b->x.dpp.bank_mask = 15;
	while (isa_text_mod(&at, name, sizeof(name), arg, sizeof(arg)))
		if (!modifier(b, name, arg))
			return false;
	return true;
}

/* --- operands --------------------------------------------------------------------------- */

static const struct isa_operand *take(struct build *b)
{
	return b->next < b->t.n ? &b->t.op[b->next++] : NULL;
}

/* The bits an operand of this type gets from a constant. */
static u64 constant(const struct isa_operand *o, char type)
{
	const bool inv2pi = o->is_float && o->real > 0.159154 && o->real < 0.159155;

	if (o->is_float) {
		switch (type) {
		case 'h':
		case 's':
		case 'p':
			return inv2pi ? 0x3118u : f2h((float)o->real);
		case 'd':
		case 'q':
		case 'Q':
		case 'U':
			return inv2pi ? 0x3fc45f306dc9c882ull : d2u(o->real);
		case 'F': {
			const u64 v = inv2pi ? 0x3e22f983u : f2u((float)o->real);
			return v << 32 | v;
		}
		default:
			return inv2pi ? 0x3e22f983u : f2u((float)o->real);
		}
	}
	switch (type) {
	case 'd':
		return o->is_hex && !o->is_wide ? (u64)o->value << 32 : (u64)o->value;
	case 'Q':
		return o->is_hex && !o->is_wide ? (u64)(i64)(i32)o->value : (u64)o->value;
	case 'q':
	case 'U':
	case 'K':
		return (u64)o->value;
	case 'F':
		return (u64)(u32)o->value << 32 | (u32)o->value;
	default:
		return (u32)o->value;
	}
}

static bool scalar_src(struct build *b, unsigned k, const struct isa_operand *o, char type)
{
	struct isa_src *const s = &b->in->src[k];

	if (!o)
		return refuse(b, "too few operands");
	if (o->neg || o->abs || o->sext)
		return refuse(b, "modifier on a scalar operand");
	if (o->kind == TOK_SGPR) {
		s->off = (uintptr_t)o->reg * 4;
		s->rel = ~(uintptr_t)0;
		return true;
	}
	if (o->kind == TOK_CONST) {
		u64 *const v = isa_code_alloc(b->code, sizeof(*v));

		if (!v)
			return refuse(b, "out of memory");
		*v = constant(o, type == 'm' ? 'U' : type);
		s->off = (uintptr_t)v;
		s->rel = 0;
		return true;
	}
	return refuse(b, "operand that should be scalar");
}

static bool scalar_dst(struct build *b, const struct isa_operand *o)
{
	if (!o || o->kind != TOK_SGPR)
		return refuse(b, "destination that should be scalar");
	b->in->ds = (u16)(o->reg == R_ZERO ? R_SINK : o->reg);
	return true;
}

static bool is_wide(char type)
{
	return strchr("qQdFK", type) != NULL;
}

/*
 * gfx11 and later: 16-bit operands of the short encodings name halves of the
 * first 128 registers; bit 7 is the upper half. LLVM 19 prints v128 and up.
 */
static bool high_half(const struct build *b, const struct isa_operand *o, char type)
{
	return b->gen >= 11 && (type == 'h' || type == 's') && o->kind == TOK_VGPR &&
	       o->reg >= 128 && o->reg < ROW_VGPRS && (b->t.e32 || (b->t.dpp && !b->t.e64)) &&
	       !o->half;
}

static bool vector_src(struct build *b, unsigned k, const struct isa_operand *o, char type)
{
	struct isa_mod *const m = &b->x.mod[k];
	struct isa_src *const s = &b->in->src[k];
	const u8 sel = m->sel; /* from SDWA */
	bool changed, packed = type == 'p' || type == 'P' || type == 'F';

	if (!o)
		return refuse(b, "too few operands");
	*m = (struct isa_mod){
	    .type = type, .neg = o->neg, .abs = o->abs, .sext = o->sext, .sel = sel};
	if (type == 'x') {
		m->sel_hi = b->op_sel >> k & 1;
		m->hi_sel_hi = b->has_op_sel_hi && (b->op_sel_hi >> k & 1);
	} else if (packed) {
		m->sel_hi = b->op_sel >> k & 1;
		m->hi_sel_hi = b->has_op_sel_hi ? b->op_sel_hi >> k & 1 : true;
		m->neg_lo = b->neg_lo >> k & 1;
		m->neg_hi = b->neg_hi >> k & 1;
	} else if (type == 'K') {
		m->sel_hi = m->hi_sel_hi = b->op_sel >> k & 1;
	} else if (b->op_sel >> k & 1) {
		/* of a 16-bit operand, or of the pair of bytes of an 8-bit float conversion */
		if (type != 'h' && type != 's' && !strstr(b->op->name, "p8") &&
		    !strstr(b->op->name, "bf8") && b->op->cls != CLASS_CROSS)
			return refuse(b, "op_sel");
		if (b->op->cls != CLASS_CROSS)
			m->sel = SEL_WORD_1;
	}
	if (strchr("isqQPK", type) && (m->neg || m->abs))
		return refuse(b, "sign modifier on an integer");
	if (o->half == 2 || high_half(b, o, type))
		m->sel = SEL_WORD_1;
	changed = m->neg || m->abs || m->sext || m->sel != SEL_DWORD;
	if (packed)
		changed |= m->sel_hi || !m->hi_sel_hi || m->neg_lo || m->neg_hi;
	else if (type == 'x')
		changed |= m->hi_sel_hi;
	else if (type ==
		 'K') /* the result takes the low dword of source 0, the high one of source 1 */
		changed |= k == 0 ? m->sel_hi : !m->sel_hi;
	if (k == 0 && b->x.dpp.kind)
		changed = true;
	switch (o->kind) {
	case TOK_VGPR:
		if (o->reg + (is_wide(type) ? 2 : 1) > ROW_VGPRS + ROW_AGPRS)
			return refuse(b, "register number");
		m->row = o->reg - (high_half(b, o, type) ? 128 : 0);
		m->kind = changed ? PREP_VGPR : PREP_NONE;
		s->off = (uintptr_t)o->reg * ISA_ROW;
		s->rel = ~(uintptr_t)0;
		break;
	case TOK_SGPR:
		m->sreg = (u16)o->reg;
		m->kind = PREP_SGPR;
		break;
	case TOK_CONST: {
		const u32 *row;

		m->is_const = true;
		m->value = constant(o, type == 'x' && m->hi_sel_hi ? 'h' : type);
		m->kind = changed ? PREP_SGPR : PREP_NONE;
		row = isa_code_const(b->code, m->value, is_wide(type));
		if (!row)
			return refuse(b, "out of memory");
		s->off = (uintptr_t)row;
		s->rel = 0;
		break;
	}
	default:
		return refuse(b, "operand");
	}
	if (m->kind != PREP_NONE) {
		s->off = (uintptr_t)((i64)ROW_TMP_SRC(k) * ISA_ROW);
		s->rel = ~(uintptr_t)0;
	}
	return true;
}

static bool vector_dst(struct build *b, const struct isa_operand *o, char type)
{
	if (!o || o->kind != TOK_VGPR)
		return refuse(b, "destination that should be a vector register");
	if (o->reg + (is_wide(type) ? 2 : 1) > ROW_VGPRS + ROW_AGPRS)
		return refuse(b, "register number");
	b->x.dst_row = o->reg - (high_half(b, o, type) ? 128 : 0);
	b->in->dv = b->x.dst_row * ISA_ROW;
	b->x.dst_type = type;
	if (o->half == 2 || high_half(b, o, type))
		b->op_sel |= 1u << 31;
	return true;
}

/* --- vector arithmetic -------------------------------------------------------------------- */

static bool saturating(struct build *b)
{
	char name[64];
	int row;

	snprintf(name, sizeof(name), "%s_sat", isa_op_at(b->op->canonical)->name);
	row = isa_op_find(name, strlen(name));
	if (row < 0)
		return refuse(b, "clamp on an integer");
	b->in->fn = isa_op_fn((unsigned)row);
	return true;
}

static bool build_vector(struct build *b)
{
	const char *s = b->op->spec;
	const char *const sources = strchr(s, ':') + 1;
	struct isa_inst *const in = b->in;
	struct isa_extra *const x = &b->x;
	const bool rdna_cmpx = (b->op->flags & F_CMPX) && b->gen >= 10;
	unsigned k = 0, preps = 0, sgprs = 0;
	const bool floats = strpbrk(sources, "fhdpFx") != NULL;
	bool dst16 = false;

	in->flags |= F_VECTOR;
	/* the long encoding chooses halves of 16-bit operands; LLVM 19 does not print that for each
	 */
	if (b->gen >= 11 && in->raw[0] >> 26 == 0x35 && strpbrk(b->op->spec, "hs") &&
	    !b->has_op_sel) {
		b->op_sel = in->raw[0] >> 11 & 7;
		if (b->op->spec[0] == 'h')
			b->op_sel |= (in->raw[0] >> 14 & 1) << 31;
	}
	if (!strcmp(b->op->name, "v_fma_mixhi_f16")) /* like mixlo, into the upper half */
		b->op_sel |= 1u << 31;
	for (; *s != ':'; s++) {
		if (*s == 'm' && rdna_cmpx) {
			in->ds = R_SINK;
			continue;
		}
		if (*s == 'm' || *s == 'u' || *s == 'U') {
			if (!scalar_dst(b, take(b)))
				return false;
			continue;
		}
		if (!vector_dst(b, take(b), *s))
			return false;
		dst16 = *s == 'h';
	}
	if (b->op->cls == CLASS_INT && (strstr(b->op->name, "v_swap_") == b->op->name)) {
		const struct isa_operand *o = take(b);

		if (!o || o->kind != TOK_VGPR)
			return refuse(b, "operand of a swap");
		in->imm = (b->op_sel >> 31) | (o->half == 2 || high_half(b, o, *sources) ? 2 : 0);
		in->dv2 = (o->reg - (high_half(b, o, *sources) ? 128 : 0)) * ISA_ROW;
		in->run = in->fn;
		return true;
	}
	if (b->op->cls == CLASS_CROSS && strstr(b->op->name, "_swap_b32")) {
		const struct isa_operand *o = take(b);

		if (!o || o->kind != TOK_VGPR)
			return refuse(b, "operand of a swap");
		in->dv2 = o->reg * ISA_ROW;
		in->run = in->fn;
		return true;
	}
	for (s = sources; *s; s++, k++) {
		const struct isa_operand vcc = {.kind = TOK_SGPR, .reg = R_VCC, .n = 2};

		if (*s == 'm') {
			const struct isa_operand *o = take(b);
			if (!scalar_src(b, k, o ? o : &vcc, 'm'))
				return false;
		} else if (*s == 'u' || *s == 'U') {
			if (!scalar_src(b, k, take(b), *s))
				return false;
		} else {
			if (!vector_src(b, k, take(b), *s))
				return false;
		}
	}
	in->n_src = (u8)k;
	if (strstr(b->op->name, "_iu8") || strstr(b->op->name, "_iu4"))
		in->imm = b->neg_lo;
	if (b->op->cls == CLASS_CROSS && b->has_op_sel)
		in->imm = (i64)(b->op_sel & 3);
	else if (b->has_op_sel && dst16 &&
		 (b->op_sel >> (strstr(b->op->name, "_fmac_f16") ? 3 : k) &
		  1)) /* it has a source 2 */
		b->op_sel |= 1u << 31;
	if (strstr(b->op->name, "ds_swizzle") == b->op->name)
		in->imm = in->raw[0] & 0xffff;
	/* what happens to the result */
	if (b->clamp) {
		if (b->op->spec[0] == 'm')
			; /* comparisons: only about exceptions */
		else if (!floats || strchr("is", b->op->spec[0])) {
			if (strchr(sources, 'p')) {
				x->dst_type = 'p';
				x->clamp = true;
			} else if (!saturating(b))
				return false;
		} else {
			x->clamp = true;
		}
	}
	x->clamp_pair = strchr(sources, 'F') != NULL;
	if (dst16) {
		const bool hi = b->op_sel >> 31;

		/* gfx9 writes zero above most 16-bit results, later ones keep what is there */
		x->preserve_hi = b->gen >= 10 || (b->op->flags & F_HI16);
		if (hi) {
			x->dst_sel = SEL_WORD_1;
			x->dst_unused = 2;
			x->old_hi = true;
		}
		if (b->t.sdwa && x->dst_sel == SEL_DWORD)
			x->preserve_hi = b->gen >= 10;
	}
	x->post = x->clamp || x->omod || x->dst_sel != SEL_DWORD || x->preserve_hi;
	if (b->op->spec[0] == 'm' || b->op->spec[0] == 'u' || b->op->spec[0] == ':')
		x->post = false;
	if (x->post)
		in->dv = ROW_TMP_DST * ISA_ROW;
	for (unsigned i = 0; i < k; i++) {
		const struct isa_mod *const m = &x->mod[i];

		if (m->kind == PREP_NONE)
			continue;
		preps++;
		if (m->kind == PREP_SGPR && !m->is_const && strchr("ifhs", m->type) && !m->neg &&
		    !m->abs && m->sel == SEL_DWORD) {
			sgprs++;
			in->prep_sreg = m->sreg;
			in->prep_src = (u8)i;
		}
	}
	in->run = in->fn;
	if (x->post || x->dpp.kind || preps > 1 || preps != sgprs) {
		in->extra = isa_code_alloc(b->code, sizeof(*x));
		if (!in->extra)
			return refuse(b, "out of memory");
		*in->extra = *x;
		in->run = isa_run_prep_fn();
	} else if (sgprs) {
		in->run = isa_run_sgpr_fn();
	}
	return true;
}

/* --- matrices --------------------------------------------------------------------------- */

static bool build_matrix(struct build *b)
{
	struct isa_inst *const in = b->in;
	struct isa_extra *const x = &b->x;
	struct isa_matrix *const m = &x->matrix;
	const struct isa_operand *o = take(b);
	const unsigned lanes = b->gen == 9 ? 64 : isa_code_lanes(b->code);

	if (!o || o->kind != TOK_VGPR || o->n > 32 ||
	    !isa_matrix_parse(b->op->name, b->arch, lanes, o->n, m))
		return refuse(b, "matrix operand");
	in->dv = o->reg * ISA_ROW;
	x->matrix_dwords = o->n;
	for (unsigned k = 0; k < 3; k++) {
		o = take(b);
		if (!o)
			return refuse(b, "too few operands");
		if (o->kind == TOK_VGPR) {
			in->src[k].off = (uintptr_t)o->reg * ISA_ROW;
			in->src[k].rel = ~(uintptr_t)0;
		} else if (k == 2 && o->kind == TOK_CONST) {
			const u64 v = constant(o, m->d == MT_F64   ? 'd'
						  : m->d == MT_F16 ? 'h'
								   : 'i');

			m->c_const = true;
			m->c_bits[0] = (u32)v;
			m->c_bits[1] = (u32)(v >> 32);
			if (m->d == MT_BF16)
				m->c_bits[0] >>= 16;
		} else {
			return refuse(b, "matrix operand");
		}
		if (o->neg || o->abs)
			return refuse(b, "modifier on a matrix operand");
	}
	m->cbsz = in->imm & 7;
	m->abid = in->imm >> 4 & 15;
	m->blgp = in->imm >> 8 & 7;
	m->neg_a = (b->neg_lo & 1) | (b->neg_hi & 1) << 1;
	m->neg_b = (b->neg_lo >> 1 & 1) | (b->neg_hi >> 1 & 1) << 1;
	m->neg_c = (b->neg_lo >> 2 & 1) | (b->neg_hi >> 2 & 1) << 1;
	if (m->d == MT_F64 && b->gen == 9)
		m->blgp |= b->neg_lo & 7; /* printed as neg by later versions */
	m->hi = b->op_sel >> 2 & 1;
	m->clamp = b->clamp;
	if (m->clamp && m->d != MT_I32)
		return refuse(b, "clamp on a matrix");
	in->extra = isa_code_alloc(b->code, sizeof(*x));
	if (!in->extra)
		return refuse(b, "out of memory");
	*in->extra = *x;
	in->run = in->fn;
	return true;
}

/* --- scalar -------------------------------------------------------------------------------- */

static bool build_scalar(struct build *b)
{
	const char *s = b->op->spec;
	struct isa_inst *const in = b->in;
	const char *const name = b->op->name;
	unsigned k = 0;
	bool source = false;

	in->run = in->fn;
	in->imm = (i16)(in->raw[0] & 0xffff);
	if (!strcmp(name, "s_set_gpr_idx_on"))
		in->imm = in->raw[0] >> 8 & 15;
	if (strchr("bn", s[0]) == NULL && !strncmp(name, "s_barrier", 9))
		in->imm = 0;
	for (; *s; s++) {
		if (*s == ':') {
			source = true;
			continue;
		}
		if (*s == 'b') {
			in->target_pc = in->pc + 4 + (u64)((i64)(i16)(in->raw[0] & 0xffff) * 4);
			take(b);
		} else if (*s == 'n') {
			take(b);
		} else if (!source) {
			if (!scalar_dst(b, take(b)))
				return false;
		} else {
			if (!scalar_src(b, k++, take(b), *s))
				return false;
		}
	}
	in->n_src = (u8)k;
	if (isa_code_lanes(b->code) == 32 && ((in->ds == R_EXEC && b->op->spec[0] == 'U') ||
					      in->ds == R_EXEC + 1 || strstr(name, "exec_b64"))) {
		in->inner = in->run;
		in->run = run_exec_lo;
	}
	if (!strcmp(name, "s_endpgm") || !strcmp(name, "s_branch") ||
	    !strcmp(name, "s_setpc_b64") || !strcmp(name, "s_swappc_b64") ||
	    !strcmp(name, "s_call_b64") || !strcmp(name, "s_endpgm_saved") ||
	    !strcmp(name, "s_sendmsghalt"))
		in->flags |= F_CTRL;
	return true;
}

/* --- memory --------------------------------------------------------------------------------- */

static bool data_row(struct build *b, const struct isa_operand *o, unsigned n, i32 *ret)
{
	if (!o || o->kind != TOK_VGPR)
		return refuse(b, "data operand that should be a vector register");
	if (o->reg + (i32)n > ROW_VGPRS + ROW_AGPRS || o->half)
		return refuse(b, "register number");
	*ret = o->reg * ISA_ROW;
	return true;
}

static void row_src(struct build *b, unsigned k, i32 row)
{
	b->in->src[k].off = (uintptr_t)((i64)row * ISA_ROW);
	b->in->src[k].rel = ~(uintptr_t)0;
}

static bool zero_src(struct build *b, unsigned k)
{
	const struct isa_operand zero = {.kind = TOK_CONST};

	return scalar_src(b, k, &zero, 'U');
}

static bool build_global(struct build *b)
{
	struct isa_inst *const in = b->in;
	const bool has_saddr = b->op->kind != MEM_FN_FLAT;
	const unsigned data =
	    in->m.dwords * (in->m.atomic == AT_CMPSWAP || in->m.atomic == AT_FCMPSWAP ? 2 : 1);
	const unsigned want = in->m.op == MEM_ATOMIC ? 2 + has_saddr : 2 + has_saddr;
	const struct isa_operand *o;

	in->m.rtn = false;
	if (in->m.op == MEM_ATOMIC && b->t.n == want + 1)
		in->m.rtn = true;
	if ((in->m.op == MEM_LOAD && !in->m.to_lds) || in->m.rtn)
		if (!data_row(b, take(b), in->m.dwords, &in->dv))
			return false;
	o = take(b); /* address */
	if (!o)
		return refuse(b, "too few operands");
	if (o->kind == TOK_VGPR) {
		row_src(b, 0, o->reg);
		in->m.has_v = true;
		in->m.addr64 = o->n == 2;
	} else if (o->kind == TOK_OFF && b->op->kind == MEM_FN_SCRATCH) {
		row_src(b, 0, 0);
	} else {
		return refuse(b, "address operand");
	}
	if (in->m.op != MEM_LOAD)
		if (!data_row(b, take(b), data, &in->dv2))
			return false;
	if (!has_saddr)
		return in->m.addr64 ? zero_src(b, 1) : refuse(b, "address operand");
	o = take(b);
	if (!o)
		return refuse(b, "too few operands");
	if (o->kind == TOK_OFF)
		return zero_src(b, 1);
	if (b->op->kind == MEM_FN_GLOBAL)
		in->m.addr64 = false;
	return scalar_src(b, 1, o, 'U');
}

static bool build_buffer(struct build *b)
{
	struct isa_inst *const in = b->in;
	const unsigned data =
	    in->m.dwords * (in->m.atomic == AT_CMPSWAP || in->m.atomic == AT_FCMPSWAP ? 2 : 1);
	const struct isa_operand *o;

	if (!in->m.to_lds && !data_row(b, take(b), data, in->m.op == MEM_LOAD ? &in->dv : &in->dv2))
		return false;
	if (in->m.rtn)
		in->dv = in->dv2;
	o = take(b);
	if (!o)
		return refuse(b, "too few operands");
	row_src(b, 0, o->kind == TOK_VGPR ? o->reg : 0);
	o = take(b);
	if (!o || o->kind != TOK_SGPR || o->n != 4)
		return refuse(b, "buffer descriptor");
	return scalar_src(b, 1, o, 'U') && scalar_src(b, 2, take(b), 'u');
}

static bool build_ds(struct build *b)
{
	struct isa_inst *const in = b->in;
	const bool two = b->op->kind == MEM_FN_DS2;
	const struct isa_operand *o;
	/* compare-and-swap: gfx9 and gfx10 give the comparand first, later ones the new value */
	const bool compare = in->m.atomic == AT_CMPSWAP || in->m.atomic == AT_FCMPSWAP;
	const unsigned data = two ? in->m.size / 4u : in->m.dwords;
	i32 row;

	if (in->m.op == MEM_LOAD || in->m.rtn)
		if (!data_row(b, take(b), in->m.dwords, &in->dv))
			return false;
	o = take(b);
	if (!o || o->kind != TOK_VGPR)
		return refuse(b, "address operand");
	row_src(b, 0, o->reg);
	row_src(b, 2, 0);
	if (in->m.op != MEM_LOAD) {
		if (!data_row(b, take(b), data, &in->dv2))
			return false;
		if (two || compare || in->m.atomic == AT_MSKOR) {
			if (!data_row(b, take(b), data, &row))
				return false;
			if (compare && b->gen < 11) {
				const i32 t = row;
				row = in->dv2;
				in->dv2 = t;
			}
			in->src[2].off = (uintptr_t)(i64)row;
		}
	}
	if (two) {
		in->imm *= b->op->unit;
		in->imm2 *= b->op->unit;
	}
	return true;
}

static bool build_mem(struct build *b)
{
	b->in->run = b->in->fn;
	switch (b->op->kind) {
	case MEM_FN_GLOBAL:
	case MEM_FN_FLAT:
	case MEM_FN_SCRATCH:
		return build_global(b);
	case MEM_FN_BUFFER:
		return build_buffer(b);
	default:
		return build_ds(b);
	}
}

/* s_load: destination, base, offset (immediate, register or both). */
static bool build_smem(struct build *b)
{
	struct isa_inst *const in = b->in;
	const struct isa_operand *o;

	in->fn = in->run = isa_smem_fn(b->op->name);
	if (!scalar_dst(b, take(b)))
		return false;
	o = take(b);
	if (!o || o->kind != TOK_SGPR || !scalar_src(b, 0, o, 'U'))
		return refuse(b, "base operand");
	o = take(b);
	if (!o)
		return refuse(b, "too few operands");
	if (o->kind == TOK_CONST) {
		in->imm += o->value;
		return zero_src(b, 1);
	}
	return scalar_src(b, 1, o, 'u');
}

/* --- all -------------------------------------------------------------------------------------- */

static bool build_one(struct build *b, const char *text)
{
	int row;

	if (!isa_text_split(text, b->arch, &b->t))
		return refuse(b, "text");
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
		return build_scalar(b);
	}
	if (!modifiers(b))
		return false;
	switch (b->op->cls) {
	case CLASS_MEM:
		return build_mem(b);
	case CLASS_SMEM:
		return build_smem(b);
	case CLASS_MFMA:
		return build_matrix(b);
	default:
		return build_vector(b);
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
static bool build_dual(struct build *b, const char *text, const char *second)
{
	struct build y = {.code = b->code, .arch = b->arch, .gen = b->gen};
	struct isa_inst *const yi = isa_code_alloc(b->code, sizeof(*yi));
	struct isa_extra *x;
	char first[200];

	if (!yi || (size_t)(second - text) >= sizeof(first))
		return refuse(b, "out of memory");
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
		return refuse(b, "out of memory");
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
	struct build b = {.code = code, .arch = arch, .in = in};
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
