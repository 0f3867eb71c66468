/* The counters and their names. */
#include "softgpu/counters.h"

#include <stddef.h>
#include <string.h>

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

const char *softgpu_counter_name(enum softgpu_counter_id id)
{
	return names[id];
}
