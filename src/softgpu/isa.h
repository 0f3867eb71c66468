/* The one instruction set architecture of the machine: every GPU has it, the CPU has none. */
#ifndef SOFTGPU_ISA_H
#define SOFTGPU_ISA_H

#include <hsa/hsa.h>

hsa_isa_t isa_handle(void);

/* "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-": what HIP compares literally after the "--". */
const char *isa_full_name(void);

#endif
