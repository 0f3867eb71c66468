/* How many captures of streams may be under way. */
#include <stdatomic.h>

#include "preload/cuda_capture_count.h"

/* One that does not end by a call that succeeds is counted for good. */
static _Atomic uint64_t captures;
static _Atomic bool may_begin_unseen;

void cuda_capture_unknown_call(void)
{
	may_begin_unseen = true;
}

void cuda_capture_begins(void)
{
	captures++;
}

/* One whose begin was not counted leaves the count as it is, for good above 0. */
void cuda_capture_ended(void)
{
	if (atomic_fetch_sub(&captures, 1) == 0)
		cuda_capture_unknown_call();
}

bool cuda_may_capture(void)
{
	return atomic_load_explicit(&captures, memory_order_relaxed) > 0 ||
	       atomic_load_explicit(&may_begin_unseen, memory_order_relaxed);
}
