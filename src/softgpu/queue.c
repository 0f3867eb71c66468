/* The registry of queues: creates, finds and destroys them. Also the HSA functions on queues,
 * except for those in queue_create.c and queue_index.c. */
#include "softgpu/queue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/api.h"
#include "softgpu/config.h"
#include "softgpu/counters.h"
#include "softgpu/device_clock.h"
#include "softgpu/futex.h"
#include "softgpu/intercept_queue.h"
#include "softgpu/processor_thread.h"
#include "softgpu/schedule.h"
#include "softgpu/sdma_queue.h"
#include "softgpu/signal_block.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/system_state.h"

#define CU_MASK_WORDS 2

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	struct softgpu_queue *head;
	uint64_t next_id;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void registry_init(void)
{
	process_guard_lock(&registry.lock);
}

static hsa_status_t check_request(const struct queue_request *request)
{
	uint32_t size = request->size;

	if (!request->agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!size || size & (size - 1) || size > QUEUE_MAX_PACKETS ||
	    request->type > HSA_QUEUE_TYPE_COOPERATIVE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!request->agent->is_gpu)
		return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
	return HSA_STATUS_SUCCESS;
}

static void *make_ring(uint32_t size)
{
	size_t bytes = (size_t)size * AQL_PACKET_BYTES;
	uint8_t *ring =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (ring == MAP_FAILED)
		return NULL;
	/* Packet type 0 is valid (vendor specific), so the zeroed slots must be marked invalid. */
	for (uint32_t i = 0; i < size; i++)
		*(uint16_t *)(ring + (size_t)i * AQL_PACKET_BYTES) = HSA_PACKET_TYPE_INVALID;
	return ring;
}

static void registry_add(struct softgpu_queue *queue)
{
	pthread_once(&registry.once, registry_init);
	pthread_mutex_lock(&registry.lock);
	queue->amd.hsa_queue.id = registry.next_id++;
	queue->next = registry.head;
	registry.head = queue;
	pthread_mutex_unlock(&registry.lock);
}

static void registry_remove(struct softgpu_queue *queue)
{
	pthread_mutex_lock(&registry.lock);
	for (struct softgpu_queue **at = &registry.head; *at; at = &(*at)->next) {
		if (*at == queue) {
			*at = queue->next;
			break;
		}
	}
	pthread_mutex_unlock(&registry.lock);
}

struct softgpu_queue *queue_find(const hsa_queue_t *handle)
{
	struct softgpu_queue *queue;

	pthread_mutex_lock(&registry.lock);
	for (queue = registry.head; queue; queue = queue->next)
		if (&queue->amd.hsa_queue == handle)
			break;
	pthread_mutex_unlock(&registry.lock);
	return queue;
}

struct softgpu_queue *queue_allocate(const struct queue_request *request)
{
	size_t bytes = (sizeof(struct softgpu_queue) + AMD_QUEUE_ALIGN_BYTES - 1) /
		       AMD_QUEUE_ALIGN_BYTES * AMD_QUEUE_ALIGN_BYTES;
	struct softgpu_queue *queue = aligned_alloc(AMD_QUEUE_ALIGN_BYTES, bytes);

	if (!queue)
		return NULL;
	memset(queue, 0, bytes);
	queue->write_index = &queue->amd.write_dispatch_id;
	queue->read_index = &queue->amd.read_dispatch_id;
	queue->agent = request->agent;
	queue->error_callback = request->error_callback;
	queue->error_data = request->error_data;
	registry_add(queue);
	return queue;
}

bool queue_add_doorbell(struct softgpu_queue *queue)
{
	struct softgpu_signal *doorbell = signal_make(SIGNAL_DOORBELL, 0, queue);

	if (!doorbell)
		return false;
	doorbell->amd.hardware_doorbell_ptr = &queue->doorbell_value;
	queue->amd.hsa_queue.doorbell_signal = signal_handle(doorbell);
	return true;
}

hsa_status_t queue_make(const struct queue_request *request, struct softgpu_queue **ret_queue)
{
	hsa_status_t status = check_request(request);
	struct softgpu_queue *queue;

	if (status != HSA_STATUS_SUCCESS)
		return status;
	queue = queue_allocate(request);
	if (!queue)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	queue->amd.hsa_queue.type = request->type;
	queue->amd.hsa_queue.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
	queue->amd.hsa_queue.size = request->size;
	queue->amd.hsa_queue.base_address = make_ring(request->size);
	queue->amd.queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
	queue->amd.read_dispatch_id_field_base_byte_offset =
		offsetof(amd_queue_t, read_dispatch_id);
	if (!queue_add_doorbell(queue) || !queue->amd.hsa_queue.base_address) {
		queue_destroy(queue);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	*ret_queue = queue;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t queue_make_running(const struct queue_request *request,
				struct softgpu_queue **ret_queue)
{
	struct softgpu_queue *queue;
	hsa_status_t status = queue_make(request, &queue);

	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (processor_start(queue)) {
		queue_destroy(queue);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	softgpu_count(queues_created, 1);
	*ret_queue = queue;
	return HSA_STATUS_SUCCESS;
}

void queue_destroy(struct softgpu_queue *queue)
{
	hsa_queue_t *hsa = &queue->amd.hsa_queue;
	struct softgpu_signal *doorbell = signal_block(hsa->doorbell_signal);

	registry_remove(queue);
	if (queue->counted) {
		free(queue);
		return;
	}
	/* From here on, a late store to the doorbell is an error of the signal and does not reach
	 * the freed queue. */
	if (doorbell)
		signal_destroy(doorbell);
	if (queue->intercept)
		intercept_destroy(queue->intercept);
	processor_stop(queue);
	if (queue->sdma)
		sdma_queue_release(queue);
	else if (hsa->base_address)
		munmap(hsa->base_address, (size_t)hsa->size * AQL_PACKET_BYTES);
	free(queue);
}

void queue_destroy_all(void)
{
	struct softgpu_queue *queue;

	do {
		pthread_mutex_lock(&registry.lock);
		/* Destroying a proxy destroys its hardware queue too, so skip hardware queues. */
		for (queue = registry.head; queue && queue->is_behind_proxy; queue = queue->next)
			;
		pthread_mutex_unlock(&registry.lock);
		if (queue)
			queue_destroy(queue);
	} while (queue);
}

void queue_wake_all(void)
{
	pthread_mutex_lock(&registry.lock);
	for (struct softgpu_queue *queue = registry.head; queue; queue = queue->next) {
		atomic_fetch_add(&queue->doorbell_word, 1);
		futex_wake_all(&queue->doorbell_word);
	}
	pthread_mutex_unlock(&registry.lock);
}

/* Raises queue->announced to VALUE + 1. */
static void announce(struct softgpu_queue *queue, int64_t value)
{
	uint64_t before = atomic_load_explicit(&queue->announced, memory_order_relaxed);

	while (value >= 0 && before < (uint64_t)value + 1 &&
	       !atomic_compare_exchange_weak_explicit(&queue->announced, &before,
						      (uint64_t)value + 1, memory_order_relaxed,
						      memory_order_relaxed))
		;
}

void queue_ring(struct softgpu_queue *queue, int64_t value)
{
	if (queue->intercept) {
		intercept_ring(queue->intercept);
		return;
	}
	softgpu_count(doorbells, 1);
	clock_spin_ns(config_get()->doorbell_ns);
	if (schedule_is_on())
		schedule_host_acts();
	if (queue->sdma) {
		sdma_queue_ring(queue, value);
		return;
	}
	/* The value says which packet was written. With several producers it does not say that all
	 * packets before it were written; the packet headers say that. */
	announce(queue, value);
	/* Sequentially consistent: pairs with the increment of sleepers in wait_for_doorbell. */
	atomic_fetch_add(&queue->doorbell_word, 1);
	if (atomic_load(&queue->sleepers))
		futex_wake_all(&queue->doorbell_word);
	if (schedule_is_on())
		schedule_bump_epoch();
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

static hsa_status_t answer_u64(void *value, uint64_t answer)
{
	memcpy(value, &answer, sizeof(answer));
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t answer_u32(void *value, uint32_t answer)
{
	memcpy(value, &answer, sizeof(answer));
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
