/* Workgroups that wait for one another. */
#include "t/unit/isa_tools.h"

static void test_all_wait(struct fx *f)
{
	static int count, out[40];
	struct {
		uint64_t count, out;
	} a;
	int bad = 0;
	const unsigned keep = f->n_spans;

	a.count = fx_map(f, &count, sizeof(count));
	a.out = fx_map(f, out, sizeof(out));
	for (int coop = 0; coop < 2; coop++) {
		count = 0;
		memset(out, 0, sizeof(out));
		f->cooperative = coop;
		isa_ran(f, "all_wait",
			fx_run(f, "all_wait", DIM(40 * 64, 1, 1), DIM(64, 1, 1), 0, &a, sizeof(a)));
		bad = 0;
		for (int i = 0; i < 40; i++)
			bad += out[i] != 1;
		is(bad, 0, "workgroups that wait for one another all end (cooperative %d)", coop);
	}
	f->cooperative = false;
	f->n_spans = keep;
}

/* gfx12 has no such instruction. */
static void test_grid(struct fx *f, const char *arch)
{
	static int cell[2 * 21], out[21];
	struct {
		uint64_t cell, out;
		int rounds;
	} a = {.rounds = 50};
	int bad = 0;
	const unsigned keep = f->n_spans;

	if (!strcmp(arch, "gfx1201"))
		return;
	a.cell = fx_map(f, cell, sizeof(cell));
	a.out = fx_map(f, out, sizeof(out));
	memset(out, 0, sizeof(out));
	fx_run(f, "grid_rounds", DIM(21 * 128, 1, 1), DIM(128, 1, 1), 0, &a, sizeof(a));
	is(f->report.status, ISA_BAD_LAUNCH,
	   "no barrier over a grid whose groups may come one by one");
	f->cooperative = true;
	isa_ran(f, "grid_rounds",
		fx_run(f, "grid_rounds", DIM(21 * 128, 1, 1), DIM(128, 1, 1), 0, &a, sizeof(a)));
	for (int i = 0; i < 21; i++)
		bad += out[i] != a.rounds;
	is(bad, 0, "all workgroups meet, round by round");
	f->cooperative = false;
	f->n_spans = keep;
}

static void test_arch(const char *arch, const char *clang)
{
	struct fx f;

	if (!isa_load(&f, "basic", arch, clang, "-O3"))
		return;
	test_all_wait(&f);
	test_grid(&f, arch);
	fx_close(&f);
}

int main(int argc, char **argv)
{
	static const char *const list[][2] = {{"gfx90a", "clang++-15"},	 {"gfx90a", "clang++-19"},
					      {"gfx942", "clang++-19"},	 {"gfx950", "clang++-22"},
					      {"gfx1030", "clang++-15"}, {"gfx1100", "clang++-19"},
					      {"gfx1100", "clang++-22"}, {"gfx1201", "clang++-19"}};

	if (argc > 2) {
		test_arch(argv[1], argv[2]);
		return done_testing();
	}
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		test_arch(list[i][0], list[i][1]);
	fx_met("isa_wait");
	return done_testing();
}
