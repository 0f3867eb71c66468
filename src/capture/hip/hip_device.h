/* Which HSA agents HIP's devices are, by their places on the bus. The questions leave no record.
 *
 * Any thread. Call only after a HIP call that has succeeded: HIP 5.2 forgets the last error at a
 * success. */
#ifndef DAGTAP_CAPTURE_HIP_HIP_DEVICE_H
#define DAGTAP_CAPTURE_HIP_HIP_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/* Return the handle of the agent of DEVICE, a number of HIP's, and of the calling thread's current
 * device; 0: not known. */
uint64_t device_agent(int device);
uint64_t device_current_agent(void);

/* Returns whether HIP sees a single device. */
bool device_is_only(void);

#endif
