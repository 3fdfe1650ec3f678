/*
 * The same algorithms on the host and by every compiler, arch and level of optimisation:
 * t/isa/algos.hip. A few combinations by default; all of them with HRR_T_ALL=1 (`make
 * check-compilers`).
 */
#include <math.h>

#include "t/unit/isa_tools.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#include "t/isa/algos.hip"
#pragma GCC diagnostic pop

enum { N = 1000, GROUPS = 4, ITEMS = GROUPS * 256 };

static float host_half(float x)
{
	int e;

	frexpf(x, &e);
	const float ulp = ldexpf(1, (e < -13 ? -13 : e) - 11), r = rintf(x / ulp) * ulp;

	return fabsf(r) > 65504 ? copysignf(INFINITY, x) : r;
}

static void alone(struct fx *f)
{
	static const struct {
		const char *name;
		u32_t (*fn)(u32_t);
	} list[] = {
#define ROW(name) {"k_" #name, name},
	    ALGOS(ROW)};
	static uint32_t out[N];
	struct {
		uint64_t out;
		int n;
	} a = {fx_map(f, out, sizeof(out)), N};

	for (size_t k = 0; k < sizeof(list) / sizeof(list[0]); k++) {
		int bad = 0, first = -1;

		memset(out, 0, sizeof(out));
		if (!fx_run(f, list[k].name, DIM(1024, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)))
			diag("%s: %s", list[k].name, f->report.what);
		for (int i = 0; i < N; i++)
			if (out[i] != list[k].fn((uint32_t)i)) {
				first = bad ? first : i;
				bad++;
			}
		is(bad, 0, "%s (first: %d)", list[k].name, first);
	}
}

static int by_size(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool group(struct fx *f, const char *name, const void *args, size_t size, uint32_t lds)
{
	const bool good = fx_run(f, name, DIM(ITEMS, 1, 1), DIM(256, 1, 1), lds, args, size);

	if (!good)
		diag("%s: %s", name, f->report.what);
	return good;
}

static void together(struct fx *f)
{
	static uint32_t in[ITEMS], v[ITEMS], want[ITEMS], counts[64], due[64], lanes[2];
	static double sums[GROUPS];
	uint32_t seed = 99, all = 0, odd = 0;
	struct {
		uint64_t v, more;
	} a = {fx_map(f, v, sizeof(v)), 0};
	const uint64_t at_counts = fx_map(f, counts, sizeof(counts));
	const uint64_t at_sums = fx_map(f, sums, sizeof(sums));
	const uint64_t at_lanes = fx_map(f, lanes, sizeof(lanes));
	bool good;

	memset(due, 0, sizeof(due));
	memset(counts, 0, sizeof(counts));
	memset(lanes, 0, sizeof(lanes));
	for (int i = 0; i < ITEMS; i++) {
		v[i] = in[i] = want[i] = next(&seed);
		due[in[i] % 64]++;
		all += in[i];
		odd += in[i] & 1;
	}
	for (int g = 0; g < GROUPS; g++)
		qsort(want + g * 256, 256, sizeof(want[0]), by_size);
	good = group(f, "g_sort", &a, sizeof(a.v), 0);
	ok(good && !memcmp(v, want, sizeof(v)), "g_sort");
	memcpy(v, in, sizeof(v));
	for (int i = 0; i < ITEMS; i++)
		want[i] = in[i] + (i % 256 ? want[i - 1] : 0);
	good = group(f, "g_scan", &a, sizeof(a.v), 0);
	ok(good && !memcmp(v, want, sizeof(v)), "g_scan");
	memcpy(v, in, sizeof(v));
	a.more = at_counts;
	good = group(f, "g_count", &a, sizeof(a), 0);
	ok(good && !memcmp(counts, due, sizeof(due)), "g_count");
	a.more = at_sums;
	good = group(f, "g_tree", &a, sizeof(a), 256 * sizeof(double));
	for (int g = 0; g < GROUPS; g++) {
		double t[256];

		for (int i = 0; i < 256; i++)
			t[i] = in[g * 256 + i] / 3.0;
		for (int h = 128; h > 0; h /= 2)
			for (int i = 0; i < h; i++)
				t[i] = t[i] + t[i + h];
		good = good && t[0] == sums[g];
	}
	ok(good, "g_tree");
	a.more = at_lanes;
	good = group(f, "g_lanes", &a, sizeof(a), 0);
	ok(good && lanes[0] == all && lanes[1] == odd, "g_lanes");
	good = fx_run(f, "g_grid", DIM(20, 6, 4), DIM(10, 3, 2), 0, &a, sizeof(a.v));
	for (uint32_t i = 0; i < 20 * 6 * 4; i++)
		good = good && v[i] == (i % 20 | i / 20 % 6 << 8 | i / 120 << 16);
	ok(good, "g_grid");
}

static void one(const char *arch, const char *clang, const char *level)
{
	char flags[64];
	struct fx f;

	snprintf(flags, sizeof(flags), "-%s -ffp-contract=off", level);
	if (!isa_load(&f, "algos", arch, clang, flags))
		return;
	alone(&f);
	together(&f);
	fx_close(&f);
}

int main(void)
{
	static const char *const levels[] = {"O0", "O1", "O3"};
	static const struct {
		const char *arch, *clang;
		int level; /* that is run by default, or -1 */
	} list[] = {{"gfx90a", "clang++-14", -1},  {"gfx90a", "clang++-15", 2},
		    {"gfx90a", "clang++-19", -1},  {"gfx90a", "clang++-22", 0},
		    {"gfx942", "clang++-19", 1},   {"gfx942", "clang++-22", -1},
		    {"gfx950", "clang++-22", 2},   {"gfx1030", "clang++-14", -1},
		    {"gfx1030", "clang++-15", 1},  {"gfx1030", "clang++-19", -1},
		    {"gfx1030", "clang++-22", -1}, {"gfx1100", "clang++-19", 0},
		    {"gfx1100", "clang++-22", -1}, {"gfx1201", "clang++-19", -1},
		    {"gfx1201", "clang++-22", 2}};
	const char *const all = getenv("HRR_T_ALL");

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		for (int l = 0; l < 3; l++)
			if ((all && *all) || l == list[i].level)
				one(list[i].arch, list[i].clang, levels[l]);
	fx_met("isa_algos");
	return done_testing();
}
