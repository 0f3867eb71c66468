/* Whether the runtime is initialized. hsa_init and hsa_shut_down (system.c) set it, and nearly all
 * HSA functions ask for it. Any thread; each call is one relaxed load. */
#ifndef SOFTGPU_SYSTEM_STATE_H
#define SOFTGPU_SYSTEM_STATE_H

#include <stdbool.h>

/* Returns whether the runtime is initialized: from the first hsa_init to the end of the last
 * hsa_shut_down. Most HSA functions return HSA_STATUS_ERROR_NOT_INITIALIZED otherwise. */
bool system_is_up(void);
/* Returns whether hsa_init has ever succeeded in this process. */
bool system_was_up(void);
/* Sets what system_is_up returns. Called by hsa_init and hsa_shut_down, under their lock. */
void system_set_up(bool is_up);

#endif
