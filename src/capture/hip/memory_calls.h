/* The hooks of HIP calls that allocate and release memory: they write MEMORY records.
 *
 * An allocation that is captured into a graph is none: the graph's launches allocate. A call that
 * the runtime makes inside another one that allocates is the same allocation. */
#ifndef DAGTAP_CAPTURE_HIP_MEMORY_CALLS_H
#define DAGTAP_CAPTURE_HIP_MEMORY_CALLS_H

#include "capture/hip/hip_wrapped_call.h"

/* After hooks (hooks.h): an allocation whose first two arguments are the address and the bytes; one
 * by rows and pitch; one with a hipPitchedPtr; arrays; a release whose first argument is the
 * address. */
void memory_allocated(struct hip_call *call, int result, const uint64_t *args);
void memory_pitch_allocated(struct hip_call *call, int result, const uint64_t *args);
void memory_3d_allocated(struct hip_call *call, int result, const uint64_t *args);
void memory_array_allocated(struct hip_call *call, int result, const uint64_t *args);
void memory_released(struct hip_call *call, int result, const uint64_t *args);

/* After hipDeviceReset, which releases all memory of the current device. */
void memory_device_reset(struct hip_call *call, int result, const uint64_t *args);

#endif
