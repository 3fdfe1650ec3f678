#include "lib/replay/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Something else than an ELF (SPIR-V) is for run times that compile: it has no layout to read. */
static bool is_elf(const struct hrr_bundle_entry *e)
{
	return e->size >= 4 && memcmp(e->data, "\177ELF", 4) == 0;
}

static int open_code(struct hrr_code *code, const void *data, size_t size)
{
	struct hrr_diag d = {0};
	char arch[64];
	int rc = hrr_bundle_open(&code->bundle, data, size, &d);

	code->opened = true;
	if (rc == 0 && code->bundle.n_entries != 0) {
		code->objects = calloc(code->bundle.n_entries, sizeof *code->objects);
		if (code->objects == NULL)
			rc = -ENOMEM;
	}
	for (size_t i = 0; rc == 0 && i < code->bundle.n_entries; i++) {
		const struct hrr_bundle_entry *e = &code->bundle.entries[i];
		if (!is_elf(e) || hrr_bundle_arch(e, arch, sizeof arch) < 0)
			continue;
		rc = hrr_codeobj_open(&code->objects[code->n], e->data, e->size, &d);
		code->n += rc == 0;
	}
	if (rc < 0 && rc != -ENOMEM)
		snprintf(code->why, sizeof code->why, "%.*s", (int)sizeof code->why - 1, d.what);
	return rc == -ENOMEM ? rc : 0;
}

static bool same(const struct hrr_layout *l, const struct hrr_kernel *k)
{
	if (l->n != k->n_explicit)
		return false;
	for (uint32_t i = 0; i < l->n; i++)
		if (l->args[i].offset != k->args[i].offset || l->args[i].size != k->args[i].size)
			return false;
	return true;
}

static int take(struct hrr_layout *l, const struct hrr_kernel *k)
{
	l->args = calloc(k->n_explicit + 1u, sizeof *l->args);
	if (l->args == NULL)
		return -ENOMEM;
	l->n = k->n_explicit;
	for (uint32_t i = 0; i < l->n; i++) {
		l->args[i].offset = k->args[i].offset;
		l->args[i].size = k->args[i].size;
		if (l->args[i].size > l->most)
			l->most = l->args[i].size;
	}
	return 0;
}

static void unknown(struct hrr_layout *l, const char *why)
{
	free(l->args);
	l->args = NULL;
	snprintf(l->why, sizeof l->why, "%s", why);
}

int hrr_layout_read(struct hrr_layout *l, struct hrr_code *code, const void *data, size_t size,
		    const char *name)
{
	int rc = code->opened ? 0 : open_code(code, data, size);

	*l = (struct hrr_layout){.read = rc == 0};
	for (size_t i = 0; rc == 0 && i < code->n; i++) {
		const struct hrr_codeobj *co = &code->objects[i];
		const struct hrr_kernel *k = hrr_codeobj_kernel(co, name);
		/* One that is there twice: they are sorted. */
		for (; rc == 0 && k != NULL && k != co->kernels + co->n_kernels &&
		       strcmp(k->name, name) == 0;
		     k++)
			if (l->args == NULL) {
				rc = take(l, k);
			} else if (!same(l, k)) {
				unknown(l, "its container has them in two ways");
				return 0;
			}
	}
	if (rc < 0) {
		hrr_layout_release(l);
		return rc;
	}
	if (code->why[0] != '\0')
		unknown(l, code->why);
	else if (l->args == NULL)
		unknown(l, "no code object has its metadata");
	return 0;
}

void hrr_layout_release(struct hrr_layout *l)
{
	free(l->args);
	*l = (struct hrr_layout){0};
}

void hrr_code_release(struct hrr_code *code)
{
	for (size_t i = 0; i < code->n; i++)
		hrr_codeobj_close(&code->objects[i]);
	free(code->objects);
	hrr_bundle_close(&code->bundle);
	*code = (struct hrr_code){0};
}
