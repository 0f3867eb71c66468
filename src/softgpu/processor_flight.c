/* Packets that a packet processor has taken (processor.h): computing and completing them. */
#include <string.h>

#include "base/clock.h"
#include "softgpu/counters.h"
#include "softgpu/device_clock.h"
#include "softgpu/fault.h"
#include "softgpu/processor.h"
#include "softgpu/report.h"
#include "softgpu/scratch.h"
#include "softgpu/signal.h"
#include "softgpu/work_log.h"

void processor_complete(const struct processor *processor, const struct flight *flight)
{
	const amd_queue_t *amd = &processor->queue->amd;
	uint32_t properties = __atomic_load_n(&amd->queue_properties, __ATOMIC_ACQUIRE);
	struct report_span span = {
		flight->start_ns,
		flight->end_ns,
		clock_host_to_ticks(flight->start_ns),
		clock_host_to_ticks(flight->end_ns),
	};

	if (flight->kernel && report_truth_wanted())
		report_truth_dispatch(amd->hsa_queue.id, flight->packet_index, flight->kernel,
				      &span);
	work_log_end(flight->work_place, span.end_tick);
	if (flight->completion.handle) {
		signal_complete(flight->completion,
				properties & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, span.start_tick,
				span.end_tick);
		signal_release(flight->completion);
	}
	softgpu_count(packets_ended, 1);
}

struct flight *processor_next_to_end(struct processor *processor)
{
	struct flight *first = NULL;

	for (uint32_t i = 0; i < processor->flight_count; i++) {
		struct flight *flight = &processor->flights[i];

		if (!first || flight->end_ns < first->end_ns)
			first = flight;
	}
	return first;
}

static struct flight remove_flight(struct processor *processor, struct flight *flight)
{
	struct flight removed = *flight;
	size_t behind = (size_t)(&processor->flights[processor->flight_count] - flight - 1);

	memmove(flight, flight + 1, behind * sizeof(*flight));
	processor->flight_count--;
	return removed;
}

void processor_retire_due(struct processor *processor)
{
	struct flight *flight = processor_next_to_end(processor);

	while (flight && flight->end_ns <= clock_host_ns()) {
		struct flight done = remove_flight(processor, flight);

		if (processor->last_end_ns < done.end_ns)
			processor->last_end_ns = done.end_ns;
		processor_complete(processor, &done);
		flight = processor_next_to_end(processor);
	}
}

void processor_report_error(struct processor *processor, hsa_status_t status)
{
	struct softgpu_queue *queue = processor->queue;

	atomic_store(&queue->inactive, true);
	if (queue->error_callback)
		queue->error_callback(status, &queue->amd.hsa_queue, queue->error_data);
}

/* Computes the kernel, and sets the end and the name of FLIGHT. Returns false when the kernel
 * faulted and the queue was stopped; FLIGHT's signal was released then. */
static bool compute(struct processor *processor, const hsa_kernel_dispatch_packet_t *dispatch,
		    struct flight *flight)
{
	const struct kernel_entry *kernel = dispatch_run(&processor->dispatcher, dispatch);
	uint64_t done_ns = clock_host_ns();
	uint64_t address;

	if (fault_take(&address)) {
		signal_release(flight->completion);
		atomic_store(&processor->queue->inactive, true);
		fault_raise(agent_handle(processor->queue->agent), address);
		return false;
	}
	if (processor->dispatcher.has_faulted) {
		signal_release(flight->completion);
		processor_report_error(processor, (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT);
		return false;
	}
	flight->kernel = kernel ? kernel->name : "?";
	flight->end_ns =
		flight->start_ns + (kernel ? kernel->modelled_ns : config_get()->kernel_ns);
	if (flight->end_ns < done_ns && kernel && atomic_load(&kernel->function))
		flight->end_ns = done_ns;
	return true;
}

void processor_run_turn(struct processor *processor, uint32_t which)
{
	struct flight flight = remove_flight(processor, &processor->flights[which]);

	flight.start_ns = clock_host_ns();
	if (compute(processor, &flight.dispatch, &flight)) {
		flight.end_ns = clock_host_ns();
		processor_complete(processor, &flight);
	}
	schedule_turn_ends(&processor->party);
}

void processor_run_dispatch(struct processor *processor, const union packet *packet,
			    struct flight *flight)
{
	scratch_require(processor->queue, packet->dispatch.private_segment_size,
			flight->packet_index);
	if (schedule_is_on())
		flight->dispatch = packet->dispatch;
	else if (!compute(processor, &packet->dispatch, flight))
		return;
	processor->flights[processor->flight_count++] = *flight;
}
