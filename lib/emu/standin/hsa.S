/* libhsa-runtime64.so.1: the names of hsa_names.inc, each a jump into libhrr-emu.so. */
#define HSA(sym) \
	.globl sym; \
	.type sym, @function; \
	.p2align 4; \
sym:	endbr64; \
	jmp *emu_##sym@GOTPCREL(%rip); \
	.size sym, . - sym;

	.text
#include "lib/emu/standin/hsa_names.inc"
	.section .note.GNU-stack,"",@progbits
