/* Calls of roctx: see marks.h. */
#include "sdk/marks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/table.h"
#include "sdk/buffers.h"
#include "sdk/requests.h"
#include "sdk/sdk_contexts.h"
#include "sdk/time.h"

/* A record that waits for the source's thread. */
struct kept {
	struct sdk_hip_record record;
	uint32_t buffer; /* number */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *kept; /* owned */
static size_t kept_count, kept_room;

/* The call that the thread is inside of. Only a tool's callback can make another one within it; no
 * tool is told of that. */
static _Thread_local struct {
	uint64_t cid;
	uint32_t started; /* contexts that were started at its entry: bits */
	union sdk_user users[SDK_CONTEXTS];
	uint64_t externals[SDK_CONTEXTS];
} entered;

static void tell(uint32_t number, const struct inject_mark *mark, int phase)
{
	const struct sdk_context *context = &sdk_contexts[number];
	const struct sdk_callback_service *service =
		&context->callbacks[SDK_CALLBACK_MARKER_CORE_API];
	struct sdk_mark_data data = {
		.size = sizeof(data),
		.argument = mark->function == INJECT_STOP ? mark->argument
							  : (uint64_t)(uintptr_t)mark->message,
		.result = mark->result,
	};
	const struct sdk_callback_record record = {
		.context = sdk_context_id(context),
		.tid = requests_tid(),
		.correlation = {.internal = mark->cid,
				.external.value = entered.externals[number],
				.ancestor = mark->parent},
		.kind = SDK_CALLBACK_MARKER_CORE_API,
		.operation = (int)mark->function,
		.phase = (uint32_t)phase,
		.payload = &data,
	};

	if (sdk_operations_have(&service->operations, record.operation))
		service->callback(record, &entered.users[number], service->data);
}

/* Keeps the record of a call for context NUMBER. Without memory it is lost. */
static void keep(uint32_t number, const struct inject_mark *mark)
{
	const struct sdk_buffer_service *service =
		&sdk_contexts[number].buffers[SDK_BUFFER_MARKER_CORE_API];

	if (!sdk_operations_have(&service->operations, (int)mark->function))
		return;
	pthread_mutex_lock(&lock);
	if (table_reserve((void **)&kept, &kept_room, kept_count + 1, sizeof(*kept)) == 0)
		kept[kept_count++] = (struct kept){
			.record = {.size = sizeof(struct sdk_hip_record),
				   .kind = SDK_BUFFER_MARKER_CORE_API,
				   .operation = (int)mark->function,
				   .correlation = {.internal = mark->cid,
						   .external.value = entered.externals[number],
						   .ancestor = mark->parent},
				   .start_ns = sdk_time_of(mark->begin_ns),
				   .end_ns = sdk_time_of(mark->end_ns),
				   .tid = requests_tid()},
			.buffer = service->buffer,
		};
	pthread_mutex_unlock(&lock);
}

static void enter(const struct inject_mark *mark)
{
	entered.cid = mark->cid;
	entered.started = 0;
	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++) {
		if (!atomic_load_explicit(&sdk_contexts[i].is_started, memory_order_acquire))
			continue;
		entered.started |= 1u << i;
		entered.users[i].value = 0;
		entered.externals[i] = requests_external(i, SDK_REQUEST_MARKER_CORE_API,
							 (int)mark->function, mark->cid);
		tell(i, mark, SDK_PHASE_ENTER);
	}
}

static void leave(const struct inject_mark *mark)
{
	for (uint32_t i = 0; i < SDK_CONTEXTS && entered.started >> i; i++) {
		if (!(entered.started >> i & 1))
			continue;
		tell(i, mark, SDK_PHASE_EXIT);
		keep(i, mark);
	}
	entered.cid = 0;
}

void marks_observe(const struct inject_mark *mark)
{
	if (!mark->end_ns && !entered.cid)
		enter(mark);
	else if (mark->end_ns && entered.cid == mark->cid)
		leave(mark);
}

int marks_deliver(void)
{
	struct kept *taken;
	size_t count;
	int err = 0;

	pthread_mutex_lock(&lock);
	taken = kept;
	count = kept_count;
	kept = NULL;
	kept_count = kept_room = 0;
	pthread_mutex_unlock(&lock);
	for (size_t i = 0; i < count && err == 0; i++) {
		struct sdk_buffer *buffer = sdk_buffer_find(taken[i].buffer);

		if (buffer)
			err = sdk_buffer_put(buffer, taken[i].record.kind, &taken[i].record,
					     sizeof(taken[i].record));
	}
	free(taken);
	return err;
}

void marks_reset_lock(void)
{
	pthread_mutex_init(&lock, NULL);
}
