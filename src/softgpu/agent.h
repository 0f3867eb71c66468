/* The agents of the modelled machine: one CPU agent, then 1 to 256 GPU agents. A card is offered as
 * one GPU agent, or as one GPU agent for each of its partitions; the partitions of a card share its
 * uuid and its bus address.
 *
 * Threading: any thread may call these functions. The agents are created on first use, from the
 * configuration, and live as long as the process. */
#ifndef SOFTGPU_AGENT_H
#define SOFTGPU_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "softgpu/config.h"

struct softgpu_agent {
	uint32_t index; /* 0: the CPU; 1 and up: the GPUs */
	bool is_gpu;
	uint32_t card;	    /* number of the agent's card, from 1; 0 for the CPU */
	uint32_t partition; /* number of the partition in its card, from 0 */
	char isa_name[64];  /* "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"; "" for the CPU */
	char name[32];	    /* "gfx906" */
	/* Atomic. Bytes that are allocated from this agent's pools; changed by memory_charge and
	 * memory_discharge. */
	uint64_t live_bytes;
};

/* Returns the agent of HANDLE; NULL for an unknown handle. Cost: one subtraction and a compare. */
struct softgpu_agent *agent_find(hsa_agent_t handle);
/* Returns the agent with INDEX; NULL when INDEX is not below agent_count(). */
struct softgpu_agent *agent_at(uint32_t index);
/* Returns the number of agents, the CPU included. */
uint32_t agent_count(void);
hsa_agent_t agent_handle(const struct softgpu_agent *agent);

/* A set of agents: one bit for each agent's index. Empty when zeroed. */
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

/* Gives the set of the agents of COUNT HANDLES, or of all agents when COUNT is 0. Returns false,
 * and leaves RET_SET as it was, when a handle is unknown. */
bool agent_set_of(const hsa_agent_t *handles, uint32_t count, struct agent_set *ret_set);

#endif
