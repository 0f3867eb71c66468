/* The list of agents, and what is recorded of each. */
#include "capture/hsa/hsa_agents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "capture/capture_session.h"
#include "capture/hsa/hsa_calls.h"

/* Two attributes that the headers of ROCr 5.2.3 lack. The tick frequency in Hz, from ROCr 5.3
 * on: */
#define AGENT_INFO_TIMESTAMP_FREQUENCY 0xA016
/* The kernel driver's number of the GPU: */
#define AGENT_INFO_DRIVER_UID	       0xA112
#define AGENT_TEXT_MOST		       64 /* bytes of a name, from the runtime's header */

static struct hsa_agent_entry *agents;
static uint32_t agent_count;
static uint32_t gpu_count; /* GPUs among them */

struct hsa_agent_entry *hsa_agents_get(uint32_t *ret_count)
{
	*ret_count = agent_count;
	return agents;
}

static void info_text(hsa_agent_t agent, uint32_t attribute, char *ret_text, size_t size)
{
	char text[AGENT_TEXT_MOST + 1] = "";

	if (hsa_next.hsa_agent_get_info(agent, (hsa_agent_info_t)attribute, text) ==
	    HSA_STATUS_SUCCESS)
		snprintf(ret_text, size, "%s", text);
}

static uint32_t info_u32(hsa_agent_t agent, uint32_t attribute)
{
	uint32_t value[2] = {0};

	return hsa_next.hsa_agent_get_info(agent, (hsa_agent_info_t)attribute, value) ==
			       HSA_STATUS_SUCCESS
		       ? value[0]
		       : 0;
}

static uint64_t info_u64(hsa_agent_t agent, uint32_t attribute)
{
	uint64_t value = 0;

	return hsa_next.hsa_agent_get_info(agent, (hsa_agent_info_t)attribute, &value) ==
			       HSA_STATUS_SUCCESS
		       ? value
		       : 0;
}

static hsa_status_t largest_pool(hsa_amd_memory_pool_t pool, void *data)
{
	uint64_t size = 0, *largest = data;

	if (hsa_next.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size) ==
		    HSA_STATUS_SUCCESS &&
	    size > *largest)
		*largest = size;
	return HSA_STATUS_SUCCESS;
}

static uint64_t memory_bytes(hsa_agent_t agent)
{
	uint64_t bytes = 0;

	if (hsa_next.hsa_amd_agent_iterate_memory_pools && hsa_next.hsa_amd_memory_pool_get_info)
		hsa_next.hsa_amd_agent_iterate_memory_pools(agent, largest_pool, &bytes);
	return bytes;
}

/* Records where the GPU is on the PCI bus. ROCr passes the driver's location number on unchanged:
 * for a card that is partitioned, bits 28 to 31 are the number of the partition. */
static void place_record(hsa_agent_t agent, struct record_agent *r)
{
	uint32_t place[2] = {0};

	if (hsa_next.hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_BDFID, place) !=
	    HSA_STATUS_SUCCESS)
		return;
	r->has_location = 1;
	r->pci_location = place[0];
	r->pci_domain = info_u32(agent, HSA_AMD_AGENT_INFO_DOMAIN);
}

/* Memory transfers twice in each clock. */
static void speed_record(hsa_agent_t agent, struct record_agent *r)
{
	uint64_t mhz = info_u32(agent, HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY);
	uint64_t bits = info_u32(agent, HSA_AMD_AGENT_INFO_MEMORY_WIDTH);

	r->clock_khz = info_u32(agent, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY) * 1000;
	r->memory_bytes_per_s = 2 * mhz * 1000000 * bits / 8;
}

static void agent_record(const struct hsa_agent_entry *agent)
{
	struct record_agent r = {
		.handle = agent->handle.handle,
		.tick_hz = agent->tick_hz,
		.is_gpu = agent->is_gpu,
		.gpu_ordinal = agent->gpu_ordinal,
		.memory_bytes = memory_bytes(agent->handle),
	};

	info_text(agent->handle, HSA_AGENT_INFO_NAME, r.name, sizeof(r.name));
	info_text(agent->handle, HSA_AMD_AGENT_INFO_PRODUCT_NAME, r.product, sizeof(r.product));
	if (agent->is_gpu) {
		info_text(agent->handle, HSA_AMD_AGENT_INFO_UUID, r.uuid, sizeof(r.uuid));
		r.compute_units = info_u32(agent->handle, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
		r.wave_size = info_u32(agent->handle, HSA_AGENT_INFO_WAVEFRONT_SIZE);
		r.driver_id = agent->driver_id;
		place_record(agent->handle, &r);
		speed_record(agent->handle, &r);
	}
	writer_put(session_writer(), RECORD_AGENT, agent->index, &r, sizeof(r));
}

static hsa_status_t agent_add(hsa_agent_t handle, void *unused)
{
	struct hsa_agent_entry *agent = NULL;

	(void)unused;
	if (agent_count < HSA_AGENTS_MOST)
		agent = table_add((void **)&agents, &agent_count, sizeof(*agent));
	if (!agent) {
		session_note(
			"no memory or number for a GPU: its kernels have no names and no times");
		return HSA_STATUS_INFO_BREAK;
	}
	*agent = (struct hsa_agent_entry){
		.handle = handle,
		.index = agent_count - 1,
		.is_gpu = info_u32(handle, HSA_AGENT_INFO_DEVICE) == HSA_DEVICE_TYPE_GPU,
	};
	if (agent->is_gpu) {
		agent->gpu_ordinal = gpu_count++;
		agent->driver_id = info_u32(handle, AGENT_INFO_DRIVER_UID);
		agent->tick_hz = info_u64(handle, AGENT_INFO_TIMESTAMP_FREQUENCY);
	}
	agent_record(agent);
	return HSA_STATUS_SUCCESS;
}

void hsa_agents_record(void)
{
	for (uint32_t i = 0; i < agent_count; i++)
		agent_record(&agents[i]);
}

void hsa_agents_read(void)
{
	agent_count = gpu_count = 0;
	hsa_next.hsa_iterate_agents(agent_add, NULL);
}
