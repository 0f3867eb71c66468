// ticket(counter, slot): *slot = atomically (*counter)++. Lane 0 of the first wave does it, so one
// dispatch draws one ticket. raw-driver.c checks the tickets; on the software GPU a host function
// of the same name draws them.
//
// make.sh, beside this file, makes ticket-<isa>.co of it. The objects are checked in, so that
// building the examples needs no device compiler. WAVE32: gfx10 and later; ACCUM:
// gfx90a has accumulation registers.

	.text
	.globl	ticket
	.p2align 8
	.type	ticket,@function
ticket:
	s_load_dwordx4 s[4:7], s[0:1], 0x0
	v_mov_b32_e32 v4, 0
	v_mov_b32_e32 v2, 1
	v_mov_b32_e32 v3, 0
	s_waitcnt lgkmcnt(0)
	global_atomic_add_x2 v[0:1], v4, v[2:3], s[4:5] glc
	s_waitcnt vmcnt(0)
	global_store_dwordx2 v4, v[0:1], s[6:7]
	s_endpgm
.Lticket_end:
	.size	ticket, .Lticket_end - ticket

	.rodata
	.p2align 6
	.amdhsa_kernel ticket
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 5
		.amdhsa_next_free_sgpr 8
#ifdef WAVE32
		.amdhsa_wavefront_size32 1
#endif
#ifdef ACCUM
		.amdhsa_accum_offset 8
#endif
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [ 1, 1 ]
amdhsa.kernels:
  - .name: ticket
    .symbol: ticket.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
#ifdef WAVE32
    .wavefront_size: 32
#else
    .wavefront_size: 64
#endif
    .sgpr_count: 8
    .vgpr_count: 5
    .max_flat_workgroup_size: 1024
    .args:
      - { .name: counter, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: slot, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
...
	.end_amdgpu_metadata
