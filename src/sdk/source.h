/* Where a tool's records come from: a thread that follows the recording of this process (src/live)
 * and puts what is finished into the tool's buffers.
 *
 * The thread is started with the first context. It polls every 20 ms while a context is started,
 * and sleeps otherwise. It calls the tool: the callbacks of buffers, and those of kernel symbols
 * before the first record that names the kernel. A child of fork has no such thread. */
#ifndef DAGTAP_SDK_SOURCE_H
#define DAGTAP_SDK_SOURCE_H

#include <stdint.h>

#include "base/timer.h"

/* Starts the thread, or wakes it; does nothing in a child of fork. Any thread. Returns 0 or a
 * negative errno. */
int sdk_source_start(void);

/* A context was stopped: the thread ends a recording that this library has begun and that no
 * context wants any more. Any thread. */
void sdk_source_wake(void);

/* Waits until everything that was recorded before this call has been delivered: each activity that
 * was submitted, once it has ended. Returns 0, -EBUSY from inside a callback, or -ETIMEDOUT at
 * LIMIT. Any thread. */
int sdk_source_flush(struct timer_limit limit);

/* Frees buffer NUMBER, with what it holds. Returns 0, or an error as above. */
int sdk_source_destroy(uint64_t number);

#endif
