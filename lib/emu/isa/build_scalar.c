/* Scalar arithmetic, branches and messages. */
#include "lib/emu/isa/build.h"

/* A wave of 32 lanes has no use for EXEC_HI: what is written there must not turn lanes on. */
static int run_exec_lo(struct isa_wave *w, const struct isa_inst *in)
{
	const int r = in->inner(w, in);

	w->s[R_EXEC + 1] = 0;
	return r;
}

/* The vector unit's approximations on scalars have signs; imm: bit 0 negative, bit 1 magnitude. */
static int run_signs(struct isa_wave *w, const struct isa_inst *in)
{
	const u32 top = in->imm2 ? 0x8000u : 0x80000000u, v = isa_su32(w, in, 0);
	u64 changed = (in->imm & 2 ? v & ~top : v) ^ (in->imm & 1 ? top : 0);
	struct isa_inst copy;

	memcpy((void *)&copy, (const void *)in, sizeof(copy));
	copy.src[0] = (struct isa_src){(uintptr_t)&changed, 0};
	return in->fn(w, &copy);
}

bool isa_build_scalar(struct isa_build *b)
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
			isa_take(b);
		} else if (*s == 'n') {
			isa_take(b);
		} else if (!source) {
			if (!isa_scalar_dst(b, isa_take(b)))
				return false;
		} else {
			const struct isa_operand *const o = isa_take(b);
			struct isa_operand plain;

			if (o && (o->neg || o->abs) && !strncmp(name, "v_s_", 4)) {
				plain = *o;
				plain.neg = plain.abs = false;
				in->imm = o->neg | o->abs << 1;
				in->imm2 = strstr(name, "_f16") != NULL;
				in->run = run_signs;
				if (!isa_scalar_src(b, k++, &plain, *s))
					return false;
			} else if (!isa_scalar_src(b, k++, o, *s)) {
				return false;
			}
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
