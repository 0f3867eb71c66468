/* Queues: the ring, the indices and the doorbell. A hardware queue has a processor thread; an
 * intercept queue (proxy) has a hardware queue behind it and runs its handlers where it is rung; a
 * counted handle (counted.h) stands for a hardware queue that others have handles of, too; a queue
 * of a copy engine (sdma_queue.h) has packets of another kind and is served where it is rung. */
#ifndef SOFTGPU_QUEUE_H
#define SOFTGPU_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>

#include "softgpu/agent.h"

#define QUEUE_MAX_PACKETS 131072u
#define AQL_PACKET_BYTES  64

typedef void (*queue_error_fn)(hsa_status_t status, hsa_queue_t *source, void *data);

struct intercept;
struct sdma_queue;

struct softgpu_queue {
	amd_queue_t amd; /* first: hsa_queue_t * is amd_queue_t * is this */
	/* What the index functions go by: the words in AMD, or those of the queue that a counted
	 * handle stands for, or a copy engine's. */
	volatile uint64_t *write_index;
	volatile uint64_t *read_index;
	struct softgpu_agent *agent;
	queue_error_fn error_callback;
	void *error_data;
	volatile uint64_t doorbell_value; /* what was stored last */
	_Atomic uint32_t doorbell_word;	  /* moves at each ring: what the processor sleeps on */
	_Atomic uint64_t announced;	  /* packets that doorbells have covered */
	_Atomic uint32_t sleepers;
	_Atomic bool stopping;
	_Atomic bool inactive; /* after an error or hsa_queue_inactivate: nothing is taken */
	pthread_t thread;
	bool has_thread;
	struct intercept *intercept; /* not NULL: a proxy */
	bool is_behind_proxy;
	struct softgpu_queue *counted; /* not NULL: a counted handle of this hardware queue */
	uint32_t use_count;	       /* counted handles of this hardware queue */
	struct sdma_queue *sdma;       /* not NULL: a copy engine's */
	uint32_t cu_mask[2];
	struct softgpu_queue *next; /* in the registry */
};

struct queue_request {
	struct softgpu_agent *agent;
	uint32_t size;
	hsa_queue_type32_t type;
	queue_error_fn error_callback;
	void *error_data;
};

/* A zeroed queue in the registry, with index words of its own and nothing else. NULL: no memory. */
struct softgpu_queue *queue_allocate(const struct queue_request *request);
/* False: there is no room for the signal. */
bool queue_add_doorbell(struct softgpu_queue *queue);

/* Checks the arguments as hsa_queue_create names its errors, then makes a queue with a ring full of
 * invalid packets, without a thread. queue_destroy also takes a half-made one. */
hsa_status_t queue_make(const struct queue_request *request, struct softgpu_queue **ret_queue);
/* queue_make, and the thread that takes its packets. */
hsa_status_t queue_make_running(const struct queue_request *request,
				struct softgpu_queue **ret_queue);
/* Of a counted handle only the handle goes. */
void queue_destroy(struct softgpu_queue *queue);

/* Every processor looks again whether it may take a packet. */
void queue_wake_all(void);

/* The end of the runtime. */
void queue_destroy_all(void);

/* NULL for anything that is not a live queue. Cost: a list walk under a lock. */
struct softgpu_queue *queue_find(const hsa_queue_t *handle);

/* A store to the doorbell signal: wakes the processor, or runs the interceptors of a proxy. */
void queue_ring(struct softgpu_queue *queue, int64_t value);

static inline uint64_t queue_write_index(const struct softgpu_queue *queue)
{
	return __atomic_load_n(&queue->amd.write_dispatch_id, __ATOMIC_ACQUIRE);
}

static inline uint64_t queue_read_index(const struct softgpu_queue *queue)
{
	return __atomic_load_n(&queue->amd.read_dispatch_id, __ATOMIC_ACQUIRE);
}

/* The slot of an absolute packet index. */
static inline void *queue_slot(const struct softgpu_queue *queue, uint64_t index)
{
	uint64_t slot = index & (queue->amd.hsa_queue.size - 1);

	return (char *)queue->amd.hsa_queue.base_address + slot * AQL_PACKET_BYTES;
}

/* processor.c: the thread that takes packets. */
int processor_start(struct softgpu_queue *queue);
void processor_stop(struct softgpu_queue *queue);
bool processor_is_current(const struct softgpu_queue *queue);
/* In a host function on a processor thread: the queue is being destroyed, give up waiting. */
bool processor_is_stopping(void);

#endif
