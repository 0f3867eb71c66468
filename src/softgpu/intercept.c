/* As ROCr's intercept queues: the program writes to a proxy ring and rings a software doorbell;
 * handlers see the packets on the ringing thread, the last registered first; what the first
 * registered writes goes to the hardware queue behind. One ring drains at a time: a thread (or a
 * handler) that rings meanwhile leaves its packets to the one that drains. */
#include "softgpu/intercept.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "softgpu/api.h"
#include "softgpu/config.h"
#include "softgpu/counters.h"
#include "softgpu/process.h"
#include "softgpu/queue.h"
#include "softgpu/system.h"

#define MAX_HANDLERS 16

enum drain_state { DRAIN_IDLE, DRAIN_BUSY, DRAIN_BUSY_RUNG_AGAIN };

struct interceptor {
	hsa_amd_queue_intercept_handler handler;
	void *data;
};

struct intercept {
	struct softgpu_queue *proxy;
	struct softgpu_queue *hardware;
	struct interceptor handlers[MAX_HANDLERS];
	_Atomic uint32_t handler_count;
	_Atomic int state; /* enum drain_state */
	uint8_t *staging;  /* the packets of one call, in one piece; the drainer's */
	uint64_t staging_packets;
};

/* Where on this thread the packets are: writers have no argument to tell. */
struct cursor {
	struct intercept *intercept;
	uint32_t handlers_left;
	uint64_t first_index;
};

static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct cursor *cursor;

struct softgpu_queue *intercept_target(struct softgpu_queue *queue)
{
	if (queue->counted)
		return queue->counted;
	return queue->intercept ? queue->intercept->hardware : queue;
}

static bool wait_for_room(const struct softgpu_queue *queue, uint64_t write, uint64_t *ret_room)
{
	const struct timespec pause = {0, 2000};
	uint64_t room;

	for (;;) {
		room = queue->amd.hsa_queue.size - (write - queue_read_index(queue));
		if (room || atomic_load(&queue->inactive) || process_is_forked_child())
			break;
		nanosleep(&pause, NULL);
	}
	*ret_room = room;
	return room != 0;
}

/* Only the drainer writes to the hardware ring, so its write index needs no reservation. The index
 * is published after the bodies and headers, and the processor reads no slot beyond it. */
static void submit(struct softgpu_queue *queue, const uint8_t *packets, uint64_t count)
{
	while (count) {
		uint64_t write = queue_write_index(queue);
		uint64_t room;

		if (!wait_for_room(queue, write, &room))
			return;
		if (room > count)
			room = count;
		for (uint64_t i = 0; i < room; i++)
			memcpy(queue_slot(queue, write + i), packets + i * AQL_PACKET_BYTES,
			       AQL_PACKET_BYTES);
		__atomic_store_n(&queue->amd.write_dispatch_id, write + room, __ATOMIC_RELEASE);
		queue->doorbell_value = write + room - 1;
		queue_ring(queue, (int64_t)(write + room - 1));
		packets += room * AQL_PACKET_BYTES;
		count -= room;
	}
}

static void write_packets(const void *packets, uint64_t count)
{
	struct cursor *here = cursor;
	const struct interceptor *next;

	if (!here || !packets || !count)
		return;
	if (!here->handlers_left) {
		submit(here->intercept->hardware, packets, count);
		return;
	}
	next = &here->intercept->handlers[--here->handlers_left];
	next->handler(packets, count, here->first_index, next->data, write_packets);
	here->handlers_left++;
}

static bool reserve_staging(struct intercept *intercept, uint64_t count)
{
	uint8_t *grown;

	if (count <= intercept->staging_packets)
		return true;
	grown = realloc(intercept->staging, count * AQL_PACKET_BYTES);
	if (!grown)
		return false;
	intercept->staging = grown;
	intercept->staging_packets = count;
	return true;
}

static bool slot_is_written(const struct softgpu_queue *proxy, uint64_t index)
{
	uint16_t header =
		__atomic_load_n((const uint16_t *)queue_slot(proxy, index), __ATOMIC_ACQUIRE);

	return (uint8_t)(header >> HSA_PACKET_HEADER_TYPE) != HSA_PACKET_TYPE_INVALID;
}

/* How many packets the next call takes, from INDEX on: all that are written, or one. Producers
 * reserve slots beyond the ring's size and wait, so the write index alone is no bound. */
static uint64_t count_written(const struct softgpu_queue *proxy, uint64_t index)
{
	uint64_t reserved = queue_write_index(proxy) - index;
	uint64_t limit = config_get()->intercept_batch ? proxy->amd.hsa_queue.size : 1;
	uint64_t count = 0;

	while (count < reserved && count < limit && slot_is_written(proxy, index + count))
		count++;
	return count;
}

static void take_slots(const struct softgpu_queue *proxy, uint64_t index, uint64_t count,
		       uint8_t *ret_packets)
{
	for (uint64_t i = 0; i < count; i++) {
		void *slot = queue_slot(proxy, index + i);

		memcpy(ret_packets + i * AQL_PACKET_BYTES, slot, AQL_PACKET_BYTES);
		__atomic_store_n((uint16_t *)slot, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
	}
}

static void drain(struct intercept *intercept)
{
	struct softgpu_queue *proxy = intercept->proxy;
	struct cursor *outer = cursor;
	uint64_t index = queue_read_index(proxy);
	uint64_t count;

	while ((count = count_written(proxy, index)) != 0) {
		struct cursor here = {intercept, atomic_load(&intercept->handler_count), index};

		if (!reserve_staging(intercept, count))
			break;
		take_slots(proxy, index, count, intercept->staging);
		cursor = &here;
		write_packets(intercept->staging, count);
		cursor = outer;
		index += count;
		__atomic_store_n(&proxy->amd.read_dispatch_id, index, __ATOMIC_RELEASE);
	}
}

/* Becomes the drainer, or leaves word for the one there is. */
static bool begin_drain(struct intercept *intercept)
{
	int state = atomic_load(&intercept->state);
	int next;

	do {
		next = state == DRAIN_IDLE ? DRAIN_BUSY : DRAIN_BUSY_RUNG_AGAIN;
	} while (!atomic_compare_exchange_weak(&intercept->state, &state, next));
	return next == DRAIN_BUSY;
}

/* True when nobody rang meanwhile. */
static bool end_drain(struct intercept *intercept)
{
	int state = DRAIN_BUSY;

	if (atomic_compare_exchange_strong(&intercept->state, &state, DRAIN_IDLE))
		return true;
	atomic_store(&intercept->state, DRAIN_BUSY);
	return false;
}

void intercept_ring(struct intercept *intercept)
{
	if (!begin_drain(intercept))
		return;
	do {
		drain(intercept);
	} while (!end_drain(intercept));
}

/* The program knows the proxy, not the queue behind it. */
static void forward_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
	const struct softgpu_queue *proxy = ((struct intercept *)data)->proxy;

	if (proxy->error_callback)
		proxy->error_callback(status, (hsa_queue_t *)&proxy->amd.hsa_queue,
				      proxy->error_data);
}

void intercept_destroy(struct intercept *intercept)
{
	intercept->proxy->intercept = NULL;
	if (intercept->hardware)
		queue_destroy(intercept->hardware);
	free(intercept->staging);
	free(intercept);
}

static hsa_status_t make_pair(const struct queue_request *request, struct intercept *intercept)
{
	struct queue_request behind = *request;
	hsa_status_t status = queue_make(request, &intercept->proxy);

	if (status != HSA_STATUS_SUCCESS) {
		free(intercept);
		return status;
	}
	intercept->proxy->intercept = intercept;
	behind.error_callback = forward_error;
	behind.error_data = intercept;
	status = queue_make(&behind, &intercept->hardware);
	if (status == HSA_STATUS_SUCCESS) {
		intercept->hardware->is_behind_proxy = true;
		/* One identity for the program, its tools and the truth log. */
		intercept->proxy->amd.hsa_queue.id = intercept->hardware->amd.hsa_queue.id;
		if (processor_start(intercept->hardware))
			status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	if (status != HSA_STATUS_SUCCESS)
		queue_destroy(intercept->proxy);
	return status;
}

hsa_status_t softgpu_hsa_amd_queue_intercept_create(
	hsa_agent_t agent_handle, uint32_t size, hsa_queue_type32_t type,
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
	uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **queue)
{
	struct queue_request request = {agent_find(agent_handle), size, type, callback, data};
	struct intercept *intercept;
	hsa_status_t status;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!queue)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	intercept = calloc(1, sizeof(*intercept));
	if (!intercept)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	status = make_pair(&request, intercept);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	softgpu_count(queues_created, 1);
	*queue = &intercept->proxy->amd.hsa_queue;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_queue_intercept_register(hsa_queue_t *handle,
						      hsa_amd_queue_intercept_handler callback,
						      void *user_data)
{
	struct softgpu_queue *queue = queue_find(handle);
	hsa_status_t status = HSA_STATUS_SUCCESS;
	struct intercept *intercept;
	uint32_t count;

	if (!queue || !queue->intercept)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	intercept = queue->intercept;
	pthread_mutex_lock(&register_lock);
	count = atomic_load(&intercept->handler_count);
	if (count < MAX_HANDLERS) {
		intercept->handlers[count] = (struct interceptor){callback, user_data};
		atomic_store(&intercept->handler_count, count + 1);
	} else {
		status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	pthread_mutex_unlock(&register_lock);
	return status;
}

/* Would tell of queues that the runtime makes for itself; this one makes none. */
hsa_status_t softgpu_hsa_amd_runtime_queue_create_register(hsa_amd_runtime_queue_notifier callback,
							   void *user_data)
{
	return HSA_STATUS_SUCCESS;
}
