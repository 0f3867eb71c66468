/* Registers of kernels (see registers.h). Source of the facts: LLVM's user guide for the AMDGPU
 * back end, "Kernel Descriptor". */
#include "trace/load/registers.h"

#include <string.h>

#define GRANULES_MASK 0x3fu
#define WAVE_32	      (1u << 10)

#define SCALAR_SHIFT 6
#define SCALAR_MASK  0xfu
#define SCALAR_STEP  16

#define STEP	  4
#define WIDE_STEP 8

/* "gfx90a", "gfx940", "gfx942" and "gfx950" have one file for vector and accumulation registers. */
static int has_unified_registers(const char *architecture)
{
	return strcmp(architecture, "gfx90a") == 0 || strncmp(architecture, "gfx94", 5) == 0 ||
	       strncmp(architecture, "gfx95", 5) == 0;
}

uint32_t registers_of_kernel(const char *architecture, uint32_t rsrc1, uint32_t properties)
{
	uint32_t granules = (rsrc1 & GRANULES_MASK) + 1;

	if (rsrc1 == 0 || strncmp(architecture, "gfx", 3) != 0)
		return 0;
	if (has_unified_registers(architecture))
		return granules * WIDE_STEP;
	/* gfx10 and later, whose numbers have four digits: in wave32, registers are allocated in
	 * steps twice as large. */
	if (strlen(architecture) >= strlen("gfx1010") && (properties & WAVE_32))
		return granules * WIDE_STEP;
	return granules * STEP;
}

uint32_t scalar_registers_of_kernel(const char *architecture, uint32_t rsrc1)
{
	/* gfx9: the field is twice the number of steps less one. */
	if (rsrc1 == 0 || strncmp(architecture, "gfx9", 4) != 0)
		return 0;
	return ((rsrc1 >> SCALAR_SHIFT & SCALAR_MASK) / 2 + 1) * SCALAR_STEP;
}
