/* Writing AQL packets by hand: queues, packets, and the two kernels of data/kernels.gfx906.co. */
#ifndef TEST_SOFTGPU_AQL_H
#define TEST_SOFTGPU_AQL_H

#include "machine.h"

struct aql {
	struct machine machine;
	uint64_t count; /* kernel object: adds 1 to the 64-bit word that its argument points to */
	uint64_t scale; /* no host function: takes its modelled time */
};

/* machine_open, the code object, the host function of "count". */
void aql_open(const char *configuration, struct aql *ret_aql);

hsa_queue_t *aql_queue(const struct aql *aql, uint32_t size);
hsa_signal_t aql_signal(hsa_signal_value_t initial);

enum aql_order { AQL_OVERLAP, AQL_BARRIER };

hsa_kernel_dispatch_packet_t aql_dispatch(uint64_t kernel, void *kernarg, enum aql_order order,
					  hsa_signal_t completion);
hsa_barrier_and_packet_t aql_barrier(hsa_packet_type_t type, enum aql_order order,
				     hsa_signal_t completion);

/* Puts a packet into its slot: body first, then the header. Waits for room. */
void aql_put(hsa_queue_t *queue, uint64_t index, const void *packet);
/* Reserves a slot and puts the packet; returns its index. Does not ring. */
uint64_t aql_write(hsa_queue_t *queue, const void *packet);
void aql_submit(hsa_queue_t *queue, const void *packet);

/* Waits until a completion signal is 0. */
void aql_wait(hsa_signal_t signal);
/* An empty barrier that ends after everything before it. */
void aql_drain(hsa_queue_t *queue);

/* A counter of the device, by name. */
uint64_t aql_counter(const char *name);

#endif
