/*
 * Each instruction on odd values, lane by lane against a scalar reference
 * (isa_ref*.h): with all lanes on, some, and none; as it is, and with a scalar
 * register, a constant, sign modifiers, clamp, halves chosen by op_sel, SDWA and
 * DPP wherever the assembler takes them.
 */
#include "t/unit/isa_forms.h"

static void check(struct slots *s, const struct ref_op *op, enum form form, unsigned slot,
		  unsigned rows)
{
	const unsigned lanes = s->lanes;
	const char dst = op->spec[0];
	const bool scalar = strpbrk(op->spec, "uUnNxyz") != NULL;
	const bool masks = strchr(op->spec, 'm') && strchr(op->spec, 'm') < strchr(op->spec, ':');
	const bool wide = strchr("dqFUK", dst) != NULL && dst;
	const uint64_t keep = wide ? ~0ull : 0xffffffff;
	unsigned bad = 0;

	fill(op, rows, lanes, scalar);
	if (!slots_run(s, slot, rows, 0x3f0)) {
		ok(false, "%s %s runs: %s", s->arch, shown(s->text[slot]), s->fx.report.what);
		return;
	}
	for (unsigned r = 0; r < rows; r++) {
		const struct slot_out *const out = slot_out[r];
		const uint64_t exec = slot_ctl[r].exec, vcc = slot_ctl[r].vcc;
		uint64_t mask_want = 0;
		bool carry = false;

		for (unsigned i = 0; i < (scalar ? 1 : lanes); i++) {
			const bool on = exec >> i & 1;
			uint64_t want, got = scalar ? out[i].sdst : out[i].result;

			carry = false;
			want = expect(op, s->arch, form, slot_in[r], i, exec, vcc, &carry) & keep;
			if (carry && on)
				mask_want |= 1ull << i;
			if (dst == 'm' || dst == ':')
				continue;
			got &= keep;
			if (!on)
				want = slot_in[r][i].old & keep;
			if ((on ? same(is_float(dst) && form != SDWA ? dst : 'i', got, want,
				       op->ulp)
				: got == want) ||
			    (form == SDWA && on && is_float(dst) && dst != 'f' &&
			     same('p', got, want, op->ulp)))
				continue;
			if (bad++ < 3)
				diag("%s %s lane %u%s: a %llx b %llx c %llx old %llx vcc %d: got "
				     "%llx "
				     "want %llx",
				     s->arch, shown(s->text[slot]), i, on ? "" : " (off)",
				     (unsigned long long)slot_in[r][i].a,
				     (unsigned long long)slot_in[r][i].b,
				     (unsigned long long)slot_in[r][i].c,
				     (unsigned long long)slot_in[r][i].old, (int)(vcc >> i & 1),
				     (unsigned long long)got, (unsigned long long)want);
		}
		const uint64_t vcc_want = masks ? mask_want : vcc;
		const uint64_t exec_want = form == CMPX ? mask_want : exec;
		const uint64_t all = lanes == 64 ? ~0ull : 0xffffffff;
		const bool scc_want = scalar ? carry : vcc & 1;

		if ((out[0].vcc & all) != vcc_want && bad++ < 3) {
			const unsigned i = (unsigned)__builtin_ctzll((out[0].vcc & all) ^ vcc_want);
			diag("%s %s: lane %u a %llx b %llx c %llx exec %llx: vcc %llx want %llx",
			     s->arch, shown(s->text[slot]), i, (unsigned long long)slot_in[r][i].a,
			     (unsigned long long)slot_in[r][i].b,
			     (unsigned long long)slot_in[r][i].c, (unsigned long long)exec,
			     (unsigned long long)out[0].vcc, (unsigned long long)vcc_want);
		}
		if ((out[0].exec & all) != exec_want && bad++ < 3)
			diag("%s %s: exec %llx want %llx", s->arch, shown(s->text[slot]),
			     (unsigned long long)out[0].exec, (unsigned long long)exec_want);
		/* the form of a comparison that ends in s_and has its own SCC */
		if (out[0].scc != scc_want && !(form == CMPX && s->gen == 9) && bad++ < 3)
			diag("%s %s: a %llx b %llx old %llx scc %d: scc %u", s->arch,
			     shown(s->text[slot]), (unsigned long long)slot_in[r][0].a,
			     (unsigned long long)slot_in[r][0].b,
			     (unsigned long long)slot_in[r][0].c, (int)(vcc & 1), out[0].scc);
	}
	is(bad, 0, "%s %s", s->arch, shown(s->text[slot]));
}

/* --- all ------------------------------------------------------------------------- */

struct job {
	const struct ref_op *op;
	enum form form;
	unsigned slot;
};

static void test_arch(const char *arch, const char *clang)
{
	static struct job jobs[(N_OPS + sizeof(more_ops) / sizeof(more_ops[0])) * FORMS];
	const size_t n_more = sizeof(more_ops) / sizeof(more_ops[0]);
	unsigned n_jobs = 0, counts[FORMS] = {0};
	struct slots s;

	slots_init(&s, arch);
	ref_ieee = s.gen != 12;
	ref_fnuz = !strcmp(arch, "gfx942");
	for (size_t i = 0; i < N_OPS + n_more; i++) {
		const struct ref_op *const op = i < N_OPS ? &ops[i] : &more_ops[i - N_OPS];
		char name[64], text[300];

		if (!name_in(op, arch, name, sizeof(name)))
			continue;
		for (enum form f = PLAIN; f < FORMS; f++)
			if (emit(op, name, arch, f, text, sizeof(text)))
				jobs[n_jobs++] = (struct job){op, f, slots_add(&s, text)};
	}
	if (!slots_build(&s, "ops", clang)) {
		slots_release(&s);
		return;
	}
	for (unsigned i = 0; i < n_jobs; i++) {
		if (s.why[jobs[i].slot] && jobs[i].form == PLAIN)
			ok(false, "%s %s: %s", arch, shown(s.text[jobs[i].slot]),
			   s.why[jobs[i].slot]);
		counts[jobs[i].form] += !s.why[jobs[i].slot];
	}
	/* the forms are there: what the assembler refuses cannot be most of them */
	for (enum form f = PLAIN; f < FORMS; f++)
		ok(counts[f] >= (f == SDWA     ? (s.gen == 9 ? 150u : 0u)
				 : f == HALVES ? 20u
					       : 80u),
		   "%s: %u instructions%s", arch, counts[f], form_names[f]);
	/* the code for each x86 level must do the same */
	for (unsigned v = 0; v < 3; v++) {
		const bool best = v == 2 || (isa_set_variant(v + 1), isa_variant() == v);

		isa_set_variant(v);
		if (isa_variant() != v) {
			ok(true, "x86 level %u # skip this machine has not", v);
			continue;
		}
		if (!slots_load(&s, "ops"))
			break;
		seed = 99;
		for (unsigned i = 0; i < n_jobs; i++)
			if (!s.why[jobs[i].slot] && (best || jobs[i].form == PLAIN))
				check(&s, jobs[i].op, jobs[i].form, jobs[i].slot,
				      jobs[i].form != PLAIN ? 7
				      : best		    ? 36
							    : 12);
	}
	slots_release(&s);
}

int main(int argc, char **argv)
{
	return isa_main(argc, argv, "isa_ops", NULL, test_arch);
}
