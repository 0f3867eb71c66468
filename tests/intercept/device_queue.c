/* Queues and packets for the interceptor's test programs (device_queue.h). */
#include "device_queue.h"

#include <sched.h>
#include <string.h>

struct device device;
static void *kernarg;

void device_start(void)
{
	device_open(&device);
	kernarg = device_allocate(&device, 4096);
}

void device_end(void)
{
	HSA_CHECK(hsa_amd_memory_pool_free(kernarg));
	device_close(&device);
}

hsa_queue_t *queue_make(uint32_t size)
{
	hsa_queue_t *queue;

	HSA_CHECK(hsa_queue_create(device.gpu, size, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
				   UINT32_MAX, &queue));
	return queue;
}

hsa_signal_t signal_make(hsa_signal_value_t value)
{
	hsa_signal_t signal;

	HSA_CHECK(hsa_signal_create(value, 0, NULL, &signal));
	return signal;
}

void signal_await(hsa_signal_t signal)
{
	while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					 HSA_WAIT_STATE_BLOCKED) >= 1)
		;
}

void dispatch_fill(hsa_kernel_dispatch_packet_t *ret_packet, uint32_t number, hsa_signal_t signal)
{
	*ret_packet = (hsa_kernel_dispatch_packet_t){
		.setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS,
		.workgroup_size_x = 1,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = number + 1,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.kernel_object = device.kernel_object,
		.kernarg_address = kernarg,
		.completion_signal = signal,
	};
}

void packet_put(hsa_queue_t *queue, uint64_t index, const void *packet, uint16_t header)
{
	char *slot = (char *)queue->base_address + (index & (queue->size - 1)) * 64;
	uint32_t first_word;

	if (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {
		/* The packets that are already written must be rung before this thread waits for
		 * room. */
		queue_ring(queue, index - 1);
		while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
			sched_yield();
	}
	memcpy(&first_word, packet, sizeof(first_word));
	first_word = (first_word & 0xffff0000u) | header;
	memcpy(slot + 4, (const char *)packet + 4, 60);
	__atomic_store_n((uint32_t *)slot, first_word, __ATOMIC_RELEASE);
}

void queue_ring(hsa_queue_t *queue, uint64_t index)
{
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

void queue_drain(hsa_queue_t *queue)
{
	hsa_barrier_and_packet_t packet = {.completion_signal = signal_make(1)};
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);

	packet_put(queue, index, &packet, HSA_PACKET_TYPE_BARRIER_AND | HEADER_BARRIER);
	queue_ring(queue, index);
	signal_await(packet.completion_signal);
	HSA_CHECK(hsa_signal_destroy(packet.completion_signal));
}

void queue_run(hsa_queue_t *queue, uint32_t count)
{
	uint64_t first = hsa_queue_add_write_index_screlease(queue, count);
	const hsa_signal_t none = {0};

	for (uint32_t i = 0; i < count; i++) {
		hsa_kernel_dispatch_packet_t packet;

		dispatch_fill(&packet, i, none);
		packet_put(queue, first + i, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
	}
	queue_ring(queue, first + count - 1);
	queue_drain(queue);
}
