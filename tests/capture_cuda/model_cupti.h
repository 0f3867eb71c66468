/*
 * A model of CUPTI that a test controls: the functions that the tool looks up, and calls that
 * produce callbacks and records as the driver would. A driver handle is the object's id cast to a
 * pointer. One thread plays at a time unless a test says otherwise. Callbacks run on the playing
 * thread, buffers are handed over on the thread that delivers or flushes.
 *
 * To stop a thread in the middle of an operation, a test holds a place (model_hold), waits until a
 * thread is there (model_await_held), and lets it go on (model_release). These waits have no
 * time limit.
 */
#ifndef TESTS_MODEL_CUPTI_H
#define TESTS_MODEL_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vendor/cupti_records.h"
#include "vendor/cupti_types.h"

/* X(name): the functions that can be made to fail. */
#define MODEL_CALLS(X)                                                                             \
	X(GET_VERSION)                                                                             \
	X(SUBSCRIBE)                                                                               \
	X(ENABLE_DOMAIN)                                                                           \
	X(ENABLE_CALLBACK)                                                                         \
	X(REGISTER_BUFFERS)                                                                        \
	X(ENABLE)                                                                                  \
	X(GET_TIMESTAMP)                                                                           \
	X(FLUSH_ALL)                                                                               \
	X(GET_DROPPED)                                                                             \
	X(NEXT_RECORD)                                                                             \
	X(EVENT_TIMES)                                                                             \
	X(GET_ID)                                                                                  \
	X(GET_STREAM_ID)

enum model_call {
#define X(name) MODEL_##name,
	MODEL_CALLS(X)
#undef X
		MODEL_CALL_COUNT
};

/* Makes CALL return RESULT from its NTH call (counted from 0) on. */
void model_fail(enum model_call call, uint32_t nth, uint32_t result);

/* Returns how often CALL was called. */
uint32_t model_count(enum model_call call);

/* Waits, without a time limit, until CALL was called COUNT times in all. */
void model_await(enum model_call call, uint32_t count);

/* X(name): the places at which a thread inside the model can be held. */
#define MODEL_PLACES(X)                                                                            \
	X(DROPPED)  /* in cuptiActivityGetNumDroppedRecords */                                     \
	X(FLUSH)    /* in cuptiActivityFlushAll, before any buffer is delivered */                 \
	X(REQUEST)  /* before the model asks the tool for a buffer */                              \
	X(DELIVERY) /* before the model gives a buffer back to the tool */                         \
	X(RECORD)   /* in cuptiActivityGetNextRecord, called by the tool for a delivered buffer */

enum model_place {
#define X(name) MODEL_AT_##name,
	MODEL_PLACES(X)
#undef X
		MODEL_PLACE_COUNT
};

/* Holds every thread that comes to PLACE from now on, except the first NTH. */
void model_hold(enum model_place place, uint32_t nth);

/* Waits until a thread is held at PLACE. */
void model_await_held(enum model_place place);

/* Lets all threads at PLACE go on; PLACE holds no thread any more. */
void model_release(enum model_place place);

/*
 * Run model_deliver(0) on the model's thread, as CUPTI delivers on its own. One delivery at a time;
 * model_worker_await returns once the tool has returned from the callback.
 */
void model_worker_deliver(void);
/* The same with the buffers that are queued (model_queue_buffers), until there is none. */
void model_worker_deliver_queue(void);
void model_worker_await(void);

/* Sets what cuptiGetVersion returns. Call before the recording begins. */
void model_set_version(uint32_t version);

/*
 * Return whether the tool is CUPTI's subscriber, and whether it has enabled any activity kind or
 * callback domain.
 */
bool model_is_subscribed(void);
bool model_is_enabled(void);

/* Returns whether the tool has asked for this callback. */
bool model_is_asked(uint32_t domain, uint32_t cbid);

/*
 * The clock of records. Each model_now() returns a later time; CLOCK_MONOTONIC is ahead of it by
 * this many ns.
 */
#define MODEL_CLOCK_AHEAD_NS 1000000000000
uint64_t model_now(void);

/* Returns model_now() and lets DURATION_NS pass: activities that follow each other in a stream do
 * not overlap, however fast the test is. */
uint64_t model_pass(uint64_t duration_ns);

/*
 * Makes cuptiGetTimestamp return READ_NS() instead of model_now(); 0 means that CUPTI returns no
 * time. Call before the recording begins.
 */
void model_set_clock(uint64_t (*read_ns)(void));

/*
 * A call of the program with its enter and exit callbacks. PARAMS and RESULT are what CUPTI passes
 * to the callback.
 */
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

#define MODEL_NULL_STREAM 7 /* number of the legacy default stream of each context */

/* A stream: its handle, and CUPTI's numbers of its context and of itself. */
struct model_stream {
	uint64_t handle;
	uint32_t context, number;
};

/* Sets the calling thread's current context, which is 1 at first. */
void model_set_context(uint32_t context);

/*
 * Returns the stream of a handle; of a default stream, that of the current context and, for
 * CUDA_STREAM_PER_THREAD, of the thread. A handle of which no stream was made stands for a stream
 * of the current context with the same number.
 */
struct model_stream model_find_stream(uint64_t handle);

/* Make a stream in the current context, and destroy it; its handle may then be used again. The tool
 * is told. */
struct model_stream model_make_stream(uint64_t handle);
void model_destroy_stream(uint64_t handle);

/* Calls the tool back with a step in the life of a resource, such as a graph node. */
void model_resource(enum cupti_resource step, const void *descriptor);

/*
 * Appends a record to the current buffer. If the tool gives no buffer, the record is dropped and
 * counted. A wait or an event record is appended only if the tool has asked for its kind.
 */
void model_put(const void *record, size_t bytes);

/*
 * From now on a buffer is full after RECORDS records, and the thread that has filled it asks for
 * the next one and goes on. Full buffers wait until the worker or a flush delivers them. If there
 * is no next buffer, CUPTI asks again for each record, and counts those that it drops (H100, driver
 * 580.159.04).
 */
void model_queue_buffers(size_t records);

/* Adds COUNT to the records that CUPTI itself has dropped. A program that plays CUDA has the
 * environment variable MODEL_DROPS for it. */
void model_drop(size_t count);

/* Loses the next COUNT kernels, copies and memsets without counting them, as CUPTI does on a GPU
 * when its buffers there are full. A program that plays CUDA has the environment variable
 * MODEL_LOSES for the first ones. */
void model_lose(size_t count);

/* Gives the current buffer back to the tool, without the last CUT_BYTES of its records. */
void model_deliver(size_t cut_bytes);

/* Returns the size of a record of KIND in the CUPTI version that was set. */
size_t model_record_bytes(uint32_t kind);

#endif
