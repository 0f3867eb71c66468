/* The observer of calls (base/inject.h): tells it of recorded calls of HIP and RCCL. Any thread. */
#ifndef DAGTAP_CAPTURE_CALL_OBSERVER_H
#define DAGTAP_CAPTURE_CALL_OBSERVER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/inject.h"
#include "capture/frame.h"

/* NULL: none. Stored with release. Cost of a call without one: two relaxed loads. */
extern const struct inject_observer *_Atomic call_observer;

static inline bool call_is_observed(void)
{
	return __builtin_expect(atomic_load_explicit(&call_observer, memory_order_relaxed) != NULL,
				0);
}

/* Tells the observer, if there is one and the call of FRAME is recorded, that the call enters. TEXT
 * is that of its API_NAME record, STREAM its stream argument, ARGS the words of its arguments with
 * pointers as they are. FRAME is the thread's innermost one, and is not in the thread's list while
 * the observer's function runs, which may leave by longjmp. So a call that the observer makes is
 * inside of the call around FRAME's, also one of the same function by the slot of a table. The
 * caller takes its begin after this, so that it has no time of a tool. */
void call_observe_entry(struct frame *frame, const char *text, const void *stream,
			const uint64_t *args);

/* The same, that the call has returned RESULT. FRAME is no longer the innermost one; sets its
 * end. */
void call_observe_return(struct frame *frame, const char *text, const void *stream, int result);

#endif
