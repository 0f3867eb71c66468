/* Intercept queues: a proxy ring before a hardware queue, whose packets go through handlers on the
 * thread that rings. */
#ifndef SOFTGPU_INTERCEPT_H
#define SOFTGPU_INTERCEPT_H

struct intercept;
struct softgpu_queue;

void intercept_ring(struct intercept *intercept);
/* Destroys the hardware queue too. */
void intercept_destroy(struct intercept *intercept);

/* The hardware queue behind a proxy or a counted handle, or the queue itself. */
struct softgpu_queue *intercept_target(struct softgpu_queue *queue);

#endif
