/* Numbers the GPUs of a trace for an exported file. Agents of different processes with the same
 * uuid are one GPU, unless their bus locations or partitions differ: the partitions of a card may
 * share its uuid. If nothing tells the GPUs apart, the n-th GPU of one process is the n-th of
 * another. */
#ifndef DAGTAP_FORMAT_TIMELINE_GPUS_H
#define DAGTAP_FORMAT_TIMELINE_GPUS_H

#include "trace/trace_model.h"

struct gpus {
	uint32_t *of_agent; /* by agent: the number of its GPU, or `host` if the agent is no GPU */
	uint32_t *agents;   /* by GPU number: the first agent that is this GPU */
	uint32_t count;	    /* of GPUs */
	uint32_t host;	    /* the number for activities without a GPU; equals `count` */
};

/* Numbers the GPUs in the order of the agents. TRACE is only read during this call. Returns 0 or
 * -ENOMEM; on failure nothing is left to release. Cost: agents times GPUs. */
int gpus_init(struct gpus *gpus, const struct trace *trace);

/* Frees the memory. Accepts a zeroed or released struct. */
void gpus_release(struct gpus *gpus);

/* The GPU number of AGENT (an index into trace.agents, or TRACE_NONE), or `host`. */
static inline uint32_t gpus_find(const struct gpus *gpus, uint32_t agent)
{
	return agent == TRACE_NONE ? gpus->host : gpus->of_agent[agent];
}

#endif
