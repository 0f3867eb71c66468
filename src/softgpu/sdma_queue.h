/* Queues of a copy engine, into which the program writes packets itself (hsa_amd_queue_create with
 * HSA_AMD_QUEUE_ENGINE_SDMA). The size of the ring and the indices are in bytes. There is one
 * producer, and a doorbell covers whole packets. The thread that rings the doorbell executes the
 * packets at once. Linear copies, fences and no-ops are known; any other packet stops the queue
 * with an error. The copies are counted as copies, but take no modelled time and appear neither in
 * the truth log nor in the work log. */
#ifndef SOFTGPU_SDMA_QUEUE_H
#define SOFTGPU_SDMA_QUEUE_H

#include <hsa/hsa.h>

#include "softgpu/queue.h"

/* Creates a queue and counts it. REQUEST's size is in bytes, and its type is ignored. ENGINE is the
 * number of a copy engine below DMA_ENGINES, or UINT32_MAX for any. The caller has checked the
 * request. */
hsa_status_t sdma_queue_make(const struct queue_request *request, uint32_t engine,
			     struct softgpu_queue **ret_queue);
/* Returns the number of the copy engine that QUEUE belongs to. */
uint32_t sdma_queue_engine(const struct softgpu_queue *queue);
/* Destroys QUEUE, also an incomplete one. For queue_destroy. */
void sdma_queue_destroy(struct softgpu_queue *queue);

/* Executes all packets before byte WRITE_INDEX on the calling thread, the one that rings the
 * doorbell. Does nothing in a forked child. */
void sdma_queue_ring(struct softgpu_queue *queue, int64_t write_index);

#endif
