/* Our dlsym. For RTLD_DEFAULT (0) and RTLD_NEXT (-1) the C library's answer depends on who calls,
 * so these calls are jumps. The linker gives door_entry the name dlsym as well. */
#if defined(__x86_64__)
	.text
	.globl door_entry
	.type door_entry, @function
door_entry:
	.cfi_startproc
	endbr64
	lea 1(%rdi), %rax
	cmp $1, %rax
	ja door_dlsym@PLT
	mov door_libc_dlsym(%rip), %rax
	test %rax, %rax
	jnz 1f
	push %rdi
	.cfi_adjust_cfa_offset 8
	push %rsi
	.cfi_adjust_cfa_offset 8
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	call door_open_dlsym@PLT
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	pop %rsi
	.cfi_adjust_cfa_offset -8
	pop %rdi
	.cfi_adjust_cfa_offset -8
	mov door_libc_dlsym(%rip), %rax
1:	jmp *%rax
	.cfi_endproc
	.size door_entry, . - door_entry
#endif
	.section .note.GNU-stack, "", @progbits
