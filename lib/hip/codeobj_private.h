#ifndef HRR_HIP_CODEOBJ_PRIVATE_H
#define HRR_HIP_CODEOBJ_PRIVATE_H

#include "lib/hip/codeobj.h"
#include "lib/hip/elf.h"

/* What stands behind hrr_codeobj.owned; for codeobj*.c and dwarf*.c only. */
struct hrr_codeobj_owned {
	struct hrr_elf elf;
	struct hrr_elf_index dynamic; /* .dynsym: what a loader sees */
	struct hrr_elf_index all;     /* .symtab: local symbols too; empty when stripped */
	struct hrr_buf kernels;	      /* struct hrr_kernel[] */
	struct hrr_buf args;	      /* struct hrr_arg[], in the order the kernels were read */
	struct hrr_buf
	    names;	 /* for each kernel its name and its descriptor's symbol, NUL behind each */
	char target[96]; /* amdhsa.target of the metadata, "" when absent */
};

/*
 * Reads the NT_AMDGPU_METADATA note into kernels, args, names and target; the
 * pointers in the kernels are not set yet. No note is no error: no kernels.
 */
int hrr_codeobj_metadata(struct hrr_codeobj_owned *o, struct hrr_diag *diag);

#endif
