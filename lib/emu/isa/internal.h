#ifndef HRR_EMU_ISA_INTERNAL_H
#define HRR_EMU_ISA_INTERNAL_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/emu/isa/inst.h"
#include "lib/emu/isa/isa.h"

/*
 * Inside the interpreter. Three ideas:
 *
 * - An instruction is decoded once into struct isa_inst: a function and where
 *   its operands lie. Operands that are not plain vector registers or constants
 *   (scalar registers, modifiers, DPP, SDWA, op_sel) are first brought into
 *   temporary rows of the register file (cross.inc), so that the function itself
 *   only ever sees rows of 64 dwords.
 * - Vector registers are lane-major rows, v[register][lane], so that a function
 *   is one loop over lanes that the compiler vectorises. Each file of such
 *   loops is compiled for several x86 levels (variant_*.h); the best one is
 *   chosen when the first program is made. Results are the same on each.
 * - A wave is plain data and resumes anywhere between two instructions.
 */

/* What decoding made, per wave size. */
struct isa_code;

struct isa_span_cache {
	u64 lo, hi;	 /* empty when lo == hi */
	uintptr_t delta; /* host address = delta + device address, modulo 2^64 */
	bool readable, writable;
	uintptr_t shadow; /* the same to bytes that tell what was written (seen.inc), or 0 */
};

#define ISA_CACHE 1024
#define ISA_MAX_ITEMS 1024u /* of a workgroup */

struct isa_wg;

/* One CPU thread of a launch. */
struct isa_thread {
	alignas(128) const struct isa_launch *launch; /* no cache line of another thread's */
	const struct isa_kernel *kernel;
	const struct isa_inst *entry;
	struct isa_code *code;
	struct isa_run *run;
	struct isa_gws *gws;
	struct isa_thread *next; /* of those kept for later launches */
	struct isa_wg *spare;	 /* owned: storage of groups that are not in flight */
	struct isa_report report;
	u64 *approx; /* owned: counts by table index */
	u64 instructions, waves, groups;
	u64 counted, quantum; /* instructions already taken from the budget; how many at a time */
	_Atomic u64 *all_instructions, *all_room; /* of the launch */
	struct isa_report final;		  /* of the workgroup order */
	u64 order;				  /* of the workgroup whose fault the report has */
	/* work-item ids by number in the group: x (or all, packed), y, z; of groups of ids_dim */
	u32 ids_dim[3], ids_gen;
	u32 ids[3 * ISA_MAX_ITEMS];
	struct isa_span_cache cache[ISA_CACHE];
};

enum isa_wave_state { WAVE_READY, WAVE_BARRIER, WAVE_DONE };

struct isa_wave {
	alignas(64) u32 s[R_COUNT];
	alignas(64) u32 mask[ISA_LANES]; /* of mask_exec, as 0 or ~0 */
	u64 mask_exec;
	u64 full; /* EXEC with every lane of the wave size on */
	u32 lanes;
	u32 mode;
	u32 *v; /* row of v0 */
	const struct isa_inst *in;
	const struct isa_inst *block; /* where counting started */
	struct isa_wg *wg;
	struct isa_thread *t;
	u8 *lds;
	u32 lds_size;
	u32 lds_open;	     /* bytes that need only be in bounds: lds_size, or 0 */
	u64 scratch_open;    /* the same of scratch_size */
	u8 *scratch_written; /* owned: as isa_span.written, under watch_own; or NULL */
	u8 *scratch;	     /* owned */
	u64 scratch_size;    /* bytes of the wave */
	u64 scratch_used;    /* from its start, written since it was poisoned */
	u64 scratch_room;    /* bytes allocated */
	u8 scratch_fill;
	u32 index; /* in its workgroup */
	u8 state;
	u8 gpr_idx; /* s_set_gpr_idx: enable bits, 0 off */
	u8 arch;
	u8 gen;		/* 9, 10, 11, 12 */
	bool fnuz;	/* which 8-bit floats */
	bool gws_waits; /* it is counted at a barrier over the grid, of generation gws_turn */
	u32 gws_turn;
	u64 count;
	u32 *rows; /* owned */
};

static inline u64 *isa_s64(struct isa_wave *w, unsigned reg)
{
	return (u64 *)(void *)&w->s[reg];
}
static inline u64 isa_exec(const struct isa_wave *w)
{
	u64 e;
	memcpy(&e, &w->s[R_EXEC], 8);
	return e;
}
static inline void isa_set_exec(struct isa_wave *w, u64 e)
{
	*isa_s64(w, R_EXEC) = e;
}
/* A lane mask lies in one scalar register (32 lanes) or in two. */
static inline u64 isa_get_mask(struct isa_wave *w, unsigned reg)
{
	return w->lanes == 64 ? *isa_s64(w, reg) : w->s[reg];
}
static inline void isa_put_mask(struct isa_wave *w, unsigned reg, u64 m)
{
	if (w->lanes == 64)
		*isa_s64(w, reg) = m;
	else
		w->s[reg] = (u32)m;
}
/* Address of scalar source k. */
static inline const void *isa_sp(struct isa_wave *w, const struct isa_inst *in, unsigned k)
{
	return (const void *)(in->src[k].off + ((uintptr_t)w->s & in->src[k].rel));
}
static inline u32 isa_su32(struct isa_wave *w, const struct isa_inst *in, unsigned k)
{
	return *(const u32 *)isa_sp(w, in, k);
}
static inline u64 isa_su64(struct isa_wave *w, const struct isa_inst *in, unsigned k)
{
	return *(const u64 *)isa_sp(w, in, k);
}
static inline u64 isa_smask(struct isa_wave *w, const struct isa_inst *in, unsigned k)
{
	return w->lanes == 64 ? isa_su64(w, in, k) : isa_su32(w, in, k);
}
/* Row of vector source k. */
static inline const u32 *isa_vp(const struct isa_wave *w, const struct isa_inst *in, unsigned k)
{
	return (const u32 *)(in->src[k].off + ((uintptr_t)w->v & in->src[k].rel));
}
static inline u32 *isa_row(const struct isa_wave *w, i32 byte_offset)
{
	return (u32 *)(void *)((char *)w->v + byte_offset);
}
static inline const u32 *isa_lane_mask(struct isa_wave *w)
{
	const u64 e = isa_exec(w);

	if (e != w->mask_exec) {
		for (unsigned h = 0; h < 2; h++) {
			const u32 half = (u32)(e >> (32 * h));
			for (unsigned i = 0; i < 32; i++)
				w->mask[32 * h + i] = 0u - (half >> i & 1);
		}
		w->mask_exec = e;
	}
	return w->mask;
}

/* --- run.c ---------------------------------------------------------------- */

/* Whether two faults are one site: an instruction may do wrong in more ways than one. */
static inline bool isa_same_site(const struct isa_fault *a, const struct isa_fault *b)
{
	return a->pc == b->pc &&
	       (a->why == b->why || (a->why && b->why && !strcmp(a->why, b->why)));
}

/* Ends the launch with a status and a line of text; returns NEXT_STOP. */
int isa_fail(struct isa_wave *w, const struct isa_inst *in, enum isa_status status, const char *fmt,
	     ...) HRR_PRINTF(4, 5);
/* Ends the launch with a fault; lanes did it, addr is the first one's address. */
int isa_fault_at(struct isa_wave *w, const struct isa_inst *in, enum isa_access access,
		 enum isa_space space, u64 addr, u32 size, u64 lanes, const char *why);
/* The same with all that is known: access, space, address, size, lanes, why, limit of what are
 * used. */
int isa_fault_in(struct isa_wave *w, const struct isa_inst *in, const struct isa_fault *what);
/* Reports without ending anything. */
void isa_note(struct isa_wave *w, const struct isa_inst *in, const struct isa_fault *what);
/* Runs a wave until it yields, ends or stops, at most about slice instructions. */
int isa_step(struct isa_wave *w, u64 slice);

/* --- wave.c ----------------------------------------------------------------*/

/* Fills registers of a wave of workgroup id before its first instruction. */
struct isa_kernel {
	u64 entry;
	u32 rsrc1, rsrc2, rsrc3;
	u16 properties, preload;
	u32 lanes;
	u32 lds, scratch;
	u32 waves; /* per whole workgroup */
	u32 groups[3];
	u64 n_groups;
	u8 gen;
};
struct isa_wg {
	struct isa_wave *waves; /* owned array */
	u32 n_waves, n_done;
	u32 id[3], dim[3]; /* number of the group; its size (edges may be smaller) */
	u64 order;	   /* linear number */
	u8 *lds;	   /* owned */
	u32 lds_room;	   /* bytes allocated */
	u8 *lds_written;   /* owned: as isa_span.written, under watch_own; or NULL */
	u32 n_alloc;	   /* waves there are */
	struct isa_wg *next;
};
int isa_kernel_read(const struct isa_launch *l, struct isa_kernel *k, char *why, size_t size);
void isa_wave_init(struct isa_wave *w, const struct isa_kernel *k, const struct isa_launch *l);

/* --- code.c --------------------------------------------------------------- */

/* The instruction at a device address; NULL with *why set to a static text or the diag. */
const struct isa_inst *isa_code_at(struct isa_code *code, u64 pc, char *why, size_t size);
/* Instructions decoded so far: numbers (struct isa_inst.id) are below it. */
u32 isa_code_count(struct isa_code *code);
unsigned isa_code_lanes(const struct isa_code *code);
struct isa_code *isa_program_code(struct isa_program *prog, unsigned lanes, char *why, size_t size);
const void *isa_program_bytes(const struct isa_program *prog, u64 addr, u64 size);
enum isa_arch isa_program_arch(const struct isa_program *prog);
/* Text of an instruction as disassembled, into text. */
void isa_inst_text(struct isa_code *code, const struct isa_inst *in, char *text, size_t size);
const struct isa_inst *isa_resolve(struct isa_wave *w, const struct isa_inst *in, u64 pc);
/* Goes on at the target: a branch, or a run joined to code that is already there. */
int isa_jump(struct isa_wave *w, const struct isa_inst *in);

/* Appends what is decoded; memory lives as long as the code. */
void *isa_code_alloc(struct isa_code *code, size_t size);
/* A row (two when wide) of 64 equal dwords. */
const u32 *isa_code_const(struct isa_code *code, u64 value, bool wide);

/* --- build.c -------------------------------------------------------------- */

struct isa_text;
/*
 * One instruction out of its text. 0; 1 when it cannot be built: then it gets a
 * function that says so when run; or -ENOMEM.
 */
int isa_build(struct isa_code *code, enum isa_arch arch, const char *text, struct isa_inst *in);
/* What is not there of an instruction that could not be built: its name, or more; else NULL. */
const char *isa_refused(const struct isa_inst *in);

/* --- table.c -------------------------------------------------------------- */

const struct isa_op *isa_op_at(unsigned index);
unsigned isa_op_count(void);
/* Rows whose results hardware approximates; how many. */
unsigned isa_approx_rows(const u16 **ret_rows);
isa_fn isa_op_fn(unsigned index);
/* Index by name without encoding suffix; negative when there is none. */
int isa_op_find(const char *name, size_t len);
isa_fn isa_run_prep_fn(void), isa_run_sgpr_fn(void), isa_run_dual_fn(void);
void isa_table_mark(enum isa_arch arch, unsigned index);

/* --- llvm.c --------------------------------------------------------------- */

struct isa_disasm;
int isa_disasm_new(enum isa_arch arch, unsigned lanes, struct isa_disasm **ret_d,
		   struct hrr_diag *diag);
void isa_disasm_free(struct isa_disasm *d);
/* Bytes used, 0 when it is no instruction. */
size_t isa_disasm_text(struct isa_disasm *d, const void *code, size_t size, u64 pc, char *text,
		       size_t text_size);

/* --- variants ------------------------------------------------------------- */

/* 0 plain x86-64, 1 AVX2, 2 AVX-512 */
unsigned isa_variant(void);
/* At most v. Before the first program. */
void isa_set_variant(unsigned v);

#endif
