/* Queues of a copy engine that the program writes packets into itself (hsa_amd_queue_create with
 * HSA_AMD_QUEUE_ENGINE_SDMA): the ring's size and the indices are bytes, there is one producer, and
 * a doorbell covers whole packets. Packets are done on the thread that rings, at once: linear
 * copies (counted as copies), fences and no-ops; any other stops the queue with an error. */
#ifndef SOFTGPU_SDMA_QUEUE_H
#define SOFTGPU_SDMA_QUEUE_H

#include <hsa/hsa.h>

#include "softgpu/queue.h"

/* REQUEST's size is in bytes, its type is not looked at. ENGINE: UINT32_MAX for any. */
hsa_status_t sdma_queue_make(const struct queue_request *request, uint32_t engine,
			     struct softgpu_queue **ret_queue);
uint32_t sdma_queue_engine(const struct softgpu_queue *queue);
/* By queue_destroy: the ring and what else only such a queue has. */
void sdma_queue_release(struct softgpu_queue *queue);

/* The engine takes what lies before the byte WRITE_INDEX. */
void sdma_queue_ring(struct softgpu_queue *queue, int64_t write_index);

#endif
