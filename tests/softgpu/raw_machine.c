/* Finds the machine's agents and pools (raw_machine.h). */
#include "raw_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct pool_search {
	struct machine *machine;
	uint32_t gpu; /* index of the GPU; MACHINE_MAX_GPUS: the CPU */
};

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data)
{
	const struct pool_search *search = data;
	struct machine *machine = search->machine;
	hsa_amd_segment_t segment;
	uint32_t flags;

	hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
	hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	if (search->gpu < MACHINE_MAX_GPUS && segment == HSA_AMD_SEGMENT_GROUP)
		machine->group[search->gpu] = pool;
	else if (search->gpu < MACHINE_MAX_GPUS)
		machine->vram[search->gpu] = pool;
	else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		machine->kernarg = pool;
	else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
		machine->fine = pool;
	else
		machine->coarse = pool;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_agent(hsa_agent_t agent, void *data)
{
	struct pool_search search = {.machine = data, .gpu = MACHINE_MAX_GPUS};
	hsa_device_type_t type;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type == HSA_DEVICE_TYPE_GPU) {
		search.gpu = search.machine->gpu_count++;
		search.machine->gpu[search.gpu] = agent;
	} else {
		search.machine->cpu = agent;
	}
	return hsa_amd_agent_iterate_memory_pools(agent, take_pool, &search);
}

void machine_open(const char *configuration, struct machine *ret_machine)
{
	memset(ret_machine, 0, sizeof(*ret_machine));
	setenv("DAGTAP_SOFTGPU", configuration, 1);
	assert_int_equal(hsa_init(), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_iterate_agents(take_agent, ret_machine), HSA_STATUS_SUCCESS);
}

void *machine_allocate(hsa_amd_memory_pool_t pool, size_t bytes)
{
	void *address = NULL;

	assert_int_equal(hsa_amd_memory_pool_allocate(pool, bytes, 0, &address),
			 HSA_STATUS_SUCCESS);
	assert_non_null(address);
	return address;
}

uint8_t *machine_read_data(const char *name, size_t *ret_size)
{
	char path[4096];
	uint8_t *bytes;
	FILE *file;
	long size;

	snprintf(path, sizeof(path), "%s/tests/softgpu/data/%s", getenv("SOURCE_DIR"), name);
	file = fopen(path, "rb");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	bytes = malloc((size_t)size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
	fclose(file);
	*ret_size = (size_t)size;
	return bytes;
}
