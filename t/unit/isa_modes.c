/*
 * The MODE register: floats of each kind under every rounding, with denormals flushed on
 * the way in, on the way out, and both; output modifiers; what s_round_mode, s_denorm_mode
 * and s_setreg change. The references are those of isa_ops, computed under the same rounding.
 */
#include <fenv.h>

#include "t/unit/isa_forms.h"

static uint64_t flush(char t, uint64_t v, uint32_t mode, unsigned bit)
{
	const bool f32 = !(mode >> 4 & bit), f64 = !(mode >> 6 & bit);

	switch (t) {
	case 'f':
	case 'x':
		return f32 && !(v & 0x7f800000) ? v & 0x80000000 : v;
	case 'F':
		return flush('f', v & 0xffffffff, mode, bit) | flush('f', v >> 32, mode, bit) << 32;
	case 'd':
		return f64 && !(v & 0x7ff0000000000000) ? v & 0x8000000000000000 : v;
	case 'h':
	case 'H':
	case 'y':
		return f64 && !(v & 0x7c00) ? v & ~0x7fffull : v;
	case 'p':
		return flush('h', v & 0xffff, mode, bit) | flush('h', v >> 16 & 0xffff, mode, bit)
							       << 16;
	default:
		return v;
	}
}

/*
 * Those whose rules under a changed MODE are not written down (what mad and mac round in between,
 * whether dot products flush), that only move bits, or of which only half a register is new.
 */
static bool left_out(const struct ref_op *op)
{
	static const char *const parts[] = {"_div_",  "_class_", "v_cubesc", "v_cubetc",
					    "_dot2",  "v_mad",	 "v_mac",    "mixhi",
					    "v_pack", "_bf16",	 "fp8",	     "bf8"};

	if (!strpbrk(op->spec, "fdhFpxy") || op->ulp > 0)
		return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(op->name, parts[i]))
			return true;
	return false;
}

/* Which half of MODE rounds: that of the result, or of what a conversion to integer reads. */
static int round_of(const struct ref_op *op, uint32_t mode)
{
	static const int how[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
	const char *const srcs = strchr(op->spec, ':') + 1;
	const char d = op->spec[0];
	const bool wide = strchr("dhHpy", d) && d ? true
			  : strchr("fFx", d) && d ? false
						  : strpbrk(srcs, "dhpy") != NULL;

	if (strstr(op->name, "rndne") || strstr(op->name, "floor") || strstr(op->name, "ceil") ||
	    strstr(op->name, "trunc"))
		return FE_TONEAREST;
	return how[wide ? mode >> 2 & 3 : mode & 3];
}

/*
 * A result that is denormal only until it is rounded: whether that is flushed is not written down.
 */
static bool edge(char t, uint64_t got, uint64_t want, uint32_t mode)
{
	if (t == 'F')
		return (same('f', got & 0xffffffff, want & 0xffffffff, 0) ||
			edge('f', got & 0xffffffff, want & 0xffffffff, mode)) &&
		       (same('f', got >> 32, want >> 32, 0) ||
			edge('f', got >> 32, want >> 32, mode));
	if (t == 'f' || t == 'x')
		return !(mode & 0x20) && (want & 0x7fffffff) == 0x800000 &&
		       got == (want & 0x80000000);
	return t == 'd' && !(mode & 0x80) && (want & 0x7fffffffffffffff) == 0x10000000000000 &&
	       got == (want & 0x8000000000000000);
}

static void check(struct slots *s, const struct ref_op *op, unsigned slot, uint32_t mode)
{
	const unsigned rows = 14, lanes = s->lanes;
	const char *const srcs = strchr(op->spec, ':') + 1;
	const unsigned n_src = (unsigned)strlen(srcs);
	const char dst = op->spec[0];
	const bool scalar = strpbrk(op->spec, "uUnNxyz") != NULL;
	const bool masks = strchr(op->spec, 'm') && strchr(op->spec, 'm') < strchr(op->spec, ':');
	const uint64_t keep = strchr("dqFU", dst) && dst ? ~0ull : 0xffffffff;
	unsigned bad = 0;

	fill(op, rows, lanes, scalar);
	/* denormals and what rounds to them are what this is about */
	for (unsigned r = 0; r < rows; r++)
		for (unsigned i = 0; i < lanes; i++)
			for (unsigned k = 0; k < n_src && k < 3; k++) {
				uint64_t *const v = k == 0   ? &slot_in[r][i].a
						    : k == 1 ? &slot_in[r][i].b
							     : &slot_in[r][i].c;
				const uint64_t x = rnd64();

				if (x % 3)
					continue;
				if (srcs[k] == 'f' || srcs[k] == 'x')
					*v = x % 2 ? x & 0x807fffff : (x & 0x80ffffff) | 0x00800000;
				else if (srcs[k] == 'd')
					*v =
					    x % 2 ? x & 0x800fffffffffffff : x & 0x801fffffffffffff;
				else if (srcs[k] == 'h' || srcs[k] == 'p' || srcs[k] == 'y')
					*v = x % 2 ? x & 0x83ff83ff : x & 0x87ff87ff;
			}
	if (!slots_run(s, slot, rows, mode)) {
		ok(false, "%s %s runs: %s", s->arch, shown(s->text[slot]), s->fx.report.what);
		return;
	}
	for (unsigned r = 0; r < rows; r++) {
		struct lane_in flushed[64];
		uint64_t mask_want = 0;

		for (unsigned i = 0; i < lanes; i++) {
			flushed[i] = slot_in[r][i];
			for (unsigned k = 0; k < n_src && k < 3; k++) {
				uint64_t *const v = k == 0   ? &flushed[i].a
						    : k == 1 ? &flushed[i].b
							     : &flushed[i].c;
				*v = flush(srcs[k], *v, mode, 1);
			}
			if (scalar && n_src < 3) /* the old destination */
				flushed[i].c = flush(dst, flushed[i].c, mode, 1);
			flushed[i].old = flush(dst, flushed[i].old, mode, 1);
		}
		for (unsigned i = 0; i < (scalar ? 1 : lanes); i++) {
			const struct slot_out *const o = &slot_out[r][i];
			const bool on = slot_ctl[r].exec >> i & 1;
			const uint64_t got = (scalar ? o->sdst : o->result) & keep;
			bool carry = false;
			uint64_t want;

			ref_round16 = (int)(mode >> 2 & 3);
			fesetround(round_of(op, mode));
			want = expect(op, s->arch, PLAIN, flushed, i, slot_ctl[r].exec,
				      slot_ctl[r].vcc, &carry);
			fesetround(FE_TONEAREST);
			ref_round16 = 0;
			if (carry && on)
				mask_want |= 1ull << i;
			if (dst == 'm' || dst == ':')
				continue;
			if (is_half(dst) && want >> 16) /* what stands above stays as it was */
				want = (want & 0xffff) | (slot_in[r][i].old & 0xffff0000);
			want = flush(dst, want, mode, 2) & keep;
			if (!on)
				want = slot_in[r][i].old & keep;
			if (!same(is_float(dst) ? dst : 'i', got, want, 0) &&
			    !edge(dst, got, want, mode) && bad++ < 3)
				diag("%s %s mode %x lane %u: a %llx b %llx c %llx old %llx: got "
				     "%llx want "
				     "%llx",
				     s->arch, shown(s->text[slot]), mode, i,
				     (unsigned long long)slot_in[r][i].a,
				     (unsigned long long)slot_in[r][i].b,
				     (unsigned long long)slot_in[r][i].c,
				     (unsigned long long)slot_in[r][i].old, (unsigned long long)got,
				     (unsigned long long)want);
		}
		const uint64_t all = lanes == 64 ? ~0ull : 0xffffffff;
		if (masks && (slot_out[r][0].vcc & all) != mask_want && bad++ < 3)
			diag("%s %s mode %x: vcc %llx want %llx", s->arch, shown(s->text[slot]),
			     mode, (unsigned long long)slot_out[r][0].vcc,
			     (unsigned long long)mask_want);
		if (slot_out[r][0].mode != (mode & 0xff) && bad++ < 3)
			diag("%s mode %x reads as %x", s->arch, mode, slot_out[r][0].mode);
	}
	is(bad, 0, "%s %s under MODE %x", s->arch, shown(s->text[slot]), mode);
}

/* --- output modifiers; instructions that write MODE -------------------------------- */

enum { MUL2, MUL4, DIV2, MUL2H, MUL2D, ROUND, DENORM, SETREG, EXTRAS };

static void extras(struct slots *s, const unsigned *slot)
{
	const uint32_t modes[] = {0x1f0, 0x3c0, 0x1c0, 0x100};
	unsigned bad[EXTRAS] = {0};

	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
		for (unsigned k = 0; k < EXTRAS; k++) {
			const uint32_t mode = modes[m];
			const bool ieee = mode & 0x200 && s->gen != 12;
			const bool f = !ieee && !(mode & 0x20), d = !ieee && !(mode & 0x80);
			const char t = k == MUL2H ? 'h' : k == MUL2D ? 'd' : 'f';
			static const double by[] = {2, 4, 0.5, 2, 2};

			if (s->why[slot[k]])
				continue;
			for (unsigned i = 0; i < s->lanes; i++)
				slot_in[0][i] =
				    (struct lane_in){value(t, i), value(t, (i * 7 + 3) % 47), 0, 0};
			slot_ctl[0] = (struct slot_ctl){s->lanes == 64 ? ~0ull : 0xffffffff, 0};
			if (!slots_run(s, slot[k], 1, mode)) {
				diag("%s: %s", shown(s->text[slot[k]]), s->fx.report.what);
				bad[k]++;
				continue;
			}
			if (k >= ROUND) {
				const uint32_t want = k == ROUND ? (mode & 0xf0) | 6
						      : k == DENORM
							  ? (mode & 15) | 0x90
							  : (mode & ~0x3cu & 0xff) | 5 << 2;

				bad[k] += slot_out[0][0].mode != want;
				continue;
			}
			for (unsigned i = 0; i < s->lanes; i++) {
				uint64_t a = flush(t, slot_in[0][i].a, mode, 1),
					 b = flush(t, slot_in[0][i].b, mode, 1), want;
				const uint64_t got =
				    slot_out[0][i].result & (t == 'd'	? ~0ull
							     : t == 'h' ? 0xffff
									: 0xffffffff);

				a = t == 'h' ? a & 0xffff : a;
				b = t == 'h' ? b & 0xffff : b;
				want = t == 'f'	  ? fr(rf(a) + rf(b))
				       : t == 'd' ? dr(rd(a) + rd(b))
						  : hr(rh(a) + rh(b));
				want = flush(t, want, mode, 2);
				if (t == 'f' ? f : d) {
					want = t == 'f'	  ? fr((float)((double)rf(want) * by[k]))
					       : t == 'd' ? dr(rd(want) * by[k])
							  : hr(rh(want) * by[k]);
					want = flush(t, want, mode, 2);
					if (!(want & (t == 'h'	 ? 0x7fffu
						      : t == 'f' ? 0x7fffffffu
								 : 0x7fffffffffffffffull)))
						want = 0;
				}
				if (!same(t, got, want, 0) && bad[k]++ < 3)
					diag("%s mode %x a %llx b %llx: got %llx want %llx",
					     shown(s->text[slot[k]]), mode, (unsigned long long)a,
					     (unsigned long long)b, (unsigned long long)got,
					     (unsigned long long)want);
			}
		}
	for (unsigned k = 0; k < EXTRAS; k++)
		if (!s->why[slot[k]])
			is(bad[k], 0, "%s %s", s->arch, shown(s->text[slot[k]]));
		else
			ok(k >= ROUND && s->gen == 9, "%s has no %s", s->arch,
			   shown(s->text[slot[k]]));
}

static void test_arch(const char *arch, const char *clang)
{
	static const uint32_t modes[] = {0x3c0, 0x3d0, 0x3e0, 0x330, 0x370, 0x3b0,
					 0x300, 0x3f5, 0x3fa, 0x3ff, 0x30a, 0x3f3};
	const size_t n = N_OPS + sizeof(more_ops) / sizeof(more_ops[0]);
	static const char *const more[EXTRAS] = {
	    "v_add_f32 v8, v2, v4 mul:2",
	    "v_add_f32 v8, v2, v4 mul:4",
	    "v_add_f32 v8, v2, v4 div:2",
	    "v_add_f16 v8, v2, v4 mul:2",
	    "v_add_f64 v[8:9], v[2:3], v[4:5] mul:2",
	    "s_round_mode 0x6",
	    "s_denorm_mode 0x9",
	    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 4), 0x5"};
	unsigned slot[1024], extra[EXTRAS], tested = 0;
	struct slots s;

	slots_init(&s, arch);
	ref_ieee = s.gen != 12;
	ref_fnuz = !strcmp(arch, "gfx942");
	for (size_t i = 0; i < n; i++) {
		const struct ref_op *const op = i < N_OPS ? &ops[i] : &more_ops[i - N_OPS];
		char name[64], text[300];

		slot[i] = ~0u;
		if (!left_out(op) && name_in(op, arch, name, sizeof(name)) &&
		    emit(op, name, arch, PLAIN, text, sizeof(text)))
			slot[i] = slots_add(&s, text);
	}
	for (unsigned k = 0; k < EXTRAS; k++)
		extra[k] = slots_add(&s, more[k]);
	if (slots_build(&s, "modes", clang)) {
		seed = 5;
		for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
			for (size_t i = 0; i < n; i++)
				if (slot[i] != ~0u && !s.why[slot[i]] &&
				    /* the sign of x - floor(x) = 0 when rounding down: not written
				     */
				    !((modes[m] & 15) && strstr(s.text[slot[i]], "_fract_"))) {
					tested++;
					check(&s, i < N_OPS ? &ops[i] : &more_ops[i - N_OPS],
					      slot[i], modes[m]);
				}
		ok(tested > 1200, "%s: %u pairs of instruction and MODE", arch, tested);
		extras(&s, extra);
	}
	slots_release(&s);
}

int main(int argc, char **argv)
{
	return isa_main(argc, argv, "isa_modes", NULL, test_arch);
}
