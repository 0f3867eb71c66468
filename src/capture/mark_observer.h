/* Tells the observer of calls (base/inject.h) of roctx's calls. Any thread. Cost without an
 * observer: one relaxed load. */
#ifndef DAGTAP_CAPTURE_MARK_OBSERVER_H
#define DAGTAP_CAPTURE_MARK_OBSERVER_H

#include <stdint.h>

#include "base/inject.h"

/* A call of FUNCTION is entered: fills RET_MARK, with cid 0 if nobody observes it or nothing is
 * recorded. MESSAGE is borrowed until mark_leave. */
void mark_enter(struct inject_mark *ret_mark, enum inject_mark_function function,
		const char *message, uint64_t argument);

/* The call has returned RESULT. Does nothing if MARK's cid is 0. */
void mark_leave(struct inject_mark *mark, uint64_t result);

#endif
