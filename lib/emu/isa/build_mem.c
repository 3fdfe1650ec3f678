/* Memory: global, flat, scratch, buffer, LDS and scalar loads. */
#include "lib/emu/isa/build.h"
#include "lib/emu/isa/mem.h"

static bool data_row(struct isa_build *b, const struct isa_operand *o, unsigned n, i32 *ret)
{
	if (!o || o->kind != TOK_VGPR)
		return isa_refuse(b, "data operand that should be a vector register");
	if (o->reg + (i32)n > ROW_VGPRS + ROW_AGPRS || o->half)
		return isa_refuse(b, "register number");
	*ret = o->reg * ISA_ROW;
	return true;
}

static void row_src(struct isa_build *b, unsigned k, i32 row)
{
	b->in->src[k].off = (uintptr_t)((i64)row * ISA_ROW);
	b->in->src[k].rel = ~(uintptr_t)0;
}

static bool zero_src(struct isa_build *b, unsigned k)
{
	const struct isa_operand zero = {.kind = TOK_CONST};

	return isa_scalar_src(b, k, &zero, 'U');
}

static bool build_global(struct isa_build *b)
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
		if (!data_row(b, isa_take(b), in->m.dwords, &in->dv))
			return false;
	o = isa_take(b); /* address */
	if (!o)
		return isa_refuse(b, "too few operands");
	if (o->kind == TOK_VGPR) {
		row_src(b, 0, o->reg);
		in->m.has_v = true;
		in->m.addr64 = o->n == 2;
	} else if (o->kind == TOK_OFF && b->op->kind == MEM_FN_SCRATCH) {
		row_src(b, 0, 0);
	} else {
		return isa_refuse(b, "address operand");
	}
	if (in->m.op != MEM_LOAD)
		if (!data_row(b, isa_take(b), data, &in->dv2))
			return false;
	if (!has_saddr)
		return in->m.addr64 ? zero_src(b, 1) : isa_refuse(b, "address operand");
	o = isa_take(b);
	if (!o)
		return isa_refuse(b, "too few operands");
	if (o->kind == TOK_OFF)
		return zero_src(b, 1);
	if (b->op->kind == MEM_FN_GLOBAL)
		in->m.addr64 = false;
	return isa_scalar_src(b, 1, o, 'U');
}

static bool build_buffer(struct isa_build *b)
{
	struct isa_inst *const in = b->in;
	const unsigned data =
	    in->m.dwords * (in->m.atomic == AT_CMPSWAP || in->m.atomic == AT_FCMPSWAP ? 2 : 1);
	const struct isa_operand *o;

	if (!in->m.to_lds &&
	    !data_row(b, isa_take(b), data, in->m.op == MEM_LOAD ? &in->dv : &in->dv2))
		return false;
	if (in->m.rtn)
		in->dv = in->dv2;
	o = isa_take(b);
	if (!o)
		return isa_refuse(b, "too few operands");
	row_src(b, 0, o->kind == TOK_VGPR ? o->reg : 0);
	o = isa_take(b);
	if (!o || o->kind != TOK_SGPR || o->n != 4)
		return isa_refuse(b, "buffer descriptor");
	return isa_scalar_src(b, 1, o, 'U') && isa_scalar_src(b, 2, isa_take(b), 'u');
}

static bool build_ds(struct isa_build *b)
{
	struct isa_inst *const in = b->in;
	const bool two = b->op->kind == MEM_FN_DS2;
	const struct isa_operand *o;
	/* compare-and-swap: gfx9 and gfx10 give the comparand first, later ones the new value */
	const bool compare = in->m.atomic == AT_CMPSWAP || in->m.atomic == AT_FCMPSWAP;
	const unsigned data = two ? in->m.size / 4u : in->m.dwords;
	i32 row = 0;

	if (in->m.op == MEM_LOAD || in->m.rtn)
		if (!data_row(b, isa_take(b), in->m.dwords, &in->dv))
			return false;
	o = isa_take(b);
	if (!o || o->kind != TOK_VGPR)
		return isa_refuse(b, "address operand");
	row_src(b, 0, o->reg);
	row_src(b, 2, 0);
	if (in->m.op != MEM_LOAD) {
		if (!data_row(b, isa_take(b), data, &in->dv2))
			return false;
		if (two || compare || in->m.atomic == AT_MSKOR) {
			if (!data_row(b, isa_take(b), data, &row))
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

bool isa_build_mem(struct isa_build *b)
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
bool isa_build_smem(struct isa_build *b)
{
	struct isa_inst *const in = b->in;
	const struct isa_operand *o;

	in->fn = in->run = isa_smem_fn(b->op->name);
	if (!isa_scalar_dst(b, isa_take(b)))
		return false;
	o = isa_take(b);
	if (!o || o->kind != TOK_SGPR || !isa_scalar_src(b, 0, o, 'U'))
		return isa_refuse(b, "base operand");
	o = isa_take(b);
	if (!o)
		return isa_refuse(b, "too few operands");
	if (o->kind == TOK_CONST) {
		in->imm += o->value;
		return zero_src(b, 1);
	}
	return isa_scalar_src(b, 1, o, 'u');
}
