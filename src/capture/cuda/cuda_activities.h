/* Writes CUPTI's activity records as records of ours: copies their fields, interns the names of
 * kernels, and joins nothing.
 *
 * Threading: cuda_activity_record by one thread at a time (cuda_buffers.c ensures it); the rest
 * by any thread. */
#ifndef DAGTAP_CAPTURE_CUDA_ACTIVITIES_H
#define DAGTAP_CAPTURE_CUDA_ACTIVITIES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "vendor/cupti_records.h"
#include "vendor/cupti_types.h"

/* X(name): classes of records that CUPTI has delivered. A record is counted before it is examined.
 * The count of each class is the witness WITNESS_CUDA_<name>. */
#define CUDA_DELIVERED(X)                                                                          \
	X(KERNELS)                                                                                 \
	X(COPIES)                                                                                  \
	X(OTHERS)                                                                                  \
	X(OF_UNKNOWN_KINDS)

enum cuda_delivered {
#define X(name) CUDA_DELIVERED_##name,
	CUDA_DELIVERED(X)
#undef X
		CUDA_DELIVERED_COUNT
};

/* Records delivered since the process started, by class. */
extern _Atomic uint64_t cuda_delivered[CUDA_DELIVERED_COUNT];

/* Writes the AGENT records of all devices that CUPTI has described so far. CUPTI may describe a
 * device only once, and each recording needs its record. Called when a recording starts. */
void cuda_devices_record(void);

/* Whether ACTIVITY may be counted and not read: witnesses count its class, the ledger expects it,
 * and nothing of it must be freed. Others describe devices and streams, or are of kinds that nobody
 * asked for. */
bool cuda_activity_is_skippable(const struct cupti_activity *activity);

/* Counts ACTIVITY and writes its record. ACTIVITY is borrowed from CUPTI's buffer. A kind that
 * is not known is counted only. */
void cuda_activity_record(const struct cupti_activity *activity);

#endif
