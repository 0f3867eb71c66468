/* The HIP of test_sdk_toggled.c: a dispatch table of the program (toggled_model.c), or the real
 * runtime (toggled_runtime.c). A failure ends the process with a message. */
#ifndef TESTS_SDK_TOGGLED_HIP_H
#define TESTS_SDK_TOGGLED_HIP_H

#include <stdint.h>

/* Opens HIP, after the profiler was configured. */
void toggled_hip_open(void);
void toggled_hip_close(void);

/* What one thread launches into: a queue or a stream. */
void *toggled_queue_create(void);
void toggled_queue_destroy(void *queue);

/* Calls hipLaunchKernel once, for a kernel whose grid has NUMBER work-items. */
void toggled_launch(void *queue, uint64_t number);
/* Waits for what was launched. */
void toggled_drain(void *queue);

#endif
