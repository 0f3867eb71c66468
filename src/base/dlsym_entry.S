/* The dlsym of a preloaded library (dlsym_entry.h). For RTLD_DEFAULT (0) and RTLD_NEXT (-1) the C
 * library's answer depends on who calls, so these calls are jumps. */
#if defined(__x86_64__)
	.text
	.weak dlsym_of_handle
	.globl dlsym_entry
	.type dlsym_entry, @function
dlsym_entry:
	.cfi_startproc
	endbr64
	lea 1(%rdi), %rax
	cmp $1, %rax
	ja dlsym_of_handle@PLT
	mov dlsym_libc(%rip), %rax
	test %rax, %rax
	jnz 1f
	push %rdi
	.cfi_adjust_cfa_offset 8
	push %rsi
	.cfi_adjust_cfa_offset 8
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	call dlsym_open@PLT
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	pop %rsi
	.cfi_adjust_cfa_offset -8
	pop %rdi
	.cfi_adjust_cfa_offset -8
	mov dlsym_libc(%rip), %rax
1:	jmp *%rax
	.cfi_endproc
	.size dlsym_entry, . - dlsym_entry
#endif
	.section .note.GNU-stack, "", @progbits
