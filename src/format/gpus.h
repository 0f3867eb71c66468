/* GPU numbers of an exported file. What processes name by the same uuid is one GPU, unless it lies
 * elsewhere on the bus or is another partition there: partitions of a card may share its uuid.
 * Where nothing tells them apart, the n-th of a process is the n-th of another. */
#ifndef DAGTAP_FORMAT_GPUS_H
#define DAGTAP_FORMAT_GPUS_H

#include "trace/model.h"

struct gpus {
	uint32_t *of_agent; /* number of each agent's GPU; agents that are none share `host` */
	uint32_t *agents;   /* for each GPU, an agent that it is */
	uint32_t count;
	uint32_t host; /* where activities without a GPU go: COUNT */
};

/* 0 or -ENOMEM. */
int gpus_init(struct gpus *gpus, const struct trace *trace);
void gpus_release(struct gpus *gpus);

/* Number of the GPU, or `host`. */
static inline uint32_t gpus_find(const struct gpus *gpus, uint32_t agent)
{
	return agent == TRACE_NONE ? gpus->host : gpus->of_agent[agent];
}

#endif
