/* The machine that the software GPU pretends to be: one CPU agent, then 1 to 256 GPU agents. Each
 * card is one of them, or as many as it has partitions, which share its uuid and its place on the
 * bus. */
#ifndef SOFTGPU_AGENT_H
#define SOFTGPU_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "softgpu/config.h"

struct softgpu_agent {
	uint32_t index; /* 0 = CPU, 1.. = GPUs */
	bool is_gpu;
	uint32_t card;	     /* from 1 */
	uint32_t partition;  /* of it, from 0 */
	char isa_name[64];   /* "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-" */
	char name[32];	     /* "gfx906" */
	uint64_t live_bytes; /* atomic: allocated from this agent's VRAM pool */
};

/* NULL for an unknown handle. Cost: a table look-up. */
struct softgpu_agent *agent_find(hsa_agent_t handle);
struct softgpu_agent *agent_at(uint32_t index);
uint32_t agent_count(void);
hsa_agent_t agent_handle(const struct softgpu_agent *agent);

/* Agents by their index. */
struct agent_set {
	uint64_t words[SOFTGPU_MAX_GPUS / 64 + 1];
};

static inline void agent_set_add(struct agent_set *set, uint32_t index)
{
	set->words[index / 64] |= 1ull << index % 64;
}

static inline bool agent_set_has(const struct agent_set *set, uint32_t index)
{
	return set->words[index / 64] >> index % 64 & 1;
}

#endif
