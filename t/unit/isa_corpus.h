#ifndef HRR_T_UNIT_ISA_CORPUS_H
#define HRR_T_UNIT_ISA_CORPUS_H

#include "lib/emu/isa/internal.h"
#include "lib/hip/bundle.h"
#include "t/unit/isa_fixture.h"

/* Instructions met that the interpreter refuses: the mnemonic, or that and what it is about. */
static struct corpus_lack {
	enum isa_arch arch;
	char what[96];
	unsigned n;
} corpus_lacking[512];
static unsigned n_lacking;

static inline void corpus_refused(struct isa_code *code, enum isa_arch arch,
				  const struct isa_inst *in)
{
	const char *const why = isa_refused(in);
	char text[96], what[96];
	size_t len;

	if (!why)
		return;
	isa_inst_text(code, in, text, sizeof(text));
	len = strcspn(text, " ");
	if (!len || !strcmp(text, "s_code_end") || !strcmp(text, "v_illegal"))
		return; /* no instruction: padding, or data among the code */
	snprintf(what, sizeof(what), "%.*s", (int)len, text);
	if (strncmp(text, why, strlen(why)) != 0)
		snprintf(what + len, sizeof(what) - len, ": %s", why);
	for (unsigned i = 0; i < n_lacking; i++)
		if (corpus_lacking[i].arch == arch && !strcmp(corpus_lacking[i].what, what)) {
			corpus_lacking[i].n++;
			return;
		}
	if (n_lacking < sizeof(corpus_lacking) / sizeof(corpus_lacking[0])) {
		corpus_lacking[n_lacking] = (struct corpus_lack){.arch = arch, .n = 1};
		memcpy(corpus_lacking[n_lacking++].what, what, sizeof(what));
	}
}

/*
 * Names of the table that code objects hold, whether a kernel comes by or not:
 * the executable bytes are decoded from end to end. What is met is what
 * isa_table_met says afterwards; what is lacking, corpus_lacking.
 */
static inline bool corpus_object(const char *path, const struct hrr_bundle_entry *e)
{
	struct hrr_diag diag = {0};
	struct hrr_codeobj co;
	struct isa_program *prog = NULL;
	struct isa_code *code = NULL;
	unsigned char *image = NULL;
	char arch[64], why[160] = "out of memory";
	int a;

	if (hrr_bundle_arch(e, arch, sizeof(arch)))
		return true; /* for the host */
	a = isa_arch_by_name(arch);
	if (a < 0 || !e->size)
		return true;
	if (hrr_codeobj_open(&co, e->data, e->size, &diag)) {
		fprintf(stderr, "coverage: %s: %s\n", path, diag.what);
		return false;
	}
	image = aligned_alloc(4096, (co.image_size + 4095) / 4096 * 4096);
	if (image && !hrr_codeobj_load(&co, image, FX_BASE, &diag) &&
	    !isa_program_new((enum isa_arch)a, image, co.image_size, FX_BASE, &prog, &diag))
		code = isa_program_code(prog,
					co.n_kernels ? co.kernels[0].wave_size
						     : isa_arch_wave_size((enum isa_arch)a),
					why, sizeof(why));
	if (!code)
		fprintf(stderr, "coverage: %s: %s\n", path, diag.what[0] ? diag.what : why);
	for (uint64_t at = 0; code && at + 4 <= co.image_size;) {
		const struct isa_inst *const in = isa_code_at(code, FX_BASE + at, why, sizeof(why));

		if (in)
			corpus_refused(code, (enum isa_arch)a, in);
		at += in && in->size ? in->size : 4;
	}
	isa_program_free(prog);
	hrr_codeobj_close(&co);
	free(image);
	return code != NULL;
}

/* Objects in a file of any kind: bare, in bundles, in a program, in a blob. */
static inline bool corpus_file(const char *path)
{
	static const char *const magic[] = {"\177ELF", "__CLANG_OFFLOAD_BUNDLE__", "CCOB"};
	size_t size, len;
	unsigned char *const p = fx_read(path, &size);
	bool good = true;

	for (size_t i = 0; p && i + 24 <= size; i += len) {
		struct hrr_bundle b;
		bool starts = false;

		len = 1;
		for (size_t k = 0; k < sizeof(magic) / sizeof(magic[0]); k++)
			starts |= !memcmp(p + i, magic[k], strlen(magic[k]));
		if (!starts || hrr_bundle_length(p + i, size - i, &len, NULL) || !len) {
			len = 1;
			continue;
		}
		if (hrr_bundle_open(&b, p + i, len, NULL)) { /* a program of the host, or chance */
			len = 1;
			continue;
		}
		for (size_t k = 0; k < b.n_entries; k++)
			good &= corpus_object(path, &b.entries[k]);
		if (!b.n_entries || !memcmp(p + i, magic[0], 4)) {
			char arch[64];

			if (!b.n_entries || hrr_bundle_arch(&b.entries[0], arch, sizeof(arch)))
				len = 1; /* its bundles lie inside */
		}
		hrr_bundle_close(&b);
	}
	free(p);
	return good;
}

#endif
