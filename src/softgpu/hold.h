/* What a test holds: the taking of work, a thread at a counter's value, and the clock. The interface is that of
 * dagtap/softgpu.h and of the configuration's keys hold_at and hold_pipe. */
#ifndef SOFTGPU_HOLD_H
#define SOFTGPU_HOLD_H

#include <stdbool.h>

struct softgpu_config;

/* A queue or a copy engine is about to take one: false while a test holds that; the taker looks again when
 * it is woken. Any thread; one relaxed load when nothing is held. */
bool hold_lets_take(void);

/* TEXT is COUNTER:N, or empty. */
bool hold_point_is_valid(const char *text);

/* Reads the two keys, which are valid. Once, before anything is counted; CONFIG stays where it is. */
void hold_configure(const struct softgpu_config *config);

#endif
