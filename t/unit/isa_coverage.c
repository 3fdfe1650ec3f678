/*
 * The instruction table by arch. As a test: names are sound and unique. With
 * the argument "print": how many of them the tests met (make isa-coverage).
 */
#include "t/unit/isa_fixture.h"
#include "t/unit/tap.h"

#define MAX_NAMES 4096

static bool seen[ISA_ARCH_COUNT][MAX_NAMES];

static void read_met(const char *test)
{
	char path[512], arch[32], name[64];
	FILE *in;

	snprintf(path, sizeof(path), "%s/met-%s.txt", fx_dir(), test);
	in = fopen(path, "r");
	if (!in)
		return;
	while (fscanf(in, "%31s %63s", arch, name) == 2) {
		const int a = isa_arch_by_name(arch);

		for (unsigned i = 0; a >= 0 && isa_table_name((enum isa_arch)a, i); i++)
			if (!strcmp(isa_table_name((enum isa_arch)a, i), name))
				seen[a][i] = true;
	}
	fclose(in);
}

static int print_coverage(bool missing)
{
	static const char *const tests[] = {"isa",	 "isa_ops",    "isa_modes", "isa_memory",
					    "isa_state", "isa_matrix", "isa_more",  "isa_lanes"};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		read_met(tests[i]);
	printf("%-8s %11s %9s\n", "arch", "implemented", "exercised");
	for (int a = 0; a < ISA_ARCH_COUNT; a++) {
		unsigned n = 0, met = 0;

		for (; isa_table_name((enum isa_arch)a, n); n++)
			met += seen[a][n];
		printf("%-8s %11u %9u\n", isa_arch_name((enum isa_arch)a), n, met);
	}
	for (int a = 0; missing && a < ISA_ARCH_COUNT; a++)
		for (unsigned i = 0; isa_table_name((enum isa_arch)a, i); i++)
			if (!seen[a][i])
				printf("%s %s\n", isa_arch_name((enum isa_arch)a),
				       isa_table_name((enum isa_arch)a, i));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return print_coverage(!strcmp(argv[1], "missing"));
	for (int a = 0; a < ISA_ARCH_COUNT; a++) {
		const char *const arch = isa_arch_name((enum isa_arch)a);
		unsigned n = 0, bad = 0, twice = 0;

		for (; isa_table_name((enum isa_arch)a, n); n++) {
			const char *const name = isa_table_name((enum isa_arch)a, n);

			bad +=
			    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name);
			for (unsigned i = 0; i < n; i++)
				twice += !strcmp(isa_table_name((enum isa_arch)a, i), name);
		}
		ok(n > 700, "%s has %u names", arch, n);
		is(bad, 0, "%s: each looks like a mnemonic", arch);
		is(twice, 0, "%s: none is there twice", arch);
		is(isa_arch_by_name(arch), a, "%s is found by name", arch);
	}
	is(isa_arch_by_name("gfx90a:xnack-"), ISA_GFX90A, "target features are ignored");
	ok(isa_arch_by_name("gfx906") < 0, "an unknown arch is refused");
	return done_testing();
}
