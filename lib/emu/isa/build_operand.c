/* Operands of the text as sources and destinations of the instruction. */
#include <stdio.h>

#include "lib/emu/isa/build.h"
#include "lib/emu/isa/numeric.h"

bool isa_refuse(struct isa_build *b, const char *what)
{
	snprintf(b->why, sizeof(b->why), "%s", what);
	return false;
}

const struct isa_operand *isa_take(struct isa_build *b)
{
	return b->next < b->t.n ? &b->t.op[b->next++] : NULL;
}

u64 isa_constant(const struct isa_operand *o, char type)
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

bool isa_scalar_src(struct isa_build *b, unsigned k, const struct isa_operand *o, char type)
{
	struct isa_src *const s = &b->in->src[k];

	if (!o)
		return isa_refuse(b, "too few operands");
	if (o->neg || o->abs || o->sext)
		return isa_refuse(b, "modifier on a scalar operand");
	if (o->kind == TOK_SGPR) {
		s->off = (uintptr_t)o->reg * 4;
		s->rel = ~(uintptr_t)0;
		return true;
	}
	if (o->kind == TOK_CONST) {
		u64 *const v = isa_code_alloc(b->code, sizeof(*v));

		if (!v)
			return isa_refuse(b, "out of memory");
		*v = isa_constant(o, type == 'm' ? 'U' : type);
		s->off = (uintptr_t)v;
		s->rel = 0;
		return true;
	}
	return isa_refuse(b, "operand that should be scalar");
}

bool isa_scalar_dst(struct isa_build *b, const struct isa_operand *o)
{
	if (!o || o->kind != TOK_SGPR)
		return isa_refuse(b, "destination that should be scalar");
	b->in->ds = (u16)(o->reg == R_ZERO ? R_SINK : o->reg);
	return true;
}

static bool is_wide(char type)
{
	return strchr("qQdFK", type) != NULL;
}

bool isa_high_half(const struct isa_build *b, const struct isa_operand *o, char type)
{
	return b->gen >= 11 && (type == 'h' || type == 's') && o->kind == TOK_VGPR &&
	       o->reg >= 128 && o->reg < ROW_VGPRS && (b->t.e32 || (b->t.dpp && !b->t.e64)) &&
	       !o->half;
}

bool isa_vector_src(struct isa_build *b, unsigned k, const struct isa_operand *o, char type)
{
	struct isa_mod *const m = &b->x.mod[k];
	struct isa_src *const s = &b->in->src[k];
	const u8 sel = m->sel; /* from SDWA */
	bool changed, packed = type == 'p' || type == 'P' || type == 'F';

	if (!o)
		return isa_refuse(b, "too few operands");
	if (type == 'W' && (o->kind != TOK_VGPR || o->neg || o->abs || o->half))
		return isa_refuse(b, "operand that should be vector registers");
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
			return isa_refuse(b, "op_sel");
		if (b->op->cls != CLASS_CROSS)
			m->sel = SEL_WORD_1;
	}
	if (type == 'f' && b->neg_lo >> k & 1) /* among packed operands */
		m->neg = !m->neg;
	if (strchr("isqQPK", type) && (m->neg || m->abs))
		return isa_refuse(b, "sign modifier on an integer");
	if (o->half == 2 || isa_high_half(b, o, type))
		m->sel = SEL_WORD_1;
	changed = m->neg || m->abs || m->sext || m->sel != SEL_DWORD;
	if (packed)
		changed |= m->sel_hi || !m->hi_sel_hi || m->neg_lo || m->neg_hi;
	else if (type == 'x')
		changed |= m->hi_sel_hi;
	else if (type ==
		 'K') /* the result takes the low dword of source 0, the high one of source 1 */
		changed |= k == 0 ? m->sel_hi : !m->sel_hi;
	if (k == 0 && b->x.dpp.kind) {
		if (o->kind != TOK_VGPR)
			return isa_refuse(b, "dpp of no vector register");
		changed = true;
	}
	switch (o->kind) {
	case TOK_VGPR:
		if (o->reg + (is_wide(type) ? 2 : 1) > ROW_VGPRS + ROW_AGPRS)
			return isa_refuse(b, "register number");
		m->row = o->reg - (isa_high_half(b, o, type) ? 128 : 0);
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
		m->value = isa_constant(o, type == 'x' && m->hi_sel_hi ? 'h' : type);
		m->kind = changed ? PREP_SGPR : PREP_NONE;
		row = isa_code_const(b->code, m->value, is_wide(type));
		if (!row)
			return isa_refuse(b, "out of memory");
		s->off = (uintptr_t)row;
		s->rel = 0;
		break;
	}
	default:
		return isa_refuse(b, "operand");
	}
	if (m->kind != PREP_NONE) {
		s->off = (uintptr_t)((i64)ROW_TMP_SRC(k) * ISA_ROW);
		s->rel = ~(uintptr_t)0;
	}
	return true;
}

bool isa_vector_dst(struct isa_build *b, const struct isa_operand *o, char type)
{
	if (!o || o->kind != TOK_VGPR)
		return isa_refuse(b, "destination that should be a vector register");
	if (o->reg + (is_wide(type) ? 2 : 1) > ROW_VGPRS + ROW_AGPRS)
		return isa_refuse(b, "register number");
	b->x.dst_row = o->reg - (isa_high_half(b, o, type) ? 128 : 0);
	b->in->dv = b->x.dst_row * ISA_ROW;
	b->x.dst_type = type;
	if (o->half == 2 || isa_high_half(b, o, type))
		b->op_sel |= 1u << 31;
	return true;
}
