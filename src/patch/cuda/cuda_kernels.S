/* The PTX text of cuda_kernels.cu as a string that ends with 0, as the driver expects it. */
	.section .rodata
	.globl	cuda_kernels_ptx
	.hidden	cuda_kernels_ptx
	.type	cuda_kernels_ptx, %object
cuda_kernels_ptx:
	.incbin	"patch/cuda/cuda_kernels.ptx"
	.byte	0
	.size	cuda_kernels_ptx, . - cuda_kernels_ptx

	.section .note.GNU-stack, "", %progbits
