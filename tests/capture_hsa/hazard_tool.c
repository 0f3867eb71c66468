/* The designs that are known to fail, as a tool of their own: what the tests must be able to tell
 * from ours. For each dispatch a signal with an event and a handler is made, packets are handed
 * on one by one, the program's own signal is completed by a barrier packet behind the kernel, and
 * a destroyed queue is only forgotten (H1 to H4, H12, H16, H19, H21). */
#include <stdbool.h>
#include <stddef.h>

#include "vendor/hsa_tables.h"

#define SHOWN __attribute__((visibility("default")))

static struct hsa_amd_ext_table real;

static bool forget_signal(hsa_signal_value_t value, void *data)
{
	(void)value;
	(void)data;
	return false;
}

static hsa_signal_t make_signal(void)
{
	hsa_signal_t signal = {0};

	real.hsa_amd_signal_create_fn(1, 0, NULL, 0, &signal);
	real.hsa_amd_signal_async_handler_fn(signal, HSA_SIGNAL_CONDITION_LT, 1, forget_signal,
					     NULL);
	return signal;
}

static void hand_on(const hsa_kernel_dispatch_packet_t *packet,
		    hsa_amd_queue_intercept_packet_writer writer)
{
	hsa_kernel_dispatch_packet_t kernel = *packet;
	hsa_barrier_and_packet_t behind = {
		.header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER,
		.completion_signal = packet->completion_signal,
	};

	if ((packet->header & 0xff) != HSA_PACKET_TYPE_KERNEL_DISPATCH) {
		writer(packet, 1);
		return;
	}
	kernel.completion_signal = make_signal();
	writer(&kernel, 1);
	if (behind.completion_signal.handle)
		writer(&behind, 1);
}

static void intercept(const void *packets, uint64_t count, uint64_t index, void *data,
		      hsa_amd_queue_intercept_packet_writer writer)
{
	(void)index;
	(void)data;
	for (uint64_t i = 0; i < count; i++)
		hand_on((const hsa_kernel_dispatch_packet_t *)packets + i, writer);
}

static hsa_status_t create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
				 uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue)
{
	hsa_status_t status = real.hsa_amd_queue_intercept_create_fn(
		agent, size, type, callback, data, private_bytes, group_bytes, queue);

	if (status == HSA_STATUS_SUCCESS)
		real.hsa_amd_queue_intercept_register_fn(*queue, intercept, NULL);
	return status;
}

static hsa_status_t keep_queue(hsa_queue_t *queue)
{
	(void)queue;
	return HSA_STATUS_SUCCESS;
}

SHOWN bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
		  const char *const *failed_tool_names);
bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
	    const char *const *failed_tool_names)
{
	(void)runtime_version;
	(void)failed_tool_count;
	(void)failed_tool_names;
	real = *table->amd_ext;
	table->core->hsa_queue_create_fn = create_queue;
	table->core->hsa_queue_destroy_fn = keep_queue;
	return true;
}
