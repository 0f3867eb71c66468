; A code object that only declares a variable: the program must define it before loading.
;   clang-14 -target amdgcn-amd-amdhsa -mcpu=gfx906:sramecc+:xnack- -c external.s -o external.o
;   ld.lld-15 -shared external.o -o external.gfx906.co
	.amdgcn_target "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"

	.section .data,"aw",@progbits
	.globl	link
	.p2align 3
	.type	link,@object
link:
	.quad	elsewhere+8
	.quad	maybe
	.size	link, 16
	.globl	elsewhere
	.weak	maybe
