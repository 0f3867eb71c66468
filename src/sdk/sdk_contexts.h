/* The contexts of the tool that has configured this library, with their services.
 *
 * A context collects while it is started. A record belongs to a context if the call that caused it
 * began while the context was started; so the time of a start and a stop is kept for the records
 * that come later. Of a call during which the context is started or stopped it counts whether the
 * tool was told of its entry (externals.h).
 *
 * Threading: configuration is one thread's, before anything is collected (the interface allows it
 * only inside the tool's initialize). Starting and stopping may be any thread's. */
#ifndef DAGTAP_SDK_SDK_CONTEXTS_H
#define DAGTAP_SDK_SDK_CONTEXTS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "sdk/abi.h"

#define SDK_CONTEXTS   64  /* a bit for each in calls.c and marks.c */
#define SDK_OPERATIONS 640 /* more than any kind has */
#define SDK_SPANS      256 /* starts and stops of a context that are kept */

/* Operations of a kind. */
struct sdk_operations {
	bool is_on;
	bool is_all;
	uint64_t bits[SDK_OPERATIONS / 64];
};

struct sdk_callback_service {
	struct sdk_operations operations;
	sdk_callback *callback;
	void *data;
};

struct sdk_buffer_service {
	struct sdk_operations operations;
	uint32_t buffer; /* number, from 1 */
};

struct sdk_request_service {
	bool is_on;
	uint32_t kinds; /* bits */
	sdk_request *callback;
	void *data;
};

/* Host times, as in recordings, between which a context was started. */
struct sdk_span {
	_Atomic uint64_t start_ns;
	_Atomic uint64_t stop_ns; /* UINT64_MAX: not stopped yet */
};

struct sdk_context {
	bool is_used;
	_Atomic bool is_started;
	struct sdk_callback_service callbacks[SDK_CALLBACK_KIND_COUNT];
	struct sdk_buffer_service buffers[SDK_BUFFER_KIND_COUNT];
	struct sdk_request_service request;
	struct sdk_span spans[SDK_SPANS];
	_Atomic uint32_t span_count; /* in all; the last SDK_SPANS are kept */
	/* Odd while the context is being started or stopped, and another number afterwards. */
	_Atomic uint32_t changes;
	/* span_count before the last flush for want of room that has delivered all. */
	uint32_t spans_before_flush;
};

/* All contexts; those with is_used are numbers 1 to n, at index number - 1. */
extern struct sdk_context sdk_contexts[SDK_CONTEXTS];

/* The context with this id, or NULL. */
struct sdk_context *sdk_context_find(struct sdk_id id);

static inline struct sdk_id sdk_context_id(const struct sdk_context *context)
{
	return (struct sdk_id){(uint64_t)(context - sdk_contexts) + 1};
}

/* Whether a context is started that gets records or is told of calls. The kinds HIP_STREAM and
 * CODE_OBJECT alone need neither, unless no context of the tool has others. Any thread. */
bool sdk_contexts_want_records(void);

/* Those for which a recording is made while they are started, as this function has it: bits by
 * index. As of the last start of a context. Any thread. */
uint64_t sdk_contexts_recorded(void);

/* A number that grows twice at each start of a context: before the start has an effect, and after.
 * Read it, then see that no context is started: while it stays the same, none is started. Any
 * thread. */
uint64_t sdk_contexts_starts(void);

/* Starts or stops the context. Returns false if it is started or stopped already. Any thread. */
bool sdk_context_start(struct sdk_context *context);
bool sdk_context_stop(struct sdk_context *context);

/* Whether a start now takes the place of a span for which records may still come; false while the
 * context is started. If so, sets *RET_SPANS to the number of its spans so far. Any thread. */
bool sdk_context_is_full(struct sdk_context *context, uint32_t *ret_spans);

/* A flush that was begun when the context had SPANS spans has delivered all: these are needed no
 * more. Any thread. */
void sdk_context_flushed(struct sdk_context *context, uint32_t spans);

/* In a child of fork: makes the lock free. */
void sdk_contexts_reset_lock(void);

/* Whether the context was started at host time NS. */
bool sdk_context_had(const struct sdk_context *context, uint64_t ns);

/* Whether OPERATION is one of the set. */
static inline bool sdk_operations_have(const struct sdk_operations *operations, int operation)
{
	if (!operations->is_on || operation < 0 || operation >= SDK_OPERATIONS)
		return false;
	return operations->is_all || (operations->bits[operation / 64] >> operation % 64 & 1);
}

#endif
