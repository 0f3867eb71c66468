/*
 * A minimal form of the design that dagtap's interceptor is compared with: the runtime's intercept
 * queue, a new interrupt signal and a handler for every dispatch, and a barrier packet that
 * completes the application's signal. It is an HSA tool (HSA_TOOLS_LIB).
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "vendor/hsa_tables.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_count,
		   const char *const *failed_names);
EXPORT void OnUnload(void);

struct dispatch {
	hsa_agent_t agent;
	hsa_signal_t signal;
};

struct queue {
	hsa_agent_t agent;
};

static struct hsa_core_table core;
static struct hsa_amd_ext_table ext;
static atomic_uint_fast64_t busy_ns; /* sum of the dispatches' durations: the tool's result */

static bool dispatch_done(hsa_signal_value_t value, void *argument)
{
	struct dispatch *dispatch = argument;
	hsa_amd_profiling_dispatch_time_t time;

	if (ext.hsa_amd_profiling_get_dispatch_time_fn(dispatch->agent, dispatch->signal, &time) ==
	    HSA_STATUS_SUCCESS)
		atomic_fetch_add(&busy_ns, time.end - time.start);
	core.hsa_signal_destroy_fn(dispatch->signal);
	free(dispatch);
	return false;
}

/* If any of this fails, the dispatch runs untimed. */
static hsa_signal_t make_signal(const struct queue *queue)
{
	struct dispatch *dispatch = malloc(sizeof(*dispatch));
	const hsa_signal_t none = {0};

	if (!dispatch)
		return none;
	dispatch->agent = queue->agent;
	if (ext.hsa_amd_signal_create_fn(1, 0, NULL, 0, &dispatch->signal) != HSA_STATUS_SUCCESS) {
		free(dispatch);
		return none;
	}
	if (ext.hsa_amd_signal_async_handler_fn(dispatch->signal, HSA_SIGNAL_CONDITION_LT, 1,
						dispatch_done, dispatch) != HSA_STATUS_SUCCESS) {
		core.hsa_signal_destroy_fn(dispatch->signal);
		free(dispatch);
		return none;
	}
	return dispatch->signal;
}

static void write_one(const struct queue *queue, const hsa_kernel_dispatch_packet_t *packet,
		      hsa_amd_queue_intercept_packet_writer writer)
{
	hsa_barrier_and_packet_t barrier = {
		.header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER,
		.completion_signal = packet->completion_signal,
	};
	hsa_kernel_dispatch_packet_t timed = *packet;

	if ((packet->header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH)
		timed.completion_signal = make_signal(queue);
	if (!timed.completion_signal.handle)
		timed = *packet;
	writer(&timed, 1);
	if (packet->completion_signal.handle &&
	    timed.completion_signal.handle != packet->completion_signal.handle)
		writer(&barrier, 1);
}

static void write_packets(const void *packets, uint64_t count, uint64_t index, void *data,
			  hsa_amd_queue_intercept_packet_writer writer)
{
	const hsa_kernel_dispatch_packet_t *all = packets;

	for (uint64_t i = 0; i < count; i++)
		write_one(data, &all[i], writer);
}

static hsa_status_t
create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
	     void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
	     uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **ret_queue)
{
	/* Not freed once it is registered, like the intercept queue's own data. */
	struct queue *queue = malloc(sizeof(*queue));
	hsa_status_t status;

	if (!queue)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	queue->agent = agent;
	status = ext.hsa_amd_queue_intercept_create_fn(agent, size, type, callback, data,
						       private_bytes, group_bytes, ret_queue);
	if (status == HSA_STATUS_SUCCESS) {
		ext.hsa_amd_profiling_set_profiler_enabled_fn(*ret_queue, 1);
		status = ext.hsa_amd_queue_intercept_register_fn(*ret_queue, write_packets, queue);
	}
	if (status != HSA_STATUS_SUCCESS)
		free(queue);
	return status;
}

bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_count,
	    const char *const *failed_names)
{
	core = *table->core;
	ext = *table->amd_ext;
	table->core->hsa_queue_create_fn = create_queue;
	return true;
}

void OnUnload(void)
{
}
