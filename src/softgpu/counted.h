/* Counted queues (hsa_amd_counted_queue_acquire): as many handles as are asked for, of a few
 * hardware queues for each agent and priority (GPU_MAX_HW_QUEUES, 4), which live until the runtime
 * ends. A handle is an amd_queue_t of its own with the hardware queue's ring and doorbell; its
 * index words are not the ones in use. */
#ifndef SOFTGPU_COUNTED_H
#define SOFTGPU_COUNTED_H

/* The runtime ends, after all queues were destroyed. */
void counted_forget(void);

#endif
