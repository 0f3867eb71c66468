/* Intercept queues: a proxy queue in front of a hardware queue. The packets of the proxy pass
 * through the interceptors, which the thread that rings the proxy's doorbell runs.
 * intercept_queue.c describes the details. */
#ifndef SOFTGPU_INTERCEPT_H
#define SOFTGPU_INTERCEPT_H

struct intercept;
struct softgpu_queue;

/* Drains the proxy ring: runs the interceptors for all packets that are written, and submits what
 * they write to the hardware queue. If another thread is draining, that thread does it and this
 * call returns at once. Called by the thread that rings the proxy's doorbell. */
void intercept_ring(struct intercept *intercept);
/* Destroys a proxy, its INTERCEPT and its hardware queue. For queue_destroy. */
void intercept_destroy(struct intercept *intercept);

/* Returns the hardware queue behind a proxy or a counted handle; for any other queue QUEUE
 * itself. */
struct softgpu_queue *intercept_target(struct softgpu_queue *queue);

#endif
