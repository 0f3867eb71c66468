/* Queues of all kinds: destroys and rings them. Also the HSA functions on queues, except for those
 * in queue_create.c and queue_index.c. */
#include "softgpu/queue.h"

#include <stdlib.h>
#include <string.h>

#include "softgpu/answer.h"
#include "softgpu/api.h"
#include "softgpu/counters.h"
#include "softgpu/intercept_queue.h"
#include "softgpu/processor_thread.h"
#include "softgpu/sdma_queue.h"
#include "softgpu/system_state.h"

#define CU_MASK_WORDS 2

void queue_destroy(struct softgpu_queue *queue)
{
	if (queue->counted) {
		queue_forget(queue);
		free(queue);
	} else if (queue->intercept) {
		intercept_destroy(queue->intercept);
	} else if (queue->sdma) {
		sdma_queue_destroy(queue);
	} else {
		queue_destroy_aql(queue);
	}
}

void queue_destroy_all(void)
{
	struct softgpu_queue *queue;

	/* Destroying a proxy destroys its hardware queue too. */
	while ((queue = queue_find_any()))
		queue_destroy(queue);
}

void queue_ring(struct softgpu_queue *queue, int64_t value)
{
	if (queue->intercept) {
		intercept_ring(queue->intercept);
	} else if (queue->sdma) {
		queue_charge_ring();
		sdma_queue_ring(queue, value);
	} else {
		queue_ring_aql(queue, value);
	}
}

hsa_status_t softgpu_hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				      void (*callback)(hsa_status_t status, hsa_queue_t *source,
						       void *data),
				      void *data, uint32_t private_segment_size,
				      uint32_t group_segment_size, hsa_queue_t **queue)
{
	struct queue_request request = {agent_find(agent), size, type, callback, data};
	struct softgpu_queue *made;
	hsa_status_t status;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!queue)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = queue_make_running(&request, &made);
	if (status == HSA_STATUS_SUCCESS)
		*queue = &made->amd.hsa_queue;
	return status;
}

hsa_status_t softgpu_hsa_queue_destroy(hsa_queue_t *handle)
{
	struct softgpu_queue *queue = queue_find(handle);

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!queue || queue->is_behind_proxy || queue->counted)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	/* The queue's error callback or a host function calls this: a thread cannot wait for
	 * itself. */
	if (processor_is_current(intercept_target(queue)))
		return HSA_STATUS_ERROR;
	softgpu_count(queues_destroyed, 1);
	queue_destroy(queue);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_queue_inactivate(hsa_queue_t *handle)
{
	struct softgpu_queue *queue = queue_find(handle);

	if (!queue)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	atomic_store(&intercept_target(queue)->inactive, true);
	return HSA_STATUS_SUCCESS;
}

/* Soft queues are not supported: they have no device that runs their packets. */
hsa_status_t softgpu_hsa_soft_queue_create(hsa_region_t region, uint32_t size,
					   hsa_queue_type32_t type, uint32_t features,
					   hsa_signal_t doorbell_signal, hsa_queue_t **queue)
{
	if (!queue || !size || size & (size - 1) || type > HSA_QUEUE_TYPE_SINGLE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t softgpu_hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *handle, int enable)
{
	struct softgpu_queue *queue = queue_find(handle);
	struct softgpu_queue *both[2];

	if (!queue)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	both[0] = queue;
	both[1] = intercept_target(queue);
	for (int i = 0; i < 2; i++) {
		uint32_t *properties = &both[i]->amd.queue_properties;

		if (enable)
			__atomic_fetch_or(properties, AMD_QUEUE_PROPERTIES_ENABLE_PROFILING,
					  __ATOMIC_RELEASE);
		else
			__atomic_fetch_and(properties, ~AMD_QUEUE_PROPERTIES_ENABLE_PROFILING,
					   __ATOMIC_RELEASE);
	}
	return HSA_STATUS_SUCCESS;
}

/* As queue_find, but returns NULL for counted handles and queues of copy engines, of which the
 * priority and the CU mask cannot be set. */
static struct softgpu_queue *find_adjustable(const hsa_queue_t *handle)
{
	struct softgpu_queue *queue = queue_find(handle);

	return queue && !queue->counted && !queue->sdma ? queue : NULL;
}

hsa_status_t softgpu_hsa_amd_queue_set_priority(hsa_queue_t *handle,
						hsa_amd_queue_priority_t priority)
{
	if (!find_adjustable(handle))
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	return priority > HSA_AMD_QUEUE_PRIORITY_HIGH ? HSA_STATUS_ERROR_INVALID_ARGUMENT
						      : HSA_STATUS_SUCCESS;
}

/* Checks the mask and stores it. It has no effect: the model has no compute units to reserve. */
hsa_status_t softgpu_hsa_amd_queue_cu_set_mask(const hsa_queue_t *handle,
					       uint32_t num_cu_mask_count, const uint32_t *cu_mask)
{
	struct softgpu_queue *queue = find_adjustable(handle);

	if (!queue)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (num_cu_mask_count % 32 || (num_cu_mask_count && !cu_mask))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memset(queue->cu_mask, 0xff, sizeof(queue->cu_mask));
	for (uint32_t i = 0; i < num_cu_mask_count / 32 && i < CU_MASK_WORDS; i++)
		queue->cu_mask[i] = cu_mask[i];
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_queue_cu_get_mask(const hsa_queue_t *handle,
					       uint32_t num_cu_mask_count, uint32_t *cu_mask)
{
	struct softgpu_queue *queue = find_adjustable(handle);

	if (!queue)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (!num_cu_mask_count || num_cu_mask_count % 32 || !cu_mask)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < num_cu_mask_count / 32; i++)
		cu_mask[i] = i < CU_MASK_WORDS ? queue->cu_mask[i] : 0;
	return HSA_STATUS_SUCCESS;
}

static const struct softgpu_queue *hardware_of(const struct softgpu_queue *queue)
{
	return queue->counted ? queue->counted : queue;
}

hsa_status_t softgpu_hsa_amd_queue_get_info(hsa_queue_t *handle,
					    hsa_queue_info_attribute_t attribute, void *value)
{
	const struct softgpu_queue *queue = queue_find(handle);

	if (!queue)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch (attribute) {
	case HSA_AMD_QUEUE_INFO_AGENT:
		return answer_u64(value, agent_handle(queue->agent).handle);
	case HSA_AMD_QUEUE_INFO_DOORBELL_ID:
		return answer_u64(value, handle->doorbell_signal.handle);
	case HSA_QUEUE_INFO_USE_COUNT:
		return answer_u32(value, queue->counted ? queue->counted->use_count : UINT32_MAX);
	case HSA_QUEUE_INFO_HW_ID:
		return answer_u32(value, (uint32_t)hardware_of(queue)->amd.hsa_queue.id);
	case HSA_AMD_QUEUE_INFO_ENGINE_TYPE:
		return answer_u32(value, queue->sdma ? HSA_AMD_QUEUE_ENGINE_SDMA
						     : HSA_AMD_QUEUE_ENGINE_COMPUTE);
	case HSA_AMD_QUEUE_INFO_SDMA_ENGINE_ID:
		return queue->sdma ? answer_u32(value, sdma_queue_engine(queue))
				   : HSA_STATUS_ERROR_INVALID_ARGUMENT;
	case HSA_AMD_QUEUE_INFO_READ_POINTER:
		return answer_u64(value, (uint64_t)(uintptr_t)queue->read_index);
	case HSA_AMD_QUEUE_INFO_WRITE_POINTER:
		return answer_u64(value, (uint64_t)(uintptr_t)queue->write_index);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}
