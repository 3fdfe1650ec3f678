#ifndef HRR_T_UNIT_CODEOBJ_FIXTURE_H
#define HRR_T_UNIT_CODEOBJ_FIXTURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hip/bundle.h"
#include "lib/hip/codeobj.h"

/* What the tests and the fuzzers of code objects share. */

struct bytes {
	unsigned char *p; /* owned; exactly n bytes, so that ASan sees a read past them */
	size_t n;
};

static inline struct bytes bytes_of(const void *p, size_t n)
{
	struct bytes b = {malloc(n != 0 ? n : 1), n};

	if (b.p == NULL)
		abort();
	if (n != 0)
		memcpy(b.p, p, n);
	return b;
}

/* A file by its path from the top of the tree, where the tests run. */
static inline struct bytes read_file(const char *path)
{
	struct hrr_buf b = {0};
	char part[4096];
	size_t n;
	FILE *f = fopen(path, "rb");

	if (f == NULL) {
		printf("Bail out! cannot read %s: run from the top of the tree\n", path);
		exit(1);
	}
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		if (hrr_buf_add(&b, part, n) < 0)
			abort();
	fclose(f);
	struct bytes r = bytes_of(b.data, b.len);
	hrr_buf_release(&b);
	return r;
}

/* Reads everything an object offers, as a careful user would. Returns what open said. */
static inline int exercise_object(const void *data, size_t size)
{
	struct hrr_codeobj co;
	struct hrr_diag why;
	volatile unsigned char sink = 0; /* so that reads are not optimised away */

	(void)sink;
	int rc = hrr_codeobj_open(&co, data, size, &why);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < co.n_kernels; i++) {
		const struct hrr_kernel *k = &co.kernels[i];
		struct hrr_symbol sym;

		if (i > 0 && strcmp(k[-1].name, k->name) > 0)
			abort();
		if (hrr_codeobj_kernel(&co, k->name) == NULL || k->n_explicit > k->n_args)
			abort();
		for (uint32_t a = 0; a < k->n_args; a++) {
			if (k->args[a].offset > k->kernarg_size ||
			    k->args[a].size > k->kernarg_size - k->args[a].offset ||
			    (k->args[a].kind == HRR_ARG_HIDDEN) != (a >= k->n_explicit))
				abort();
		}
		for (int b = 0; k->descriptor != NULL && b < 64; b++)
			sink ^= k->descriptor[b];
		if (hrr_codeobj_symbol(&co, k->name, &sym) == 0) {
			if (sym.value > co.image_size || sym.size > co.image_size - sym.value)
				abort();
			char file[24];
			unsigned line;
			hrr_codeobj_line(&co, sym.value + 4, file, sizeof file, &line);
		}
	}
	if (co.image_size <= 1 << 20) {
		void *image = malloc(co.image_size);
		if (image != NULL)
			hrr_codeobj_load(&co, image, 0x7f1200000000, &why);
		free(image);
	}
	hrr_codeobj_close(&co);
	return 0;
}

/* The same for a container and all that is in it. */
static inline int exercise_bundle(const void *data, size_t size)
{
	struct hrr_bundle b;
	struct hrr_diag why;
	const struct hrr_bundle_entry *e;
	size_t len;

	if (hrr_bundle_length(data, size, &len, &why) == 0 && len > size)
		abort();
	int rc = hrr_bundle_open(&b, data, size, &why);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < b.n_entries; i++) {
		char arch[16];
		volatile unsigned char sink = 0;

		(void)sink;
		hrr_bundle_arch(&b.entries[i], arch, sizeof arch);
		for (size_t k = 0; k < b.entries[i].id_len; k++)
			sink ^= (unsigned char)b.entries[i].id[k];
		if (b.entries[i].size != 0)
			sink ^= b.entries[i].data[0] ^ b.entries[i].data[b.entries[i].size - 1];
	}
	if (hrr_bundle_find(&b, "gfx90a:sramecc+:xnack-", &e) == 0)
		exercise_object(e->data, e->size);
	hrr_bundle_close(&b);
	return 0;
}

#endif
