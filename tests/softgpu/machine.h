/* What the raw-HSA tests share: the agents and pools of the machine that DAGTAP_SOFTGPU describes,
 * found through the public interface. */
#ifndef TEST_SOFTGPU_MACHINE_H
#define TEST_SOFTGPU_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#define MACHINE_MAX_GPUS 256

struct machine {
	hsa_agent_t cpu;
	hsa_amd_memory_pool_t fine;
	hsa_amd_memory_pool_t kernarg;
	hsa_amd_memory_pool_t coarse;
	uint32_t gpu_count;
	hsa_agent_t gpu[MACHINE_MAX_GPUS];
	hsa_amd_memory_pool_t vram[MACHINE_MAX_GPUS];
	hsa_amd_memory_pool_t group[MACHINE_MAX_GPUS];
};

/* Sets the configuration and starts the runtime; a process can do so once. */
void machine_open(const char *configuration, struct machine *ret_machine);

/* A pool allocation that may not fail. */
void *machine_allocate(hsa_amd_memory_pool_t pool, size_t bytes);

/* The bytes of a file of tests/softgpu/data, in a block of exactly their number. */
uint8_t *machine_read_data(const char *name, size_t *ret_size);

#endif
