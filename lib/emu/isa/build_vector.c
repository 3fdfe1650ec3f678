/* Vector arithmetic: operands by the spec of the row, and what happens to the result. */
#include <stdio.h>

#include "lib/emu/isa/build.h"

static bool saturating(struct isa_build *b)
{
	char name[64];
	int row;

	snprintf(name, sizeof(name), "%s_sat", isa_op_at(b->op->canonical)->name);
	row = isa_op_find(name, strlen(name));
	if (row < 0)
		return isa_refuse(b, "clamp on an integer");
	b->in->fn = isa_op_fn((unsigned)row);
	return true;
}

bool isa_build_vector(struct isa_build *b)
{
	const char *s = b->op->spec;
	const char *const sources = strchr(s, ':') + 1;
	struct isa_inst *const in = b->in;
	struct isa_extra *const x = &b->x;
	const bool rdna_cmpx = (b->op->flags & F_CMPX) && b->gen >= 10;
	unsigned k = 0, preps = 0, sgprs = 0;
	const bool floats = strpbrk(sources, "fhdpFx") != NULL;
	bool dst16 = false;

	if (strncmp(b->op->name, "ds_", 3)) /* registers of those are not indexed */
		in->flags |= F_VECTOR;
	/* the long encoding chooses halves of 16-bit operands; LLVM 19 does not print that for each
	 */
	if (b->gen >= 11 && in->raw[0] >> 26 == 0x35 && strpbrk(b->op->spec, "hs") &&
	    !b->has_op_sel) {
		b->op_sel = in->raw[0] >> 11 & 7;
		if (b->op->spec[0] == 'h')
			b->op_sel |= (in->raw[0] >> 14 & 1) << 31;
	}
	if (strstr(b->op->name, "_sr_") == b->op->name + 5) { /* v_cvt_sr: into one byte */
		const u8 byte = x->mod[0].sel != SEL_DWORD ? x->mod[0].sel - (u32)SEL_BYTE_0
							   : b->op_sel >> 2 & 3;

		x->mod[0].sel = SEL_DWORD;
		x->dst_sel = (u8)(SEL_BYTE_0 + byte);
		x->dst_unused = 2;
		b->op_sel = 0;
		b->has_op_sel = false;
	}
	if (!strcmp(b->op->name, "v_fma_mixhi_f16")) /* like mixlo, into the upper half */
		b->op_sel |= 1u << 31;
	for (; *s != ':'; s++) {
		if (*s == 'm' && rdna_cmpx) {
			in->ds = R_SINK;
			continue;
		}
		if (*s == 'm' || *s == 'u' || *s == 'U') {
			if (!isa_scalar_dst(b, isa_take(b)))
				return false;
			continue;
		}
		if (!isa_vector_dst(b, isa_take(b), *s))
			return false;
		dst16 = *s == 'h';
	}
	if (b->op->cls == CLASS_INT && (strstr(b->op->name, "v_swap_") == b->op->name)) {
		const struct isa_operand *o = isa_take(b);

		if (!o || o->kind != TOK_VGPR)
			return isa_refuse(b, "operand of a swap");
		in->imm =
		    (b->op_sel >> 31) | (o->half == 2 || isa_high_half(b, o, *sources) ? 2 : 0);
		in->dv2 = (o->reg - (isa_high_half(b, o, *sources) ? 128 : 0)) * ISA_ROW;
		in->run = in->fn;
		return true;
	}
	if (b->op->cls == CLASS_CROSS && strstr(b->op->name, "_swap_b32")) {
		const struct isa_operand *o = isa_take(b);

		if (!o || o->kind != TOK_VGPR)
			return isa_refuse(b, "operand of a swap");
		in->dv2 = o->reg * ISA_ROW;
		in->run = in->fn;
		return true;
	}
	for (s = sources; *s; s++, k++) {
		const struct isa_operand vcc = {.kind = TOK_SGPR, .reg = R_VCC, .n = 2};

		if (*s == 'm') {
			const struct isa_operand *o = isa_take(b);
			if (!isa_scalar_src(b, k, o ? o : &vcc, 'm'))
				return false;
		} else if (*s == 'u' || *s == 'U') {
			if (!isa_scalar_src(b, k, isa_take(b), *s))
				return false;
		} else {
			if (!isa_vector_src(b, k, isa_take(b), *s))
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
			return isa_refuse(b, "out of memory");
		*in->extra = *x;
		in->run = isa_run_prep_fn();
	} else if (sgprs) {
		in->run = isa_run_sgpr_fn();
	}
	return true;
}
