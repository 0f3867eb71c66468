/* Counted queues (hsa_amd_counted_queue_acquire): any number of handles to a few hardware queues.
 * Each agent and priority has up to GPU_MAX_HW_QUEUES hardware queues (4 by default), which live
 * until the runtime shuts down. A handle is a separate amd_queue_t with the ring and the doorbell
 * of its hardware queue. The index words in the handle are not used: the index functions use those
 * of the hardware queue. */
#ifndef SOFTGPU_COUNTED_H
#define SOFTGPU_COUNTED_H

/* Forgets all hardware queues of counted queues. The last hsa_shut_down calls this after
 * queue_destroy_all, which has destroyed them. */
void counted_forget(void);

#endif
