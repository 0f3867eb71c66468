/* Numbers of registers of a kernel, and how its waves run: from the descriptor in its code
 * object. */
#ifndef DAGTAP_TRACE_REGISTERS_H
#define DAGTAP_TRACE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Number of vector registers of a work-item, in the steps in which ARCHITECTURE ("gfx90a")
 * allocates them. RSRC1 and PROPERTIES are fields of the kernel descriptor. Returns 0 if the
 * descriptor is not known (RSRC1 is never 0 in one), or the architecture. */
uint32_t registers_of_kernel(const char *architecture, uint32_t rsrc1, uint32_t properties);

/* Number of scalar registers of a wave, in the steps in which ARCHITECTURE allocates them. Returns
 * 0 if it is not known, and for gfx10 and later, which give each wave the same number. */
uint32_t scalar_registers_of_kernel(const char *architecture, uint32_t rsrc1);

/* How gfx10 and later run a kernel. */
struct wave_mode {
	uint8_t size; /* work-items of a wave: 32 or 64; 0: unknown, or another architecture */
	bool is_wgp;  /* a workgroup may spread over both compute units of a work-group processor */
};

/* How ARCHITECTURE runs a kernel whose descriptor has these fields. All zero if the descriptor is
 * not known, or the architecture has no such modes. */
struct wave_mode wave_mode_of_kernel(const char *architecture, uint32_t rsrc1, uint32_t properties);

#endif
