/* Whether the runtime is up: hsa_init counts references, and most functions ask first. */
#ifndef SOFTGPU_SYSTEM_H
#define SOFTGPU_SYSTEM_H

#include <stdbool.h>

bool system_is_up(void);
/* True from the first successful hsa_init on, for ever. */
bool system_was_up(void);

#endif
