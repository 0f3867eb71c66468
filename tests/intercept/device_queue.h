/* What the interceptor's test programs share: one device, queues and functions that write
 * packets. A failure of the runtime ends the process with a message. */
#ifndef TESTS_INTERCEPT_DEVICE_QUEUE_H
#define TESTS_INTERCEPT_DEVICE_QUEUE_H

#include <stdbool.h>

#include "../../examples/hsa/device.h"

#define HEADER_BARRIER (1u << HSA_PACKET_HEADER_BARRIER)

/* Opens the device and allocates the kernel argument that dispatch_fill uses. */
void device_start(void);
void device_end(void);
extern struct device device;

/* A multi-producer queue of SIZE packets on the device. */
hsa_queue_t *queue_make(uint32_t size);
hsa_signal_t signal_make(hsa_signal_value_t value);

/* Waits until the signal's value is below 1. */
void signal_await(hsa_signal_t signal);

/* Fills a dispatch packet of a kernel that does nothing. The grid has NUMBER + 1 work-items, so
 * that the packet can be recognised. The header stays 0. */
void dispatch_fill(hsa_kernel_dispatch_packet_t *ret_packet, uint32_t number, hsa_signal_t signal);

/* Writes a packet whose first two bytes are HEADER. If the ring is full, rings for the packets
 * before INDEX and waits for room. */
void packet_put(hsa_queue_t *queue, uint64_t index, const void *packet, uint16_t header);

/* Rings the doorbell for the packets up to INDEX. */
void queue_ring(hsa_queue_t *queue, uint64_t index);

/* Submits one barrier packet after all earlier packets and waits for it. */
void queue_drain(hsa_queue_t *queue);

/* Submits COUNT kernels without signals behind one doorbell and waits for them. */
void queue_run(hsa_queue_t *queue, uint32_t count);

#endif
