/* The state of the runtime. hsa_init and hsa_shut_down count references; system.c implements them
 * and the HSA functions on the system as a whole. Any thread; each call is one relaxed load. */
#ifndef SOFTGPU_SYSTEM_H
#define SOFTGPU_SYSTEM_H

#include <stdbool.h>

/* Returns whether the runtime is initialized: from the first hsa_init to the end of the last
 * hsa_shut_down. Most HSA functions return HSA_STATUS_ERROR_NOT_INITIALIZED otherwise. */
bool system_is_up(void);
/* Returns whether hsa_init has ever succeeded in this process. */
bool system_was_up(void);

#endif
