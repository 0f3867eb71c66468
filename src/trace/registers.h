/* Vector registers of a kernel, from its code object's descriptor. */
#ifndef DAGTAP_TRACE_REGISTERS_H
#define DAGTAP_TRACE_REGISTERS_H

#include <stdint.h>

/* How many each work-item has, in the steps in which the architecture ("gfx90a") gives them out. 0:
 * the descriptor is not known (RSRC1 is never 0), or the architecture. */
uint32_t registers_of_kernel(const char *architecture, uint32_t rsrc1, uint32_t properties);

#endif
