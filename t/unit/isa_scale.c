/*
 * gfx950's conversions between floats and small floats with a scale, all of them, on odd values
 * and scales, against numbers: what a code is worth times a power of two, and the nearest code.
 */
#include "t/unit/isa_slots.h"
#include "lib/emu/isa/internal.h"
#include "t/unit/isa_codes.h"
#include "t/unit/isa_values.h"

struct conv {
	char name[64], to[8], from[8];
	int n;
	bool two;
	int from_at, to_at; /* bits */
};

static int bits_of(const char *t)
{
	return !strcmp(t, "f32") ? 32 : strstr(t, "16") ? 16 : code_of(t, false).bits;
}
static bool is_small(const char *t)
{
	return code_of(t, false).bits != 0;
}

static bool parse(const char *name, struct conv *x)
{
	const char *p = name + strlen("v_cvt_scalef32_");

	memset(x, 0, sizeof(*x));
	snprintf(x->name, sizeof(x->name), "%s", name);
	x->n = strncmp(p, "pk", 2) == 0 ? p[2] == '_' ? 2 : 32 : *p == '2' ? 32 : 1;
	if (x->n > 1)
		p = strchr(p, '_') + 1;
	if (sscanf(p, "%7[a-z0-9]_%7[a-z0-9]", x->to, x->from) != 2)
		return false;
	x->two = !strcmp(x->from, "f32");
	return true;
}

static uint64_t field(const unsigned char *p, int at, int n)
{
	uint64_t v = 0;

	for (int i = 0; i < n; i++)
		v |= (uint64_t)(p[(at + i) / 8] >> (at + i) % 8 & 1) << i;
	return v;
}

static double as_double(const char *t, uint64_t v)
{
	const uint32_t u = (uint32_t)(!strcmp(t, "bf16") ? v << 16 : v);
	const int e = (int)(v >> 10 & 31);
	float f;

	memcpy(&f, &u, 4);
	if (is_small(t))
		return code_value(code_of(t, false), v);
	if (strcmp(t, "f16") != 0)
		return (double)f;
	if (e == 31)
		return v & 1023 ? NAN : v & 0x8000 ? -INFINITY : INFINITY;
	return copysign(ldexp((double)(v & 1023) + (e ? 1024 : 0), (e ? e : 1) - 25),
			v & 0x8000 ? -1 : 1);
}

/* got is what d becomes as a t: NaN for NaN, and for the narrow kinds whatever a NaN becomes. */
static bool right(const char *t, uint64_t got, double d)
{
	if (isnan(d))
		return is_small(t) && bits_of(t) < 8 ? true : isnan(as_double(t, got));
	if (is_small(t))
		return got == code_nearest(code_of(t, false), d);
	/* the results are short: exact, or beyond what the type has */
	const double top = !strcmp(t, "f16") ? 65520 : 0x1.fffffep127;
	const double least = !strcmp(t, "f16") ? 0x1p-24 : !strcmp(t, "bf16") ? 0x1p-133 : 0x1p-149;
	const double have = as_double(t, got);

	if (fabs(d) >= top)
		return have == copysign(INFINITY, d) || have == d;
	return fabs(have - d) <= (fabs(d) < least * 1024 ? least / 2 : 0);
}

static void emit(const struct conv *x, char *text, size_t size)
{
	const int src = bits_of(x->from) * x->n / (x->two ? 2 : 1), dst = bits_of(x->to) * x->n;
	const int n_src = (src + 31) / 32, n_dst = (dst + 31) / 32;
	char s[48], d[24], sel[48] = "";
	size_t at = 0;

#define PUT(...) at += (size_t)snprintf(text + at, size - at, __VA_ARGS__)
	PUT("v_lshlrev_b32 v12, 7, v10\n");
	for (int r = 0; r < (x->two ? 2 * n_src : n_src); r += 4)
		PUT("global_load_dwordx4 v[%d:%d], v12, s[12:13] offset:%d\n", 32 + r, 35 + r,
		    4 * r);
	PUT("v_mov_b32 v64, v8\ns_waitcnt vmcnt(0)\n");
	snprintf(s, sizeof(s), n_src > 1 ? "v[32:%d]" : "v32", 31 + n_src);
	if (x->two)
		snprintf(s + strlen(s), sizeof(s) - strlen(s), n_src > 1 ? ", v[%d:%d]" : ", v%d",
			 32 + n_src, 31 + 2 * n_src);
	snprintf(d, sizeof(d), n_dst > 1 ? "v[64:%d]" : "v64", 63 + n_dst);
	if (dst == 8)
		snprintf(sel, sizeof(sel), "[0,0,%d,%d]", x->to_at / 8 & 1, x->to_at / 16);
	else if (x->two)
		snprintf(sel, sizeof(sel), "[0,0,0,%d]", x->to_at / 16);
	else
		snprintf(sel, sizeof(sel), "[%d,%d,%d]", x->from_at >> (src == 8 ? 3 : 4) & 1,
			 src == 8 && x->from_at >= 16, x->to_at / 16);
	PUT("%s %s, %s, v2%s%s\nv_mov_b32 v8, v64\n", x->name, d, s,
	    x->from_at || x->to_at ? " op_sel:" : "", x->from_at || x->to_at ? sel : "");
	for (int r = 0; r < n_dst && n_dst > 1; r += 2)
		PUT("global_store_dwordx2 v12, v[%d:%d], s[12:13] offset:%d\n", 64 + r, 65 + r,
		    4 * r);
#undef PUT
}

static void fill(const struct conv *x)
{
	slot_ctl[0] = (struct slot_ctl){~0ull ^ 1ull << 7, 0};
	for (unsigned lane = 0; lane < 64; lane++) {
		unsigned char *const p = slot_page[0] + 128 * lane;
		const unsigned e = lane == 9	? 255
				   : lane == 10 ? 0
						: 115 + (unsigned)(rnd64() % 24);
		const uint32_t scale = e << 23 | (uint32_t)(rnd64() & 0x807fffff);

		slot_in[0][lane] = (struct lane_in){scale, rnd64(), rnd64(), rnd64()};
		for (int i = 0; i < 32; i++) {
			uint32_t v = (uint32_t)rnd64();

			if (!strcmp(x->from, "f32")) /* some powers of two around the scale */
				v = lane % 5 == 4
					? edge32[(unsigned)i % N32]
					: (v & 0x807fffff) | (e + (v >> 23) % 24 - 12) << 23;
			else if (!strcmp(x->from, "bf16") && lane % 5 != 4)
				v = (v & 0x807f807f) | (e + (v >> 23) % 24 - 12) << 23 |
				    (e + (v >> 7) % 24 - 12) << 7;
			memcpy(p + 4 * i, &v, 4);
		}
	}
}

static void check(struct slots *s, unsigned slot, const struct conv *x)
{
	const int from = bits_of(x->from), to = bits_of(x->to);
	static unsigned char in[64][128];
	unsigned bad = 0;

	fill(x);
	memcpy(in, slot_page[0], sizeof(in));
	if (!slots_run(s, slot, 1, 0x3f0)) {
		ok(false, "%s runs: %s", x->name, s->fx.report.what);
		return;
	}
	for (unsigned lane = 0; lane < 64; lane++) {
		const struct lane_in *const l = &slot_in[0][lane];
		const int e = (int)(l->a >> 23 & 255);
		const uint32_t old = (uint32_t)l->old, now = (uint32_t)slot_out[0][lane].result;
		unsigned char out[128] = {0};

		memcpy(out, slot_page[0] + 128 * lane, 128);
		if (x->n * to <= 32)
			memcpy(out, &now, 4);
		if (!(slot_ctl[0].exec >> lane & 1)) {
			bad += now != old || memcmp(slot_page[0] + 128 * lane, in[lane], 128) != 0;
			continue;
		}
		for (int i = 0; i < x->n; i++) {
			const int at =
			    x->two ? (i % 2 * x->n / 2 + i / 2) * 32 : x->from_at + i * from;
			const double v = as_double(x->from, field(in[lane], at, from));
			const double want =
			    e == 255 ? NAN : ldexp(v, is_small(x->to) ? 127 - e : e - 127);
			const uint64_t got = field(out, x->to_at + i * to, to);

			if (!right(x->to, got, want) && bad++ < 3)
				diag("%s lane %u, %d: %g, scale 2^%d: got %llx, want %g", x->name,
				     lane, i, v, e - 127, (unsigned long long)got, want);
		}
		/* what is beside a byte or a half stays */
		if (x->n * to < 32) {
			const uint32_t mask = ((1u << x->n * to) - 1) << x->to_at;

			bad += ((now ^ old) & ~mask) != 0;
		}
	}
	is(bad, 0, "%s from bit %d to bit %d", x->name, x->from_at, x->to_at);
}

static void test_arch(const char *arch, const char *clang)
{
	static struct conv convs[128];
	static unsigned slot[128];
	unsigned n = 0;
	struct slots s;

	slots_init(&s, arch);
	for (unsigned i = 0; i < isa_op_count(); i++)
		for (int last = 0; isa_op_at(i)->cls == CLASS_SCALE && last < 2 && n < 128;
		     last++) {
			struct conv *const x = &convs[n];
			char text[2000];

			if (!parse(isa_op_at(i)->name, x)) {
				ok(false, "%s is read", isa_op_at(i)->name);
				continue;
			}
			if (last && is_small(x->from) && bits_of(x->from) * x->n < 32)
				x->from_at = 32 - bits_of(x->from) * x->n;
			if (last && bits_of(x->to) * x->n < 32)
				x->to_at = 32 - bits_of(x->to) * x->n;
			if (last && !x->from_at && !x->to_at)
				continue;
			emit(x, text, sizeof(text));
			slot[n++] = slots_add(&s, text);
		}
	ok(n > 40 && n < 128, "%s: %u conversions with a scale", arch, n);
	if (slots_build(&s, "scale", clang)) {
		seed = 77;
		for (unsigned i = 0; i < n; i++)
			if (ok(!s.why[slot[i]], "%s has %s", arch, convs[i].name))
				check(&s, slot[i], &convs[i]);
			else
				diag("%s", s.why[slot[i]]);
	}
	slots_release(&s);
}

int main(int argc, char **argv)
{
	return isa_main(argc, argv, "isa_scale", "gfx950", test_arch);
}
