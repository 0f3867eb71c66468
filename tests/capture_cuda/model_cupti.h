/* A CUPTI that a test plays: the functions that the tool looks up, and what the driver would have told
 * them. A handle of the driver is its id as a pointer. One thread plays at a time, unless a test says
 * otherwise; callbacks come on the playing thread, buffers on that which delivers or flushes. */
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

/* Set at any time, by any thread; NULL for none. */
typedef void (*model_hook)(void);

/* Called in each flush, on the thread that asks for it: a tick may be the first to ask. */
void model_at_flush(model_hook hook);

/* Called whenever the next record of a buffer is asked for, on the thread that asks. */
void model_at_record(model_hook hook);

/* Of the next cuptiGetVersion; before the recording begins. */
void model_set_version(uint32_t version);

/* Whether the tool is its subscriber, and has any kind or domain on. */
bool model_is_subscribed(void);
bool model_is_enabled(void);

/* The clock of records: model_now() is later each time, and so many ns before CLOCK_MONOTONIC's. */
#define MODEL_CLOCK_AHEAD_NS 1000000000000
uint64_t model_now(void);

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
