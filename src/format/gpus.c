#include "format/gpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the HSA runtime answers where a card has no uuid. */
#define UUID_UNKNOWN "GPU-XX"

static bool is_same_gpu(const struct trace *trace, uint32_t left, uint32_t right)
{
	const struct trace_agent *a = &trace->agents[left];
	const struct trace_agent *b = &trace->agents[right];
	const char *uuid = trace_text(trace, a->uuid);

	return a->uuid == b->uuid && a->process != b->process && uuid[0] != '\0' &&
	       strcmp(uuid, UUID_UNKNOWN) != 0;
}

static uint32_t find_gpu(struct gpus *gpus, const struct trace *trace, uint32_t agent)
{
	for (uint32_t gpu = 0; gpu < gpus->count; gpu++) {
		if (is_same_gpu(trace, gpus->agents[gpu], agent))
			return gpu;
	}
	gpus->agents[gpus->count] = agent;
	return gpus->count++;
}

int gpus_init(struct gpus *gpus, const struct trace *trace)
{
	size_t room = (size_t)trace->agents_count + 1;

	*gpus = (struct gpus){
		.of_agent = calloc(room, sizeof(*gpus->of_agent)),
		.agents = calloc(room, sizeof(*gpus->agents)),
	};
	if (!gpus->of_agent || !gpus->agents) {
		gpus_release(gpus);
		return -ENOMEM;
	}
	for (uint32_t agent = 0; agent < trace->agents_count; agent++) {
		if (trace->agents[agent].is_gpu)
			gpus->of_agent[agent] = find_gpu(gpus, trace, agent);
	}
	gpus->host = gpus->count;
	for (uint32_t agent = 0; agent < trace->agents_count; agent++) {
		if (!trace->agents[agent].is_gpu)
			gpus->of_agent[agent] = gpus->host;
	}
	return 0;
}

void gpus_release(struct gpus *gpus)
{
	free(gpus->of_agent);
	free(gpus->agents);
}
