/* Whether the runtime is initialized (system_state.h). */
#include "softgpu/system_state.h"

#include <stdatomic.h>

static _Atomic bool is_up_now, was_up;

bool system_is_up(void)
{
	return atomic_load_explicit(&is_up_now, memory_order_relaxed);
}

bool system_was_up(void)
{
	return atomic_load_explicit(&was_up, memory_order_relaxed);
}

void system_set_up(bool is_up)
{
	atomic_store(&is_up_now, is_up);
	if (is_up)
		atomic_store(&was_up, true);
}
