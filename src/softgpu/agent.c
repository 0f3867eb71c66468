/* The list of agents (agent.h). agent_info.c has the HSA functions on agents. */
#include "softgpu/agent.h"

#include <pthread.h>
#include <stdio.h>

#include "softgpu/config.h"
#include "softgpu/isa.h"

#define AGENT_HANDLE_BASE 0x6761646500000001ull

static struct softgpu_agent agents[SOFTGPU_MAX_GPUS + 1];
static uint32_t agents_used;
static pthread_once_t agents_once = PTHREAD_ONCE_INIT;

static void init_agents(void)
{
	const struct softgpu_config *config = config_get();

	agents_used = config->gpus * config->partitions + 1;
	for (uint32_t i = 0; i < agents_used; i++) {
		struct softgpu_agent *agent = &agents[i];

		agent->index = i;
		agent->is_gpu = i > 0;
		agent->card = i ? (i - 1) / config->partitions + 1 : 0;
		agent->partition = i ? (i - 1) % config->partitions : 0;
		if (!agent->is_gpu) {
			snprintf(agent->name, sizeof(agent->name), "Host CPU");
			continue;
		}
		snprintf(agent->name, sizeof(agent->name), "%s", config->isa);
		snprintf(agent->isa_name, sizeof(agent->isa_name), "%s", isa_full_name());
	}
}

uint32_t agent_count(void)
{
	pthread_once(&agents_once, init_agents);
	return agents_used;
}

struct softgpu_agent *agent_at(uint32_t index)
{
	return index < agent_count() ? &agents[index] : NULL;
}

struct softgpu_agent *agent_find(hsa_agent_t handle)
{
	uint64_t index = handle.handle - AGENT_HANDLE_BASE;

	return index < agent_count() ? &agents[index] : NULL;
}

hsa_agent_t agent_handle(const struct softgpu_agent *agent)
{
	return (hsa_agent_t){AGENT_HANDLE_BASE + agent->index};
}

bool agent_set_of(const hsa_agent_t *handles, uint32_t count, struct agent_set *ret_set)
{
	struct agent_set set = {0};

	for (uint32_t i = 0; count == 0 && i < agent_count(); i++)
		agent_set_add(&set, i);
	for (uint32_t i = 0; i < count; i++) {
		const struct softgpu_agent *agent = agent_find(handles[i]);

		if (!agent)
			return false;
		agent_set_add(&set, agent->index);
	}
	*ret_set = set;
	return true;
}
