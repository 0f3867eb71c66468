/* The kernels' text (bed_kernels.cu), as the driver takes it: a string. */
	.section .rodata
	.globl	bed_kernels_ptx
bed_kernels_ptx:
	.incbin	"bed_kernels.ptx"
	.byte	0

	.section .note.GNU-stack, "", %progbits
