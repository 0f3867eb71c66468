#include "softgpu/counters.h"

#include <stddef.h>

_Atomic uint64_t softgpu_counter_values[SOFTGPU_COUNTER_COUNT];

static const char *const names[SOFTGPU_COUNTER_COUNT] = {
#define X(name) #name,
	SOFTGPU_COUNTERS(X)
#undef X
};

uint32_t softgpu_counters(uint64_t *ret_values, const char **ret_names, uint32_t capacity)
{
	for (uint32_t i = 0; i < SOFTGPU_COUNTER_COUNT && i < capacity; i++) {
		if (ret_values)
			ret_values[i] = atomic_load_explicit(&softgpu_counter_values[i],
							     memory_order_relaxed);
		if (ret_names)
			ret_names[i] = names[i];
	}
	return SOFTGPU_COUNTER_COUNT;
}
