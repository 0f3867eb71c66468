/* The runtime's agents, as they were when it opened. */
#ifndef CAPTURE_HSA_AGENTS_H
#define CAPTURE_HSA_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "record/record.h"

struct hsa_agent_entry {
	hsa_agent_t handle;
	uint32_t index; /* in the runtime's order */
	bool is_gpu;
	uint64_t tick_hz;   /* 0 = unknown */
	uint64_t last_tick; /* for hsa_anchors.c */
};

/* In records the numbers from here on are CUDA's. */
#define HSA_AGENTS_MOST RECORD_CUDA_CLOCK

/* Lists and records them. The runtime must be open; nobody may use the list meanwhile. Where there
 * is no memory or no number for one a note says so: its kernels have no names and no times. */
void hsa_agents_read(void);

/* Records those that it has listed once more, for another recording. */
void hsa_agents_record(void);

struct hsa_agent_entry *hsa_agents_get(uint32_t *ret_count);

#endif
