/* A dispatch table of HIP in the program, whose hipLaunchKernel writes a packet to a queue of the
 * software GPU. */
#include "toggled_hip.h"

#include "../intercept/device_queue.h"
#include "../tables/model_tables.h"
#include "sdk/hand_over.h"

set_api_table rocprofiler_set_api_table;

static struct model_table hip = {.size = HIP_TABLE_BYTES};

static int launch_packet(const void *function, struct grid blocks, struct grid threads,
			 void **arguments, size_t shared_bytes, void *stream)
{
	const hsa_signal_t none = {0};
	hsa_kernel_dispatch_packet_t packet;
	hsa_queue_t *queue = stream;
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);

	dispatch_fill(&packet, blocks.x - 1, none);
	packet_put(queue, index, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
	queue_ring(queue, index);
	return 0;
}

void toggled_hip_open(void)
{
	void *tables[] = {&hip};

	*model_slot(&hip, AT_LAUNCH_KERNEL) = (void *)launch_packet;
	device_start();
	rocprofiler_set_api_table("hip", 70200, 0, tables, 1);
}

void toggled_hip_close(void)
{
	device_end();
}

void *toggled_queue_create(void)
{
	return queue_make(1024);
}

void toggled_queue_destroy(void *queue)
{
	HSA_CHECK(hsa_queue_destroy(queue));
}

void toggled_launch(void *queue, uint64_t number)
{
	launch_kernel *function = (launch_kernel *)*model_slot(&hip, AT_LAUNCH_KERNEL);
	struct grid grid = {(uint32_t)number, 1, 1};

	function(NULL, grid, (struct grid){1, 1, 1}, NULL, 0, queue);
}

void toggled_drain(void *queue)
{
	queue_drain(queue);
}
