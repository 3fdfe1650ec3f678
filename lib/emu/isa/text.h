#ifndef HRR_EMU_ISA_TEXT_H
#define HRR_EMU_ISA_TEXT_H

#include "lib/emu/isa/internal.h"

/*
 * An instruction's text taken apart: mnemonic, operands between the commas,
 * modifiers behind them. This is all that knows how LLVM prints.
 */
enum isa_token { TOK_VGPR, TOK_SGPR, TOK_CONST, TOK_OFF, TOK_OTHER };

struct isa_operand {
	u8 kind; /* enum isa_token */
	bool neg, abs, sext;
	bool is_float; /* constant written with a point */
	bool is_hex;   /* constant written in hexadecimal: a literal */
	bool is_wide;  /* lit64: all 64 bits given */
	u8 half;       /* true16: 0 whole, 1 low (.l), 2 high (.h) */
	u16 n;	       /* registers */
	i32 reg; /* vector: row (256 and up: accumulation); scalar: index in the wave's file */
	i64 value;
	double real;
	const char *text; /* TOK_OTHER: the words, len bytes */
	u32 len;
};

#define ISA_MAX_OPERANDS 10

struct isa_text {
	const char *name;
	u32 name_len; /* without encoding suffix */
	bool e32, e64, sdwa, dpp;
	u32 n;
	struct isa_operand op[ISA_MAX_OPERANDS];
	const char *mods; /* "" when there are none */
};

/* line must live as long as the result. False when it cannot be taken apart. */
bool isa_text_split(const char *line, enum isa_arch arch, struct isa_text *t);
/*
 * Next modifier: its name, and what follows the colon ("" when nothing).
 * Returns false at the end.
 */
bool isa_text_mod(const char **at, char *name, size_t name_size, char *arg, size_t arg_size);

#endif
