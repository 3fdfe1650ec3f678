#ifndef HRR_EMU_ISA_INST_H
#define HRR_EMU_ISA_INST_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decoded instruction: what it does, where its operands lie, its row of the table. */

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
	MT_BF8,
	MT_FP6,
	MT_BF6,
	MT_FP4,
	MT_F8F6F4 /* as cbsz and blgp say */
};

/* Scales of a matrix operand: a byte of each lane's register, or of what all lanes share. */
struct isa_scale {
	i32 row; /* negative: a scalar register or a constant */
	u16 sreg;
	u8 byte;
	bool is_const;
	u32 value;
};

struct isa_matrix {
	u16 m, n, k, blocks;
	u8 a, b, d;	 /* enum isa_matrix_type */
	u8 per_a, per_b; /* elements of A and of B in one lane */
	bool wmma;	 /* RDNA layout */
	bool repeated;	 /* RDNA3: each 16 lanes hold all of A and B */
	bool sparse;	 /* A has two of each four elements; src[2] tells which, C is D */
	u8 index_at;	 /* first bit of what src[2] tells */
	bool scaled;
	struct isa_scale scale[2]; /* of A, of B */
	u8 cbsz, abid, blgp;
	u8 neg_a, neg_b, neg_c; /* bit 0: neg_lo, bit 1: neg_hi */
	bool hi;		/* 16-bit results go to the upper halves */
	bool c_const;
	bool fnuz; /* fp8 of gfx942 */
	u32 c_bits[2];
	bool clamp;
};

/* A conversion between floats and small floats with a scale (scale.c). */
struct isa_scaling {
	u8 from, to;	   /* letters: 'f' 'h' 'b' (bf16), or '0' + enum small */
	u8 n;		   /* numbers converted */
	bool two;	   /* half of them come from source 0, half from source 1, in turns */
	u8 from_at, to_at; /* first bit */
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
	u32 matrix_dwords;	   /* registers of its destination */
	struct isa_scaling scaled; /* conversions to and from small floats with a scale */
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
	CLASS_SCALE,
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

#endif
