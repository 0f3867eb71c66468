/* The instruction set architecture (ISA) of the machine. All GPUs have the same one, which the
 * configuration names; the CPU has none. Any thread. */
#ifndef SOFTGPU_ISA_H
#define SOFTGPU_ISA_H

#include <hsa/hsa.h>

/* Returns the handle of that ISA. It is the same for every configuration. */
hsa_isa_t isa_handle(void);

/* Returns the full name, for instance "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-". HIP compares the
 * part after "--" literally. */
const char *isa_full_name(void);

#endif
