/* Queues with a ring of AQL packets: a hardware queue, and the ring of a proxy. */
#include <stdlib.h>
#include <sys/mman.h>

#include "softgpu/config.h"
#include "softgpu/counters.h"
#include "softgpu/device_clock.h"
#include "softgpu/futex.h"
#include "softgpu/queue.h"
#include "softgpu/schedule.h"
#include "softgpu/scratch.h"

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

void queue_free_aql(struct softgpu_queue *queue)
{
	const hsa_queue_t *hsa = &queue->amd.hsa_queue;

	processor_stop(queue);
	scratch_release(queue);
	if (hsa->base_address)
		munmap(hsa->base_address, (size_t)hsa->size * AQL_PACKET_BYTES);
	free(queue);
}

void queue_destroy_aql(struct softgpu_queue *queue)
{
	queue_close(queue);
	queue_free_aql(queue);
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
		queue_destroy_aql(queue);
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
		queue_destroy_aql(queue);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	softgpu_count(queues_created, 1);
	*ret_queue = queue;
	return HSA_STATUS_SUCCESS;
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

void queue_charge_ring(void)
{
	softgpu_count(doorbells, 1);
	clock_spin_ns(config_get()->doorbell_ns);
	if (schedule_is_on())
		schedule_host_acts();
}

void queue_ring_aql(struct softgpu_queue *queue, int64_t value)
{
	queue_charge_ring();
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
