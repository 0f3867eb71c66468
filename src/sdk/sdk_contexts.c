/* Contexts: see sdk_contexts.h. */
#include "sdk/sdk_contexts.h"

struct sdk_context sdk_contexts[SDK_CONTEXTS];

struct sdk_context *sdk_context_find(struct sdk_id id)
{
	return id.handle && id.handle <= SDK_CONTEXTS && sdk_contexts[id.handle - 1].is_used
		       ? &sdk_contexts[id.handle - 1]
		       : NULL;
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
