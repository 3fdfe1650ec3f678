/* Device libraries, matrix instructions, MODE, indexed registers, aborts, threads. */
#include <math.h>

#include "t/unit/isa_tools.h"

static uint32_t seed = 4711;

static uint32_t rnd(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 3;
}

static double ref_math(int k, double v)
{
	const double a = fabs(v) + 0.001;

	switch (k) {
	case 0:
		return exp(v);
	case 1:
		return log(a);
	case 2:
		return sin(v);
	case 3:
		return cos(v * 1000.0);
	case 4:
		return pow(a, 1.7);
	case 5:
		return tanh(v);
	case 6:
		return sqrt(a);
	case 7:
		return erf(v);
	case 8:
		return fmod(v, 0.37);
	case 9:
		return atan2(v, a);
	case 10:
		return 1 / sqrt(a);
	case 11:
		return cbrt(v);
	default:
		return sin(v * 1e20);
	}
}

static void test_math(struct fx *f)
{
	enum { N = 256, K = 13 };
	static float x[N], y[N * K];
	static double xd[N], yd[N * K];
	struct {
		uint64_t x, y;
		int n;
	} a;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < N; i++) {
		x[i] = (float)((int)(rnd() % 20001) - 10000) / 1234.5f;
		xd[i] = (double)((int)(rnd() % 20001) - 10000) / 1234.5;
	}
	a.x = fx_map(f, x, sizeof(x));
	a.y = fx_map(f, y, sizeof(y));
	a.n = N;
	isa_ran(f, "mathf", fx_run(f, "mathf", DIM(N, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)));
	ok(f->report.n_approx > 0, "approximated instructions are named");
	bool named = false;
	for (unsigned i = 0; i < f->report.n_approx; i++)
		named |= !strcmp(f->report.approx[i].mnemonic, "v_exp_f32") &&
			 f->report.approx[i].count > 0;
	ok(named, "v_exp_f32 among them");
	for (int k = 0; k < K - 1; k++) {
		double worst = 0;
		for (int i = 0; i < N; i++) {
			const double v = k == 3 ? (double)(x[i] * 1000.0f) / 1000.0 : (double)x[i];
			const double vv =
			    k == 8 ? fmod((double)x[i], (double)0.37f)
			    : k == 1 || k == 4 || k == 6 || k == 9 || k == 10
				? ref_math(k, (double)x[i] < 0
						  ? -((double)(fabsf(x[i]) + 0.001f) - 0.001)
						  : (double)(fabsf(x[i]) + 0.001f) - 0.001)
				: ref_math(k, v);
			const double e = fabs((double)y[k * N + i] - vv) / (fabs(vv) + 1e-3);
			worst = e > worst ? e : worst;
		}
		ok(worst < 1e-5, "float function %d within %.2g", k, worst);
	}
	a.x = fx_map(f, xd, sizeof(xd));
	a.y = fx_map(f, yd, sizeof(yd));
	isa_ran(f, "mathd", fx_run(f, "mathd", DIM(N, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)));
	for (int k = 0; k < K; k++) {
		double worst = 0;
		for (int i = 0; i < N; i++) {
			const double v = ref_math(k, xd[i]),
				     e = fabs(yd[k * N + i] - v) / (fabs(v) + 1e-3);
			worst = e > worst ? e : worst;
		}
		ok(worst < 1e-12, "double function %d within %.2g", k, worst);
	}
	f->n_spans = keep;
}

static void test_shuffles(struct fx *f)
{
	static int x[64], y[448];
	struct {
		uint64_t x, y;
	} a;
	int bad = 0, odd = 0, sum = 0;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < 64; i++) {
		x[i] = (int)(rnd() % 1000);
		odd += x[i] & 1;
		sum += x[i];
	}
	a.x = fx_map(f, x, sizeof(x));
	a.y = fx_map(f, y, sizeof(y));
	isa_ran(f, "shuffles",
		fx_run(f, "shuffles", DIM(64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)));
	for (int i = 0; i < 64; i++) {
		bad += y[i] != x[i ^ 5];
		bad += y[64 + i] != x[i < 3 ? i : i - 3];
		bad += y[128 + i] != x[(i & 15) + 7 > 15 ? i : i + 7];
		bad += y[192 + i] != x[i * 11 & 63];
		bad += y[256 + i] != odd;
		bad += y[320 + i] != 1;
	}
	bad += y[384] != sum;
	is(bad, 0, "shuffles and votes");
	f->n_spans = keep;
}

static void test_abort(struct fx *f)
{
	static int x[64];
	struct {
		uint64_t x;
	} a;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < 64; i++)
		x[i] = i;
	a.x = fx_map(f, x, sizeof(x));
	fx_run(f, "aborts", DIM(64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a));
	is(f->report.status, ISA_TRAP, "abort is a trap: %s", f->report.what);
	f->n_spans = keep;
}

static void test_more(struct fx *f)
{
	static float x[1024], y[64];
	static uint8_t b[64], ob[64];
	static int16_t s[64], os[64];
	static int64_t l[64], l0[64];
	struct {
		uint64_t x, y;
		int k;
	} a;
	struct {
		uint64_t b, s, ob, os, l;
	} c;
	int bad = 0;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < 1024; i++)
		x[i] = (float)(rnd() % 100);
	a.x = fx_map(f, x, sizeof(x));
	a.y = fx_map(f, y, sizeof(y));
	for (a.k = 0; a.k < 16; a.k++) {
		if (!fx_run(f, "indexed", DIM(64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)))
			diag("%s", f->report.what);
		for (int i = 0; i < 64; i++) {
			float v[16];
			for (int j = 0; j < 16; j++)
				v[j] = x[j * 64 + i];
			v[a.k] += 1000;
			v[(a.k + 3) & 15] *= 2;
			bad += y[i] != v[(a.k + 1) & 15] + v[a.k] * 10 + v[(a.k + 3) & 15] * 100;
		}
	}
	is(bad, 0, "indexed registers");
	for (int i = 0; i < 64; i++) {
		b[i] = (uint8_t)rnd();
		s[i] = (int16_t)rnd();
		l[i] = l0[i] = (int64_t)((uint64_t)rnd() << 30 ^ rnd());
	}
	c.b = fx_map(f, b, sizeof(b));
	c.s = fx_map(f, s, sizeof(s));
	c.ob = fx_map(f, ob, sizeof(ob));
	c.os = fx_map(f, os, sizeof(os));
	c.l = fx_map(f, l, sizeof(l));
	isa_ran(f, "bytes", fx_run(f, "bytes", DIM(64, 1, 1), DIM(64, 1, 1), 0, &c, sizeof(c)));
	bad = 0;
	for (int i = 0; i < 64; i++) {
		const int j = (i + 1) & 63;

		bad += ob[i] != (uint8_t)(b[i] + 1);
		bad += os[i] != (int16_t)(s[i] * 3 - b[63 - i]);
		bad += l[i] != ((l0[63 - i] + s[63 - i]) ^ (b[j] | (uint16_t)((uint8_t)s[j] << 8)));
	}
	is(bad, 0, "bytes and shorts, global and LDS");
	f->n_spans = keep;
}

static void test_flush(struct fx *f, bool flush)
{
	static float x[64], y[64], z[192];
	struct {
		uint64_t x, y, z;
	} a;
	int bad = 0;
	const unsigned keep = f->n_spans;

	for (int i = 0; i < 64; i++) {
		x[i] = ldexpf(1.25f, -(i * 2) - 20);
		y[i] = i & 1 ? ldexpf(-1.5f, -126 + i) : ldexpf(1.5f, i);
	}
	a.x = fx_map(f, x, sizeof(x));
	a.y = fx_map(f, y, sizeof(y));
	a.z = fx_map(f, z, sizeof(z));
	isa_ran(f, "flushes", fx_run(f, "flushes", DIM(64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)));
	for (int i = 0; i < 64; i++) {
		const float want[3] = {x[i] * y[i], x[i] / y[i], x[i] + y[i]};
		for (int k = 0; k < 3; k++) {
			const bool tiny = want[k] != 0 && fabsf(want[k]) < 0x1p-126f;
			const float w = flush && tiny ? 0.0f : want[k];
			/* when flushing, division need not be exact */
			const bool near =
			    k == 1 && flush && fabsf(z[64 * k + i] - w) <= fabsf(w) * 3e-7f;
			bad += z[64 * k + i] != w && !near && !(fabsf(x[i]) < 0x1p-126f && flush);
		}
	}
	is(bad, 0, "denormals %s", flush ? "flushed when the kernel asks" : "kept");
	f->n_spans = keep;
}

static void test_matrix(struct fx *f, const char *kernel, int M, int N, int K)
{
	static float A[1024], B[1024], D[1024];
	struct {
		uint64_t a, b, d;
	} a;
	int bad = 0;
	const unsigned keep = f->n_spans;
	const uint32_t lanes = f->arch >= ISA_GFX1030 ? 32 : 64;

	for (int i = 0; i < M * K; i++)
		A[i] = (float)((int)(rnd() % 15) - 7);
	for (int i = 0; i < K * N; i++)
		B[i] = (float)((int)(rnd() % 15) - 7);
	memset(D, 0, sizeof(D));
	a.a = fx_map(f, A, sizeof(A));
	a.b = fx_map(f, B, sizeof(B));
	a.d = fx_map(f, D, sizeof(D));
	isa_ran(f, kernel, fx_run(f, kernel, DIM(lanes, 1, 1), DIM(lanes, 1, 1), 0, &a, sizeof(a)));
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float s = 1;
			for (int k = 0; k < K; k++)
				s += A[i * K + k] * B[k * N + j];
			bad += s != D[i * N + j];
		}
	is(bad, 0, "%s multiplies", kernel);
	f->n_spans = keep;
}

static void matrices(const char *arch, const char *clang, const char *flags)
{
	struct fx f;

	if (!isa_load(&f, "matrix", arch, clang, flags))
		return;
	test_matrix(&f, "m16x16x16f16", 16, 16, 16);
	if (f.arch <= ISA_GFX950) {
		test_matrix(&f, "m32x32x2f32", 32, 32, 2);
		test_matrix(&f, "m16x16x4f32", 16, 16, 4);
		test_matrix(&f, "m32x32x8bf16", 32, 32, 8);
		test_matrix(&f, "m16x16x4f64", 16, 16, 4);
		test_matrix(&f, "m4x4x4f16", 4, 4, 4);
	}
	if (f.arch == ISA_GFX90A || f.arch == ISA_GFX1100)
		test_matrix(&f, "m16x16x16i8", 16, 16, 16);
	if (f.arch == ISA_GFX1100)
		test_matrix(&f, "m16x16x16f16_f16", 16, 16, 16);
	fx_close(&f);
}

/* Jumps to where no code is. */
static void test_astray(void)
{
	static int x[64];
	static const uint64_t places[] = {0, 0x123456789abcull, 0x7b0000000000ull, 2,
					  0xffffffffffffff00ull};
	struct {
		uint64_t x, to;
	} j;
	struct fx f;

	if (!isa_load(&f, "basic", "gfx90a", "clang++-15", "-O3"))
		return;
	j.x = fx_map(&f, x, sizeof(x));
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		j.to = places[i];
		fx_run(&f, "astray", DIM(64, 1, 1), DIM(64, 1, 1), 0, &j, sizeof(j));
		is(f.report.status, ISA_FAULT, "a jump to 0x%llx is a fault: %s",
		   (unsigned long long)places[i], f.report.what);
		is(f.report.faults[0].access, ISA_FETCH, "and a fetch");
	}
	fx_close(&f);
}

/* The same launch on one thread and on several gives the same bytes. */
static void test_threads(void)
{
	enum { W = 256, H = 128 };
	static int one[W * H], many[W * H];
	struct {
		uint64_t out;
		int w, h, iters;
	} a = {0, W, H, 60};
	struct fx f;

	if (!isa_load(&f, "basic", "gfx90a", "clang++-15", "-O3"))
		return;
	a.out = fx_map(&f, one, sizeof(one));
	isa_ran(&f, "mandel", fx_run(&f, "mandel", DIM(W, H, 1), DIM(64, 4, 1), 0, &a, sizeof(a)));
	const uint64_t instructions = f.report.instructions;
	a.out = fx_map(&f, many, sizeof(many));
	f.threads = 4;
	isa_ran(&f, "mandel", fx_run(&f, "mandel", DIM(W, H, 1), DIM(64, 4, 1), 0, &a, sizeof(a)));
	ok(memcmp(one, many, sizeof(one)) == 0, "four threads give what one gives");
	is(f.report.instructions, instructions, "and issue as many instructions");
	is(f.report.waves, W * H / 64, "in as many waves");
	fx_close(&f);
}

/* Sizes that a code object or a launch may name and no machine has. */
static void test_limits(void)
{
	static int x[4096];
	struct {
		uint64_t x;
		int n;
	} a = {0, 1};
	struct hrr_kernel *k = NULL;
	struct fx f;

	if (isa_load(&f, "basic", "gfx1201", "clang++-19", "-O3")) {
		a.x = fx_map(&f, x, sizeof(x));
		fx_run(&f, "past_end", DIM(1, 65537, 1), DIM(1, 1, 1), 0, &a, sizeof(a));
		is(f.report.status, ISA_BAD_LAUNCH, "gfx12: %s", f.report.what);
		fx_close(&f);
	}
	if (!isa_load(&f, "basic", "gfx90a", "clang++-15", "-O3"))
		return;
	a.x = fx_map(&f, x, sizeof(x));
	fx_run(&f, "past_end", DIM(1, 65537, 1), DIM(1, 1, 1), 0, &a, sizeof(a));
	is(f.report.status, ISA_DONE, "gfx9: 32 bits for each number");
	for (size_t i = 0; i < f.co.n_kernels; i++)
		if (!strcmp(f.co.kernels[i].name, "past_end"))
			k = (struct hrr_kernel *)(uintptr_t)&f.co.kernels[i];
	k->private_size = 0xfffffff0u;
	fx_run(&f, "past_end", DIM(64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a));
	is(f.report.status, ISA_BAD_LAUNCH, "scratch of 4 GiB a work-item: %s", f.report.what);
	k->private_size = 1 << 20;
	ok(fx_run(&f, "past_end", DIM(64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)),
	   "1 MiB a work-item is scratch");
	k->private_size = 3 << 19;
	f.room = 64 << 20;
	memset(&f.report, 0xff, sizeof(f.report));
	ok(!fx_run(&f, "past_end", DIM(64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)),
	   "but not more than there is room for");
	fx_close(&f);
}

/* Workgroups are handed out several at a time: one that waits is no end to those behind it. */
static void test_hand_out(void)
{
	enum { N = 4096 };
	static int flags[N], out[N];
	struct {
		uint64_t flags, out;
	} a;
	struct fx f;

	if (!isa_load(&f, "basic", "gfx90a", "clang++-15", "-O3"))
		return;
	a.flags = fx_map(&f, flags, sizeof(flags));
	a.out = fx_map(&f, out, sizeof(out));
	for (unsigned threads = 1; threads <= 3; threads++) {
		int ended = 0;

		memset(flags, 0, sizeof(flags));
		memset(out, 0, sizeof(out));
		f.threads = threads;
		isa_ran(
		    &f, "wait_later",
		    fx_run(&f, "wait_later", DIM(N * 64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)));
		for (int i = 0; i < N; i++)
			ended += out[i];
		is(ended, N, "workgroups that wait for later ones end, on %u threads", threads);
		is(f.report.waves, N, "each once");
	}
	fx_close(&f);
}

int main(void)
{
	struct fx f;

	if (isa_load(&f, "more", "gfx90a", "clang++-15", "-O3")) {
		test_math(&f);
		test_shuffles(&f);
		test_abort(&f);
		test_more(&f);
		test_flush(&f, false);
		fx_close(&f);
	}
	if (isa_load(&f, "more", "gfx90a", "clang++-15", "-O3 -fgpu-flush-denormals-to-zero")) {
		test_flush(&f, true);
		fx_close(&f);
	}
	if (isa_load(&f, "more", "gfx1030", "clang++-15", "-O3")) {
		test_math(&f);
		test_more(&f);
		test_flush(&f, false);
		fx_close(&f);
	}
	if (isa_load(&f, "more", "gfx942", "clang++-19", "-O3")) {
		test_more(&f);
		fx_close(&f);
	}
	if (isa_load(&f, "more", "gfx1100", "clang++-19", "-O3")) {
		test_more(&f);
		test_flush(&f, false);
		fx_close(&f);
	}
	if (isa_load(&f, "more", "gfx1201", "clang++-19", "-O3")) {
		test_more(&f);
		test_flush(&f, false);
		fx_close(&f);
	}
	matrices("gfx90a", "clang++-19", "-O2 -DCDNA -DOLD_I8");
	matrices("gfx942", "clang++-19", "-O2 -DCDNA");
	matrices("gfx950", "clang++-22", "-O2 -DCDNA");
	matrices("gfx1100", "clang++-19", "-O2 -DRDNA3");
	matrices("gfx1201", "clang++-19", "-O2 -DRDNA4");
	test_threads();
	test_hand_out();
	test_limits();
	test_astray();
	fx_met("isa_more");
	return done_testing();
}
