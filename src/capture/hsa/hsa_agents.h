/* The runtime's agents, as they were when the runtime opened. */
#ifndef CAPTURE_HSA_AGENTS_H
#define CAPTURE_HSA_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "record/record.h"

struct hsa_agent_entry {
	hsa_agent_t handle;
	uint32_t index; /* in the runtime's order; the agent's number in records */
	bool is_gpu;
	uint32_t gpu_ordinal; /* of a GPU */
	uint32_t driver_id;   /* of a GPU: the kernel driver's number; 0: unknown */
	uint64_t tick_hz;     /* 0: unknown */
	uint64_t last_tick;   /* written and read by hsa_anchors.c only */
};

/* The numbers from here on are used by records of CUDA. */
#define HSA_AGENTS_MOST RECORD_CUDA_CLOCK

/* Lists the agents and writes their AGENT records. The runtime must be open, and no other thread
 * may use the list meanwhile. If there is no memory or no number for an agent, a note says so: its
 * kernels have no names and no times. */
void hsa_agents_read(void);

/* Writes the AGENT records of the listed agents once more, for a recording after the first. */
void hsa_agents_record(void);

/* Returns the list, owned by this module, and its length. Valid until the next hsa_agents_read. */
struct hsa_agent_entry *hsa_agents_get(uint32_t *ret_count);

#endif
