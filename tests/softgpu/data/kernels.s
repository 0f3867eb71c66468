; A code object with what a loader must handle: two kernels, a variable, a constant, pointers that
; need relocations. The kernels do nothing: their work is done by host functions.
;   clang-14 -target amdgcn-amd-amdhsa -mcpu=gfx906:sramecc+:xnack- -c kernels.s -o kernels.o
;   ld.lld-15 -shared kernels.o -o kernels.gfx906.co
	.amdgcn_target "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"

	.text
	.globl	scale
	.protected scale
	.p2align 8
	.type	scale,@function
scale:
	s_endpgm
	.size	scale, .-scale

	.globl	count
	.protected count
	.p2align 8
	.type	count,@function
count:
	s_endpgm
	.size	count, .-count

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel scale
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 16
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 16
	.end_amdhsa_kernel
	.amdhsa_kernel count
		.amdhsa_kernarg_size 8
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 16
	.end_amdhsa_kernel

	.globl	limits
	.p2align 4
	.type	limits,@object
limits:
	.long	7
	.long	11
	.size	limits, 8

	.section .data,"aw",@progbits
	.globl	total
	.p2align 3
	.type	total,@object
total:
	.quad	42
	.size	total, 8

	.globl	pointers
	.p2align 3
	.type	pointers,@object
pointers:
	.quad	total
	.quad	limits+4
	.quad	.Lhidden
	.size	pointers, 24
.Lhidden:
	.quad	5

	.amdgpu_metadata
---
amdhsa.version: [ 1, 1 ]
amdhsa.target: 'amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-'
amdhsa.kernels:
  - .name: scale
    .symbol: scale.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 4
    .max_flat_workgroup_size: 1024
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 4, .value_kind: by_value }
      - { .offset: 12, .size: 4, .value_kind: by_value }
  - .name: count
    .symbol: count.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 4
    .max_flat_workgroup_size: 1024
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
...
	.end_amdgpu_metadata
