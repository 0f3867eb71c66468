/* A CUPTI that a test plays: the functions that the tool looks up, and what the driver would have told
 * them. A handle of the driver is its id as a pointer. One thread plays at a time, unless a test says
 * otherwise; callbacks come on the playing thread, buffers on that which delivers or flushes.
 *
 * A test that needs a thread in the middle of something holds the place where it is then (model_hold), waits until
 * one is there (model_await_held), and lets it go on (model_step, model_release). No wait has a limit. */
#ifndef TESTS_MODEL_CUPTI_H
#define TESTS_MODEL_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vendor/cupti_types.h"

/* X(name): the functions that can be made to fail. */
#define MODEL_CALLS(X)                                                                             \
	X(GET_VERSION)                                                                             \
	X(SUBSCRIBE)                                                                               \
	X(ENABLE_DOMAIN)                                                                           \
	X(REGISTER_BUFFERS)                                                                        \
	X(ENABLE)                                                                                  \
	X(GET_TIMESTAMP)                                                                           \
	X(FLUSH_ALL)                                                                               \
	X(GET_DROPPED)                                                                             \
	X(NEXT_RECORD)                                                                             \
	X(EVENT_TIMES)                                                                             \
	X(GET_ID)

enum model_call {
#define X(name) MODEL_##name,
	MODEL_CALLS(X)
#undef X
		MODEL_CALL_COUNT
};

/* From its NTH call (from 0) on it gives RESULT. */
void model_fail(enum model_call call, uint32_t nth, uint32_t result);

/* How often it was called. */
uint32_t model_count(enum model_call call);

/* Waits until it has been called COUNT times in all, however long that takes. */
void model_await(enum model_call call, uint32_t count);

/* X(name): where a thread that is inside the played CUPTI can be held. */
#define MODEL_PLACES(X)                                                                            \
	X(FLUSH)    /* in cuptiActivityFlushAll; no buffer has been delivered yet */               \
	X(REQUEST)  /* before the tool is asked for a buffer */                                    \
	X(DELIVERY) /* before the tool is given a buffer back */                                   \
	X(RECORD)   /* in cuptiActivityGetNextRecord, which the tool calls for such a buffer */

enum model_place {
#define X(name) MODEL_AT_##name,
	MODEL_PLACES(X)
#undef X
		MODEL_PLACE_COUNT
};

/* From now on the threads that come to PLACE stay there, except the first NTH. */
void model_hold(enum model_place place, uint32_t nth);

/* Waits until a thread is held at PLACE. */
void model_await_held(enum model_place place);

/* Waits until a thread is held at PLACE and lets this one go on; PLACE stays held. */
void model_step(enum model_place place);

/* Lets all threads go on; PLACE holds none any more. */
void model_release(enum model_place place);

/* CUPTI's own thread: model_deliver(0) on a thread of the model. One at a time; await returns once the tool has given
 * the thread back. */
void model_worker_deliver(void);
void model_worker_await(void);

/* Of the next cuptiGetVersion; before the recording begins. */
void model_set_version(uint32_t version);

/* Whether the tool is its subscriber, and has any kind or domain on. */
bool model_is_subscribed(void);
bool model_is_enabled(void);

/* The clock of records: model_now() is later each time, and so many ns before CLOCK_MONOTONIC's. */
#define MODEL_CLOCK_AHEAD_NS 1000000000000
uint64_t model_now(void);

/* What cuptiGetTimestamp gives instead of model_now(); 0 is no time. Before the recording begins. */
void model_set_clock(uint64_t (*read_ns)(void));

/* A call of the program's, with its callbacks; PARAMS and RESULT as CUPTI hands them. */
struct model_open {
	uint32_t domain, cbid, correlation;
	const char *name;
	const void *params;
	uint64_t data;
};
void model_enter(struct model_open *call, uint32_t domain, uint32_t cbid, uint32_t correlation,
		 const char *name, const void *params);
void model_leave(struct model_open *call, int result);
void model_call(uint32_t domain, uint32_t cbid, uint32_t correlation, const char *name);

void model_resource(enum cupti_resource step, const void *descriptor);

/* A record into the buffer that is being filled; lost, and counted, if the tool lends none. */
void model_put(const void *record, size_t bytes);

/* CUPTI lost so many by itself. */
void model_drop(size_t count);

/* The buffer that is being filled goes back to the tool; CUT_BYTES of its end are missing. */
void model_deliver(size_t cut_bytes);

/* The sizes that this version's records have. */
size_t model_record_bytes(uint32_t kind);

#endif
