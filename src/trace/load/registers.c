/* Registers of kernels (see registers.h). Source of the facts: LLVM's user guide for the AMDGPU
 * back end, "Kernel Descriptor". */
#include "trace/load/registers.h"

#include <string.h>

#define GRANULES_MASK 0x3fu
#define WAVE_32	      (1u << 10) /* of the properties */
#define WGP_MODE      (1u << 29) /* of rsrc1 */

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

/* gfx10 and later: their numbers have four digits. */
static bool has_wave_modes(const char *architecture)
{
	return strncmp(architecture, "gfx1", 4) == 0 && strlen(architecture) >= strlen("gfx1010");
}

uint32_t registers_of_kernel(const char *architecture, uint32_t rsrc1, uint32_t properties)
{
	uint32_t granules = (rsrc1 & GRANULES_MASK) + 1;

	if (rsrc1 == 0 || strncmp(architecture, "gfx", 3) != 0)
		return 0;
	if (has_unified_registers(architecture))
		return granules * WIDE_STEP;
	/* In wave32, the field counts in steps twice as large. */
	if (has_wave_modes(architecture) && (properties & WAVE_32))
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

struct wave_mode wave_mode_of_kernel(const char *architecture, uint32_t rsrc1, uint32_t properties)
{
	if (rsrc1 == 0 || !has_wave_modes(architecture))
		return (struct wave_mode){0};
	return (struct wave_mode){.size = properties & WAVE_32 ? 32 : 64,
				  .is_wgp = (rsrc1 & WGP_MODE) != 0};
}
