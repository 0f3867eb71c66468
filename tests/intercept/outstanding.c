/* intercept-outstanding N: submits N dispatches after a barrier packet that waits for a signal.
 * The program reads how many packets the device was given and has not begun, then completes the
 * signal. */
#include <stdio.h>
#include <stdlib.h>

#include <hsa/amd_hsa_queue.h>

#include "device_queue.h"

#define BATCH 10000

static void submit_barrier(hsa_queue_t *queue, hsa_signal_t dependency)
{
	hsa_barrier_and_packet_t packet = {.dep_signal = {dependency}};
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);

	packet_put(queue, index, &packet, HSA_PACKET_TYPE_BARRIER_AND | HEADER_BARRIER);
	queue_ring(queue, index);
}

static void submit(hsa_queue_t *queue, uint32_t count)
{
	uint64_t first = hsa_queue_add_write_index_screlease(queue, count);
	const hsa_signal_t none = {0};

	for (uint32_t i = 0; i < count; i++) {
		hsa_kernel_dispatch_packet_t packet;

		dispatch_fill(&packet, i, none);
		packet_put(queue, first + i, &packet,
			   HSA_PACKET_TYPE_KERNEL_DISPATCH | HEADER_BARRIER);
	}
	queue_ring(queue, first + count - 1);
}

/* Outstanding packets according to the device's own read and write indices. */
static uint64_t outstanding(const hsa_queue_t *queue)
{
	const amd_queue_t *device_side = (const amd_queue_t *)queue;

	return __atomic_load_n(&device_side->write_dispatch_id, __ATOMIC_ACQUIRE) -
	       __atomic_load_n(&device_side->read_dispatch_id, __ATOMIC_ACQUIRE);
}

static uint32_t ring_for(uint32_t packets)
{
	uint32_t size = 64;

	while (size < packets)
		size *= 2;
	return size;
}

int main(int argc, char **argv)
{
	uint32_t total = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	hsa_signal_t held;
	hsa_queue_t *queue;

	if (!total)
		driver_fail("usage: intercept-outstanding N");
	device_start();
	held = signal_make(1);
	queue = queue_make(ring_for(total + 2));
	submit_barrier(queue, held);
	while (!hsa_queue_load_read_index_scacquire(queue))
		;
	for (uint32_t done = 0; done < total; done += BATCH)
		submit(queue, total - done < BATCH ? total - done : BATCH);
	printf("outstanding at once: %llu\n", (unsigned long long)outstanding(queue));
	hsa_signal_store_screlease(held, 0);
	queue_drain(queue);
	HSA_CHECK(hsa_queue_destroy(queue));
	HSA_CHECK(hsa_signal_destroy(held));
	device_end();
	printf("kernels launched: %u\n", total);
	return 0;
}
