/* intercept-flow N: submits N dispatches without signals, as a runtime does for plain launches.
 * Prints the resident anonymous memory after the first tenth and at the end, so that the test
 * sees memory that grows with N. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_queue.h"

#define BATCH 1000

static unsigned long anonymous_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "RssAnon: %lu kB", &kib) == 1)
			break;
	if (status)
		fclose(status);
	return kib;
}

static void submit(hsa_queue_t *queue, uint32_t number)
{
	uint64_t first = hsa_queue_add_write_index_screlease(queue, BATCH);
	const hsa_signal_t none = {0};

	for (uint32_t i = 0; i < BATCH; i++) {
		hsa_kernel_dispatch_packet_t packet;

		dispatch_fill(&packet, number + i, none);
		packet_put(queue, first + i, &packet,
			   HSA_PACKET_TYPE_KERNEL_DISPATCH | HEADER_BARRIER);
	}
	queue_ring(queue, first + BATCH - 1);
}

int main(int argc, char **argv)
{
	uint32_t total = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	hsa_queue_t *queue;

	if (!total || total % (10 * BATCH))
		driver_fail("usage: intercept-flow N, a multiple of %d", 10 * BATCH);
	device_start();
	queue = queue_make(4096);
	for (uint32_t done = 0; done < total; done += BATCH) {
		if (done == total / 10)
			printf("anonymous KiB: %lu\n", anonymous_kib());
		submit(queue, done);
	}
	queue_drain(queue);
	printf("anonymous KiB: %lu\n", anonymous_kib());
	HSA_CHECK(hsa_queue_destroy(queue));
	device_end();
	printf("kernels launched: %u\n", total);
	return 0;
}
