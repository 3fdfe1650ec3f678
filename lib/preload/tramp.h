/*
 * Calls that are known and not recorded: counted, then passed on with every
 * register and the stack as they came, whatever their parameters are. Also what
 * resolves the real entry point. x86-64 SysV.
 */
	.text
	.type	hrr_tramp, @function
hrr_tramp: /* index in r11d, 8 bytes of return address on the stack */
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$192, %rsp
	movq	%rdi, (%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 40(%rsp)
	movq	%rax, 48(%rsp)
	movq	%r10, 56(%rsp)
	movups	%xmm0, 64(%rsp)
	movups	%xmm1, 80(%rsp)
	movups	%xmm2, 96(%rsp)
	movups	%xmm3, 112(%rsp)
	movups	%xmm4, 128(%rsp)
	movups	%xmm5, 144(%rsp)
	movups	%xmm6, 160(%rsp)
	movups	%xmm7, 176(%rsp)
	movl	%r11d, %edi
	movq	8(%rbp), %rsi
	call	hrr_tramp_enter
	movq	%rax, %r11
	movups	176(%rsp), %xmm7
	movups	160(%rsp), %xmm6
	movups	144(%rsp), %xmm5
	movups	128(%rsp), %xmm4
	movups	112(%rsp), %xmm3
	movups	96(%rsp), %xmm2
	movups	80(%rsp), %xmm1
	movups	64(%rsp), %xmm0
	movq	56(%rsp), %r10
	movq	48(%rsp), %rax
	movq	40(%rsp), %r9
	movq	32(%rsp), %r8
	movq	24(%rsp), %rcx
	movq	16(%rsp), %rdx
	movq	8(%rsp), %rsi
	movq	(%rsp), %rdi
	leave
	.cfi_def_cfa %rsp, 8
	jmp	*%r11
	.cfi_endproc
	.size	hrr_tramp, .-hrr_tramp

	.macro	HRR_TRAMP name, index
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	movl	$\index, %r11d
	jmp	hrr_tramp
	.size	\name, .-\name
	.endm
#define TRAMP(name, index) HRR_TRAMP name, index
