/* intercept-faulted HOW: two kernels end, the third does not, two more wait behind it. HOW:
 *
 * memory  it accesses an address that is not there: the runtime ends the process queue   it is a
 * packet that no device can run: the program's callback ends the process, as HIP's does hang    it
 * never ends: the program gives up and exits */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dagtap/softgpu.h>

#include "device_queue.h"

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

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";
	hsa_queue_t *queue;

	device_start();
	HSA_CHECK(hsa_queue_create(device.gpu, 64, HSA_QUEUE_TYPE_MULTI, end_by_callback,
				   &touches_nothing, UINT32_MAX, UINT32_MAX, &queue));
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
