/* Intercept queues, which work as those of ROCr. The program writes packets to the ring of a proxy
 * and rings its doorbell. The thread that rings then runs the interceptors, the last registered one
 * first; each gets the packets that the one before has written. The packets that the first
 * registered one writes go to the hardware queue. Only one thread at a time, the drainer, drains a
 * proxy: if another thread, or an interceptor, rings meanwhile, the drainer handles those packets
 * too. */
#include "softgpu/intercept_queue.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/table.h"
#include "softgpu/api.h"
#include "softgpu/config.h"
#include "softgpu/counters.h"
#include "softgpu/queue.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/system_state.h"

#define MAX_HANDLERS 16

enum drain_state { DRAIN_IDLE, DRAIN_BUSY, DRAIN_BUSY_RUNG_AGAIN };

/* A handler that a tool has registered. */
struct interceptor {
	hsa_amd_queue_intercept_handler handler;
	void *data;
};

struct intercept {
	struct softgpu_queue *proxy;
	struct softgpu_queue *hardware; /* owned */
	struct interceptor handlers[MAX_HANDLERS];
	_Atomic uint32_t handler_count; /* only grows; written under register_lock */
	_Atomic int state;		/* enum drain_state */
	uint8_t *staging; /* owned; the packets of one call in contiguous memory; the drainer's */
	size_t staging_packets; /* size of that memory, in packets */
};

/* The packets that the calling thread passes through interceptors. write_packets has no argument
 * for this. */
struct cursor {
	struct intercept *intercept;
	uint32_t handlers_left; /* interceptors that are still to be called */
	uint64_t first_index;	/* index of the first packet in the proxy ring */
};

static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct cursor *cursor;

struct softgpu_queue *intercept_target(struct softgpu_queue *queue)
{
	if (queue->counted)
		return queue->counted;
	return queue->intercept ? queue->intercept->hardware : queue;
}

/* Waits for free slots from index WRITE on and gives their number. Returns false when there will be
 * none, because the queue has stopped or this is a forked child. */
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

/* Writes packets to the hardware queue and rings it. Only the drainer writes to its ring, so no
 * slots need to be reserved. The release store of the write index publishes the packets; it pairs
 * with the acquire load in queue_write_index, and the processor reads no slot beyond that index. */
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
		queue_ring_aql(queue, (int64_t)(write + room - 1));
		packets += room * AQL_PACKET_BYTES;
		count -= room;
	}
}

/* The hsa_amd_queue_intercept_packet_writer: passes packets to the next interceptor, or submits
 * them to the hardware queue when all were called. */
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

static bool slot_is_written(const struct softgpu_queue *proxy, uint64_t index)
{
	uint16_t header =
		__atomic_load_n((const uint16_t *)queue_slot(proxy, index), __ATOMIC_ACQUIRE);

	return (uint8_t)(header >> HSA_PACKET_HEADER_TYPE) != HSA_PACKET_TYPE_INVALID;
}

/* Returns how many packets from INDEX on the next call of the interceptors takes: all contiguous
 * written ones with intercept_batch, else one. The write index alone is no bound, because producers
 * may reserve slots beyond the size of the ring and wait for room. */
static uint64_t count_written(const struct softgpu_queue *proxy, uint64_t index)
{
	uint64_t reserved = queue_write_index(proxy) - index;
	uint64_t limit = config_get()->intercept_batch ? proxy->amd.hsa_queue.size : 1;
	uint64_t count = 0;

	while (count < reserved && count < limit && slot_is_written(proxy, index + count))
		count++;
	return count;
}

/* Copies packets out of the proxy ring and marks their slots invalid. */
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

		if (table_reserve((void **)&intercept->staging, &intercept->staging_packets, count,
				  AQL_PACKET_BYTES) < 0)
			break;
		take_slots(proxy, index, count, intercept->staging);
		cursor = &here;
		write_packets(intercept->staging, count);
		cursor = outer;
		index += count;
		__atomic_store_n(&proxy->amd.read_dispatch_id, index, __ATOMIC_RELEASE);
	}
}

/* Makes the calling thread the drainer and returns true; or tells the present drainer that there
 * are more packets and returns false. */
static bool begin_drain(struct intercept *intercept)
{
	int state = atomic_load(&intercept->state);
	int next;

	do {
		next = state == DRAIN_IDLE ? DRAIN_BUSY : DRAIN_BUSY_RUNG_AGAIN;
	} while (!atomic_compare_exchange_weak(&intercept->state, &state, next));
	return next == DRAIN_BUSY;
}

/* Ends the role of the drainer and returns true; returns false when the doorbell rang meanwhile, so
 * that the thread must drain again. */
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

/* The error callback of the hardware queue: reports the error for the proxy, which is the queue
 * that the program knows. */
static void forward_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
	const struct softgpu_queue *proxy = ((struct intercept *)data)->proxy;

	if (proxy->error_callback)
		proxy->error_callback(status, (hsa_queue_t *)&proxy->amd.hsa_queue,
				      proxy->error_data);
}

void intercept_destroy(struct intercept *intercept)
{
	struct softgpu_queue *proxy = intercept->proxy;

	queue_close(proxy);
	proxy->intercept = NULL;
	if (intercept->hardware)
		queue_destroy_aql(intercept->hardware);
	free(intercept->staging);
	free(intercept);
	queue_free_aql(proxy);
}

/* Creates the proxy and its hardware queue. Takes INTERCEPT, also on failure. */
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
		intercept->hardware->known = &intercept->proxy->amd.hsa_queue;
		/* The program, its tools and the truth log use the same queue id. */
		intercept->proxy->amd.hsa_queue.id = intercept->hardware->amd.hsa_queue.id;
		if (processor_start(intercept->hardware))
			status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	if (status != HSA_STATUS_SUCCESS)
		intercept_destroy(intercept);
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

/* Never calls back: CALLBACK is for queues that the runtime creates for itself, of which this one
 * has none. */
hsa_status_t softgpu_hsa_amd_runtime_queue_create_register(hsa_amd_runtime_queue_notifier callback,
							   void *user_data)
{
	return HSA_STATUS_SUCCESS;
}
