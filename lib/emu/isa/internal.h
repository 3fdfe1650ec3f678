#ifndef HRR_EMU_ISA_INTERNAL_H
#define HRR_EMU_ISA_INTERNAL_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/emu/isa/isa.h"

/*
 * Inside the interpreter. Three ideas:
 *
 * - An instruction is decoded once into struct isa_inst: a function and where
 *   its operands lie. Operands that are not plain vector registers or constants
 *   (scalar registers, modifiers, DPP, SDWA, op_sel) are first brought into
 *   temporary rows of the register file (prep.c), so that the function itself
 *   only ever sees rows of 64 dwords.
 * - Vector registers are lane-major rows, v[register][lane], so that a function
 *   is one loop over lanes that the compiler vectorises. Each file of such
 *   loops is compiled for several x86 levels (variant_*.h); the best one is
 *   chosen when the first program is made. Results are the same on each.
 * - A wave is plain data and resumes anywhere between two instructions.
 */

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;

#define ISA_LANES 64
#define ISA_ROW (ISA_LANES * 4) /* bytes of one vector register */

/* Rows of the register file: temporaries lie before v0. */
enum {
	ROW_TEMPS = 24, /* rows before v0 */
	ROW_VGPRS = 256,
	ROW_AGPRS = 256,
	ROW_ALL = ROW_TEMPS + ROW_VGPRS + ROW_AGPRS
};
/* Temporary of source k: two rows each (64 bits); of the destination: four rows. */
#define ROW_TMP_SRC(k) (-(int)ROW_TEMPS + 2 * (int)(k))
#define ROW_TMP_DST (-(int)ROW_TEMPS + 8)
#define ROW_TMP_DPP (-(int)ROW_TEMPS + 12)
#define ROW_TMP_DUAL (-(int)ROW_TEMPS + 16)

/* Scalar registers by hardware number, then what operands may name besides. */
enum {
	R_FLAT_SCRATCH = 102,
	R_XNACK_MASK = 104,
	R_VCC = 106,
	R_TTMP = 108,
	R_M0 = 124,
	R_EXEC = 126,
	R_SCC = 128,
	R_SHARED_BASE = 130,
	R_SHARED_LIMIT = 132,
	R_PRIVATE_BASE = 134,
	R_PRIVATE_LIMIT = 136,
	R_ZERO = 138, /* null as a source */
	R_SINK = 140, /* null as a destination: room for 16 */
	R_COUNT = 160
};

/* Apertures of the flat address space, as the high dword. */
#define APERTURE_SHARED 0x00010000u
#define APERTURE_PRIVATE 0x00020000u
/* What the private segment's buffer descriptor has as base: no memory lies there. */
#define SCRATCH_WINDOW 0x0000f00000000000ull

/* MODE register. */
#define MODE_ROUND32(m) ((m)&3)
#define MODE_ROUND64(m) ((m) >> 2 & 3)
#define MODE_DENORM32(m) ((m) >> 4 & 3)
#define MODE_DENORM64(m) ((m) >> 6 & 3)
#define MODE_DX10_CLAMP 0x100u
#define MODE_IEEE 0x200u

struct isa_wave;
struct isa_inst;

/* What a function says to the run loop. */
enum isa_next {
	NEXT_INST = 0, /* the one behind */
	NEXT_JUMP,     /* w->in says */
	NEXT_YIELD,    /* w->in says; let others run (barrier, sleep, slice) */
	NEXT_END,      /* the wave is done */
	NEXT_STOP      /* the launch is over: the thread's report says why */
};
typedef int (*isa_fn)(struct isa_wave *w, const struct isa_inst *in);

/*
 * A source: address = off + (base & rel), base being the row of v0 for vector
 * operands, the scalar file for scalar ones; rel is 0 for constants.
 */
struct isa_src {
	uintptr_t off, rel;
};

/* How a source is brought into its temporary row. */
enum isa_prep_kind {
	PREP_NONE,
	PREP_SGPR,   /* broadcast 32 bits */
	PREP_SGPR64, /* broadcast 64 bits */
	PREP_VGPR    /* copy (with modifiers) */
};

enum { SEL_DWORD, SEL_BYTE_0, SEL_BYTE_1, SEL_BYTE_2, SEL_BYTE_3, SEL_WORD_0, SEL_WORD_1 };

/* Modifiers of one source. type is the spec letter (see table.h). */
struct isa_mod {
	char type;
	u8 kind; /* enum isa_prep_kind */
	bool neg, abs, sext;
	u8 sel;	     /* SDWA and op_sel: SEL_* */
	bool sel_hi; /* packed: op_sel of the low half, op_sel_hi of the high half */
	bool hi_sel_hi;
	bool neg_lo, neg_hi;
	i32 row;  /* vector register: row; */
	u16 sreg; /* scalar register */
	bool is_const;
	u64 value; /* constant */
};

enum isa_dpp_kind {
	DPP_NONE,
	DPP_QUAD,    /* quad_perm: n is four fields of two bits */
	DPP_ROW_SHL, /* by n lanes within 16 */
	DPP_ROW_SHR,
	DPP_ROW_ROR,
	DPP_WAVE_SHL,
	DPP_WAVE_ROL,
	DPP_WAVE_SHR,
	DPP_WAVE_ROR,
	DPP_MIRROR,
	DPP_HALF_MIRROR,
	DPP_BCAST15,
	DPP_BCAST31,
	DPP_SHARE, /* row_newbcast, row_share: lane n of the row */
	DPP_XMASK,
	DPP_8
};
struct isa_dpp {
	u8 kind, n;
	u8 row_mask, bank_mask;
	bool bound_ctrl, fi;
	u8 lane[8]; /* dpp8 */
};

/* Shape of a matrix instruction: D[M][N] = A[M][K] * B[K][N] + C[M][N], for each of some blocks. */
enum isa_matrix_type {
	MT_F32,
	MT_XF32,
	MT_F16,
	MT_BF16,
	MT_F64,
	MT_I32,
	MT_I8,
	MT_U4,
	MT_FP8,
	MT_BF8
};

struct isa_matrix {
	u16 m, n, k, blocks;
	u8 a, b, d;    /* enum isa_matrix_type */
	u8 per_lane;   /* elements of A (and B) in one lane */
	bool wmma;     /* RDNA layout */
	bool repeated; /* RDNA3: each 16 lanes hold all of A and B */
	u8 cbsz, abid, blgp;
	u8 neg_a, neg_b, neg_c; /* bit 0: neg_lo, bit 1: neg_hi */
	bool hi;		/* 16-bit results go to the upper halves */
	bool c_const;
	bool fnuz; /* fp8 of gfx942 */
	u32 c_bits[2];
	bool clamp;
};

/* Rarely needed parts of an instruction. */
struct isa_extra {
	struct isa_mod mod[4];
	struct isa_dpp dpp;
	i32 dst_row; /* where the result goes after clamp, omod, dst_sel */
	char dst_type;
	u8 dst_sel;
	u8 dst_unused; /* 0 pad, 1 sext, 2 preserve */
	u8 omod;       /* 0, 1 *2, 2 *4, 3 /2 */
	bool clamp, post;
	bool preserve_hi; /* 16-bit results keep the upper half */
	bool old_hi;	  /* the old value an accumulating instruction reads is the upper half */
	bool clamp_pair;  /* clamp two floats, not a double */
	/* second half of a VOPD pair; its first one runs as dual_run and writes dual_dst */
	const struct isa_inst *dual;
	isa_fn dual_run;
	i32 dual_dst;
	bool dual_hazard; /* the second reads what the first writes */
	struct isa_matrix matrix;
	u32 matrix_dwords; /* registers of its destination */
};

/* Memory instructions. */
enum isa_mem_op { MEM_LOAD, MEM_STORE, MEM_ATOMIC };
enum isa_atomic {
	AT_SWAP,
	AT_CMPSWAP,
	AT_ADD,
	AT_SUB,
	AT_RSUB,
	AT_SMIN,
	AT_UMIN,
	AT_SMAX,
	AT_UMAX,
	AT_AND,
	AT_OR,
	AT_XOR,
	AT_MSKOR,
	AT_INC,
	AT_DEC,
	AT_FADD,
	AT_FMIN,
	AT_FMAX,
	AT_FCMPSWAP,
	AT_PK_ADD_F16,
	AT_PK_ADD_BF16,
	AT_CSUB,
	AT_COND_SUB
};

struct isa_minfo {
	u8 op, size; /* enum isa_mem_op; bytes of memory per lane (element for read2) */
	u8 dwords;   /* registers per lane */
	u8 atomic;
	bool sext, d16, d16_hi;
	bool rtn;
	bool to_lds;			  /* loads that go to LDS at M0 */
	bool addr64, has_v, offen, idxen; /* which address operands there are */
	u8 space;			  /* enum isa_space */
};

/* Flags. */
enum {
	F_CTRL = 1u << 0,   /* ends a run of straight code */
	F_FP32 = 1u << 1,   /* obeys the 32-bit half of MODE */
	F_FP64 = 1u << 2,   /* obeys the 64/16-bit half */
	F_APPROX = 1u << 3, /* hardware approximates the result */
	F_CLAMP = 1u << 4,  /* integer clamp */
	F_LINK = 1u << 5,   /* not an instruction: joins two runs of decoded code */
	F_VECTOR = 1u << 6, /* has vector operands (for register indexing) */
	F_VSRC0 = 1u << 7,
	F_CMPX = 1u << 8, /* also writes EXEC */
	F_HI16 = 1u << 9,
	F_INT = 1u << 11, /* the result is an integer, though the spec says half */
	F_MODE = 1u << 10 /* needs other code (valu_mode.c) when MODE is unusual */
};

struct isa_inst {
	/* what every execution reads, in one line */
	alignas(64) isa_fn run; /* what the loop calls: fn, or something that calls it */
	i32 dv;			/* byte offset of the destination row from v0 */
	u32 flags;
	struct isa_src src[4];
	i32 dv2;
	u16 ds; /* scalar destination */
	u16 op; /* index in the table */
	isa_fn fn;
	isa_fn inner;  /* what counting of approximations calls */
	i64 imm, imm2; /* offset, literal */
	u32 id;	       /* dense number in the program, for per-thread caches */
	struct isa_minfo m;
	u16 prep_sreg; /* run_sgpr: which register */
	u8 prep_src;   /* and which source */
	u8 size;       /* bytes of code */
	u8 n_src;
	u32 raw[3];
	u64 pc;
	const struct isa_inst *_Atomic target;
	u64 target_pc;
	struct isa_extra *extra;
};

enum isa_class {
	CLASS_INT,
	CLASS_F32,
	CLASS_F64,
	CLASS_F16,
	CLASS_CMP,
	CLASS_CROSS,
	CLASS_SALU,
	CLASS_MFMA,
	CLASS_MEM,
	CLASS_SMEM
};

/* One row of the instruction table. */
struct isa_op {
	const char *name;
	const char *spec; /* NULL for memory instructions */
	u32 flags;
	u16 archs;     /* bit per enum isa_arch */
	u16 index;     /* of the function in its class */
	u16 canonical; /* row this one is an alias of, or itself */
	u8 cls;	       /* enum isa_class */
	u8 kind;       /* MEM_FN_* */
	u16 unit;      /* read2/write2: offset unit */
	struct isa_minfo m;
};

/* What decoding made, per wave size. */
struct isa_code;

struct isa_span_cache {
	u64 lo, hi;	 /* empty when lo == hi */
	uintptr_t delta; /* host address = delta + device address, modulo 2^64 */
	bool readable, writable;
};

#define ISA_CACHE 1024
#define ISA_MAX_ITEMS 1024u /* of a workgroup */

struct isa_wg;

/* One CPU thread of a launch. */
struct isa_thread {
	const struct isa_launch *launch;
	const struct isa_kernel *kernel;
	const struct isa_inst *entry;
	struct isa_code *code;
	struct isa_run *run;
	struct isa_thread *next; /* of those kept for later launches */
	struct isa_wg *spare;	 /* owned: storage of groups that are not in flight */
	struct isa_report report;
	u64 *approx; /* owned: counts by table index */
	u64 instructions, waves;
	u64 counted, quantum; /* instructions already taken from the budget; how many at a time */
	_Atomic u64 *all_instructions;
	struct isa_report final; /* of the workgroup order */
	u64 order;		 /* of the workgroup whose fault the report has */
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
	u8 gen;	   /* 9, 10, 11, 12 */
	bool fnuz; /* which 8-bit floats */
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

/* --- decode.c ------------------------------------------------------------- */

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
