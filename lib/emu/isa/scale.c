/* Conversions between floats and small floats with a scale. */
#include <math.h>

#include "lib/emu/isa/build.h"
#include "lib/emu/isa/small.h"

/* "pk32_f16_fp6": what they are converted to, how many, what from. */
static bool parse(const char *name, struct isa_scaling *x)
{
	static const struct {
		const char *name;
		u8 kind;
	} kinds[] = {{"f32", 'f'},
		     {"f16", 'h'},
		     {"bf16", 'b'},
		     {"fp8", '0' + SMALL_FP8},
		     {"bf8", '0' + SMALL_BF8},
		     {"fp6", '0' + SMALL_FP6},
		     {"bf6", '0' + SMALL_BF6},
		     {"fp4", '0' + SMALL_FP4}};
	const char *s = name + strlen("v_cvt_scalef32_");
	u8 *const ends[2] = {&x->to, &x->from};

	*x = (struct isa_scaling){.n = 1};
	if (!strncmp(s, "pk_", 3))
		x->n = 2, s += 3;
	else if (!strncmp(s, "pk32_", 5))
		x->n = 32, s += 5;
	else if (!strncmp(s, "2xpk16_", 7))
		x->n = 32, s += 7;
	for (unsigned e = 0; e < 2; e++) {
		const size_t len = strcspn(s, "_");

		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (strlen(kinds[i].name) == len && !memcmp(kinds[i].name, s, len))
				*ends[e] = kinds[i].kind;
		s += len + (s[len] == '_');
	}
	x->two = x->from == 'f';
	return x->to && x->from;
}

static u32 bits_of(u8 kind)
{
	return kind == 'f' ? 32 : kind == 'h' || kind == 'b' ? 16 : small_kinds[kind - '0'].bits;
}

/* n bits of a lane from bit at of the registers from v on; they may go over a register's end. */
static u32 get(const u32 *v, u32 at, u32 n)
{
	const u64 w = v[at / 32 * ISA_LANES] |
		      (at % 32 + n > 32 ? (u64)v[(at / 32 + 1) * ISA_LANES] << 32 : 0);

	return (u32)(w >> at % 32) & (n == 32 ? ~0u : (1u << n) - 1);
}
static void put(u32 *v, u32 at, u32 n, u32 bits)
{
	u64 w = v[at / 32] | (at % 32 + n > 32 ? (u64)v[at / 32 + 1] << 32 : 0);
	const u64 field = (n == 32 ? 0xffffffffull : (1ull << n) - 1) << at % 32;

	w = (w & ~field) | ((u64)bits << at % 32 & field);
	v[at / 32] = (u32)w;
	if (at % 32 + n > 32)
		v[at / 32 + 1] = (u32)(w >> 32);
}

static float as_float(u8 kind, u32 v)
{
	return kind == 'f'   ? u2f(v)
	       : kind == 'h' ? h2f(v)
	       : kind == 'b' ? bf2f(v)
			     : small_to_f(v, (enum small)(kind - '0'));
}

static int run_scaled(struct isa_wave *w, const struct isa_inst *in)
{
	const struct isa_scaling *const x = &in->extra->scaled;
	const u32 *const s[2] = {isa_vp(w, in, 0), isa_vp(w, in, x->two)};
	const u32 *const scale = isa_vp(w, in, in->n_src - 1u);
	const u32 from = bits_of(x->from), to = bits_of(x->to);
	const u32 n_dst = (x->to_at + to * x->n + 31) / 32;
	u32 *const d = isa_row(w, in->dv);

	for (u64 left = isa_exec(w); left; left &= left - 1) {
		const u32 lane = (u32)__builtin_ctzll(left), e = scale[lane] >> 23 & 255;
		u32 out[32];

		for (u32 r = 0; r < n_dst; r++)
			out[r] = d[r * ISA_LANES + lane];
		for (u32 i = 0; i < x->n; i++) {
			const u32 v = x->two ? s[i & 1][i / 2 * ISA_LANES + lane]
					     : get(s[0] + lane, x->from_at + i * from, from);
			float f = as_float(x->from, v);
			u32 r;

			if (e == 255)
				f = u2f(0x7fc00000u);
			if (x->to >= '0' && x->to <= '9')
				r = small_from_f(
				    f, (enum small)(x->to - '0'),
				    (struct small_how){.scale = (i32)e - 127,
						       .clamp = w->mode & MODE_FP16_OVFL});
			else
				f = ldexpf(f, (int)e - 127), r = x->to == 'f'	? f2u(f)
								 : x->to == 'h' ? f2h(f)
										: f2bf(f);
			put(out, x->to_at + i * to, to, r);
		}
		for (u32 r = 0; r < n_dst; r++)
			d[r * ISA_LANES + lane] = out[r];
	}
	return NEXT_INST;
}

isa_fn isa_scale_fn(void)
{
	return run_scaled;
}

/* op_sel does not choose halves here: its bits 0 and 1 tell the byte (bit 0 the half, for pairs of
 * bytes) of the source, 2 and 3 (3) that of the destination. */
bool isa_build_scale(struct isa_build *b)
{
	const u32 sel = b->in->raw[0] >> 11 & 15;
	struct isa_scaling x;
	u32 from, to, k = 0;

	if (b->clamp || b->x.omod || b->x.dpp.kind || b->t.sdwa || !parse(b->op->name, &x))
		return isa_refuse(b, "modifier on a conversion with a scale");
	from = bits_of(x.from) * x.n;
	to = bits_of(x.to) * x.n;
	if (from <= 16 && x.from >= '0' && x.from <= '9')
		x.from_at = (u8)(from == 16 ? (sel & 1) * 16 : (sel & 3) * 8);
	if (to <= 16)
		x.to_at = (u8)(to == 16 ? (sel >> 3) * 16 : (sel >> 2) * 8);
	/* the text names as many registers as it takes */
	for (; k < b->t.n; k++) {
		const struct isa_operand *const o = &b->t.op[k];
		const u32 want = k == 0			       ? to
				 : k == 1 || (k == 2 && x.two) ? from / (x.two ? 2 : 1)
							       : 32;

		if (o->kind == TOK_VGPR && o->n != (want + 31) / 32)
			return isa_refuse(b, "registers of a conversion with a scale");
	}
	b->op_sel = 0;
	b->has_op_sel = false;
	if (!isa_build_vector(b))
		return false;
	b->in->flags &= ~F_VECTOR; /* not to be indexed: its registers are many */
	if (!b->in->extra) {
		b->in->extra = isa_code_alloc(b->code, sizeof(*b->in->extra));
		if (!b->in->extra)
			return isa_refuse(b, "out of memory");
		*b->in->extra = b->x;
	}
	b->in->extra->scaled = x;
	return true;
}
