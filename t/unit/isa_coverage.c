/*
 * The instruction table by arch. As a test: names are sound and unique. With
 * the argument "print": how many of them the tests met, how many the code
 * objects in the files named on standard input hold, and what those hold that
 * the table lacks (make isa-coverage).
 */
#include <glob.h>

#include "t/unit/isa_corpus.h"
#include "t/unit/isa_asm.h"

#define MAX_NAMES 4096

static bool seen[ISA_ARCH_COUNT][MAX_NAMES];

static void read_met(const char *path)
{
	FILE *const in = fopen(path, "r");
	char arch[32], name[64];

	while (in && fscanf(in, "%31s %63s", arch, name) == 2) {
		const int a = isa_arch_by_name(arch);

		for (unsigned i = 0; a >= 0 && isa_table_name((enum isa_arch)a, i); i++)
			if (!strcmp(isa_table_name((enum isa_arch)a, i), name))
				seen[a][i] = true;
	}
	if (in)
		fclose(in);
}

static int print_coverage(bool missing)
{
	glob_t files = {0};
	char path[4096];
	int r = 0;

	snprintf(path, sizeof(path), "%s/met-*.txt", fx_dir());
	if (!glob(path, 0, NULL, &files))
		for (size_t i = 0; i < files.gl_pathc; i++)
			read_met(files.gl_pathv[i]);
	globfree(&files);
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
	for (unsigned i = 0; i < n_lacking; i++)
		printf("%s%-8s %6u x %s\n", i ? "" : "in the corpus, and refused:\n",
		       isa_arch_name(corpus_lacking[i].arch), corpus_lacking[i].n,
		       corpus_lacking[i].what);
	if (missing)
		printf("implemented, and exercised by no test:\n");
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
	const char *const what = "a corpus";
	const char *object;
	char path[600];
	size_t size = 0;
	unsigned char *p;
	FILE *out;

	if (!isa_has("clang++-15", what))
		return;
	object = fx_compile("more", "gfx90a", "clang++-15", "-O2");
	p = object ? fx_read(object, &size) : NULL;
	if (!ok(p != NULL, "%s is compiled", what))
		return;
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
	is(n_lacking, 0, "it holds nothing that is refused");
	unlink(path);
	free(p);
}

/* An instruction the table has not (an image), and one of the table in a way that is refused. */
static void lacking(void)
{
	char src[512];
	const char *path;
	FILE *s;

	snprintf(src, sizeof(src), "%s/lacking.s", fx_dir());
	s = fopen(src, "w");
	fprintf(s, ".text\n");
	asm_kernel(s, "gfx1030", 0,
		   "image_load v[0:3], v[4:5], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D\n"
		   "image_load v[0:3], v[4:5], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D\n"
		   "ds_add_u32 v1, v2 gds",
		   false, "");
	asm_metadata(s, "gfx1030", 1);
	fclose(s);
	path = asm_build("gfx1030", "clang-19", "lacking", src);
	if (!path)
		return;
	n_lacking = 0;
	ok(corpus_file(path), "an object with what is refused is read");
	is(n_lacking, 2, "both are told");
	is_str(corpus_lacking[0].what, "image_load", "by name");
	is(corpus_lacking[0].n, 2, "and how often");
	is_str(corpus_lacking[1].what, "ds_add_u32: modifier gds",
	       "and by what is not there of it");
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
	lacking();
	return done_testing();
}
