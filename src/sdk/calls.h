/* Calls of HIP and RCCL as the injected library tells of them: the callbacks of a tool on the
 * thread of the call, and its answers to requests for external correlation ids (sdk/externals.h).
 * */
#ifndef DAGTAP_SDK_CALLS_H
#define DAGTAP_SDK_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/inject.h"

/* Whether the caller is inside a callback of a tool at the entry or the return of a call. */
bool sdk_calls_in_callback(void);

/* Whether a thread is inside of a call of which a started context was told. Any thread. */
bool sdk_calls_are_under_way(void);

/* Begins to observe calls, once. Any thread. */
void sdk_calls_observe(void);

/* Sets OBSERVER, or none if it is NULL, until calls are observed; does nothing once they have
 * been. */
void sdk_calls_await(const struct inject_observer *observer);

/* A call is entered: what the observer does. For the call within which the observing has begun. */
void sdk_calls_enter(const struct inject_call *call);

/* In a child of fork, on its only thread: ends the observing, and forgets the calls that the thread
 * is inside and the state of the locks. */
void sdk_calls_forget(void);

#endif
