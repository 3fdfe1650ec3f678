/* Matrix instructions. */
#include "lib/emu/isa/build.h"
#include "lib/emu/isa/mfma.h"

bool isa_build_matrix(struct isa_build *b)
{
	struct isa_inst *const in = b->in;
	struct isa_extra *const x = &b->x;
	struct isa_matrix *const m = &x->matrix;
	const struct isa_operand *o = isa_take(b);
	const unsigned lanes = b->gen == 9 ? 64 : isa_code_lanes(b->code);

	if (!o || o->kind != TOK_VGPR || o->n > 32 ||
	    !isa_matrix_parse(b->op->name, b->arch, lanes, o->n, m))
		return isa_refuse(b, "matrix operand");
	in->dv = o->reg * ISA_ROW;
	x->matrix_dwords = o->n;
	for (unsigned k = 0; k < 3; k++) {
		o = isa_take(b);
		if (!o)
			return isa_refuse(b, "too few operands");
		if (o->kind == TOK_VGPR) {
			in->src[k].off = (uintptr_t)o->reg * ISA_ROW;
			in->src[k].rel = ~(uintptr_t)0;
		} else if (k == 2 && o->kind == TOK_CONST) {
			const u64 v = isa_constant(o, m->d == MT_F64   ? 'd'
						      : m->d == MT_F16 ? 'h'
								       : 'i');

			m->c_const = true;
			m->c_bits[0] = (u32)v;
			m->c_bits[1] = (u32)(v >> 32);
			if (m->d == MT_BF16)
				m->c_bits[0] >>= 16;
		} else {
			return isa_refuse(b, "matrix operand");
		}
		if (o->neg || o->abs)
			return isa_refuse(b, "modifier on a matrix operand");
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
		return isa_refuse(b, "clamp on a matrix");
	in->extra = isa_code_alloc(b->code, sizeof(*x));
	if (!in->extra)
		return isa_refuse(b, "out of memory");
	*in->extra = *x;
	in->run = in->fn;
	return true;
}
