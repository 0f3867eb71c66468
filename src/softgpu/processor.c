/* The packet processor (processor.h): each hardware queue has a thread that takes packets in the
 * order of the ring, computes them, and completes each one at its modelled end. Packets may
 * complete in another order than they start. With a schedule (schedule.h) the thread takes packets
 * in the same way, but computes and completes a kernel when it gets a turn for it. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "softgpu/counters.h"
#include "softgpu/device_clock.h"
#include "softgpu/device_hold.h"
#include "softgpu/futex.h"
#include "softgpu/processor.h"
#include "softgpu/processor_thread.h"
#include "softgpu/report.h"
#include "softgpu/signal.h"
#include "softgpu/signal_epoch.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/work_log.h"

#define MAX_WORKGROUP  1024
/* How long an idle processor polls its doorbell before it sleeps. */
#define IDLE_SPIN_NS   3000u
/* The interval for polling a header that a doorbell has covered and that is not valid yet. */
#define HEADER_LOOK_NS 20000u

/* Takes a reference. A destroyed or unknown signal is counted here, once, and not used any more. */
static hsa_signal_t take_completion(hsa_signal_t signal)
{
	return signal.handle && signal_retain(signal) ? signal : (hsa_signal_t){0};
}

/* Checks what the hardware's packet processor checks. Returns the status that ROCr gives for it. */
static hsa_status_t check_packet(const union packet *packet, uint8_t type)
{
	const hsa_kernel_dispatch_packet_t *dispatch = &packet->dispatch;
	uint64_t workgroup = (uint64_t)dispatch->workgroup_size_x * dispatch->workgroup_size_y *
			     dispatch->workgroup_size_z;
	uint16_t dimensions = dispatch->setup & 3;

	if (type > HSA_PACKET_TYPE_BARRIER_OR)
		return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
	if (type != HSA_PACKET_TYPE_KERNEL_DISPATCH)
		return HSA_STATUS_SUCCESS;
	if (!dimensions)
		return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
	if (!workgroup || workgroup > MAX_WORKGROUP)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return dispatch->kernel_object ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
}

static void count_packet(const union packet *packet, uint8_t type)
{
	if (packet->header >> HSA_PACKET_HEADER_BARRIER & 1)
		softgpu_count(barrier_bits, 1);
	switch (type) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		softgpu_count(packets_kernel_dispatch, 1);
		break;
	case HSA_PACKET_TYPE_BARRIER_AND:
		softgpu_count(packets_barrier_and, 1);
		break;
	case HSA_PACKET_TYPE_BARRIER_OR:
		softgpu_count(packets_barrier_or, 1);
		break;
	case HSA_PACKET_TYPE_AGENT_DISPATCH:
		softgpu_count(packets_agent_dispatch, 1);
		break;
	case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
		softgpu_count(packets_vendor, 1);
		break;
	default:
		softgpu_count(packets_invalid_type, 1);
		break;
	}
}

/* Returns the start time of packet INDEX: now, or, if it had to wait for other packets, their
 * modelled end. The time that the host needs to notice that end is not part of the device's time.
 * The start is never earlier than the packet was in the ring. */
static uint64_t start_of(const struct processor *processor, uint64_t index)
{
	if (processor->blocked_index == index + 1 &&
	    processor->blocked_ns <= processor->last_end_ns)
		return processor->last_end_ns;
	return clock_host_ns();
}

/* Takes the next packet and runs it. Its slot is free for another packet as soon as it is taken, as
 * on hardware; the work log's line is complete before. */
static void take_packet(struct processor *processor)
{
	struct softgpu_queue *queue = processor->queue;
	uint64_t index = queue_read_index(queue);
	uint16_t *slot = queue_slot(queue, index);
	struct flight flight = {.packet_index = index};
	union packet packet;
	hsa_status_t status;
	uint8_t type;

	packet.header = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	memcpy(packet.bytes + sizeof(packet.header), slot + 1,
	       sizeof(packet) - sizeof(packet.header));
	flight.start_ns = start_of(processor, index);
	if (work_log_wanted())
		flight.work_place = work_log_packet(queue, index, &packet,
						    clock_host_to_ticks(flight.start_ns));
	__atomic_store_n(slot, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
	__atomic_store_n(&queue->amd.read_dispatch_id, index + 1, __ATOMIC_RELEASE);
	report_packet(queue->amd.hsa_queue.id, index, &packet);
	type = (uint8_t)(packet.header >> HSA_PACKET_HEADER_TYPE);
	count_packet(&packet, type);
	status = check_packet(&packet, type);
	if (status != HSA_STATUS_SUCCESS) {
		processor_report_error(processor, status);
		return;
	}
	flight.completion = take_completion(packet.dispatch.completion_signal);
	if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH)
		processor_run_dispatch(processor, &packet, &flight);
	else
		processor_run_barrier(processor, &packet, &flight);
}

static bool is_announced(const struct softgpu_queue *queue, uint64_t index)
{
	return !config_get()->doorbell_bound ||
	       index < atomic_load_explicit(&queue->announced, memory_order_acquire);
}

/* Returns whether the packet at INDEX can be taken. The value of the doorbell does not matter,
 * unless doorbell_bound is configured, because tools may give the program a write index of their
 * own: a packet can be taken when the queue's write index has passed it and its header is valid.
 * The acquire load of the header pairs with the release store by which the producer publishes the
 * packet. */
static bool packet_is_there(const struct softgpu_queue *queue, uint64_t index, uint16_t *ret_header)
{
	if (atomic_load_explicit(&queue->inactive, memory_order_relaxed) ||
	    index >= queue_write_index(queue) || !is_announced(queue, index))
		return false;
	*ret_header = __atomic_load_n((const uint16_t *)queue_slot(queue, index), __ATOMIC_ACQUIRE);
	return (uint8_t)(*ret_header >> HSA_PACKET_HEADER_TYPE) != HSA_PACKET_TYPE_INVALID;
}

static bool can_take(struct processor *processor)
{
	uint64_t index = queue_read_index(processor->queue);
	uint32_t limit = processor->flight_limit;
	uint16_t header;

	if (!packet_is_there(processor->queue, index, &header))
		return false;
	if (header >> HSA_PACKET_HEADER_BARRIER & 1)
		limit = 1;
	if (processor->flight_count < limit)
		return hold_lets_take();
	if (processor->blocked_index != index + 1) {
		processor->blocked_index = index + 1;
		processor->blocked_ns = clock_host_ns();
	}
	return false;
}

/* Returns whether a doorbell has covered a packet whose header is not valid yet. This happens with
 * several producers, when the doorbell of a later packet rings first. Hardware then polls the
 * header until it is valid; the producer that writes it need not ring again. */
static bool header_is_awaited(const struct softgpu_queue *queue)
{
	uint64_t index = queue_read_index(queue);

	return index < atomic_load_explicit(&queue->announced, memory_order_relaxed) &&
	       index < queue_write_index(queue) &&
	       !atomic_load_explicit(&queue->inactive, memory_order_relaxed);
}

/* Polls the doorbell for IDLE_SPIN_NS and returns whether it rang. Uses CLOCK_MONOTONIC, because a
 * test may hold the host clock. */
static bool spin_while_idle(const struct softgpu_queue *queue, uint32_t seen)
{
	uint64_t end = clock_read_ns(CLOCK_MONOTONIC) + IDLE_SPIN_NS;

	while (clock_read_ns(CLOCK_MONOTONIC) < end) {
		if (atomic_load(&queue->doorbell_word) != seen)
			return true;
		clock_relax();
	}
	return false;
}

static void wait_for_doorbell(struct processor *processor, uint32_t seen)
{
	struct softgpu_queue *queue = processor->queue;
	const struct flight *flight = processor_next_to_end(processor);
	uint64_t now = clock_host_ns();
	uint64_t until = flight ? clock_spin_from(flight->end_ns) : FUTEX_FOREVER;

	if (header_is_awaited(queue) && now + HEADER_LOOK_NS < until)
		until = now + HEADER_LOOK_NS;
	if (flight && now >= clock_spin_from(flight->end_ns)) {
		clock_relax();
		return;
	}
	if (!flight && spin_while_idle(queue, seen))
		return;
	softgpu_count(idle_looks, 1);
	/* Sequentially consistent against queue_ring_aql: either it sees the sleeper, or the load
	 * below sees its ring. */
	atomic_fetch_add(&queue->sleepers, 1);
	if (atomic_load(&queue->doorbell_word) == seen && !processor_must_end(processor))
		futex_wait(&queue->doorbell_word, seen,
			   until == FUTEX_FOREVER ? FUTEX_FOREVER : clock_wake_ns(until));
	atomic_fetch_sub(&queue->sleepers, 1);
	/* The kernel often wakes this thread on the CPU of the thread that rings. The yield lets
	 * that thread write the rest of its packets. */
	if (!flight)
		sched_yield();
}

static void take_scheduled(struct processor *processor)
{
	for (;;) {
		uint32_t seen = signal_epoch();
		int which;

		if (processor_must_end(processor))
			break;
		if (can_take(processor)) {
			take_packet(processor);
			continue;
		}
		which = schedule_wait(&processor->party, seen, processor->flight_count,
				      header_is_awaited(processor->queue));
		if (which >= 0)
			processor_run_turn(processor, (uint32_t)which);
	}
	schedule_leave(&processor->party);
}

static void *processor_thread(void *argument)
{
	struct processor *processor = argument;

	processor_thread_begins(processor->queue);
	clock_exact_sleep();
	if (schedule_is_on())
		take_scheduled(processor);
	while (!processor_must_end(processor)) {
		uint32_t seen = atomic_load(&processor->queue->doorbell_word);

		processor_retire_due(processor);
		if (can_take(processor))
			take_packet(processor);
		else
			wait_for_doorbell(processor, seen);
	}
	for (uint32_t i = 0; i < processor->flight_count; i++)
		signal_release(processor->flights[i].completion);
	dispatcher_release(&processor->dispatcher);
	free(processor);
	return NULL;
}

int processor_start(struct softgpu_queue *queue)
{
	struct processor *processor = calloc(1, sizeof(*processor));
	int err;

	if (!processor)
		return -ENOMEM;
	processor->queue = queue;
	processor->flight_limit = config_get()->overlap;
	if (schedule_is_on())
		schedule_join(&processor->party);
	err = process_start_thread(&queue->thread, "softgpu-queue", processor_thread, processor);
	if (err && schedule_is_on())
		schedule_leave(&processor->party);
	if (err)
		free(processor);
	queue->has_thread = !err;
	return err;
}

void processor_stop(struct softgpu_queue *queue)
{
	if (!queue->has_thread || process_is_forked_child())
		return;
	atomic_store(&queue->stopping, true);
	atomic_fetch_add(&queue->doorbell_word, 1);
	futex_wake_all(&queue->doorbell_word);
	if (schedule_is_on())
		schedule_bump_epoch();
	pthread_join(queue->thread, NULL);
	queue->has_thread = false;
}
