/* Control of the device by a test: the taking of work, a thread at a counter's value, and the
 * clock. The public interface is in dagtap/softgpu.h; the configuration keys are hold_at and
 * hold_pipe. */
#ifndef SOFTGPU_HOLD_H
#define SOFTGPU_HOLD_H

#include <stdbool.h>

struct softgpu_config;

/* Whether a queue may take a packet, or an engine a copy. True uses up one step of
 * softgpu_take_step. After false the caller sleeps and asks again. Any thread; one relaxed load
 * when taking is not held. */
bool hold_lets_take(void);

/* The same without using up a step. */
bool hold_would_let_take(void);

/* TEXT is COUNTER:N, or empty. */
bool hold_point_is_valid(const char *text);

/* Takes the two keys, which have been checked. Called once, before anything is counted; keeps a
 * pointer to CONFIG. */
void hold_configure(const struct softgpu_config *config);

#endif
