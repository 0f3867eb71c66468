/* intercept-faulted HOW [described]: submits five kernels. Two end, the third does not end, and
 * two more wait behind it. The queue is made by hsa_queue_create or, with "described", by
 * hsa_amd_queue_create. HOW selects the third packet:
 *
 * - memory: the kernel accesses an unmapped address, and the runtime ends the process.
 * - queue: the device cannot run the packet, and the program's queue callback ends the process,
 *   as HIP's callback does.
 * - hang: the kernel never ends, and the program stops waiting and exits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dagtap/softgpu.h>

#include "device_queue.h"
#include "vendor/hsa_newest.h"

#define KERNELS 5
#define ODD_ONE 2

static bool touches_nothing;

__attribute__((visibility("default"))) void
softgpu_kernel_ticket(const void *arguments, const hsa_kernel_dispatch_packet_t *packet);
void softgpu_kernel_ticket(const void *arguments, const hsa_kernel_dispatch_packet_t *packet)
{
	(void)arguments;
	if (touches_nothing && packet->grid_size_x == ODD_ONE + 1)
		softgpu_memory_fault((const void *)0xdead000);
}

static void end_by_callback(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	(void)status;
	(void)queue;
	if (data == (void *)&touches_nothing)
		abort();
}

static void put_kernels(hsa_queue_t *queue, uint64_t first, uint64_t end, uint32_t odd_group)
{
	hsa_queue_add_write_index_screlease(queue, end - first);
	for (uint64_t index = first; index < end; index++) {
		hsa_kernel_dispatch_packet_t packet;

		dispatch_fill(&packet, (uint32_t)index, (hsa_signal_t){0});
		if (index == ODD_ONE)
			packet.workgroup_size_x = (uint16_t)odd_group;
		packet_put(queue, index, &packet,
			   HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER);
	}
	queue_ring(queue, end - 1);
}

static hsa_queue_t *make_described(void)
{
	hsa_amd_queue_create_desc_t desc = {
		.version = HSA_AMD_QUEUE_CREATE_DESC_VERSION,
		.engine_type = HSA_AMD_QUEUE_ENGINE_COMPUTE,
		.queue_size_bytes = 64 * sizeof(hsa_kernel_dispatch_packet_t),
		.callback = end_by_callback,
		.callback_data = &touches_nothing,
		.engine.compute = {.type = HSA_QUEUE_TYPE_MULTI,
				   .private_segment_size = HSA_AMD_PRIVATE_SEGMENT_SIZE_DEFAULT},
	};

	HSA_CHECK(hsa_amd_queue_create(device.gpu, &desc, 1));
	/* The call must not change the caller's description. */
	if (desc.callback != end_by_callback || desc.callback_data != &touches_nothing)
		exit(8);
	return desc.queue;
}

static hsa_queue_t *make_queue(void)
{
	hsa_queue_t *queue;

	HSA_CHECK(hsa_queue_create(device.gpu, 64, HSA_QUEUE_TYPE_MULTI, end_by_callback,
				   &touches_nothing, UINT32_MAX, UINT32_MAX, &queue));
	return queue;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	hsa_queue_t *queue;

	device_start();
	queue = argc > 2 ? make_described() : make_queue();
	put_kernels(queue, 0, ODD_ONE, 1);
	softgpu_await("packets_ended", ODD_ONE);
	touches_nothing = !strcmp(how, "memory");
	if (!strcmp(how, "hang"))
		softgpu_clock_hold();
	put_kernels(queue, ODD_ONE, KERNELS, strcmp(how, "queue") ? 1 : 0);
	if (strcmp(how, "hang") != 0)
		signal_await(signal_make(1));
	softgpu_await("packets_kernel_dispatch", ODD_ONE + 1);
	exit(7);
}
