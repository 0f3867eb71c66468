/* Callbacks and kept records: see observed.h. */
#include "sdk/observed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "sdk/buffers.h"
#include "sdk/requests.h"

#define RECORD_BYTES 96 /* of the largest record */

/* A record that waits for the source's thread. */
struct kept {
	uint32_t buffer; /* number */
	uint32_t kind;
	size_t bytes;
	_Alignas(8) unsigned char record[RECORD_BYTES];
};
_Static_assert(sizeof(struct sdk_scratch_record) <= RECORD_BYTES, "it fits");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *kept; /* owned */
static size_t kept_count, kept_room;
static uint64_t lost[SDK_BUFFERS]; /* for which there was no memory, by buffer's number - 1 */

static void tell(struct observed_state *state, uint32_t number, const struct observed *what,
		 int phase)
{
	const struct sdk_context *context = &sdk_contexts[number];
	const struct sdk_callback_service *service = &context->callbacks[what->callback];
	const struct sdk_callback_record record = {
		.context = sdk_context_id(context),
		.tid = what->tid ? what->tid : requests_tid(),
		.correlation = {.internal = what->cid,
				.external.value = state->externals[number],
				.ancestor = what->parent},
		.kind = what->callback,
		.operation = what->operation,
		.phase = (uint32_t)phase,
		.payload = what->payload,
	};

	if (sdk_operations_have(&service->operations, what->operation))
		service->callback(record, &state->users[number], service->data);
}

static void keep(const struct observed_state *state, uint32_t number, const struct observed *what,
		 struct sdk_record_head *record, size_t bytes)
{
	const struct sdk_buffer_service *service = &sdk_contexts[number].buffers[what->buffer];

	if (!sdk_operations_have(&service->operations, what->operation))
		return;
	record->size = bytes;
	record->kind = what->buffer;
	record->operation = what->operation;
	record->correlation = (struct sdk_correlation){.internal = what->cid,
						       .external.value = state->externals[number],
						       .ancestor = what->parent};
	pthread_mutex_lock(&lock);
	if (table_reserve((void **)&kept, &kept_room, kept_count + 1, sizeof(*kept)) == 0) {
		kept[kept_count] = (struct kept){service->buffer, what->buffer, bytes, {0}};
		memcpy(kept[kept_count++].record, record, bytes);
	} else {
		lost[service->buffer - 1]++;
	}
	pthread_mutex_unlock(&lock);
}

void observed_begin(struct observed_state *state, const struct observed *what)
{
	if (state->cid)
		return;
	state->cid = what->cid;
	state->started = 0;
	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++) {
		if (!atomic_load_explicit(&sdk_contexts[i].is_started, memory_order_acquire))
			continue;
		state->started |= 1ull << i;
		state->users[i].value = 0;
		state->externals[i] =
			requests_external(i, what->request, what->operation, what->cid);
		tell(state, i, what, SDK_PHASE_ENTER);
	}
}

void observed_end(struct observed_state *state, const struct observed *what,
		  struct sdk_record_head *record, size_t bytes)
{
	if (state->cid != what->cid)
		return;
	for (uint32_t i = 0; i < SDK_CONTEXTS && state->started >> i; i++) {
		if (!(state->started >> i & 1))
			continue;
		tell(state, i, what, SDK_PHASE_EXIT);
		keep(state, i, what, record, bytes);
	}
	state->cid = 0;
}

/* Tells the buffers of the records that could not be kept. Called with the lock. */
static void count_lost(void)
{
	for (uint32_t i = 0; i < SDK_BUFFERS; i++) {
		struct sdk_buffer *buffer = lost[i] ? sdk_buffer_find(i + 1) : NULL;

		if (buffer)
			buffer->dropped += lost[i];
		lost[i] = 0;
	}
}

void observed_deliver(void)
{
	struct kept *taken;
	size_t count;

	pthread_mutex_lock(&lock);
	taken = kept;
	count = kept_count;
	kept = NULL;
	kept_count = kept_room = 0;
	count_lost();
	pthread_mutex_unlock(&lock);
	for (size_t i = 0; i < count; i++) {
		struct sdk_buffer *buffer = sdk_buffer_find(taken[i].buffer);

		if (buffer)
			sdk_buffer_put(buffer, taken[i].kind, taken[i].record, taken[i].bytes);
	}
	free(taken);
}

void observed_reset_lock(void)
{
	pthread_mutex_init(&lock, NULL);
}
