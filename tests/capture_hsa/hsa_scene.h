/* What the scene programs share: one device, functions that write packets, and a count of the
 * kernels that ran. A scene is a small HSA program that is difficult for a tracer. It checks
 * what the application must see, and ends the process with a message when that is wrong. */
#ifndef TESTS_CAPTURE_HSA_SCENE_H
#define TESTS_CAPTURE_HSA_SCENE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <dagtap/softgpu.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "../../examples/hsa/device.h"

/* Ends the process with a message when CONDITION is false. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			driver_fail("%s:%d: %s", __FILE__, __LINE__, #condition);                  \
	} while (0)

struct scene {
	const char *name;
	void (*play)(void);
};

/* Each file of scenes has one list. A name of NULL ends it. */
extern const struct scene plain_scenes[];
extern const struct scene copy_scenes[];
extern const struct scene mode_scenes[];
extern const struct scene end_scenes[];
extern const struct scene queue_scenes[];

extern struct device device;
extern atomic_uint ran;		/* kernels that the device has run */
extern const hsa_signal_t none; /* the null signal */

/* device_open plus the memory for kernel arguments. */
void open_device(void);
void close_device(void);

/* A multi-producer queue of SIZE packets on the device, with profiling enabled. */
hsa_queue_t *queue_make(uint32_t size);
hsa_signal_t signal_make(hsa_signal_value_t value);
/* Waits until the signal's value is below 1. */
void signal_await(hsa_signal_t signal);

/* The address of the packet slot of INDEX. */
char *packet_at(hsa_queue_t *queue, uint64_t index);
/* Waits for room in the ring, then writes the packet: the body first, the header last with
 * release order. */
void packet_put(hsa_queue_t *queue, uint64_t index, const void *packet, uint16_t header);
/* Builds a dispatch packet of the scene's kernel with a grid of INDEX + 1 work-items. */
hsa_kernel_dispatch_packet_t dispatch_packet(uint64_t index, hsa_signal_t signal);
/* Writes a dispatch packet with the barrier bit at INDEX. Does not ring the doorbell. */
void dispatch_put(hsa_queue_t *queue, uint64_t index, hsa_signal_t signal);
void ring(hsa_queue_t *queue, uint64_t index);
/* Reserves a packet, writes it and rings the doorbell. */
void dispatch(hsa_queue_t *queue, hsa_signal_t signal);
/* Submits a barrier-AND packet. DEPENDENCY and COMPLETION may be none. */
void barrier(hsa_queue_t *queue, hsa_signal_t dependency, hsa_signal_t completion);
/* Waits, with a barrier packet, until all earlier packets of the queue have ended. */
void drain(hsa_queue_t *queue);

/* Checks that the application can read the signal's value (0) and its times; prints the ticks. */
void check_signal(hsa_signal_t signal);

/* The software GPU's counter NAME; 0 if there is none. */
uint64_t device_count(const char *name);

#endif
