/* Holds of the device by a test: of the taking of work, and of a thread at a given value of a
 * counter. dagtap/softgpu.h has the public interface, device_control.c the functions that end a
 * hold; hold_at and hold_pipe are the configuration keys. */
#ifndef SOFTGPU_HOLD_H
#define SOFTGPU_HOLD_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the calling queue may take a packet, or the calling engine a copy. If this
 * returns true while taking is held, it uses up one step of softgpu_take_step. If it returns false,
 * the caller sleeps and asks again. Any thread; one relaxed load when taking is not held. */
bool hold_lets_take(void);

/* Returns what hold_lets_take would return, but uses up no step. */
bool hold_would_let_take(void);

/* Allows COUNT more packets and copies to be taken. Returns 0, or -EPERM when taking is not held.
 * The
 * caller wakes the threads that wait to take. */
int hold_add_steps(uint32_t count);

/* Ends the hold of the taking of work. The caller wakes the threads that wait to take. */
void hold_end(void);

/* Returns whether TEXT is valid for hold_at: COUNTER:N with a known counter and N > 0, or "". */
bool hold_point_is_valid(const char *text);

/* Applies the configuration keys hold_at and hold_pipe, which are valid. config.c calls this once,
 * before anything is counted. Keeps the pointer to HOLD_PIPE. */
void hold_configure(const char *hold_at, const char *hold_pipe);

#endif
