/* The kernels' text (cuda_kernels.cu), as the driver takes it: a string. */
	.section .rodata
	.globl	cuda_kernels_ptx
	.hidden	cuda_kernels_ptx
	.type	cuda_kernels_ptx, %object
cuda_kernels_ptx:
	.incbin	"patch/cuda/cuda_kernels.ptx"
	.byte	0
	.size	cuda_kernels_ptx, . - cuda_kernels_ptx

	.section .note.GNU-stack, "", %progbits
