/* Contexts: see sdk_contexts.h. */
#include "sdk/sdk_contexts.h"

struct sdk_context sdk_contexts[SDK_CONTEXTS];

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

bool sdk_contexts_want_records(void)
{
	bool any_started = false, any_needs = false, is_wanted = false;

	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++) {
		bool is_started = atomic_load(&sdk_contexts[i].is_started);
		bool needs = needs_records(&sdk_contexts[i]);

		any_started |= is_started;
		any_needs |= needs;
		is_wanted |= is_started && needs;
	}
	return any_needs ? is_wanted : any_started;
}

bool sdk_context_had(const struct sdk_context *context, uint64_t ns)
{
	uint32_t count = atomic_load_explicit(&context->span_count, memory_order_acquire);
	uint32_t first = count > SDK_SPANS ? count - SDK_SPANS : 0;

	for (uint32_t i = first; i < count; i++) {
		const struct sdk_span *span = &context->spans[i % SDK_SPANS];

		if (ns >= atomic_load(&span->start_ns) && ns < atomic_load(&span->stop_ns))
			return true;
	}
	return false;
}
