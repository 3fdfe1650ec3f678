#include "lib/hip/codeobj_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DESCRIPTOR_SIZE = 64 };

static int by_name(const void *va, const void *vb)
{
	const struct hrr_kernel *a = va, *b = vb;
	int c = strcmp(a->name, b->name);

	/* Of two with a name the first in the file is found: names lie in that order. */
	return c != 0 ? c : (a->name > b->name) - (a->name < b->name);
}

static int target(struct hrr_codeobj *co, const struct hrr_codeobj_owned *o, struct hrr_diag *diag)
{
	/* The loader goes by e_flags; the metadata helps for a processor newer than our table. */
	const char *name = hrr_elf_processor(o->elf.flags);
	char features[32] = "";

	if (name != NULL) {
		snprintf(co->arch, sizeof co->arch, "%s", name);
		hrr_elf_features(o->elf.flags, o->elf.abiversion, features, sizeof features);
	} else {
		const char *p = strstr(o->target, "-gfx");
		if (p == NULL)
			return hrr_diag_set(diag, -EINVAL, "code object: unknown processor 0x%x",
					    o->elf.flags & 0xff);
		size_t n = strcspn(++p, ":");
		if (n >= sizeof co->arch || strlen(p + n) >= sizeof features)
			return hrr_diag_set(diag, -EINVAL, "code object: target name too long");
		memcpy(co->arch, p, n);
		co->arch[n] = '\0';
		strcpy(features, p + n);
	}
	snprintf(co->target, sizeof co->target, "amdgcn-amd-amdhsa--%s%s", co->arch, features);
	return 0;
}

/* The two symbol tables. A stripped object has no .symtab, an object without symbols neither. */
static int symbols(struct hrr_codeobj_owned *o, struct hrr_diag *diag)
{
	struct hrr_elf_symtab tab;
	int rc = hrr_elf_symtab(&o->elf, HRR_ELF_SHT_DYNSYM, &tab);

	if (rc == 0)
		rc = hrr_elf_index_init(&o->dynamic, &o->elf, &tab, diag);
	else if (rc == -EINVAL)
		hrr_diag_set(diag, rc, "code object: dynamic symbols outside the file");
	if (rc < 0 && rc != -ENOENT)
		return rc;
	rc = hrr_elf_symtab(&o->elf, HRR_ELF_SHT_SYMTAB, &tab);
	if (rc == 0)
		rc = hrr_elf_index_init(&o->all, &o->elf, &tab, diag);
	else if (rc == -EINVAL)
		hrr_diag_set(diag, rc, "code object: symbols outside the file");
	return rc < 0 && rc != -ENOENT ? rc : 0;
}

/* Names, arguments and descriptors of the kernels read, then their order. */
static void finish(struct hrr_codeobj *co, struct hrr_codeobj_owned *o)
{
	const struct hrr_arg *args = (const struct hrr_arg *)(void *)o->args.data;
	const char *name = o->names.data;
	bool sorted = true;

	co->kernels = (struct hrr_kernel *)(void *)o->kernels.data;
	co->n_kernels = o->kernels.len / sizeof *co->kernels;
	for (size_t i = 0; i < co->n_kernels; i++) {
		struct hrr_kernel *k = &co->kernels[i];
		const char *symbol = name + strlen(name) + 1;
		const struct hrr_elf_symref *r = hrr_elf_index_find(&o->dynamic, symbol);

		k->name = name;
		k->args = args;
		if (r == NULL)
			r = hrr_elf_index_find(&o->all, symbol);
		if (r != NULL) {
			uint64_t kd = hrr_le64(r->sym + 8);
			k->descriptor = hrr_elf_at(&o->elf, kd, DESCRIPTOR_SIZE);
			k->kd = k->descriptor != NULL ? kd : 0;
		}
		sorted = sorted && (i == 0 || strcmp(k[-1].name, k->name) <= 0);
		if (args != NULL)
			args += k->n_args;
		name = symbol + strlen(symbol) + 1;
	}
	if (!sorted)
		qsort(co->kernels, co->n_kernels, sizeof *co->kernels, by_name);
}

int hrr_codeobj_open(struct hrr_codeobj *co, const void *data, size_t size, struct hrr_diag *diag)
{
	struct hrr_codeobj_owned *o = calloc(1, sizeof *o);

	*co = (struct hrr_codeobj){.data = data, .size = size, .owned = o};
	if (o == NULL)
		return -ENOMEM;
	int rc = hrr_elf_open(&o->elf, data, size, diag);
	if (rc < 0)
		goto out;
	/* EI_ABIVERSION counts from v2, whose metadata is YAML and whose kernels have no
	 * descriptors. */
	if (o->elf.abiversion < 1 || o->elf.abiversion > 4) {
		rc = hrr_diag_set(diag, -EINVAL, "code object: version %u is not one of 3 to 6",
				  o->elf.abiversion + 2);
		goto out;
	}
	co->abi = o->elf.abiversion + 2;
	co->image_size = (size_t)(o->elf.memory + HRR_ELF_PAGE - 1) & ~(size_t)(HRR_ELF_PAGE - 1);
	rc = hrr_codeobj_metadata(o, diag);
	if (rc == 0)
		rc = target(co, o, diag);
	if (rc == 0)
		rc = symbols(o, diag);
	if (rc == 0)
		finish(co, o);
out:
	if (rc < 0)
		hrr_codeobj_close(co);
	return rc;
}

void hrr_codeobj_close(struct hrr_codeobj *co)
{
	struct hrr_codeobj_owned *o = co->owned;

	if (o != NULL) {
		hrr_elf_index_release(&o->dynamic);
		hrr_elf_index_release(&o->all);
		hrr_buf_release(&o->kernels);
		hrr_buf_release(&o->args);
		hrr_buf_release(&o->names);
		free(o);
	}
	*co = (struct hrr_codeobj){0};
}

const struct hrr_kernel *hrr_codeobj_kernel(const struct hrr_codeobj *co, const char *name)
{
	size_t lo = 0, hi = co->n_kernels;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (strcmp(co->kernels[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == co->n_kernels || strcmp(co->kernels[lo].name, name) != 0)
		return NULL;
	return &co->kernels[lo];
}

int hrr_codeobj_symbol(const struct hrr_codeobj *co, const char *name, struct hrr_symbol *ret_sym)
{
	const struct hrr_codeobj_owned *o = co->owned;
	const struct hrr_elf_symref *r = hrr_elf_index_find(&o->dynamic, name);

	if (r == NULL)
		r = hrr_elf_index_find(&o->all, name);
	if (r == NULL)
		return -ENOENT;
	*ret_sym = (struct hrr_symbol){.name = r->name,
				       .value = hrr_le64(r->sym + 8),
				       .size = hrr_le64(r->sym + 16),
				       .type = r->sym[4] & 15};
	return 0;
}
