/* Matrix instructions. */
#include "lib/emu/isa/build.h"
#include "lib/emu/isa/mfma.h"

/* A, B, C or the index of a sparse A: n vector registers. */
static bool registers(struct isa_build *b, unsigned k, const struct isa_operand *o, unsigned n)
{
	if (!o || o->kind != TOK_VGPR || o->n != n || o->half || o->neg || o->abs)
		return isa_refuse(b, "matrix operand");
	b->in->src[k].off = (uintptr_t)o->reg * ISA_ROW;
	b->in->src[k].rel = ~(uintptr_t)0;
	return true;
}

static bool addend(struct isa_build *b, const struct isa_operand *o, unsigned n)
{
	struct isa_matrix *const m = &b->x.matrix;
	u64 v;

	if (!o || o->kind != TOK_CONST)
		return registers(b, 2, o, n);
	v = isa_constant(o, m->d == MT_F64 ? 'd' : m->d == MT_F16 ? 'h' : 'i');
	m->c_const = true;
	m->c_bits[0] = (u32)v;
	m->c_bits[1] = (u32)(v >> 32);
	if (m->d == MT_BF16)
		m->c_bits[0] >>= 16;
	return true;
}

/* op_sel and op_sel_hi say which byte, unlike those of packed operands. */
static bool scale(struct isa_build *b, unsigned k)
{
	struct isa_scale *const s = &b->x.matrix.scale[k];
	const struct isa_operand *const o = isa_take(b);
	const u32 hi = b->has_op_sel_hi ? b->op_sel_hi : 7;

	if (!o || o->neg || o->abs || o->half)
		return isa_refuse(b, "scale operand");
	*s = (struct isa_scale){.row = -1, .byte = (u8)((b->op_sel >> k & 1) | (hi >> k & 1) << 1)};
	if (o->kind == TOK_VGPR)
		s->row = o->reg;
	else if (o->kind == TOK_SGPR)
		s->sreg = (u16)o->reg;
	else if (o->kind == TOK_CONST)
		s->is_const = true, s->value = (u32)isa_constant(o, 'i');
	else
		return isa_refuse(b, "scale operand");
	return true;
}

bool isa_build_matrix(struct isa_build *b)
{
	static const u8 formats[] = {MT_FP8, MT_BF8, MT_FP6, MT_BF6, MT_FP4};
	struct isa_inst *const in = b->in;
	struct isa_extra *const x = &b->x;
	struct isa_matrix *const m = &x->matrix;
	const struct isa_operand *o = isa_take(b);
	const unsigned lanes = b->gen == 9 ? 64 : isa_code_lanes(b->code);
	const u32 cbsz = in->imm & 7, abid = in->imm >> 4 & 15, blgp = in->imm >> 8 & 7;

	if (!o || o->kind != TOK_VGPR || o->n > 32 || o->half ||
	    !isa_matrix_parse(b->op->name, b->arch, lanes, o->n, m))
		return isa_refuse(b, "matrix operand");
	in->dv = o->reg * ISA_ROW;
	x->matrix_dwords = o->n;
	if (m->a == MT_F8F6F4) {
		if (cbsz >= sizeof(formats) || blgp >= sizeof(formats))
			return isa_refuse(b, "matrix format");
		m->a = formats[cbsz];
		m->b = formats[blgp];
	} else if (m->sparse) {
		m->index_at = (u8)(cbsz ? 0 : abid * 2 * m->per_a);
		if (m->index_at + 2u * m->per_a > 32)
			return isa_refuse(b, "number of the index");
	} else {
		m->cbsz = (u8)cbsz;
		m->abid = (u8)abid;
		m->blgp = (u8)blgp;
	}
	if (!registers(b, 0, isa_take(b), isa_matrix_registers(m->a, m->per_a)) ||
	    !registers(b, 1, isa_take(b), isa_matrix_registers(m->b, m->per_b)) ||
	    !(m->sparse ? registers(b, 2, isa_take(b), 1) : addend(b, isa_take(b), o->n)))
		return false;
	if (m->scaled && (!scale(b, 0) || !scale(b, 1)))
		return false;
	m->neg_a = (b->neg_lo & 1) | (b->neg_hi & 1) << 1;
	m->neg_b = (b->neg_lo >> 1 & 1) | (b->neg_hi >> 1 & 1) << 1;
	m->neg_c = (b->neg_lo >> 2 & 1) | (b->neg_hi >> 2 & 1) << 1;
	if (m->d == MT_F64 && b->gen == 9)
		m->blgp |= b->neg_lo & 7; /* printed as neg by later versions */
	m->hi = b->op_sel >> 2 & 1;
	m->clamp = b->clamp;
	if (m->clamp && m->d != MT_I32)
		return isa_refuse(b, "clamp on a matrix");
	in->extra = isa_code_alloc(b->code, sizeof(*x));
	if (!in->extra)
		return isa_refuse(b, "out of memory");
	*in->extra = *x;
	in->run = in->fn;
	return true;
}
