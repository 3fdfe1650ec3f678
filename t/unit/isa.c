/* Ordinary kernels on the interpreter, against the same computed here. */
#include <math.h>

#include "t/unit/isa_tools.h"

static uint32_t seed = 12345;

static uint32_t rnd(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 3;
}

static const uint32_t one[3] = {1, 1, 1};

static void test_saxpy(struct fx *f)
{
	enum { N = 1000 };
	static float x[N], y[N], want[N];
	struct {
		int n;
		float a;
		uint64_t x, y;
	} a = {N, 2.5f, 0, 0};
	int bad = 0;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < N; i++) {
		x[i] = (float)(int)(rnd() % 2000) / 7.0f;
		y[i] = (float)i;
		want[i] = fmaf(a.a, x[i], y[i]);
	}
	a.x = fx_map(f, x, sizeof(x));
	a.y = fx_map(f, y, sizeof(y));
	isa_ran(f, "saxpy", fx_run(f, "saxpy", DIM(1024, 1, 1), DIM(256, 1, 1), 0, &a, sizeof(a)));
	for (int i = 0; i < N; i++) {
		const float plain = a.a * x[i] + (float)i;
		bad += y[i] != want[i] && y[i] != plain;
	}
	is(bad, 0, "saxpy computes");
	f->n_spans = keep;
}

static void test_by_value(struct fx *f)
{
	static float p[64];
	struct {
		int n;
		float a;
		uint64_t p;
		double d[3];
	} s = {60, 3.0f, 0, {1.5, 2.5, -4.25}};
	int bad = 0;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < 64; i++)
		p[i] = -1;
	s.p = fx_map(f, p, sizeof(p));
	isa_ran(f, "by_value",
		fx_run(f, "by_value", DIM(64, 1, 1), DIM(64, 1, 1), 0, &s, sizeof(s)));
	for (int i = 0; i < 64; i++)
		bad += p[i] != (i < 60 ? (float)(3.0 * s.d[i % 3]) : -1.0f);
	is(bad, 0, "struct by value arrives");
	f->n_spans = keep;
}

static void test_reduce(struct fx *f)
{
	static float x[1024], out[4];
	struct {
		uint64_t x, out;
	} a;
	int bad = 0;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < 1024; i++)
		x[i] = (float)(rnd() % 100);
	a.x = fx_map(f, x, sizeof(x));
	a.out = fx_map(f, out, sizeof(out));
	isa_ran(f, "reduce",
		fx_run(f, "reduce", DIM(1024, 1, 1), DIM(256, 1, 1), 0, &a, sizeof(a)));
	for (int g = 0; g < 4; g++) {
		float s = 0;
		for (int i = 0; i < 256; i++)
			s += x[256 * g + i];
		bad += s != out[g];
	}
	is(bad, 0, "reduction in LDS adds up");
	f->n_spans = keep;
}

static void test_matmul(struct fx *f)
{
	enum { N = 64 };
	static float A[N * N], B[N * N], C[N * N], T[N * N];
	struct {
		uint64_t a, b, c;
		int n;
	} a;
	int bad = 0;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < N * N; i++) {
		A[i] = (float)(int)(rnd() % 17) - 8;
		B[i] = (float)(int)(rnd() % 17) - 8;
	}
	a.a = fx_map(f, A, sizeof(A));
	a.b = fx_map(f, B, sizeof(B));
	a.c = fx_map(f, C, sizeof(C));
	a.n = N;
	isa_ran(f, "matmul", fx_run(f, "matmul", DIM(N, N, 1), DIM(16, 16, 1), 0, &a, sizeof(a)));
	for (int r = 0; r < N; r++)
		for (int c = 0; c < N; c++) {
			float s = 0;
			for (int k = 0; k < N; k++)
				s += A[r * N + k] * B[k * N + c];
			bad += s != C[r * N + c];
		}
	is(bad, 0, "tiled matrix product");
	a.b = fx_map(f, T, sizeof(T));
	struct {
		uint64_t in, out;
		int n;
	} t = {a.a, a.b, N};
	isa_ran(f, "transpose",
		fx_run(f, "transpose", DIM(N, N, 1), DIM(16, 16, 1), 0, &t, sizeof(t)));
	bad = 0;
	for (int r = 0; r < N; r++)
		for (int c = 0; c < N; c++)
			bad += T[r * N + c] != A[c * N + r];
	is(bad, 0, "transpose");
	f->n_spans = keep;
}

static void test_integers(struct fx *f)
{
	enum { N = 256 };
	static int x[N], y[N], wy[N];
	static int64_t z[N], wz[N];
	static uint32_t u[N], wu[N];
	struct {
		uint64_t x, y, z, u;
	} a;
	int bad_y = 0, bad_z = 0, bad_u = 0;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < N; i++) {
		x[i] = (int)(rnd() * 2654435761u) >> (rnd() % 31);
		y[i] = (int)(rnd() * 2654435761u) >> (rnd() % 28);
		if (y[i] == 0 || y[i] == -1)
			y[i] = 3;
		z[i] = (int64_t)((uint64_t)rnd() * 0x9e3779b97f4a7c15ull) >> (rnd() % 60);
		const int p = x[i], q = y[i];
		const int64_t c = z[i];
		wy[i] = (int)((uint32_t)(p / q) + (uint32_t)(p % 3) +
			      (uint32_t)(p == 0 ? 32 : __builtin_clz((uint32_t)p)) +
			      (uint32_t)__builtin_popcount((uint32_t)q) * 7 +
			      (uint32_t)(p >> (q & 31)) + ((uint32_t)p << 3));
		wz[i] = (int64_t)((uint64_t)(c / q) + (uint64_t)(c % ((int64_t)p | 1)) +
				  (uint64_t)c * (uint64_t)(int64_t)p + (uint64_t)(c >> (p & 63)));
		wu[i] =
		    ((uint32_t)p / 7u) ^ ((uint32_t)q % 1000u) ^ (uint32_t)((uint64_t)c / 12345u);
	}
	a.x = fx_map(f, x, sizeof(x));
	a.y = fx_map(f, y, sizeof(y));
	a.z = fx_map(f, z, sizeof(z));
	a.u = fx_map(f, u, sizeof(u));
	isa_ran(f, "integers",
		fx_run(f, "integers", DIM(N, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)));
	for (int i = 0; i < N; i++) {
		bad_y += y[i] != wy[i];
		bad_z += z[i] != wz[i];
		bad_u += u[i] != wu[i];
	}
	is(bad_y, 0, "32-bit integer arithmetic and division");
	is(bad_z, 0, "64-bit integer arithmetic and division");
	is(bad_u, 0, "unsigned division");
	f->n_spans = keep;
}

static double awkward(int i)
{
	union {
		uint64_t u;
		double d;
	} v;
	static const double edge[] = {0.0,    -0.0,    INFINITY, -INFINITY,
				      NAN,    1.0,     -1.0,	 5e-324,
				      2e-308, 1.7e308, -1.7e308, 2.2250738585072014e-308};

	if (i < 12)
		return edge[i];
	v.u = (uint64_t)rnd() << 40 ^ (uint64_t)rnd() << 20 ^ rnd();
	return v.d;
}

static bool same_double(double a, double b)
{
	return a == b ? signbit(a) == signbit(b) : a != a && b != b;
}

static void test_doubles(struct fx *f)
{
	enum { N = 4096 };
	static double x[N], y[N], y0[N];
	static float r[N];
	struct {
		uint64_t x, y, f;
	} a;
	int bad = 0, bad_f = 0;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < N; i++) {
		x[i] = awkward(i / 12 < 12 ? i / 12 : 50);
		y0[i] = y[i] = awkward(i / 12 < 12 ? i % 12 : 50);
		if (i > 2000) { /* within the range of float, for the division there */
			x[i] = ldexp(1.0 + (double)(rnd() % 100000) / 100000.0,
				     (int)(rnd() % 276) - 148);
			y0[i] = y[i] = ldexp(1.0 + (double)(rnd() % 100000) / 100000.0,
					     (int)(rnd() % 276) - 148);
		}
	}
	a.x = fx_map(f, x, sizeof(x));
	a.y = fx_map(f, y, sizeof(y));
	a.f = fx_map(f, r, sizeof(r));
	isa_ran(f, "doubles", fx_run(f, "doubles", DIM(N, 1, 1), DIM(256, 1, 1), 0, &a, sizeof(a)));
	for (int i = 0; i < N; i++) {
		const double q = x[i] / y0[i], plain = q + x[i] * y0[i] - y0[i];
		const double fused = fma(x[i], y0[i], q) - y0[i];
		const float fq = (float)x[i] / (float)y0[i];

		if (!same_double(y[i], plain) && !same_double(y[i], fused)) {
			if (bad++ < 5)
				diag("%d: %a / %a: got %a, want %a or %a", i, x[i], y0[i], y[i],
				     plain, fused);
		}
		if (!same_double(r[i], fq)) {
			if (bad_f++ < 5)
				diag("%d: %a / %a: got %a, want %a", i, (double)(float)x[i],
				     (double)(float)y0[i], (double)r[i], (double)fq);
		}
	}
	is(bad, 0, "double arithmetic with division, odd values included");
	is(bad_f, 0, "float division is correctly rounded, odd values included");
	f->n_spans = keep;
}

static void test_atomics(struct fx *f)
{
	static int x[512], out[4];
	static uint32_t u[512];
	static uint64_t q[2] = {0, 5};
	struct {
		uint64_t x, u, q, out;
	} a;
	int bad = 0;
	const unsigned keep = f->n_spans;

	memset(x, 0, sizeof(x));
	memset(u, 0, sizeof(u));
	q[0] = 0;
	q[1] = 5;
	for (int i = 0; i < 256; i++)
		x[4 + i] = 1000 + i;
	a.x = fx_map(f, x, sizeof(x));
	a.u = fx_map(f, u, sizeof(u));
	a.q = fx_map(f, q, sizeof(q));
	a.out = fx_map(f, out, sizeof(out));
	isa_ran(f, "atomics",
		fx_run(f, "atomics", DIM(256, 1, 1), DIM(256, 1, 1), 0, &a, sizeof(a)));
	is(x[0], 256, "atomic add");
	is(x[1], 255, "atomic max");
	is(x[2], -255, "atomic min");
	is(u[0], 0xffffffffu, "atomic or");
	is(u[1], 0, "atomic xor");
	is(q[0], 255 * 128, "64-bit atomic add");
	is(q[1], 77, "64-bit compare and swap");
	is(out[0], 255 * 128, "atomic add in LDS");
	for (int i = 0; i < 256; i++)
		bad += x[4 + i] != i || u[2 + i] != (uint32_t)(1000 + i);
	is(bad, 0, "atomic exchange returns the old value");
	f->n_spans = keep;
}

static void test_scratch(struct fx *f)
{
	static int x[128], keep_x[128];
	struct {
		uint64_t x;
		int k;
	} a = {0, 3};
	int bad = 0;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < 128; i++)
		keep_x[i] = x[i] = (int)(rnd() % 1000);
	a.x = fx_map(f, x, sizeof(x));
	isa_ran(f, "scratch", fx_run(f, "scratch", DIM(64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)));
	for (int t = 0; t < 64; t++) {
		int s = 0;
		for (int i = 0; i < 32; i++)
			s += keep_x[(i * keep_x[i + 1] + t) & 31] * 3;
		bad += x[64 + t] != s;
	}
	is(bad, 0, "arrays in scratch");
	for (int i = 0; i < 64; i++)
		x[i] = i - 20;
	a.k = 1;
	isa_ran(f, "calls", fx_run(f, "calls", DIM(64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)));
	bad = 0;
	for (int i = 0; i < 64; i++)
		bad += x[i] != 2 * (2 * (i - 20) + 1);
	is(bad, 0, "calls, one through a pointer");
	for (int i = 0; i < 64; i++)
		x[i] = 100 + i;
	a.k = 7;
	isa_ran(f, "flat", fx_run(f, "flat", DIM(64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)));
	bad = 0;
	for (int i = 0; i < 64; i++)
		bad += x[64 + i] != 7 + (i % 3 == 0 ? 100 + i : i % 3 == 1 ? 10 * i : i);
	is(bad, 0, "flat loads from global, LDS and scratch in one wave");
	f->n_spans = keep;
}

static void test_halves(struct fx *f)
{
	static uint16_t x[64], y[64];
	static float r[64];
	struct {
		uint64_t x, y, f;
	} a;
	static const struct {
		uint16_t x, y;
		float d;
		uint16_t m;				    /* x * y + 1.5 */
	} want[] = {{0x3c00, 0x4000, -1.0f, 0x4300},	    /* 1, 2 -> 3.5 */
		    {0x3555, 0x3555, 0.0f, 0x3e72},	    /* 1/3 */
		    {0x7bff, 0x4000, 65502.0f, 0x7c00},	    /* overflow */
		    {0x0001, 0x3c00, -0.99999994f, 0x3e00}, /* denormal */
		    {0xc000, 0x3e00, -3.5f, 0xbe00}};
	int bad = 0;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < 64; i++) {
		x[i] = want[i % 5].x;
		y[i] = want[i % 5].y;
	}
	a.x = fx_map(f, x, sizeof(x));
	a.y = fx_map(f, y, sizeof(y));
	a.f = fx_map(f, r, sizeof(r));
	isa_ran(f, "halves", fx_run(f, "halves", DIM(64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)));
	for (int i = 0; i < 64; i++)
		if (y[i] != want[i % 5].m || r[i] != want[i % 5].d) {
			if (bad++ < 5)
				diag("%d: got %04x %a, want %04x %a", i, y[i], (double)r[i],
				     want[i % 5].m, (double)want[i % 5].d);
		}
	is(bad, 0, "half arithmetic");
	f->n_spans = keep;
}

static void test_ids(struct fx *f)
{
	static uint32_t out[8 * 30];
	struct {
		uint64_t out;
	} a;
	int bad = 0;
	const unsigned keep = f->n_spans;

	memset(out, 0xff, sizeof(out));
	a.out = fx_map(f, out, sizeof(out));
	isa_ran(f, "ids", fx_run(f, "ids", DIM(10, 6, 4), DIM(5, 3, 2), 0, &a, sizeof(a)));
	for (uint32_t g = 0; g < 8; g++)
		for (uint32_t i = 0; i < 30; i++)
			bad += out[g * 30 + i] !=
			       ((i % 5) | (i / 5 % 3) << 4 | (i / 15) << 8 | (g & 1) << 12 |
				(g >> 1 & 1) << 16 | (g >> 2) << 20);
	is(bad, 0, "work-item and workgroup ids in three dimensions");
	f->n_spans = keep;
}

static void test_bad(struct fx *f)
{
	static int x[256];
	struct {
		uint64_t x;
		int n;
	} a = {0, 10};
	struct {
		uint64_t x;
	} h;
	const unsigned keep = f->n_spans;

	a.x = fx_map(f, x, sizeof(x));
	fx_run(f, "past_end", DIM(256, 1, 1), DIM(256, 1, 1), 0, &a, sizeof(a));
	is(f->report.status, ISA_FAULT, "a store past the end is a fault");
	is(f->report.faults[0].address, a.x + sizeof(x), "its address");
	is(f->report.faults[0].access, ISA_STORE, "it is a store");
	is(f->report.faults[0].size, 4, "of four bytes");
	is(f->report.faults[0].workitem[0], 246, "by this work-item");
	is(f->report.fault_count, 10, "and ten lanes did it");
	ok(strstr(f->report.faults[0].text, "store") != NULL, "text: %s", f->report.faults[0].text);
	a.n = 0x40000000;
	fx_run(f, "past_end", DIM(256, 1, 1), DIM(256, 1, 1), 0, &a, sizeof(a));
	is(f->report.status, ISA_FAULT, "a wild store is a fault");
	h.x = 0;
	fx_run(f, "hang", DIM(64, 1, 1), DIM(64, 1, 1), 0, &h, sizeof(h));
	is(f->report.status, ISA_FAULT, "a null pointer is a fault");
	h.x = a.x;
	memset(x, 0, sizeof(x));
	f->budget = 1000000;
	fx_run(f, "hang", DIM(64, 1, 1), DIM(64, 1, 1), 0, &h, sizeof(h));
	is(f->report.status, ISA_BUDGET, "an endless loop uses up its budget");
	f->budget = 0;
	f->n_spans = keep;
}

static void test_spilled(struct fx *f, const char *arch)
{
	static int out[2];
	struct {
		uint64_t out;
		int whole;
	} a;
	const unsigned keep = f->n_spans;

	if (strcmp(arch, "gfx942") && strcmp(arch, "gfx1100") && strcmp(arch, "gfx1201"))
		return;
	a.out = fx_map(f, out, sizeof(out));
	f->watch_own = true;
	for (a.whole = 0; a.whole < 2; a.whole++) {
		isa_ran(f, "spilled",
			fx_run(f, "spilled", DIM(64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)));
		is(f->report.n_faults, !a.whole, "what nothing wrote is told, %s",
		   a.whole ? "but not of a register spilled whole" : "read by the program");
	}
	f->watch_own = false;
	f->n_spans = keep;
}

static void test_arch(const char *arch, const char *clang, const char *flags)
{
	struct fx f;

	if (!isa_load(&f, "basic", arch, clang, flags))
		return;
	test_saxpy(&f);
	test_by_value(&f);
	test_reduce(&f);
	test_matmul(&f);
	test_integers(&f);
	test_doubles(&f);
	test_atomics(&f);
	test_scratch(&f);
	test_halves(&f);
	test_ids(&f);
	test_bad(&f);
	test_spilled(&f, arch);
	fx_close(&f);
}

int main(int argc, char **argv)
{
	(void)one;
	if (argc > 3) {
		test_arch(argv[1], argv[2], argv[3]);
		return done_testing();
	}
	static const struct {
		const char *arch, *clang, *flags;
	} list[] = {
	    {"gfx90a", "clang++-15", "-O3"},
	    {"gfx90a", "clang++-15", "-O1"},
	    {"gfx90a", "clang++-15", "-O0"},
	    {"gfx90a", "clang++-19", "-O3"},
	    {"gfx942", "clang++-19", "-O3"},
	    {"gfx942", "clang++-19", "-O0"},
	    {"gfx942", "clang++-19", "-O3 -mllvm -amdgpu-kernarg-preload-count=8"},
	    {"gfx950", "clang++-22", "-O3"},
	    {"gfx950", "clang++-22", "-O0"},
	    {"gfx1030", "clang++-15", "-O3"},
	    {"gfx1030", "clang++-15", "-O0"},
	    {"gfx1030", "clang++-19", "-O3 -mwavefrontsize64"},
	    {"gfx1100", "clang++-19", "-O3"},
	    {"gfx1100", "clang++-19", "-O1"},
	    {"gfx1100", "clang++-19", "-O0"},
	    {"gfx1100", "clang++-19", "-O3 -mwavefrontsize64"},
	    {"gfx1100", "clang++-22", "-O3"},
	    {"gfx1100", "clang++-22", "-O0"},
	    {"gfx1201", "clang++-19", "-O3"},
	    {"gfx1201", "clang++-19", "-O0"},
	    {"gfx1201", "clang++-22", "-O3"},
	    {"gfx90a", "clang++-22", "-O3"},
	};
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		test_arch(list[i].arch, list[i].clang, list[i].flags);
	fx_met("isa");
	return done_testing();
}
