/* The machine that the software GPU pretends to be: one CPU agent, then 1 to 16 GPU agents. */
#ifndef SOFTGPU_AGENT_H
#define SOFTGPU_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

struct softgpu_agent {
	uint32_t index; /* 0 = CPU, 1.. = GPUs */
	bool is_gpu;
	char isa_name[64];   /* "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-" */
	char name[32];	     /* "gfx906" */
	uint64_t live_bytes; /* atomic: allocated from this agent's VRAM pool */
};

/* NULL for an unknown handle. Cost: a table look-up. */
struct softgpu_agent *agent_find(hsa_agent_t handle);
struct softgpu_agent *agent_at(uint32_t index);
uint32_t agent_count(void);
hsa_agent_t agent_handle(const struct softgpu_agent *agent);

#endif
