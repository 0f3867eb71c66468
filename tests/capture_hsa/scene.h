/* What the scenes share: one device, packets written by hand, and a count of the kernels that
 * ran. A scene is a small HSA program that a tracer gets wrong easily; it checks what the
 * application must see, and ends the process with a message when that is wrong. */
#ifndef TESTS_CAPTURE_HSA_SCENE_H
#define TESTS_CAPTURE_HSA_SCENE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <dagtap/softgpu.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "../../examples/hsa/device.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			driver_fail("%s:%d: %s", __FILE__, __LINE__, #condition);                  \
	} while (0)

struct scene {
	const char *name;
	void (*play)(void);
};

/* One list a file, ended by a name of NULL. */
extern const struct scene plain_scenes[];
extern const struct scene mode_scenes[];
extern const struct scene end_scenes[];
extern const struct scene queue_scenes[];

extern struct device device;
extern atomic_uint ran; /* kernels */
extern const hsa_signal_t none;

void open_device(void);
void close_device(void);

hsa_queue_t *queue_make(uint32_t size);
hsa_signal_t signal_make(hsa_signal_value_t value);
void signal_await(hsa_signal_t signal);

char *packet_at(hsa_queue_t *queue, uint64_t index);
/* Waits for room; body first, then the header. */
void packet_put(hsa_queue_t *queue, uint64_t index, const void *packet, uint16_t header);
hsa_kernel_dispatch_packet_t dispatch_packet(uint64_t index, hsa_signal_t signal);
void dispatch_put(hsa_queue_t *queue, uint64_t index, hsa_signal_t signal);
void ring(hsa_queue_t *queue, uint64_t index);
/* Reserve, put, ring. */
void dispatch(hsa_queue_t *queue, hsa_signal_t signal);
void barrier(hsa_queue_t *queue, hsa_signal_t dependency, hsa_signal_t completion);
/* Waits with a barrier packet until everything before it is done. */
void drain(hsa_queue_t *queue);

/* The value and the ticks are the application's to read; prints the ticks. */
void check_signal(hsa_signal_t signal);

/* The software GPU's counter of that name; 0 on another device. */
uint64_t device_count(const char *name);

#endif
