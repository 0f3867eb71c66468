/* Functions that write AQL packets, for tests of queues, and the two kernels of
 * data/kernels.gfx906.co. All functions fail the cmocka test on an error. */
#ifndef TEST_SOFTGPU_AQL_H
#define TEST_SOFTGPU_AQL_H

#include "raw_machine.h"

struct aql {
	struct machine machine;
	uint64_t count; /* kernel object: adds 1 to the 64-bit word that its argument points to */
	uint64_t scale; /* kernel object without a host function: only takes its modelled time */
};

/* Opens the machine, loads the code object on the first GPU and registers the host function of
 * "count". */
void aql_open(const char *configuration, struct aql *ret_aql);

/* A multi-producer queue of SIZE packets on the first GPU. */
hsa_queue_t *aql_queue(const struct aql *aql, uint32_t size);
hsa_signal_t aql_signal(hsa_signal_value_t initial);

/* Whether a packet has the barrier bit. AQL_OVERLAP: it may run beside earlier packets. */
enum aql_order { AQL_OVERLAP, AQL_BARRIER };

/* Builds packets; both have system-scope fences. A dispatch has one work-group of 64 work-items. */
hsa_kernel_dispatch_packet_t aql_dispatch(uint64_t kernel, void *kernarg, enum aql_order order,
					  hsa_signal_t completion);
hsa_barrier_and_packet_t aql_barrier(hsa_packet_type_t type, enum aql_order order,
				     hsa_signal_t completion);

/* Waits for room in the ring, then writes the packet: the body first, the header last with
 * release order. Does not ring the doorbell. */
void aql_put(hsa_queue_t *queue, uint64_t index, const void *packet);
/* Reserves a packet and writes it; returns its index. Does not ring the doorbell. */
uint64_t aql_write(hsa_queue_t *queue, const void *packet);
/* Reserves a packet, writes it and rings the doorbell. */
void aql_submit(hsa_queue_t *queue, const void *packet);

/* Waits until a completion signal is below 1; asserts that it is then 0. */
void aql_wait(hsa_signal_t signal);
/* Submits an empty barrier packet, which ends after all earlier packets, and waits for it. */
void aql_drain(hsa_queue_t *queue);

/* The device's counter NAME; fails the test if there is none. */
uint64_t aql_counter(const char *name);

/* Rings the doorbell and waits until the device has read the queue and found no packet that it
 * may take. */
void aql_ring_for_nothing(hsa_queue_t *queue, uint64_t index);

#endif
