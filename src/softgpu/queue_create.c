/* hsa_amd_queue_create: creates several queues in one call, of compute and of copy engines, each
 * from a description. */
#include <string.h>

#include "softgpu/api.h"
#include "softgpu/counters.h"
#include "softgpu/dma.h"
#include "softgpu/queue.h"
#include "softgpu/sdma_queue.h"
#include "softgpu/system_state.h"

static bool is_zero(const void *bytes, size_t count)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < count; i++) {
		if (at[i])
			return false;
	}
	return true;
}

static bool header_is_good(const hsa_amd_queue_create_desc_t *desc)
{
	const uint16_t flags = HSA_AMD_QUEUE_CREATE_DEVICE_MEM_RING_BUF |
			       HSA_AMD_QUEUE_CREATE_DEVICE_MEM_QUEUE_DESCRIPTOR;
	uint32_t size = desc->queue_size_bytes;

	return desc->version == HSA_AMD_QUEUE_CREATE_DESC_VERSION && !(desc->flags & ~flags) &&
	       desc->engine_type <= HSA_AMD_QUEUE_ENGINE_AIE && size && !(size & (size - 1)) &&
	       (uint32_t)desc->priority <= HSA_AMD_QUEUE_PRIORITY_HIGH && !desc->traffic_class &&
	       is_zero(desc->reserved_header, sizeof(desc->reserved_header)) &&
	       is_zero(desc->reserved, sizeof(desc->reserved));
}

static hsa_status_t make_compute(const hsa_amd_queue_create_desc_t *desc,
				 struct queue_request *request, struct softgpu_queue **ret_queue)
{
	const hsa_amd_compute_queue_params_t *params = &desc->engine.compute;
	hsa_status_t status;

	if (desc->queue_size_bytes % AQL_PACKET_BYTES || params->cu_mask_count % 32 ||
	    (params->cu_mask_count && !params->cu_mask) ||
	    !is_zero(params->reserved, sizeof(params->reserved)))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	request->size = desc->queue_size_bytes / AQL_PACKET_BYTES;
	request->type = params->type;
	status = queue_make_running(request, ret_queue);
	if (status == HSA_STATUS_SUCCESS && params->cu_mask_count)
		softgpu_hsa_amd_queue_cu_set_mask(&(*ret_queue)->amd.hsa_queue,
						  params->cu_mask_count, params->cu_mask);
	return status;
}

static hsa_status_t make_sdma(const hsa_amd_queue_create_desc_t *desc,
			      struct queue_request *request, struct softgpu_queue **ret_queue)
{
	const hsa_amd_sdma_queue_params_t *params = &desc->engine.sdma;

	if (!is_zero(params->reserved, sizeof(params->reserved)) ||
	    (params->sdma_engine_id >= DMA_ENGINES &&
	     params->sdma_engine_id != HSA_AMD_SDMA_ENGINE_ID_ANY))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	request->size = desc->queue_size_bytes;
	return sdma_queue_make(request, params->sdma_engine_id, ret_queue);
}

static hsa_status_t make(struct softgpu_agent *agent, hsa_amd_queue_create_desc_t *desc)
{
	struct queue_request request = {.agent = agent,
					.error_callback = desc->callback,
					.error_data = desc->callback_data};
	struct softgpu_queue *queue;
	hsa_status_t status;

	if (!header_is_good(desc))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!agent->is_gpu || desc->engine_type == HSA_AMD_QUEUE_ENGINE_AIE)
		return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
	status = desc->engine_type == HSA_AMD_QUEUE_ENGINE_COMPUTE
			 ? make_compute(desc, &request, &queue)
			 : make_sdma(desc, &request, &queue);
	if (status == HSA_STATUS_SUCCESS)
		desc->queue = &queue->amd.hsa_queue;
	return status;
}

/* Creates as many of the queues as possible and returns the first error, as ROCr does. */
hsa_status_t softgpu_hsa_amd_queue_create(hsa_agent_t handle, hsa_amd_queue_create_desc_t *descs,
					  uint32_t num_descs)
{
	struct softgpu_agent *agent = agent_find(handle);
	hsa_status_t first = HSA_STATUS_SUCCESS;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!descs || !num_descs)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < num_descs; i++) {
		hsa_status_t status;

		descs[i].queue = NULL;
		status = make(agent, &descs[i]);
		if (first == HSA_STATUS_SUCCESS)
			first = status;
	}
	return first;
}
