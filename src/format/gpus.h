/* GPU numbers of an exported file: the same card is one GPU in all processes where its uuid says
 * so. */
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
