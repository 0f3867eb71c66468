/* Theoretical occupancy (occupancy.h): one table of what a compute unit has, one formula.
 *
 * NVIDIA: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", and CUDA's
 * cuda_occupancy.h: registers are allocated to warps in steps of 256, in the quarter of the
 * multiprocessor that runs the warp; shared memory is all that the multiprocessor can be configured
 * to have, since a program's preference for the L1 cache is not in a trace.
 *
 * AMD: LLVM's user guide for the AMDGPU back end, "Kernel Descriptor", and AMD's ISA documents
 * "Vega", "Instinct MI100", "Instinct MI200" and "Instinct MI300": four SIMDs per compute unit; a
 * SIMD has slots for 10 waves (8 from gfx90a on), 256 vector registers per work-item (512 from
 * gfx90a on, for vector and accumulation registers together) and 800 scalar registers; a workgroup
 * of more than one wave needs one of 16 barriers.
 *
 * AMD's gfx10, gfx11 and gfx12: LLVM's AMDGPU back end (AMDGPUBaseInfo.cpp: getTotalNumVGPRs,
 * getVGPRAllocGranule, getMaxWavesPerEU, getLocalMemorySize, getMaxWorkGroupsPerCU), with whose
 * compiler tests/trace compares; the step of LDS from Mesa's compiler (aco_ir.cpp). A kernel is
 * compiled for wave32 or wave64, and its workgroups stay on a compute unit (CU mode) or spread over
 * both of a work-group processor (WGP mode). A wave64 takes two registers where a wave32 takes one.
 * Scalar registers do not limit: each wave has the same number. */
#include "trace/occupancy.h"

#include <stdio.h>
#include <string.h>

#define KIB 1024u

/* What a compute unit has. */
struct unit {
	const char *architecture;  /* the agent's name; with a '*' at the end: all that begin so */
	uint32_t simds;		   /* or quarters of a multiprocessor */
	uint32_t wave_size;	   /* work-items */
	uint32_t waves;		   /* slots of each SIMD, or of each quarter of a multiprocessor */
	uint32_t registers;	   /* per work-item, of each SIMD or quarter */
	uint32_t register_step;	   /* in which they are allocated, per work-item */
	uint32_t scalar_registers; /* of each SIMD; 0: they do not limit */
	uint32_t memory_bytes;	   /* shared memory, LDS */
	uint32_t memory_step;
	uint32_t memory_reserved;   /* of each workgroup, for the driver */
	uint32_t groups;	    /* workgroups */
	bool single_waves_are_free; /* workgroups of one wave do not count as such */
};

#define GROUP_WORK_ITEMS 1024 /* the largest workgroup */

static const struct unit units[] = {
	{"sm_70", 4, 32, 16, 512, 8, 0, 96 * KIB, 256, 0, 32, false},
	{"sm_72", 4, 32, 16, 512, 8, 0, 96 * KIB, 256, 0, 32, false},
	{"sm_75", 4, 32, 8, 512, 8, 0, 64 * KIB, 256, 0, 16, false},
	{"sm_80", 4, 32, 16, 512, 8, 0, 164 * KIB, 128, 1 * KIB, 32, false},
	{"sm_86", 4, 32, 12, 512, 8, 0, 100 * KIB, 128, 1 * KIB, 16, false},
	{"sm_87", 4, 32, 12, 512, 8, 0, 164 * KIB, 128, 1 * KIB, 16, false},
	{"sm_89", 4, 32, 12, 512, 8, 0, 100 * KIB, 128, 1 * KIB, 24, false},
	{"sm_90", 4, 32, 16, 512, 8, 0, 228 * KIB, 128, 1 * KIB, 32, false},
	{"sm_100", 4, 32, 16, 512, 8, 0, 228 * KIB, 128, 1 * KIB, 32, false},
	{"sm_103", 4, 32, 16, 512, 8, 0, 228 * KIB, 128, 1 * KIB, 32, false},
	{"sm_110", 4, 32, 12, 512, 8, 0, 228 * KIB, 128, 1 * KIB, 24, false},
	{"sm_120", 4, 32, 12, 512, 8, 0, 100 * KIB, 128, 1 * KIB, 24, false},
	{"sm_121", 4, 32, 12, 512, 8, 0, 100 * KIB, 128, 1 * KIB, 24, false},
	{"gfx90a", 4, 64, 8, 512, 8, 800, 64 * KIB, 512, 0, 16, true},
	{"gfx94*", 4, 64, 8, 512, 8, 800, 64 * KIB, 512, 0, 16, true},
	{"gfx950", 4, 64, 8, 512, 8, 800, 160 * KIB, 1280, 0, 16, true},
	{"gfx90*", 4, 64, 10, 256, 4, 800, 64 * KIB, 512, 0, 16, true},
};

/* A compute unit in CU mode, by what a wave32 takes. */
static const struct unit units_of_two_sizes[] = {
	{"gfx101*", 2, 32, 20, 1024, 8, 0, 64 * KIB, 512, 0, 16, true},
	{"gfx103*", 2, 32, 16, 1024, 16, 0, 64 * KIB, 1 * KIB, 0, 16, true},
	{"gfx1100", 2, 32, 16, 1536, 24, 0, 64 * KIB, 1 * KIB, 0, 16, true},
	{"gfx1101", 2, 32, 16, 1536, 24, 0, 64 * KIB, 1 * KIB, 0, 16, true},
	{"gfx1102", 2, 32, 16, 1024, 16, 0, 64 * KIB, 1 * KIB, 0, 16, true},
	{"gfx1103", 2, 32, 16, 1024, 16, 0, 64 * KIB, 1 * KIB, 0, 16, true},
	{"gfx1150", 2, 32, 16, 1024, 16, 0, 64 * KIB, 1 * KIB, 0, 16, true},
	{"gfx1151", 2, 32, 16, 1536, 24, 0, 64 * KIB, 1 * KIB, 0, 16, true},
	{"gfx1152", 2, 32, 16, 1024, 16, 0, 64 * KIB, 1 * KIB, 0, 16, true},
	{"gfx1200", 2, 32, 16, 1536, 24, 0, 64 * KIB, 1 * KIB, 0, 16, true},
	{"gfx1201", 2, 32, 16, 1536, 24, 0, 64 * KIB, 1 * KIB, 0, 16, true},
};

static const struct unit *find_in(const struct unit *rows, size_t count, const char *architecture)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strcspn(rows[i].architecture, "*");

		if (strncmp(architecture, rows[i].architecture, length) == 0 &&
		    (rows[i].architecture[length] || !architecture[length]))
			return &rows[i];
	}
	return NULL;
}

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* What the workgroups of WORK share. False: it is not known. */
static bool find_unit(const char *architecture, const struct trace_work *work,
		      struct unit *ret_unit)
{
	const struct unit *unit = find_in(units, COUNT(units), architecture);

	if (!unit && work->wave_size)
		unit = find_in(units_of_two_sizes, COUNT(units_of_two_sizes), architecture);
	if (!unit)
		return false;
	*ret_unit = *unit;
	if (work->wave_size == 2 * unit->wave_size) {
		ret_unit->wave_size *= 2;
		ret_unit->registers /= 2;
		ret_unit->register_step /= 2;
	}
	if (work->is_wgp_mode) {
		ret_unit->simds *= 2;
		ret_unit->memory_bytes *= 2;
		ret_unit->groups *= 2;
	}
	return true;
}

static uint64_t round_up(uint64_t number, uint32_t step)
{
	return (number + step - 1) / step * step;
}

/* How many workgroups of WAVES waves each limit allows; UINT32_MAX: as many as one likes. */
static void find_limits(const struct unit *unit, const struct trace_work *work, uint32_t waves,
			uint32_t limits[OCCUPANCY_LIMIT_COUNT])
{
	uint64_t registers = round_up(work->registers, unit->register_step);
	uint64_t memory =
		round_up((uint64_t)work->group_bytes + unit->memory_reserved, unit->memory_step);

	limits[OCCUPANCY_WAVES] = unit->simds * unit->waves / waves;
	limits[OCCUPANCY_REGISTERS] = (uint32_t)(unit->registers / registers) * unit->simds / waves;
	limits[OCCUPANCY_SCALAR_REGISTERS] =
		unit->scalar_registers && work->scalar_registers
			? unit->scalar_registers / work->scalar_registers * unit->simds / waves
			: UINT32_MAX;
	limits[OCCUPANCY_GROUP_MEMORY] =
		memory ? (uint32_t)(unit->memory_bytes / memory) : UINT32_MAX;
	limits[OCCUPANCY_GROUPS] =
		unit->single_waves_are_free && waves == 1 ? UINT32_MAX : unit->groups;
}

struct occupancy occupancy_of(const char *architecture, const struct trace_work *work)
{
	uint64_t work_items =
		(uint64_t)work->workgroup[0] * work->workgroup[1] * work->workgroup[2];
	uint32_t limits[OCCUPANCY_LIMIT_COUNT], waves;
	struct occupancy occupancy = {.groups = UINT32_MAX};
	struct unit unit;

	if (!find_unit(architecture, work, &unit) || work->kind != TRACE_KERNEL ||
	    !work->registers || !work_items || work_items > GROUP_WORK_ITEMS)
		return (struct occupancy){0};
	waves = (uint32_t)((work_items + unit.wave_size - 1) / unit.wave_size);
	find_limits(&unit, work, waves, limits);
	for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++) {
		if (limits[i] < occupancy.groups)
			occupancy.groups = limits[i];
	}
	for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++)
		occupancy.limits |= (uint32_t)(limits[i] == occupancy.groups) << i;
	occupancy.waves = occupancy.groups * waves;
	occupancy.waves_most = unit.simds * unit.waves;
	return occupancy;
}

const char *occupancy_limits_text(uint32_t limits, char text[OCCUPANCY_TEXT_CHARS])
{
	static const char *const texts[] = {
#define X(name, text) [OCCUPANCY_##name] = text,
		OCCUPANCY_LIMITS(X)
#undef X
	};
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++) {
		if (limits >> i & 1)
			used += (size_t)snprintf(text + used, OCCUPANCY_TEXT_CHARS - used, "%s%s",
						 used ? ", " : "", texts[i]);
	}
	return text;
}
