/* What the interceptor's test programs share: queues, and packets written by hand. */
#ifndef TESTS_INTERCEPT_DEVICE_QUEUE_H
#define TESTS_INTERCEPT_DEVICE_QUEUE_H

#include <stdbool.h>

#include "../../examples/hsa/device.h"

#define HEADER_BARRIER (1u << HSA_PACKET_HEADER_BARRIER)

/* Opens the device; afterwards dispatch_fill works. */
void device_start(void);
void device_end(void);
extern struct device device;

hsa_queue_t *queue_make(uint32_t size);
hsa_signal_t signal_make(hsa_signal_value_t value);

/* Until it is below 1. */
void signal_await(hsa_signal_t signal);

/* A dispatch of a kernel that does nothing; NUMBER shows in its grid. The header is left out. */
void dispatch_fill(hsa_kernel_dispatch_packet_t *ret_packet, uint32_t number, hsa_signal_t signal);

/* Writes a packet whose first two bytes are HEADER; waits while the ring is full. */
void packet_put(hsa_queue_t *queue, uint64_t index, const void *packet, uint16_t header);

void queue_ring(hsa_queue_t *queue, uint64_t index);

/* One barrier packet behind everything, waited for. */
void queue_drain(hsa_queue_t *queue);

/* COUNT kernels, waited for. */
void queue_run(hsa_queue_t *queue, uint32_t count);

#endif
