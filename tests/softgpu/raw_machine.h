/* What the raw HSA tests share: the agents and memory pools of the machine that DAGTAP_SOFTGPU
 * describes, found through HSA's public interface. All functions fail the cmocka test on an
 * error. */
#ifndef TEST_SOFTGPU_MACHINE_H
#define TEST_SOFTGPU_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#define MACHINE_MAX_GPUS 256

/* Entry i of gpu, vram and group belong to the i-th GPU in the order of hsa_iterate_agents. */
struct machine {
	hsa_agent_t cpu;
	hsa_amd_memory_pool_t fine;    /* fine-grained pool of the CPU */
	hsa_amd_memory_pool_t kernarg; /* kernel-argument pool of the CPU */
	hsa_amd_memory_pool_t coarse;  /* coarse-grained pool of the CPU */
	uint32_t gpu_count;
	hsa_agent_t gpu[MACHINE_MAX_GPUS];
	hsa_amd_memory_pool_t vram[MACHINE_MAX_GPUS];  /* global memory pool */
	hsa_amd_memory_pool_t group[MACHINE_MAX_GPUS]; /* group memory pool */
};

/* Sets DAGTAP_SOFTGPU to CONFIGURATION, calls hsa_init and fills the machine. Works once in a
 * process. */
void machine_open(const char *configuration, struct machine *ret_machine);

/* Allocates from POOL. The caller frees the memory with hsa_amd_memory_pool_free. */
void *machine_allocate(hsa_amd_memory_pool_t pool, size_t bytes);

/* Reads the file NAME of tests/softgpu/data into a malloc block of exactly its size, so that
 * ASan sees any access behind the end. The caller frees the block. */
uint8_t *machine_read_data(const char *name, size_t *ret_size);

#endif
