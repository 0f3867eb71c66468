/* Control of the device by a test: holds the taking of work, a thread at a given value of a
 * counter, and the clock. dagtap/softgpu.h has the public interface; hold_at and hold_pipe are the
 * configuration keys. */
#ifndef SOFTGPU_HOLD_H
#define SOFTGPU_HOLD_H

#include <stdbool.h>

struct softgpu_config;

/* Returns whether the calling queue may take a packet, or the calling engine a copy. If this
 * returns true while taking is held, it uses up one step of softgpu_take_step. If it returns false,
 * the caller sleeps and asks again. Any thread; one relaxed load when taking is not held. */
bool hold_lets_take(void);

/* Returns what hold_lets_take would return, but uses up no step. */
bool hold_would_let_take(void);

/* Returns whether TEXT is valid for hold_at: COUNTER:N with a known counter and N > 0, or "". */
bool hold_point_is_valid(const char *text);

/* Applies the keys hold_at and hold_pipe of CONFIG, which are valid. config.c calls this once,
 * before anything is counted. Keeps a pointer into CONFIG. */
void hold_configure(const struct softgpu_config *config);

#endif
