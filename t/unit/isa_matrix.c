/*
 * Every matrix instruction on small whole numbers, which all types hold exactly, so that the
 * order of additions does not matter. Where elements lie in registers and lanes is written here
 * from AMD's tables for CDNA 2 and 3 and RDNA 3 and 4, apart from the interpreter.
 */
#include <math.h>

#include "t/unit/isa_slots.h"
#include "lib/emu/isa/internal.h"
#include "t/unit/isa_values.h"

struct shape {
	char name[64], in[2][8], d[8];
	int m, n, k, blocks, regs, lanes;
	int format[2]; /* f8f6f4: cbsz, blgp */
	int gen, key;  /* which set of indices of a sparse A */
	bool f64, i32, wmma, sparse, mixed, scaled, fnuz;
};

static const char *const mixed[] = {"fp8", "bf8", "fp6", "bf6", "fp4"};

static int bits_of(const char *t)
{
	return !strcmp(t, "f64")			? 64
	       : !strcmp(t, "iu4") || !strcmp(t, "fp4") ? 4
	       : !strcmp(t, "fp6") || !strcmp(t, "bf6") ? 6
	       : strstr(t, "16")			? 16
	       : strchr(t, '8')				? 8
							: 32;
}

/* Elements of A (0) or B (1) that one lane holds. */
static int per_lane(const struct shape *s, int which)
{
	const int b = s->f64			? 1
		      : s->wmma && s->gen == 11 ? s->k
						: s->k * s->m * s->blocks / s->lanes;

	return s->sparse && !which ? b / 2 : b;
}

/*
 * v_mfma_f32_32x32x4_2b_f16, v_mfma_f32_16x16x16bf16_1k, v_mfma_f32_16x16x32_fp8_bf8,
 * v_smfmac_f32_16x16x32_f16, v_wmma_i32_16x16x16_iu8, v_mfma_scale_f32_16x16x128_f8f6f4
 */
static bool parse(const char *name, struct shape *s, int gen)
{
	char rest[32] = "", *r = rest;
	const char *p = name + 2;
	int blocks = 0;

	memset(s, 0, sizeof(*s));
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->gen = gen;
	s->lanes = gen == 9 ? 64 : 32;
	s->wmma = gen != 9;
	s->sparse = *p == 's';
	p = strchr(p, '_') + 1;
	if (!strncmp(p, "scale_", 6)) {
		s->scaled = true;
		p += 6;
	}
	if (sscanf(p, "%7[a-z0-9]_%dx%dx%d%31s", s->d, &s->m, &s->n, &s->k, rest) != 5)
		return false;
	r += *r == '_';
	if (sscanf(r, "%db_", &blocks) == 1 && strchr(r, 'b') && strchr("0123456789", *r))
		r = strchr(r, 'b') + 2;
	if (strlen(r) > 3 && !strcmp(r + strlen(r) - 3, "_1k"))
		r[strlen(r) - 3] = '\0';
	snprintf(s->in[0], 8, "%.*s", (int)strcspn(r, "_"), r);
	snprintf(s->in[1], 8, "%.7s", strchr(r, '_') ? strchr(r, '_') + 1 : r);
	s->f64 = !strcmp(s->d, "f64");
	s->i32 = !strcmp(s->d, "i32");
	s->mixed = !strcmp(r, "f8f6f4");
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
		s->blocks = !named && s->k == least ? several : 1;
	s->regs = s->m * s->n * s->blocks * (s->f64 ? 2 : 1) / s->lanes;
	if (gen == 12 && strstr(s->d, "16"))
		s->regs /= 2;
	if (s->sparse)
		s->key = 32 / (2 * per_lane(s, 0)) - 1;
	return true;
}

/* A whole number of small size as the bits of a type. */
static uint64_t encode(const char *t, int v, bool fnuz)
{
	static const struct {
		const char *name;
		int exp, man, bias;
	} kinds[] = {{"f16", 5, 10, 15}, {"fp8", 4, 3, 7}, {"bf8", 5, 2, 15},
		     {"fp6", 2, 3, 1},	 {"bf6", 3, 2, 3}, {"fp4", 2, 1, 1}};
	const float f = (float)v;
	const double d = v;
	const unsigned x = (unsigned)abs(v);
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
	if (t[0] == 'i')
		return (unsigned)v & (t[strlen(t) - 1] == '4' ? 15 : 255);
	for (size_t i = 0; v && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(t, kinds[i].name))
			return (uint64_t)(v < 0) << (kinds[i].exp + kinds[i].man) |
			       (uint64_t)(e + kinds[i].bias + (fnuz && t[2] == '8'))
				   << kinds[i].man |
			       ((x << kinds[i].man >> e) & ((1u << kinds[i].man) - 1));
	return 0;
}

static void set(unsigned char *lane, int at, int bits, uint64_t v)
{
	for (int i = 0; i < bits; i++) {
		unsigned char *const p = &lane[(at * bits + i) / 8];
		const int n = (at * bits + i) % 8;

		*p = (unsigned char)((*p & ~(1 << n)) | (v >> i & 1) << n);
	}
}

/* Element (i, k) of block b of a dense A, or (j, k) of B: which lane, which element of its. */
static void operand(const struct shape *s, int b, int i, int k, int *lane, int *at)
{
	const int per = per_lane(s, 1), four = strstr(s->in[1], "16") ? per / 2 : per;

	if (s->wmma && s->gen == 11) {
		*lane = i; /* and 16 lanes on */
		*at = k;
		return;
	}
	if (s->wmma) { /* 16-bit elements lie in two stretches */
		*lane = i + 16 * (k / four % 2);
		*at = k / (2 * four) * four + k % four;
		return;
	}
	if (s->f64 && s->m == 4)
		*lane = i + 4 * b + 16 * k;
	else if (s->blocks > 1)
		*lane = i + s->m * b;
	else
		*lane = i + s->m * (k / per);
	*at = s->blocks > 1 && !s->f64 ? k : k % per;
}

/* Register, lane and, of 16-bit results in pairs, half of result (i, j) of a block. */
static void result(const struct shape *x, int blk, int i, int j, int *reg, int *lane, int *half)
{
	*half = 0;
	if (x->wmma && x->gen == 11) {
		*reg = i / 2, *lane = j + 16 * (i % 2);
	} else if (x->wmma) {
		*reg = i % 8, *lane = j + 16 * (i / 8);
		if (strstr(x->d, "16"))
			*half = *reg % 2, *reg /= 2;
	} else if (x->f64 && x->m == 4) {
		*reg = 0, *lane = j + 4 * blk + 16 * i;
	} else if (x->f64) {
		*reg = i / 4, *lane = j + 16 * (i % 4);
	} else if (x->m == 4) {
		*reg = i, *lane = j + 4 * blk;
	} else if (x->m == 16) {
		*reg = 4 * blk + i % 4, *lane = j + 16 * (i / 4);
	} else {
		*reg = 16 * blk + i / 8 * 4 + i % 4, *lane = j + 32 * (i / 4 % 2);
	}
}

/* Where a slot finds its operands in its page: of each lane 32 bytes of A and B, then words. */
enum { PAGE_A = 0, PAGE_B = 2048, PAGE_INDEX = 4096, PAGE_SCALE = 4352 };

static double number(const struct shape *x, const unsigned char *p, int reg, int half)
{
	uint32_t u;
	uint64_t q;
	float f;
	double d;

	memcpy(&u, p + 4 * reg, 4);
	if (x->f64) {
		memcpy(&d, p + 8 * reg, 8);
		return d;
	}
	if (x->i32)
		return (int32_t)u;
	if (!strcmp(x->d, "f32")) {
		memcpy(&f, &u, 4);
		return (double)f;
	}
	u = u >> 16 * half & 0xffff;
	if (!strcmp(x->d, "bf16")) {
		u <<= 16;
		memcpy(&f, &u, 4);
		return (double)f;
	}
	q = (uint64_t)(u & 0x7fff) << 42;
	q += q ? 1008ull << 52 : 0; /* the halves met are normal */
	q |= (uint64_t)(u & 0x8000) << 48;
	memcpy(&d, &q, 8);
	return d;
}

static void fill(const struct shape *x, int a[16][32][128], int b[16][32][128])
{
	unsigned char *const page = slot_page[0];
	const int top = !strcmp(x->d, "bf16") ? 2 : 3;
	const char *const in[2] = {x->mixed ? mixed[x->format[0]] : x->in[0],
				   x->mixed ? mixed[x->format[1]] : x->in[1]};

	memset(page, 0, SLOT_PAGE);
	for (int blk = 0; blk < x->blocks; blk++)
		for (int i = 0; i < x->m; i++) {
			int keep = 0;

			for (int k = 0; k < x->k; k++) {
				const int bits = bits_of(in[0]);
				int lane, at;

				a[blk][i][k] = (int)(rnd64() % (unsigned)(2 * top + 1)) - top;
				b[blk][i][k] = (int)(rnd64() % (unsigned)(2 * top + 1)) - top;
				operand(x, blk, i, k, &lane, &at);
				for (int copy = 0; copy < (x->wmma && x->gen == 11 ? 2 : 1);
				     copy++) {
					if (!x->sparse)
						set(page + PAGE_A + 32 * (lane + 16 * copy), at,
						    bits, encode(in[0], a[blk][i][k], x->fnuz));
					set(page + PAGE_B + 32 * (lane + 16 * copy), at,
					    bits_of(in[1]), encode(in[1], b[blk][i][k], x->fnuz));
				}
				if (!x->sparse)
					continue;
				/* two of four: which, in two bits each, from the key's on */
				if (k % 4 == 0)
					keep = (int[]){3, 5, 9, 6, 10, 12}[rnd64() % 6];
				if (!(keep >> (k % 4) & 1)) {
					a[blk][i][k] = 0;
					continue;
				}
				const int nth = __builtin_popcount((unsigned)keep &
								   ((1u << k % 4) - 1)),
					  e = at / 4 * 2 + nth;
				set(page + PAGE_A + 32 * lane, e, bits,
				    encode(in[0], a[blk][i][k], x->fnuz));
				set(page + PAGE_INDEX + 4 * lane, x->key * per_lane(x, 0) + e, 2,
				    (unsigned)k % 4);
			}
		}
	for (int lane = 0; lane < 64 && x->scaled; lane++)
		for (int n = 0; n < 8; n++)
			page[PAGE_SCALE + 8 * lane + n] = (unsigned char)(126 + rnd64() % 4);
}

/* The scale of row i of A (of column j of B) for element k: A's is byte 1, B's byte 2. */
static double scale_of(const struct shape *x, const unsigned char *scales, int which, int i, int k)
{
	const int lane = i + x->m * (k / per_lane(x, 1));

	if (!x->scaled)
		return 1;
	return ldexp(1, scales[8 * lane + 4 * which + 1 + which] - 127);
}

static void check(struct slots *s, unsigned slot, const struct shape *x)
{
	static int a[16][32][128], b[16][32][128];
	unsigned char scales[512];
	unsigned bad = 0;

	fill(x, a, b);
	memcpy(scales, slot_page[0] + PAGE_SCALE, sizeof(scales));
	slot_ctl[0] = (struct slot_ctl){x->lanes == 64 ? ~0ull : 0xffffffff, 0};
	if (!slots_run(s, slot, 1, 0x3f0)) {
		ok(false, "%s %s runs: %s", s->arch, x->name, s->fx.report.what);
		return;
	}
	for (int blk = 0; blk < x->blocks; blk++)
		for (int i = 0; i < x->m; i++)
			for (int j = 0; j < x->n; j++) {
				int reg, lane, half;
				double want = 1, got;

				result(x, blk, i, j, &reg, &lane, &half);
				for (int k = 0; k < x->k; k++)
					want += a[blk][i][k] * b[blk][j][k] *
						scale_of(x, scales, 0, i, k) *
						scale_of(x, scales, 1, j, k);
				got = number(x, slot_page[0] + lane * 128, reg, half);
				if (got != want && bad++ < 2)
					diag("%s block %d (%d, %d): got %g want %g", x->name, blk,
					     i, j, got, want);
			}
	if (x->mixed)
		is(bad, 0, "%s %s of %s and %s", s->arch, x->name, mixed[x->format[0]],
		   mixed[x->format[1]]);
	else
		is(bad, 0, "%s %s", s->arch, x->name);
}

static const char *span(char *to, size_t size, int from, int n)
{
	snprintf(to, size, n > 1 ? "v[%d:%d]" : "v%d", from, from + n - 1);
	return to;
}

/* Loads the operands, runs the instruction, stores its result: of each lane 128 bytes. */
static void emit(const struct shape *x, char *text, size_t size)
{
	const bool late = x->gen >= 11;
	const char *const add = late ? "v_add_nc_u32" : "v_add_u32";
	const char *const load = late ? "global_load_b" : "global_load_dword";
	const char *const wait = x->gen == 12 ? "s_wait_loadcnt 0x0" : "s_waitcnt vmcnt(0)";
	char d[16], a[16], b[16];
	int n[2];
	size_t at = 0;

	for (int k = 0; k < 2; k++)
		n[k] = x->f64
			   ? 2
			   : (per_lane(x, k) * bits_of(x->mixed ? mixed[x->format[k]] : x->in[k]) +
			      31) /
				 32;
#define PUT(...) at += (size_t)snprintf(text + at, size - at, __VA_ARGS__)
	PUT("v_lshlrev_b32 v12, 5, v10\n");
	for (int k = 0; k < 2; k++)
		for (int r = 0; r < n[k]; r += 4)
			PUT("%s%s v[%d:%d], v12, s[12:13] offset:%d\n", load, late ? "128" : "x4",
			    64 + 8 * k + r, 67 + 8 * k + r, 2048 * k + 4 * r);
	if (x->sparse)
		PUT("v_lshlrev_b32 v13, 2, v10\n%s v13, 0x1000, v13\n%s%s v80, v13, s[12:13]\n",
		    add, load, late ? "32" : "");
	if (x->scaled)
		PUT("v_lshlrev_b32 v13, 3, v10\n%s v13, 0x1100, v13\n"
		    "%s%s v[82:83], v13, s[12:13]\n",
		    add, load, late ? "64" : "x2");
	/* D of sparse ones is C too: 1 everywhere, as it is a constant for the others */
	for (int r = 0; r < x->regs && x->sparse; r++)
		PUT("v_mov_b32 v%d, %s\n", 32 + r,
		    x->i32		    ? "1"
		    : !strcmp(x->d, "f16")  ? "0x3c003c00"
		    : !strcmp(x->d, "bf16") ? "0x3f803f80"
					    : "1.0");
	PUT("%s\n%s %s, %s, %s, %s%s", wait, x->name, span(d, sizeof(d), 32, x->regs),
	    span(a, sizeof(a), 64, n[0]), span(b, sizeof(b), 72, n[1]),
	    x->sparse ? "v80"
	    : x->i32  ? "1"
		      : "1.0",
	    x->scaled ? ", v82, v83 op_sel:[1,0,0] op_sel_hi:[0,1,0]" : "");
	if (x->sparse && x->key)
		PUT(x->wmma ? " index_key:%d" : " abid:%d", x->key);
	if (x->mixed)
		PUT(" cbsz:%d blgp:%d", x->format[0], x->format[1]);
	if (x->wmma && x->i32)
		PUT(" neg_lo:[1,1,0]");
	PUT("\nv_lshlrev_b32 v12, 7, v10\n");
	for (int r = 0; r < x->regs; r += 4)
		PUT("%s%s v12, v[%d:%d], s[12:13] offset:%d\n",
		    late ? "global_store_b" : "global_store_dword", late ? "128" : "x4", 32 + r,
		    35 + r, 4 * r);
#undef PUT
}

static void test_arch(const char *arch, const char *clang)
{
	static struct shape shapes[256];
	static unsigned slot[256];
	const int id = isa_arch_by_name(arch);
	unsigned n = 0;
	struct slots s;

	slots_init(&s, arch);
	for (unsigned i = 0; i < isa_op_count(); i++) {
		const char *const name = isa_op_at(i)->name;
		struct shape x;

		if (!(isa_op_at(i)->archs >> id & 1) || isa_op_at(i)->cls != CLASS_MFMA)
			continue;
		if (!parse(name, &x, (int)s.gen)) {
			ok(false, "%s is read", name);
			continue;
		}
		x.fnuz = !strcmp(arch, "gfx942");
		for (int f = 0; f < (x.mixed ? 25 : 1) && n < 256; f++) {
			char text[2000];

			x.format[0] = f / 5;
			x.format[1] = f % 5;
			emit(&x, text, sizeof(text));
			shapes[n] = x;
			slot[n++] = slots_add(&s, text);
		}
	}
	ok(n < 256, "%s: %u matrix instructions", arch, n);
	if (n && slots_build(&s, "matrix-all", clang)) {
		seed = 31;
		for (unsigned i = 0; i < n; i++)
			if (ok(!s.why[slot[i]], "%s has %s", arch, shapes[i].name))
				check(&s, slot[i], &shapes[i]);
			else
				diag("%s", s.why[slot[i]]);
	}
	slots_release(&s);
}

int main(int argc, char **argv)
{
	return isa_main(argc, argv, "isa_matrix", "gfx90a gfx942 gfx950 gfx1100 gfx1201",
			test_arch);
}
