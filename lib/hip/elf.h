#ifndef HRR_HIP_ELF_H
#define HRR_HIP_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/diag.h"

/*
 * ELF64 little-endian shared objects for AMDGPU, read from untrusted bytes.
 * Private to lib/hip. Nothing is copied: every pointer returned is borrowed from
 * the bytes given at open, every offset in the file is checked before use, and
 * the bytes may lie at any alignment.
 */
#define HRR_ELF_MAX_LOADS 64		 /* PT_LOAD segments; lld writes 4 or 5 */
#define HRR_ELF_MAX_NAME ((size_t)65535) /* bytes of a symbol name */
#define HRR_ELF_PAGE 4096

enum {
	HRR_ELF_PT_LOAD = 1,
	HRR_ELF_PT_DYNAMIC = 2,
	HRR_ELF_PT_NOTE = 4,
	HRR_ELF_SHT_SYMTAB = 2,
	HRR_ELF_SHT_RELA = 4,
	HRR_ELF_SHT_NOTE = 7,
	HRR_ELF_SHT_NOBITS = 8,
	HRR_ELF_SHT_REL = 9,
	HRR_ELF_SHT_DYNSYM = 11,
	HRR_ELF_SHF_ALLOC = 2,
	HRR_ELF_SHF_COMPRESSED = 0x800,
	HRR_ELF_STT_SECTION = 3,
	HRR_ELF_STT_FILE = 4,
	HRR_ELF_SYM_SIZE = 24,
	HRR_ELF_RELA_SIZE = 24
};

static inline uint16_t hrr_le16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t hrr_le32(const unsigned char *p)
{
	return hrr_le16(p) | (uint32_t)hrr_le16(p + 2) << 16;
}
static inline uint64_t hrr_le64(const unsigned char *p)
{
	return hrr_le32(p) | (uint64_t)hrr_le32(p + 4) << 32;
}

struct hrr_elf_phdr {
	uint32_t type, flags;
	uint64_t offset, vaddr, filesz, memsz;
};

struct hrr_elf_shdr {
	uint32_t name, type;
	uint64_t flags, addr, offset, size;
	uint32_t link, info;
};

struct hrr_elf {
	const unsigned char *data; /* borrowed */
	size_t size;
	uint32_t flags;	     /* e_flags */
	unsigned abiversion; /* EI_ABIVERSION: 1 to 4 for code object v3 to v6 */
	uint64_t phoff, shoff;
	uint32_t phnum, shnum, shstrndx;
	uint64_t memory; /* end of the last PT_LOAD */
	unsigned n_loads;
	struct hrr_elf_phdr loads[HRR_ELF_MAX_LOADS]; /* all inside the file */
};

/* What the dynamic section says; addresses are virtual, 0 when absent. */
struct hrr_elf_dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash;
	uint64_t rela, relasz, relaent, rel, relr, jmprel, pltrelsz, pltrel;
};

struct hrr_elf_symtab {
	const unsigned char *syms; /* n times HRR_ELF_SYM_SIZE bytes */
	size_t n;
	const char *str; /* str[str_size - 1] is NUL, or str_size is 0 */
	size_t str_size;
};

/* -EINVAL with a reason when it is no loadable AMDGPU object or when its tables leave the file. */
int hrr_elf_open(struct hrr_elf *e, const void *data, size_t size, struct hrr_diag *diag);
/* Bytes an ELF file takes by its own headers, reading what they promise and at most max bytes. */
int hrr_elf_length(const void *data, size_t max, size_t *ret_len, struct hrr_diag *diag);
/* n bytes of the file at an offset, or NULL when not all of them are there. */
const unsigned char *hrr_elf_bytes(const struct hrr_elf *e, uint64_t offset, uint64_t n);
/* n bytes of the file behind a virtual address, inside one segment's file part, or NULL. */
const unsigned char *hrr_elf_at(const struct hrr_elf *e, uint64_t vaddr, uint64_t n);
/* i below phnum / shnum. */
struct hrr_elf_phdr hrr_elf_phdr(const struct hrr_elf *e, uint32_t i);
struct hrr_elf_shdr hrr_elf_shdr(const struct hrr_elf *e, uint32_t i);
/* A section with this name and bytes in the file: 0, or -ENOENT. */
int hrr_elf_section(const struct hrr_elf *e, const char *name, struct hrr_elf_shdr *ret_sh);
/* -ENOENT when there is no dynamic segment. */
int hrr_elf_dynamic(const struct hrr_elf *e, struct hrr_elf_dynamic *ret_dyn);
/* type is HRR_ELF_SHT_DYNSYM or _SYMTAB; -ENOENT when there is none, -EINVAL when it is damaged. */
int hrr_elf_symtab(const struct hrr_elf *e, uint32_t type, struct hrr_elf_symtab *ret_tab);

/*
 * Defined, named symbols that have an address in the image, findable in
 * O(log n) whatever the names are. Absolute symbols are numbers, not places,
 * and are left out; so are symbols reaching out of the image.
 */
struct hrr_elf_symref {
	uint64_t hash;
	const char *name;
	const unsigned char *sym;
};
struct hrr_elf_index {
	struct hrr_elf_symref *refs; /* owned; by bucket, in a bucket by hash and name */
	uint32_t *start;	     /* owned; (1 << bits) + 1 of them */
	unsigned bits;
	size_t n;
};
/* -EINVAL (diag) or -ENOMEM; the index is then empty. Of several symbols of a name any one is
 * found. */
int hrr_elf_index_init(struct hrr_elf_index *ix, const struct hrr_elf *e,
		       const struct hrr_elf_symtab *tab, struct hrr_diag *diag);
void hrr_elf_index_release(struct hrr_elf_index *ix);
/* NULL when there is none. */
const struct hrr_elf_symref *hrr_elf_index_find(const struct hrr_elf_index *ix, const char *name);

/* The processor of e_flags ("gfx90a"), or NULL when it is not in our table. */
const char *hrr_elf_processor(uint32_t flags);
/* ":sramecc+:xnack-" and the like of e_flags into text (size > 0), "" when any. */
void hrr_elf_features(uint32_t flags, unsigned abiversion, char *text, size_t size);

#endif
