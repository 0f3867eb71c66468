/* Of which queue the calling thread is the packet processor (processor_thread.h). */
#include "softgpu/processor_thread.h"

#include <stdatomic.h>

#include "softgpu/queue.h"

/* NULL on all threads that are no packet processor. */
static _Thread_local struct softgpu_queue *current_queue;

void processor_thread_begins(struct softgpu_queue *queue)
{
	current_queue = queue;
}

bool processor_is_stopping(void)
{
	return current_queue &&
	       atomic_load_explicit(&current_queue->stopping, memory_order_relaxed);
}

bool processor_is_current(const struct softgpu_queue *queue)
{
	return current_queue == queue;
}
