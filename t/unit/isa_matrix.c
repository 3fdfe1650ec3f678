/*
 * Every matrix instruction of CDNA on small whole numbers, which all types hold exactly, so
 * that the order of additions does not matter. Where elements lie in registers and lanes is
 * written here from the documents' tables, apart from the interpreter.
 */
#include "t/unit/isa_slots.h"
#include "lib/emu/isa/internal.h"
#include "t/unit/isa_values.h"

struct shape {
	char name[64], in[2][8];
	int m, n, k, blocks, regs;
	bool f64, i32;
};

/* v_mfma_f32_32x32x4_2b_f16, v_mfma_f32_16x16x16bf16_1k, v_mfma_f32_16x16x32_fp8_bf8 */
static bool parse(const char *name, struct shape *s)
{
	char d[8], rest[32] = "", *r = rest;
	int k, blocks = 0;

	memset(s, 0, sizeof(*s));
	snprintf(s->name, sizeof(s->name), "%s", name);
	if (sscanf(name, "v_mfma_%3[a-z0-9]_%dx%dx%d%31s", d, &s->m, &s->n, &k, rest) != 5)
		return false;
	s->k = k;
	r += *r == '_';
	if (sscanf(r, "%db_", &blocks) == 1 && strchr(r, 'b') && strchr("0123456789", *r))
		r = strchr(r, 'b') + 2;
	if (strlen(r) > 3 && !strcmp(r + strlen(r) - 3, "_1k"))
		r[strlen(r) - 3] = '\0';
	snprintf(s->in[0], 8, "%.*s", (int)strcspn(r, "_"), r);
	snprintf(s->in[1], 8, "%.7s", strchr(r, '_') ? strchr(r, '_') + 1 : r);
	s->f64 = !strcmp(d, "f64");
	s->i32 = !strcmp(d, "i32");
	/* names of gfx90a do not say how many blocks: those of the smallest K have several */
	const bool named = rest[0] == '_';
	const int least = !strcmp(s->in[0], "f32")			     ? 1
			  : !strcmp(s->in[0], "bf16") && !strstr(name, "1k") ? 2
									     : 4;
	const int several = s->m == 4 ? (s->f64 ? 4 : 16) : s->m == 16 ? 4 : 2;
	if (blocks)
		s->blocks = blocks;
	else if (s->f64)
		s->blocks = s->m == 4 ? 4 : 1;
	else
		s->blocks = !named && k == least ? several : 1;
	s->regs = s->m * s->n * s->blocks * (s->f64 ? 2 : 1) / 64;
	return true;
}

static int bits_of(const char *t)
{
	return !strcmp(t, "f64") ? 64 : strstr(t, "8") ? 8 : strstr(t, "16") ? 16 : 32;
}

/* A whole number of small size as the bits of a type. */
static uint64_t encode(const char *t, int v, bool fnuz)
{
	const float f = (float)v;
	const double d = v;
	const int sign = v < 0, x = abs(v);
	uint32_t u;
	uint64_t q;
	int e = 0;

	memcpy(&u, &f, 4);
	memcpy(&q, &d, 8);
	while (x >> (e + 1))
		e++;
	if (!strcmp(t, "f64"))
		return q;
	if (!strcmp(t, "f32") || !strcmp(t, "xf32"))
		return u;
	if (!strcmp(t, "bf16"))
		return u >> 16;
	if (!strcmp(t, "i8"))
		return (uint8_t)v;
	if (!v)
		return 0;
	if (!strcmp(t, "f16"))
		return (uint64_t)sign << 15 | (uint64_t)(e + 15) << 10 |
		       (((unsigned)x << 10 >> e) & 1023);
	if (!strcmp(t, "fp8"))
		return (uint64_t)sign << 7 | (uint64_t)(e + 7 + fnuz) << 3 |
		       (((unsigned)x << 3 >> e) & 7);
	return (uint64_t)sign << 7 | (uint64_t)(e + 15 + fnuz) << 2 | (((unsigned)x << 2 >> e) & 3);
}

static void set(unsigned char *lane, int at, int bits, uint64_t v)
{
	memcpy(lane + at * bits / 8, &v, (size_t)bits / 8);
}

/* Element (i, k) of block b of A, or (j, k) of B: which lane, which element of its. */
static void operand(const struct shape *s, int b, int i, int k, int *lane, int *at)
{
	const int per = s->f64 ? 1 : s->k * s->m * s->blocks / 64;

	if (s->f64 && s->m == 4)
		*lane = i + 4 * b + 16 * k;
	else if (s->blocks > 1)
		*lane = i + s->m * b;
	else
		*lane = i + s->m * (k / per);
	*at = s->blocks > 1 && !s->f64 ? k : k % per;
}

static void check(struct slots *s, unsigned slot, const struct shape *x, bool fnuz)
{
	static int a[16][32][128], b[16][32][128];
	unsigned bad = 0;

	memset(slot_in, 0, sizeof(slot_in[0]));
	for (int blk = 0; blk < x->blocks; blk++)
		for (int i = 0; i < x->m; i++)
			for (int k = 0; k < x->k; k++) {
				int lane, at;

				a[blk][i][k] = (int)(rnd64() % 7) - 3;
				b[blk][i][k] = (int)(rnd64() % 7) - 3;
				operand(x, blk, i, k, &lane, &at);
				set((unsigned char *)&slot_in[0][lane].a, at, bits_of(x->in[0]),
				    encode(x->in[0], a[blk][i][k], fnuz));
				set((unsigned char *)&slot_in[0][lane].c, at, bits_of(x->in[1]),
				    encode(x->in[1], b[blk][i][k], fnuz));
			}
	slot_ctl[0] = (struct slot_ctl){~0ull, 0};
	if (!slots_run(s, slot, 1, 0x3f0)) {
		ok(false, "%s %s runs: %s", s->arch, x->name, s->fx.report.what);
		return;
	}
	for (int blk = 0; blk < x->blocks; blk++)
		for (int i = 0; i < x->m; i++)
			for (int j = 0; j < x->n; j++) {
				int reg, lane, want = 1;
				double got;

				if (x->f64 && x->m == 4)
					reg = 0, lane = j + 4 * blk + 16 * i;
				else if (x->f64)
					reg = i / 4, lane = j + 16 * (i % 4);
				else if (x->m == 4)
					reg = i, lane = j + 4 * blk;
				else if (x->m == 16)
					reg = 4 * blk + i % 4, lane = j + 16 * (i / 4);
				else
					reg = 16 * blk + i / 8 * 4 + i % 4,
					lane = j + 32 * (i / 4 % 2);
				for (int k = 0; k < x->k; k++)
					want += a[blk][i][k] * b[blk][j][k];
				const unsigned char *const p = slot_page[0] + lane * 128;
				if (x->f64) {
					memcpy(&got, p + 8 * reg, 8);
				} else if (x->i32) {
					int32_t v;
					memcpy(&v, p + 4 * reg, 4);
					got = v;
				} else {
					float v;
					memcpy(&v, p + 4 * reg, 4);
					got = (double)v;
				}
				if (got != want && bad++ < 2)
					diag("%s block %d (%d, %d): got %g want %d", x->name, blk,
					     i, j, got, want);
			}
	is(bad, 0, "%s %s", s->arch, x->name);
}

static void test_arch(const char *arch, const char *clang)
{
	static struct shape shapes[128];
	static unsigned slot[128];
	const int id = isa_arch_by_name(arch);
	unsigned n = 0;
	struct slots s;

	slots_init(&s, arch);
	for (unsigned i = 0; i < isa_op_count() && n < 128; i++) {
		struct shape *const x = &shapes[n];
		char text[2000];
		int size;

		if (!(isa_op_at(i)->archs >> id & 1) || strncmp(isa_op_at(i)->name, "v_mfma_", 7))
			continue;
		if (!parse(isa_op_at(i)->name, x)) {
			ok(false, "%s is read", isa_op_at(i)->name);
			continue;
		}
		/* C is 1 everywhere */
		size = x->f64 ? 2 : (x->k * x->m * x->blocks / 64 * bits_of(x->in[0]) + 31) / 32;
		snprintf(text, sizeof(text), size == 1 ? "%s v[32:%d], v%d, v%d, %s\n" : "",
			 x->name, 31 + x->regs, 2, 6, x->i32 ? "1" : "1.0");
		if (size > 1)
			snprintf(text, sizeof(text), "%s v[32:%d], v[2:%d], v[6:%d], %s\n", x->name,
				 31 + x->regs, 1 + size, 5 + size, x->i32 ? "1" : "1.0");
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "v_lshlrev_b32 v12, 7, v10\n");
		for (int r = 0; r < x->regs; r += 2)
			snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 "global_store_dwordx2 v12, v[%d:%d], s[12:13] offset:%d\n", 32 + r,
				 33 + r, 4 * r);
		slot[n] = slots_add(&s, text);
		n++;
	}
	if (slots_build(&s, "matrix-all", clang)) {
		seed = 31;
		for (unsigned i = 0; i < n; i++)
			if (ok(!s.why[slot[i]], "%s has %s", arch, shapes[i].name))
				check(&s, slot[i], &shapes[i], !strcmp(arch, "gfx942"));
			else
				diag("%s", s.why[slot[i]]);
	}
	slots_release(&s);
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		test_arch(argv[1], argv[2]);
		return done_testing();
	}
	test_arch("gfx90a", "clang-19");
	test_arch("gfx942", "clang-19");
	test_arch("gfx950", "clang-22");
	fx_met("isa_matrix");
	return done_testing();
}
