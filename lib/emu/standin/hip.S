/*
 * libamdhip64.so.MAJOR: the names of the HIP ABI, with their version nodes, each
 * a jump into libhrr-emu.so. No code of its own, so that one run time serves every
 * major and a preloaded shim never sees the run time's inner calls.
 */
#define STANDIN(sym, target, major) \
	.if major <= MAJOR; \
	.globl sym; \
	.type sym, @function; \
	.p2align 4; \
sym:	endbr64; \
	jmp *target@GOTPCREL(%rip); \
	.size sym, . - sym; \
	.endif;

	.text
#include "emu_names.inc"

/* The loader runs this before any constructor of the program. */
	.type set_major, @function
set_major:
	movl $MAJOR, %edi
	jmp *emu_set_major@GOTPCREL(%rip)
	.size set_major, . - set_major

	.section .init_array,"aw"
	.p2align 3
	.quad set_major

	.section .note.GNU-stack,"",@progbits
