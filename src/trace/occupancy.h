/* Theoretical occupancy of a kernel: the part of the waves (warps) of a compute unit (streaming
 * multiprocessor) that can be resident at once, by what each workgroup (block) takes of the unit.
 * The unit of a kernel in AMD's WGP mode is the work-group processor, which has two compute units.
 * It says nothing of a grid that is too small to fill the GPU.
 *
 * Threading: any thread. */
#ifndef DAGTAP_TRACE_OCCUPANCY_H
#define DAGTAP_TRACE_OCCUPANCY_H

#include <stddef.h>

#include "trace/trace_model.h"

/* What allows no more workgroups: X(name, text). */
#define OCCUPANCY_LIMITS(X)                                                                        \
	X(WAVES, "waves")                                                                          \
	X(REGISTERS, "registers")                                                                  \
	X(SCALAR_REGISTERS, "scalar registers")                                                    \
	X(GROUP_MEMORY, "shared memory")                                                           \
	X(GROUPS, "workgroups")

enum occupancy_limit {
#define X(name, text) OCCUPANCY_##name,
	OCCUPANCY_LIMITS(X)
#undef X
		OCCUPANCY_LIMIT_COUNT
};

struct occupancy {
	uint32_t groups;     /* workgroups that are resident at once; 0: none fits */
	uint32_t waves;	     /* their waves */
	uint32_t waves_most; /* of the unit; 0: occupancy is not known */
	uint32_t limits;     /* a bit for each enum occupancy_limit that allows no more */
};

/* The occupancy of a kernel that ran on an agent called ARCHITECTURE ("sm_90", "gfx90a"). Known for
 * CUDA's compute capabilities from 7.0 on and for AMD's gfx9, if the number of registers is; and
 * for gfx10, gfx11 and gfx12, if the wave size is, too. The rules and their sources are in
 * occupancy.c. */
struct occupancy occupancy_of(const char *architecture, const struct trace_work *work);

/* Between 0 and 1. OCCUPANCY must be known. */
static inline double occupancy_value(const struct occupancy *occupancy)
{
	return (double)occupancy->waves / occupancy->waves_most;
}

/* Writes the names of LIMITS, joined by ", ", to TEXT. Returns TEXT. */
#define OCCUPANCY_TEXT_CHARS 80
const char *occupancy_limits_text(uint32_t limits, char text[OCCUPANCY_TEXT_CHARS]);

#endif
