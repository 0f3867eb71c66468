/* Contexts: see sdk_contexts.h. */
#include "sdk/sdk_contexts.h"

#include <pthread.h>

#include "base/clock.h"

struct sdk_context sdk_contexts[SDK_CONTEXTS];

static pthread_mutex_t change_lock = PTHREAD_MUTEX_INITIALIZER; /* for starts and stops */
static _Atomic uint64_t recorded; /* as sdk_contexts_recorded returns it */
static _Atomic uint64_t starts;

struct sdk_context *sdk_context_find(struct sdk_id id)
{
	return id.handle && id.handle <= SDK_CONTEXTS && sdk_contexts[id.handle - 1].is_used
		       ? &sdk_contexts[id.handle - 1]
		       : NULL;
}

static bool needs_records(const struct sdk_context *context)
{
	for (int i = 0; i < SDK_BUFFER_KIND_COUNT; i++)
		if (context->buffers[i].operations.is_on)
			return true;
	for (int i = 0; i < SDK_CALLBACK_KIND_COUNT; i++)
		if (context->callbacks[i].operations.is_on && i != SDK_CALLBACK_HIP_STREAM &&
		    i != SDK_CALLBACK_CODE_OBJECT)
			return true;
	return false;
}

/* The contexts for which a recording is made while they are started: bits. Those that need records;
 * all, if none does. */
static uint64_t find_recorded(void)
{
	uint64_t used = 0, needing = 0;

	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++) {
		used |= 1ull << i;
		needing |= (uint64_t)needs_records(&sdk_contexts[i]) << i;
	}
	return needing ? needing : used;
}

uint64_t sdk_contexts_recorded(void)
{
	return atomic_load_explicit(&recorded, memory_order_relaxed);
}

uint64_t sdk_contexts_starts(void)
{
	return atomic_load(&starts);
}

bool sdk_contexts_want_records(void)
{
	uint64_t of = find_recorded();

	for (uint32_t i = 0; i < SDK_CONTEXTS && of >> i; i++)
		if (of >> i & 1 && atomic_load(&sdk_contexts[i].is_started))
			return true;
	return false;
}

bool sdk_context_start(struct sdk_context *context)
{
	bool is_change;

	pthread_mutex_lock(&change_lock);
	is_change = !atomic_load(&context->is_started);
	if (is_change) {
		uint32_t count = atomic_load(&context->span_count);
		struct sdk_span *span = &context->spans[count % SDK_SPANS];

		atomic_fetch_add(&context->changes, 1);
		/* No time is in the span that had this place. */
		atomic_store(&span->start_ns, UINT64_MAX);
		atomic_store(&span->stop_ns, UINT64_MAX);
		atomic_store(&span->start_ns, clock_now_ns());
		atomic_store_explicit(&context->span_count, count + 1, memory_order_release);
		atomic_store(&recorded, find_recorded());
		atomic_fetch_add(&starts, 1);
		atomic_store(&context->is_started, true);
		/* Once more, for a thread that has read it before the context was started. */
		atomic_fetch_add(&starts, 1);
		atomic_fetch_add(&context->changes, 1);
	}
	pthread_mutex_unlock(&change_lock);
	return is_change;
}

bool sdk_context_stop(struct sdk_context *context)
{
	bool is_change;

	pthread_mutex_lock(&change_lock);
	is_change = atomic_load(&context->is_started);
	if (is_change) {
		uint32_t count = atomic_load(&context->span_count);

		atomic_fetch_add(&context->changes, 1);
		atomic_store(&context->is_started, false);
		atomic_store(&context->spans[(count - 1) % SDK_SPANS].stop_ns, clock_now_ns());
		atomic_fetch_add(&context->changes, 1);
	}
	pthread_mutex_unlock(&change_lock);
	return is_change;
}

bool sdk_context_is_full(struct sdk_context *context, uint32_t *ret_spans)
{
	uint32_t count;
	bool is_full;

	pthread_mutex_lock(&change_lock);
	count = atomic_load(&context->span_count);
	is_full = !atomic_load(&context->is_started) &&
		  count - context->spans_before_flush >= SDK_SPANS;
	pthread_mutex_unlock(&change_lock);
	if (is_full)
		*ret_spans = count;
	return is_full;
}

void sdk_context_flushed(struct sdk_context *context, uint32_t spans)
{
	pthread_mutex_lock(&change_lock);
	/* Another thread may have flushed more. */
	if ((int32_t)(spans - context->spans_before_flush) > 0)
		context->spans_before_flush = spans;
	pthread_mutex_unlock(&change_lock);
}

void sdk_contexts_reset_lock(void)
{
	pthread_mutex_init(&change_lock, NULL);
}

bool sdk_context_had(const struct sdk_context *context, uint64_t ns)
{
	uint32_t count = atomic_load_explicit(&context->span_count, memory_order_acquire);
	uint32_t first = count > SDK_SPANS ? count - SDK_SPANS : 0;

	/* Mostly it is one of the last. */
	for (uint32_t i = count; i > first; i--) {
		const struct sdk_span *span = &context->spans[(i - 1) % SDK_SPANS];
		/* In the reverse of the order in which sdk_context_start sets them: a span whose
		 * place is being taken holds no time, or is the old or the new one. */
		uint64_t stop_ns = atomic_load(&span->stop_ns);

		if (ns < stop_ns && ns >= atomic_load(&span->start_ns))
			return true;
	}
	return false;
}
