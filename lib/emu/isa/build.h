#ifndef HRR_EMU_ISA_BUILD_H
#define HRR_EMU_ISA_BUILD_H

#include "lib/emu/isa/table.h"
#include "lib/emu/isa/text.h"

/* An instruction in the making, shared by the files build_*.c. */
struct isa_build {
	struct isa_code *code;
	enum isa_arch arch;
	unsigned gen;
	struct isa_text t;
	struct isa_inst *in;
	struct isa_extra x; /* copied to the code when needed */
	const struct isa_op *op;
	u32 next; /* operand to take */
	/* modifiers */
	bool clamp;
	u32 op_sel, op_sel_hi, neg_lo, neg_hi;
	bool has_op_sel, has_op_sel_hi;
	char why[120];
};

/* False, always: the instruction cannot be had, what says why. */
bool isa_refuse(struct isa_build *b, const char *what);

/* Reads the modifiers of the text. False: one is not known; why names it. */
bool isa_modifiers(struct isa_build *b);

/* The next operand of the text; NULL: there are no more. */
const struct isa_operand *isa_take(struct isa_build *b);
/* The bits an operand of this type (a letter of a row's spec) gets from a constant. */
u64 isa_constant(const struct isa_operand *o, char type);
/* o becomes source k, or the destination. NULL is refused. */
bool isa_scalar_src(struct isa_build *b, unsigned k, const struct isa_operand *o, char type);
bool isa_scalar_dst(struct isa_build *b, const struct isa_operand *o);
bool isa_vector_src(struct isa_build *b, unsigned k, const struct isa_operand *o, char type);
bool isa_vector_dst(struct isa_build *b, const struct isa_operand *o, char type);
/*
 * gfx11 and later: 16-bit operands of the short encodings name halves of the
 * first 128 registers; bit 7 is the upper half. LLVM 19 prints v128 and up.
 */
bool isa_high_half(const struct isa_build *b, const struct isa_operand *o, char type);

/* The rest of an instruction, by the class of its row. False: refused. */
bool isa_build_vector(struct isa_build *b);
bool isa_build_matrix(struct isa_build *b);
bool isa_build_scale(struct isa_build *b);
bool isa_build_scalar(struct isa_build *b);
bool isa_build_mem(struct isa_build *b);
bool isa_build_smem(struct isa_build *b);

#endif
