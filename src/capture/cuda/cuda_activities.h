/* CUPTI's activity records become ours: fixed fields copied, names interned, nothing joined.
 *
 * Threading: one thread at a time (cuda_buffers.c); the counts may be read by any. */
#ifndef DAGTAP_CAPTURE_CUDA_ACTIVITIES_H
#define DAGTAP_CAPTURE_CUDA_ACTIVITIES_H

#include <stdatomic.h>
#include <stdint.h>

#include "vendor/cupti_types.h"

/* X(name, text): what CUPTI delivered, counted before it is looked at. The texts are witnesses. */
#define CUDA_DELIVERED(X)                                                                          \
	X(KERNELS, "kernels")                                                                      \
	X(COPIES, "copies")                                                                        \
	X(OTHERS, "others")                                                                        \
	X(UNKNOWN, "of_unknown_kinds")

enum cuda_delivered {
#define X(name, text) CUDA_DELIVERED_##name,
	CUDA_DELIVERED(X)
#undef X
		CUDA_DELIVERED_COUNT
};

extern _Atomic uint64_t cuda_delivered[CUDA_DELIVERED_COUNT];

/* The devices that CUPTI told of so far: it may tell once, and each recording is to have them. */
void cuda_devices_record(void);

void cuda_activity_record(const struct cupti_activity *activity);

#endif
