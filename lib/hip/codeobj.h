#ifndef HRR_HIP_CODEOBJ_H
#define HRR_HIP_CODEOBJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/diag.h"

/*
 * One AMDGPU code object (an ELF file) as read from untrusted bytes: kernels,
 * their argument layout from the metadata note (msgpack, code object v3 to v6),
 * their descriptors, symbols, and what a loader needs. Everything is bounded
 * and checked at open; bytes are borrowed and must outlive the object.
 * Used inside recorded programs too: no printing, no exit, no locale. Once
 * open, an object may be read by several threads at once.
 */

enum hrr_arg_kind {
	HRR_ARG_VALUE,	 /* by_value: plain bytes or a struct */
	HRR_ARG_POINTER, /* global_buffer: the whole argument is a device address */
	HRR_ARG_LDS,	 /* dynamic_shared_pointer */
	HRR_ARG_OPAQUE,	 /* image, sampler, pipe, queue: passed as bytes, not translated */
	HRR_ARG_HIDDEN	 /* filled in by the run time; hidden says which */
};

/* Hidden arguments by their metadata names without "hidden_". */
enum hrr_hidden {
	HRR_HIDDEN_NONE,
	HRR_HIDDEN_GLOBAL_OFFSET_X,
	HRR_HIDDEN_GLOBAL_OFFSET_Y,
	HRR_HIDDEN_GLOBAL_OFFSET_Z,
	HRR_HIDDEN_BLOCK_COUNT_X,
	HRR_HIDDEN_BLOCK_COUNT_Y,
	HRR_HIDDEN_BLOCK_COUNT_Z,
	HRR_HIDDEN_GROUP_SIZE_X,
	HRR_HIDDEN_GROUP_SIZE_Y,
	HRR_HIDDEN_GROUP_SIZE_Z,
	HRR_HIDDEN_REMAINDER_X,
	HRR_HIDDEN_REMAINDER_Y,
	HRR_HIDDEN_REMAINDER_Z,
	HRR_HIDDEN_GRID_DIMS,
	HRR_HIDDEN_PRINTF_BUFFER,
	HRR_HIDDEN_HOSTCALL_BUFFER,
	HRR_HIDDEN_DEFAULT_QUEUE,
	HRR_HIDDEN_COMPLETION_ACTION,
	HRR_HIDDEN_MULTIGRID_SYNC_ARG,
	HRR_HIDDEN_HEAP_V1,
	HRR_HIDDEN_DYNAMIC_LDS_SIZE,
	HRR_HIDDEN_PRIVATE_BASE,
	HRR_HIDDEN_SHARED_BASE,
	HRR_HIDDEN_QUEUE_PTR,
	HRR_HIDDEN_OTHER /* a name not in this list; the run time leaves it 0 */
};

struct hrr_arg {
	uint32_t offset, size; /* bytes in the kernarg segment */
	enum hrr_arg_kind kind;
	enum hrr_hidden hidden;
};

struct hrr_kernel {
	const char *name; /* as in the API ("_Z5saxpyfPfS_i"), owned by the object, NUL-ended */
	uint64_t kd;	  /* address of the descriptor in the object; 0 when missing */
	uint32_t kernarg_size, kernarg_align;
	uint32_t group_size;	/* LDS bytes, static */
	uint32_t private_size;	/* scratch bytes per work-item, static */
	uint32_t wave_size;	/* 32 or 64 */
	uint32_t max_block;	/* work-items per workgroup */
	uint32_t reqd_block[3]; /* 0 when not required */
	bool dynamic_stack;
	uint32_t sgprs, vgprs, agprs, sgpr_spills, vgpr_spills; /* for hipFuncGetAttributes */
	uint32_t n_args, n_explicit; /* explicit ones come first, ordered by offset */
	const struct hrr_arg *args;
	const unsigned char *descriptor; /* its 64 bytes in the file image, or NULL */
};

struct hrr_codeobj {
	const unsigned char *data; /* borrowed */
	size_t size;
	char arch[32];	 /* "gfx90a", from metadata or e_flags */
	char target[96]; /* "amdgcn-amd-amdhsa--gfx90a:xnack-" */
	unsigned abi;	 /* code object version 3..6 */
	size_t n_kernels;
	struct hrr_kernel *kernels; /* sorted by name */
	size_t image_size; /* bytes a loader needs: end of the last PT_LOAD, page-rounded */
	void *owned;	   /* private */
};

/* Limits, also in formats: bigger is refused. */
#define HRR_CODEOBJ_MAX_KERNELS 262144
#define HRR_CODEOBJ_MAX_ARGS 4096
#define HRR_CODEOBJ_MAX_SIZE ((size_t)4 << 30)	    /* of the file, and of the image in memory */
#define HRR_CODEOBJ_MAX_KERNARG ((uint32_t)1 << 20) /* bytes of a kernarg segment */
#define HRR_MSGPACK_MAX_DEPTH 32

/* -EINVAL not an AMDGPU code object or damaged (diag says where), -ENOMEM. */
int hrr_codeobj_open(struct hrr_codeobj *co, const void *data, size_t size, struct hrr_diag *diag);
void hrr_codeobj_close(struct hrr_codeobj *co);
/* NULL when there is none. O(log n). */
const struct hrr_kernel *hrr_codeobj_kernel(const struct hrr_codeobj *co, const char *name);

struct hrr_symbol {
	const char *name;   /* borrowed from the object */
	uint64_t value;	    /* virtual address in the object */
	uint64_t size;	    /* bytes */
	unsigned char type; /* ELF STT_* */
};
/*
 * A defined symbol by name (variables: hipModuleGetGlobal, symbols). -ENOENT when
 * there is none. value + size never passes image_size; absolute symbols, which
 * are no places, are not found. Dynamic symbols go before local ones. O(log n).
 */
int hrr_codeobj_symbol(const struct hrr_codeobj *co, const char *name, struct hrr_symbol *ret_sym);
/*
 * Loads segments into image (image_size bytes, zeroed here) and applies
 * relocations for the load address base (device address). -EINVAL on a
 * relocation type we do not know or one that points outside.
 */
int hrr_codeobj_load(const struct hrr_codeobj *co, void *image, uint64_t base,
		     struct hrr_diag *diag);
/*
 * Source line of an address in the object (DWARF .debug_line, versions 2 to 5).
 * -ENOENT when the object has none, -ENOTSUP when it is compressed (-gz). file
 * (size > 0) is cut to fit; its bytes come from the object: hrr_mask before a
 * terminal sees them. The line is 0 for code the compiler gives none.
 */
int hrr_codeobj_line(const struct hrr_codeobj *co, uint64_t vaddr, char *file, size_t size,
		     unsigned *ret_line);

#endif
