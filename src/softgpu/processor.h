/* A packet processor: its state, and what its files call in each other. processor.c takes packets
 * from the ring, processor_flight.c computes and completes them, processor_barrier.c waits for what
 * they depend on. Others start and stop a processor by queue.h. Only its own thread calls these
 * functions. */
#ifndef SOFTGPU_PROCESSOR_H
#define SOFTGPU_PROCESSOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa_ext_amd.h>

#include "softgpu/config.h"
#include "softgpu/dispatch.h"
#include "softgpu/queue.h"
#include "softgpu/schedule.h"

/* A packet, copied from the ring. */
union packet {
	uint16_t header;
	hsa_kernel_dispatch_packet_t dispatch;
	hsa_barrier_and_packet_t barrier;
	hsa_amd_barrier_value_packet_t barrier_value;
	uint8_t bytes[AQL_PACKET_BYTES];
};

/* A packet that was taken and has not completed. Times are those of the host clock. */
struct flight {
	hsa_signal_t completion; /* holds a reference; 0: no signal, or an invalid one */
	uint64_t packet_index;
	uint64_t start_ns;
	uint64_t end_ns;		       /* modelled end */
	const char *kernel;		       /* name; NULL: not a dispatch */
	uint64_t work_place;		       /* place of its line in the work log, or 0 */
	hsa_kernel_dispatch_packet_t dispatch; /* with a schedule only: still to be computed */
};

/* The state of a packet processor. Owned by its thread. */
struct processor {
	struct softgpu_queue *queue;
	struct dispatcher dispatcher;
	struct flight flights[SOFTGPU_MAX_OVERLAP];
	uint32_t flight_count;
	uint32_t flight_limit;	/* configuration key overlap */
	uint64_t last_end_ns;	/* latest modelled end of all packets that completed */
	uint64_t blocked_index; /* index + 1 of the last packet that had to wait for others */
	uint64_t blocked_ns;	/* when the processor first saw that packet */
	struct schedule_party party;
};

/* Returns whether the thread is to end. */
static inline bool processor_must_end(const struct processor *processor)
{
	return atomic_load_explicit(&processor->queue->stopping, memory_order_relaxed);
}

/* ---- packets that were taken (processor_flight.c) ---- */

/* Returns the flight that ends first, the oldest one if several do; NULL without flights. */
struct flight *processor_next_to_end(struct processor *processor);

/* Completes FLIGHT, which is not in the array any more, at its modelled end. */
void processor_complete(const struct processor *processor, const struct flight *flight);

/* Completes all flights whose modelled end has come. */
void processor_retire_due(struct processor *processor);

/* With a schedule: computes the kernel of flight WHICH in the turn that the thread has, with the
 * arguments that are in memory now, completes it, and ends the turn. */
void processor_run_turn(struct processor *processor, uint32_t which);

/* Runs a kernel dispatch, which completes later: FLIGHT becomes one of the flights. With a schedule
 * a turn computes it, otherwise this call does. */
void processor_run_dispatch(struct processor *processor, const union packet *packet,
			    struct flight *flight);

/* Stops the queue, because of a packet that hardware cannot read or of a blit kernel that faulted,
 * and reports it to the program. */
void processor_report_error(struct processor *processor, hsa_status_t status);

/* ---- barrier packets (processor_barrier.c) ---- */

/* Runs and completes any packet that is not a kernel dispatch: barrier packets of all kinds, and
 * packets that have no effect but their completion. Waits for what PACKET depends on. */
void processor_run_barrier(struct processor *processor, const union packet *packet,
			   struct flight *flight);

#endif
