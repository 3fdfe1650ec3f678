#include "lib/hip/codeobj_private.h"

#include <errno.h>
#include <string.h>

/* Relocations of the AMDGPU ABI that ask a loader for something. */
enum {
	R_AMDGPU_NONE = 0,
	R_AMDGPU_ABS32_LO = 1,
	R_AMDGPU_ABS32_HI = 2,
	R_AMDGPU_ABS64 = 3,
	R_AMDGPU_REL32 = 4,
	R_AMDGPU_REL64 = 5,
	R_AMDGPU_ABS32 = 6,
	R_AMDGPU_REL32_LO = 10,
	R_AMDGPU_REL32_HI = 11,
	R_AMDGPU_RELATIVE64 = 13
};

struct load {
	const struct hrr_codeobj *co;
	const struct hrr_elf *elf;
	struct hrr_elf_symtab syms; /* .dynsym; n is 0 when there is none */
	unsigned char *image;
	uint64_t base;
	struct hrr_diag *diag;
};

static void put_le(unsigned char *p, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++, v >>= 8)
		p[i] = (unsigned char)v;
}

/* S of a relocation: the loaded address of its symbol. */
static int symbol_value(const struct load *l, uint32_t i, uint64_t *ret_value)
{
	if (i == 0) {
		*ret_value = 0;
		return 0;
	}
	if (i >= l->syms.n)
		return hrr_diag_set(l->diag, -EINVAL, "code object: relocation by symbol %u of %zu",
				    i, l->syms.n);
	const unsigned char *s = l->syms.syms + (size_t)i * HRR_ELF_SYM_SIZE;
	uint32_t name = hrr_le32(s), section = hrr_le16(s + 6);
	if (section == 0 && s[4] >> 4 != 2 /* weak: address 0 says that it is not there */)
		return hrr_diag_set(l->diag, -EINVAL, "code object: undefined symbol %.200s",
				    name < l->syms.str_size ? l->syms.str + name : "?");
	*ret_value = hrr_le64(s + 8);
	if (section != 0 && section != 0xfff1 /* absolute */)
		*ret_value += l->base;
	return 0;
}

static int relocate(const struct load *l, const unsigned char *rela)
{
	uint64_t at = hrr_le64(rela), info = hrr_le64(rela + 8), v = 0;
	uint32_t type = (uint32_t)info;
	size_t n =
	    type == R_AMDGPU_ABS64 || type == R_AMDGPU_REL64 || type == R_AMDGPU_RELATIVE64 ? 8 : 4;

	if (type == R_AMDGPU_NONE)
		return 0;
	if (at > l->elf->memory || n > l->elf->memory - at)
		return hrr_diag_set(l->diag, -EINVAL,
				    "code object: relocation at 0x%llx is outside the image",
				    (unsigned long long)at);
	if (type != R_AMDGPU_RELATIVE64) {
		int rc = symbol_value(l, (uint32_t)(info >> 32), &v);
		if (rc < 0)
			return rc;
	}
	v += hrr_le64(rela + 16);
	switch (type) {
	case R_AMDGPU_RELATIVE64:
		v += l->base;
		break;
	case R_AMDGPU_ABS32:
		if (v > UINT32_MAX)
			return hrr_diag_set(l->diag, -EINVAL,
					    "code object: 32-bit relocation of address 0x%llx",
					    (unsigned long long)v);
		break;
	case R_AMDGPU_ABS64:
	case R_AMDGPU_ABS32_LO:
		break;
	case R_AMDGPU_ABS32_HI:
		v >>= 32;
		break;
	case R_AMDGPU_REL64:
	case R_AMDGPU_REL32:
	case R_AMDGPU_REL32_LO:
		v -= l->base + at;
		break;
	case R_AMDGPU_REL32_HI:
		v = (v - (l->base + at)) >> 32;
		break;
	default:
		return hrr_diag_set(l->diag, -EINVAL, "code object: unknown relocation type %u",
				    type);
	}
	put_le(l->image + at, v, n);
	return 0;
}

static int table(const struct load *l, const unsigned char *p, uint64_t size)
{
	int rc = 0;

	if (p == NULL || size % HRR_ELF_RELA_SIZE != 0)
		return hrr_diag_set(l->diag, -EINVAL, "code object: relocations cut short");
	for (uint64_t i = 0; i < size && rc == 0; i += HRR_ELF_RELA_SIZE)
		rc = relocate(l, p + i);
	return rc;
}

/* Of an object without a dynamic segment: the sections that are meant to be in memory. */
static int by_sections(const struct load *l)
{
	int rc = 0;

	for (uint32_t i = 1; i < l->elf->shnum && rc == 0; i++) {
		struct hrr_elf_shdr s = hrr_elf_shdr(l->elf, i);

		if ((s.flags & HRR_ELF_SHF_ALLOC) == 0)
			continue;
		if (s.type == HRR_ELF_SHT_RELA)
			rc = table(l, hrr_elf_bytes(l->elf, s.offset, s.size), s.size);
		else if (s.type == HRR_ELF_SHT_REL)
			rc = hrr_diag_set(l->diag, -EINVAL,
					  "code object: relocations without addends");
	}
	return rc;
}

static int relocations(const struct load *l)
{
	struct hrr_elf_dynamic d;
	int rc = 0;

	if (hrr_elf_dynamic(l->elf, &d) < 0)
		return by_sections(l);
	if (d.rel != 0 || d.relr != 0 || (d.jmprel != 0 && d.pltrel != 7 /* DT_RELA */) ||
	    (d.rela != 0 && d.relaent != HRR_ELF_RELA_SIZE))
		return hrr_diag_set(l->diag, -EINVAL,
				    "code object: relocations in a form other than RELA");
	if (d.rela != 0)
		rc = table(l, hrr_elf_at(l->elf, d.rela, d.relasz), d.relasz);
	if (rc == 0 && d.jmprel != 0)
		rc = table(l, hrr_elf_at(l->elf, d.jmprel, d.pltrelsz), d.pltrelsz);
	return rc;
}

int hrr_codeobj_load(const struct hrr_codeobj *co, void *image, uint64_t base,
		     struct hrr_diag *diag)
{
	const struct hrr_codeobj_owned *o = co->owned;
	struct load l = {.co = co, .elf = &o->elf, .image = image, .base = base, .diag = diag};

	if (hrr_elf_symtab(l.elf, HRR_ELF_SHT_DYNSYM, &l.syms) < 0)
		l.syms = (struct hrr_elf_symtab){0};
	memset(image, 0, co->image_size);
	for (unsigned i = 0; i < l.elf->n_loads; i++) {
		const struct hrr_elf_phdr *p = &l.elf->loads[i];
		if (p->filesz != 0)
			memcpy(l.image + p->vaddr, co->data + p->offset, (size_t)p->filesz);
	}
	return relocations(&l);
}
