/* intercept-packets FILE: submits packets of every kind, singly and in batches, over several
 * wraps of two rings. FILE receives what was written (queue, index, eight words), in the format
 * in which the software GPU reports what it read (its key `packets`). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../launched.h"
#include "device_queue.h"

#define RING   256
#define ROUNDS 200
#define MOST   100 /* packets per doorbell */

static FILE *file;
static hsa_signal_t signals[RING], never, satisfied;
static uint32_t next_number;

static void put(hsa_queue_t *queue, uint64_t index, const void *packet, uint16_t header)
{
	uint64_t words[8];

	memcpy(words, packet, sizeof(words));
	words[0] = (words[0] & ~0xffffull) | header;
	fprintf(file, "%" PRIu64 " %" PRIu64, queue->id, index);
	for (int i = 0; i < 8; i++)
		fprintf(file, " %016" PRIx64, words[i]);
	fputc('\n', file);
	packet_put(queue, index, packet, header);
}

static void put_dispatch(hsa_queue_t *queue, uint64_t index)
{
	static const hsa_signal_t none = {0};
	hsa_kernel_dispatch_packet_t packet;
	uint32_t number = next_number++;

	dispatch_fill(&packet, number, number % 3 ? none : signals[number % RING]);
	packet.reserved0 = (uint16_t)(0x1234 + number);
	packet.reserved2 = 0x5151515151515151ull * (number + 1);
	packet.private_segment_size = number % 64 * 4;
	packet.workgroup_size_y = (uint16_t)(1 + number % 4);
	put(queue, index, &packet,
	    HSA_PACKET_TYPE_KERNEL_DISPATCH | (number % 2 ? HEADER_BARRIER : 0) |
		    HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE);
}

static void put_barrier(hsa_queue_t *queue, uint64_t index, uint16_t type, hsa_signal_t completion)
{
	hsa_barrier_and_packet_t packet = {
		.reserved0 = 0x7a7a,
		.reserved1 = 0x61616161,
		.reserved2 = 0x6262626262626262ull,
		.dep_signal = {satisfied},
		.completion_signal = completion,
	};

	if (type == HSA_PACKET_TYPE_BARRIER_OR)
		packet.dep_signal[4] = never;
	put(queue, index, &packet, type);
}

/* A packet that the tool must not change: arbitrary bytes except for the completion signal. */
static void put_pattern(hsa_queue_t *queue, uint64_t index, uint16_t type, hsa_signal_t completion)
{
	unsigned char packet[64];

	for (size_t i = 0; i < sizeof(packet); i++)
		packet[i] = (unsigned char)(index * 7 + i * 13 + type);
	memcpy(packet + 56, &completion, sizeof(completion));
	put(queue, index, packet, type);
}

static void put_any(hsa_queue_t *queue, uint64_t index)
{
	static const hsa_signal_t none = {0};

	switch (rand() % 12) {
	case 0:
		put_barrier(queue, index, HSA_PACKET_TYPE_BARRIER_AND, none);
		break;
	case 1:
		put_barrier(queue, index, HSA_PACKET_TYPE_BARRIER_OR, signals[index % RING]);
		break;
	case 2:
		put_pattern(queue, index, HSA_PACKET_TYPE_VENDOR_SPECIFIC, none);
		break;
	case 3:
		put_pattern(queue, index, HSA_PACKET_TYPE_AGENT_DISPATCH, signals[index % RING]);
		break;
	default:
		put_dispatch(queue, index);
	}
}

static void submit_round(hsa_queue_t *queue)
{
	uint64_t count = (uint64_t)rand() % 4 ? 1 : 1 + (uint64_t)rand() % MOST;
	uint64_t first = hsa_queue_add_write_index_screlease(queue, count);

	for (uint64_t i = 0; i < count; i++)
		put_any(queue, first + i);
	queue_ring(queue, first + count - 1);
	queue_drain(queue);
}

int main(int argc, char **argv)
{
	hsa_queue_t *queues[2];

	file = argc == 2 ? fopen(argv[1], "w") : NULL;
	if (!file)
		driver_fail("usage: intercept-packets FILE");
	srand((unsigned)test_seed());
	device_start();
	for (int i = 0; i < RING; i++)
		signals[i] = signal_make(1 << 20);
	never = signal_make(1);
	satisfied = signal_make(0);
	for (int i = 0; i < 2; i++)
		queues[i] = queue_make(RING);
	for (int i = 0; i < ROUNDS; i++)
		submit_round(queues[i % 2]);
	for (int i = 0; i < 2; i++)
		HSA_CHECK(hsa_queue_destroy(queues[i]));
	for (int i = 0; i < RING; i++)
		HSA_CHECK(hsa_signal_destroy(signals[i]));
	HSA_CHECK(hsa_signal_destroy(never));
	HSA_CHECK(hsa_signal_destroy(satisfied));
	device_end();
	fclose(file);
	printf("kernels launched: %u\n", next_number);
	return 0;
}
