/* The counters and their names. */
#include "softgpu/counters.h"

#include <stddef.h>
#include <string.h>

#include "softgpu/config.h"

_Atomic uint64_t softgpu_counter_values[SOFTGPU_COUNTER_COUNT];

static const char *const names[SOFTGPU_COUNTER_COUNT] = {
#define X(name) #name,
	SOFTGPU_COUNTERS(X)
#undef X
};

int softgpu_counter_find(const char *name, size_t length)
{
	for (int i = 0; i < SOFTGPU_COUNTER_COUNT; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], name, length))
			return i;
	return -1;
}

uint32_t softgpu_counters(uint64_t *ret_values, const char **ret_names, uint32_t capacity)
{
	if (!config_get()->counters)
		return 0;
	for (uint32_t i = 0; i < SOFTGPU_COUNTER_COUNT && i < capacity; i++) {
		if (ret_values)
			ret_values[i] = atomic_load_explicit(&softgpu_counter_values[i],
							     memory_order_relaxed);
		if (ret_names)
			ret_names[i] = names[i];
	}
	return SOFTGPU_COUNTER_COUNT;
}
