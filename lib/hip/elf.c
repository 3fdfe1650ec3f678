#include "lib/hip/elf.h"

#include <errno.h>
#include <string.h>

#include "lib/hip/codeobj.h"

enum { EHDR_SIZE = 64, PHDR_SIZE = 56, SHDR_SIZE = 64, DYN_SIZE = 16 };
enum { EM_AMDGPU = 224, ET_DYN = 3, ET_REL = 1, OSABI_AMDGPU_HSA = 64 };

/* Where the two header tables are. Reads the file header, and section 0 for what does not fit
 * there. */
static int tables(struct hrr_elf *e, struct hrr_diag *diag)
{
	const unsigned char *h = e->data;

	if (e->size < EHDR_SIZE || memcmp(h, "\177ELF", 4) != 0)
		return hrr_diag_set(diag, -EINVAL, "code object: not an ELF file");
	if (h[4] != 2 || h[5] != 1)
		return hrr_diag_set(diag, -EINVAL,
				    "code object: not a 64-bit little-endian ELF file");
	e->abiversion = h[8];
	e->phoff = hrr_le64(h + 32);
	e->shoff = hrr_le64(h + 40);
	e->flags = hrr_le32(h + 48);
	e->phnum = hrr_le16(h + 56);
	e->shnum = hrr_le16(h + 60);
	e->shstrndx = hrr_le16(h + 62);
	if (e->phnum != 0 && hrr_le16(h + 54) != PHDR_SIZE)
		return hrr_diag_set(diag, -EINVAL,
				    "code object: program headers of %u bytes, not %d",
				    hrr_le16(h + 54), PHDR_SIZE);
	if (e->phnum != 0 && hrr_elf_bytes(e, e->phoff, (uint64_t)e->phnum * PHDR_SIZE) == NULL)
		return hrr_diag_set(diag, -EINVAL, "code object: program headers outside the file");
	if (e->shoff == 0) {
		e->shnum = 0;
		return 0;
	}
	if (hrr_le16(h + 58) != SHDR_SIZE)
		return hrr_diag_set(diag, -EINVAL,
				    "code object: section headers of %u bytes, not %d",
				    hrr_le16(h + 58), SHDR_SIZE);
	const unsigned char *s0 = hrr_elf_bytes(e, e->shoff, SHDR_SIZE);
	if (s0 != NULL && e->shnum == 0) {
		uint64_t n = hrr_le64(s0 + 32);
		e->shnum = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
	}
	if (s0 == NULL || hrr_elf_bytes(e, e->shoff, (uint64_t)e->shnum * SHDR_SIZE) == NULL)
		return hrr_diag_set(diag, -EINVAL, "code object: section headers outside the file");
	if (e->shstrndx == 0xffff)
		e->shstrndx = hrr_le32(s0 + 40);
	return 0;
}

int hrr_elf_open(struct hrr_elf *e, const void *data, size_t size, struct hrr_diag *diag)
{
	*e = (struct hrr_elf){.data = data, .size = size};

	if (size > HRR_CODEOBJ_MAX_SIZE)
		return hrr_diag_set(diag, -EINVAL, "code object: %zu bytes is too big", size);
	int rc = tables(e, diag);
	if (rc < 0)
		return rc;
	const unsigned char *h = e->data;
	if (hrr_le16(h + 18) != EM_AMDGPU)
		return hrr_diag_set(diag, -EINVAL, "code object: machine %u is not AMDGPU",
				    hrr_le16(h + 18));
	if (hrr_le16(h + 16) == ET_REL)
		return hrr_diag_set(diag, -EINVAL,
				    "code object: a relocatable object that was never linked");
	if (hrr_le16(h + 16) != ET_DYN || h[7] != OSABI_AMDGPU_HSA)
		return hrr_diag_set(diag, -EINVAL, "code object: not a shared object for AMD HSA");
	for (uint32_t i = 0; i < e->phnum; i++) {
		struct hrr_elf_phdr p = hrr_elf_phdr(e, i);

		if (p.type != HRR_ELF_PT_LOAD)
			continue;
		if (e->n_loads == HRR_ELF_MAX_LOADS)
			return hrr_diag_set(diag, -EINVAL,
					    "code object: more than %d segments to load",
					    HRR_ELF_MAX_LOADS);
		if (hrr_elf_bytes(e, p.offset, p.filesz) == NULL)
			return hrr_diag_set(diag, -EINVAL,
					    "code object: segment %u lies outside the file", i);
		if (p.filesz > p.memsz || p.memsz > HRR_CODEOBJ_MAX_SIZE ||
		    p.vaddr > HRR_CODEOBJ_MAX_SIZE - p.memsz)
			return hrr_diag_set(diag, -EINVAL,
					    "code object: segment %u has impossible sizes", i);
		if (e->memory < p.vaddr + p.memsz)
			e->memory = p.vaddr + p.memsz;
		e->loads[e->n_loads++] = p;
	}
	if (e->n_loads == 0)
		return hrr_diag_set(diag, -EINVAL, "code object: no segment to load");
	return 0;
}

/* The farthest end seen so far, given another piece of the file; false when no file reaches there.
 */
static bool reach(uint64_t *end, uint64_t offset, uint64_t n, uint64_t max)
{
	if (offset > max || n > max - offset)
		return false;
	if (n != 0 && *end < offset + n)
		*end = offset + n;
	return true;
}

int hrr_elf_length(const void *data, size_t max, size_t *ret_len, struct hrr_diag *diag)
{
	/* Addresses end somewhere, and so does what we take. */
	uint64_t cap = UINTPTR_MAX - (uintptr_t)data;
	if (cap > HRR_CODEOBJ_MAX_SIZE)
		cap = HRR_CODEOBJ_MAX_SIZE;
	if (cap > max)
		cap = max;
	struct hrr_elf e = {.data = data, .size = (size_t)cap};
	uint64_t end = EHDR_SIZE;
	bool ok = true;

	int rc = tables(&e, diag);
	if (rc < 0)
		return rc;
	reach(&end, e.phoff, (uint64_t)e.phnum * PHDR_SIZE, cap);
	reach(&end, e.shoff, (uint64_t)e.shnum * SHDR_SIZE, cap);
	for (uint32_t i = 0; i < e.phnum && ok; i++) {
		struct hrr_elf_phdr p = hrr_elf_phdr(&e, i);
		if (p.type != 0)
			ok = reach(&end, p.offset, p.filesz, cap);
	}
	/* Section 0 holds no bytes; its size is a count when the header has no room for it. */
	for (uint32_t i = 1; i < e.shnum && ok; i++) {
		struct hrr_elf_shdr s = hrr_elf_shdr(&e, i);
		if (s.type != 0 && s.type != HRR_ELF_SHT_NOBITS)
			ok = reach(&end, s.offset, s.size, cap);
	}
	if (!ok)
		return hrr_diag_set(diag, -EINVAL, "code object: cut short");
	*ret_len = (size_t)end;
	return 0;
}

const unsigned char *hrr_elf_bytes(const struct hrr_elf *e, uint64_t offset, uint64_t n)
{
	if (offset > e->size || n > e->size - offset)
		return NULL;
	return e->data + offset;
}

const unsigned char *hrr_elf_at(const struct hrr_elf *e, uint64_t vaddr, uint64_t n)
{
	for (unsigned i = 0; i < e->n_loads; i++) {
		const struct hrr_elf_phdr *p = &e->loads[i];

		if (vaddr >= p->vaddr && vaddr - p->vaddr <= p->filesz &&
		    n <= p->filesz - (vaddr - p->vaddr))
			return e->data + p->offset + (vaddr - p->vaddr);
	}
	return NULL;
}

struct hrr_elf_phdr hrr_elf_phdr(const struct hrr_elf *e, uint32_t i)
{
	const unsigned char *p = e->data + e->phoff + (size_t)i * PHDR_SIZE;

	return (struct hrr_elf_phdr){.type = hrr_le32(p),
				     .flags = hrr_le32(p + 4),
				     .offset = hrr_le64(p + 8),
				     .vaddr = hrr_le64(p + 16),
				     .filesz = hrr_le64(p + 32),
				     .memsz = hrr_le64(p + 40)};
}

struct hrr_elf_shdr hrr_elf_shdr(const struct hrr_elf *e, uint32_t i)
{
	const unsigned char *p = e->data + e->shoff + (size_t)i * SHDR_SIZE;

	return (struct hrr_elf_shdr){.name = hrr_le32(p),
				     .type = hrr_le32(p + 4),
				     .flags = hrr_le64(p + 8),
				     .addr = hrr_le64(p + 16),
				     .offset = hrr_le64(p + 24),
				     .size = hrr_le64(p + 32),
				     .link = hrr_le32(p + 40),
				     .info = hrr_le32(p + 44)};
}

int hrr_elf_section(const struct hrr_elf *e, const char *name, struct hrr_elf_shdr *ret_sh)
{
	if (e->shstrndx == 0 || e->shstrndx >= e->shnum)
		return -ENOENT;
	struct hrr_elf_shdr strs = hrr_elf_shdr(e, e->shstrndx);
	const unsigned char *str = hrr_elf_bytes(e, strs.offset, strs.size);
	size_t n = strlen(name) + 1;
	if (str == NULL || strs.type == HRR_ELF_SHT_NOBITS)
		return -ENOENT;
	for (uint32_t i = 1; i < e->shnum; i++) {
		struct hrr_elf_shdr s = hrr_elf_shdr(e, i);

		if (s.name > strs.size || n > strs.size - s.name ||
		    memcmp(str + s.name, name, n) != 0 || s.type == HRR_ELF_SHT_NOBITS ||
		    hrr_elf_bytes(e, s.offset, s.size) == NULL)
			continue;
		*ret_sh = s;
		return 0;
	}
	return -ENOENT;
}

int hrr_elf_dynamic(const struct hrr_elf *e, struct hrr_elf_dynamic *ret_dyn)
{
	struct hrr_elf_dynamic d = {0};
	const unsigned char *p = NULL;
	uint64_t n = 0;

	for (uint32_t i = 0; i < e->phnum && p == NULL; i++) {
		struct hrr_elf_phdr ph = hrr_elf_phdr(e, i);
		if (ph.type != HRR_ELF_PT_DYNAMIC)
			continue;
		p = hrr_elf_bytes(e, ph.offset, ph.filesz);
		n = ph.filesz / DYN_SIZE;
	}
	if (p == NULL)
		return -ENOENT;
	for (uint64_t i = 0; i < n && hrr_le64(p) != 0; i++, p += DYN_SIZE) {
		uint64_t v = hrr_le64(p + 8);

		switch (hrr_le64(p)) {
		case 2:
			d.pltrelsz = v;
			break;
		case 4:
			d.hash = v;
			break;
		case 5:
			d.strtab = v;
			break;
		case 6:
			d.symtab = v;
			break;
		case 7:
			d.rela = v;
			break;
		case 8:
			d.relasz = v;
			break;
		case 9:
			d.relaent = v;
			break;
		case 10:
			d.strsz = v;
			break;
		case 17:
			d.rel = v;
			break;
		case 20:
			d.pltrel = v;
			break;
		case 23:
			d.jmprel = v;
			break;
		case 36:
			d.relr = v;
			break;
		case 0x6ffffef5:
			d.gnu_hash = v;
			break;
		default:
			break;
		}
	}
	*ret_dyn = d;
	return 0;
}
