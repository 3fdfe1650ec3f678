/*
 * The instruction table by arch. As a test: names are sound and unique. With
 * the argument "print": how many of them the tests met, and how many the code
 * objects in the files named on standard input hold (make isa-coverage).
 */
#include "t/unit/isa_corpus.h"
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

	char path[4096];
	int r = 0;

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		read_met(tests[i]);
	while (fgets(path, sizeof(path), stdin)) {
		path[strcspn(path, "\n")] = '\0';
		if (!corpus_file(path))
			r = 1;
	}
	printf("%-8s %11s %9s %13s\n", "arch", "implemented", "exercised", "met in corpus");
	for (int a = 0; a < ISA_ARCH_COUNT; a++) {
		unsigned n = 0, met = 0, corpus = 0;

		for (; isa_table_name((enum isa_arch)a, n); n++) {
			met += seen[a][n];
			corpus += isa_table_met((enum isa_arch)a, n);
		}
		printf("%-8s %11u %9u %13u\n", isa_arch_name((enum isa_arch)a), n, met, corpus);
	}
	for (int a = 0; missing && a < ISA_ARCH_COUNT; a++)
		for (unsigned i = 0; isa_table_name((enum isa_arch)a, i); i++)
			if (!seen[a][i])
				printf("%s %s\n", isa_arch_name((enum isa_arch)a),
				       isa_table_name((enum isa_arch)a, i));
	return r;
}

static bool met(const char *arch, const char *name)
{
	const enum isa_arch a = (enum isa_arch)isa_arch_by_name(arch);

	for (unsigned i = 0; isa_table_name(a, i); i++)
		if (!strcmp(isa_table_name(a, i), name))
			return isa_table_met(a, i);
	return false;
}

/* A code object behind bytes that are none, and half of one. */
static void corpus(void)
{
	const char *why = "";
	const char *const object = fx_compile("more", "gfx90a", "clang++-15", "-O2", &why);
	char path[600];
	size_t size = 0;
	unsigned char *const p = object ? fx_read(object, &size) : NULL;
	FILE *out;

	if (!p) {
		skip(5, why);
		return;
	}
	snprintf(path, sizeof(path), "%s/corpus.bin", fx_dir());
	out = fopen(path, "wb");
	fputs("CCOB, but \177ELF is not what follows: ", out);
	fwrite(p, 1, size / 2, out);
	fclose(out);
	corpus_file(path);
	ok(!met("gfx90a", "s_endpgm"), "half an object holds nothing");
	out = fopen(path, "wb");
	fputs("CCOB, but \177ELF is not what follows: ", out);
	fwrite(p, 1, size, out);
	fclose(out);
	ok(corpus_file(path), "a code object is found inside a file");
	ok(met("gfx90a", "s_endpgm") && met("gfx90a", "v_mbcnt_lo_u32_b32"), "its names are met");
	ok(!met("gfx90a", "v_qsad_pk_u16_u8"), "no other is");
	ok(!met("gfx942", "s_endpgm"), "nor is one of another arch");
	unlink(path);
	free(p);
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
	corpus();
	return done_testing();
}
