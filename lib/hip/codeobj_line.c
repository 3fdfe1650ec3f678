#include "lib/hip/codeobj_private.h"

#include <errno.h>

#include "lib/hip/dwarf.h"

enum { PF_X = 1 };

static int section(const struct hrr_elf *e, const char *name, const unsigned char **ret_p,
		   size_t *ret_n)
{
	struct hrr_elf_shdr s;
	int rc = hrr_elf_section(e, name, &s);

	if (rc < 0)
		return rc;
	if (s.flags & HRR_ELF_SHF_COMPRESSED)
		return -ENOTSUP;
	*ret_p = e->data + s.offset;
	*ret_n = (size_t)s.size;
	return 0;
}

int hrr_codeobj_line(const struct hrr_codeobj *co, uint64_t vaddr, char *file, size_t size,
		     unsigned *ret_line)
{
	const struct hrr_codeobj_owned *o = co->owned;
	struct hrr_dwarf d = {.lo = UINT64_MAX};

	int rc = section(&o->elf, ".debug_line", &d.line, &d.line_size);
	if (rc < 0)
		return rc;
	/* Strings may be missing: versions before 5 have them in the table. */
	section(&o->elf, ".debug_line_str", &d.line_str, &d.line_str_size);
	section(&o->elf, ".debug_str", &d.str, &d.str_size);
	for (unsigned i = 0; i < o->elf.n_loads; i++) {
		const struct hrr_elf_phdr *p = &o->elf.loads[i];
		if ((p->flags & PF_X) == 0)
			continue;
		if (d.lo > p->vaddr)
			d.lo = p->vaddr;
		if (d.hi < p->vaddr + p->memsz)
			d.hi = p->vaddr + p->memsz;
	}
	return hrr_dwarf_line(&d, vaddr, file, size, ret_line);
}
