/* Of which queue the calling thread is the packet processor. processor.c sets it; host functions,
 * which processor.c calls, ask for it while they run. */
#ifndef SOFTGPU_PROCESSOR_THREAD_H
#define SOFTGPU_PROCESSOR_THREAD_H

#include <stdbool.h>

struct softgpu_queue;

/* Makes the calling thread the packet processor of QUEUE. The thread calls this first. */
void processor_thread_begins(struct softgpu_queue *queue);
/* Returns whether the calling thread is the packet processor of QUEUE. */
bool processor_is_current(const struct softgpu_queue *queue);
/* Called by a host function: returns whether the queue whose packet processor is the calling thread
 * is being destroyed, so that the function must stop waiting. */
bool processor_is_stopping(void);

#endif
