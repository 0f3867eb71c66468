/* Queues: the ring, the indices and the doorbell. There are four kinds. A hardware queue has a
 * thread, its packet processor (processor.c). An intercept queue, or proxy (intercept_queue.h), has
 * a hardware queue behind it; the thread that rings it runs its interceptors. A counted handle
 * (counted_queue.h) stands for a hardware queue, of which there may be other handles. A queue of a
 * copy engine (sdma_queue.h) has packets of another format; the thread that rings it executes
 * them.
 *
 * Threading: any thread may call these functions, except where a contract says otherwise. A queue
 * is not reference counted: the program must not use a queue while it destroys it. */
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

/* The program's callback for errors of a queue. SOURCE is the queue as the program knows it, DATA
 * the pointer that the program gave when it created the queue. */
typedef void (*queue_error_fn)(hsa_status_t status, hsa_queue_t *source, void *data);

struct intercept;
struct sdma_queue;

struct softgpu_queue {
	/* First, so that an hsa_queue_t * and an amd_queue_t * are a struct softgpu_queue *. */
	amd_queue_t amd;
	/* The words that the index functions use: those in AMD, or those in AMD of the hardware
	 * queue of a counted handle, or those of a copy engine's queue. */
	volatile uint64_t *write_index;
	volatile uint64_t *read_index;
	struct softgpu_agent *agent;
	/* The program's, or NULL. The packet processor calls it, or the thread that rings a copy
	 * engine's queue. */
	queue_error_fn error_callback;
	void *error_data;
	volatile uint64_t doorbell_value; /* the value that was stored last */
	_Atomic uint32_t doorbell_word;	  /* futex of the processor; incremented at each ring */
	_Atomic uint64_t announced;	  /* highest index that a doorbell has covered, plus 1 */
	_Atomic uint32_t sleepers;	  /* threads that sleep on doorbell_word */
	_Atomic bool stopping;		  /* the processor thread is to end */
	_Atomic bool inactive; /* after an error or hsa_queue_inactivate: no packet is taken */
	pthread_t thread;      /* the packet processor; valid if has_thread */
	bool has_thread;
	/* Of each work-item. The processor's, then the destroying thread's. */
	uint32_t scratch_bytes;
	struct intercept *intercept;   /* not NULL: this is a proxy */
	bool is_behind_proxy;	       /* the hardware queue of a proxy */
	const hsa_queue_t *known;      /* as the program knows it: itself, or its proxy */
	struct softgpu_queue *counted; /* not NULL: this is a counted handle of that queue */
	uint32_t use_count; /* counted handles of this queue; under the lock of counted_queue.c */
	struct sdma_queue *sdma;    /* not NULL: this is a copy engine's queue; owned */
	uint32_t cu_mask[2];	    /* kept for hsa_amd_queue_cu_get_mask; has no effect */
	struct softgpu_queue *next; /* in the registry; under its lock */
};

/* The arguments of hsa_queue_create. */
struct queue_request {
	struct softgpu_agent *agent; /* may be NULL, for an unknown agent */
	uint32_t size;		     /* packets; of a copy engine's queue bytes */
	hsa_queue_type32_t type;
	queue_error_fn error_callback; /* may be NULL */
	void *error_data;
};

/* Load the index words of a queue that has its own: not for a counted handle or a copy engine's
 * queue. The loads acquire what was written before the index was released. */

static inline uint64_t queue_write_index(const struct softgpu_queue *queue)
{
	return __atomic_load_n(&queue->amd.write_dispatch_id, __ATOMIC_ACQUIRE);
}

static inline uint64_t queue_read_index(const struct softgpu_queue *queue)
{
	return __atomic_load_n(&queue->amd.read_dispatch_id, __ATOMIC_ACQUIRE);
}

/* Returns the packet slot in the ring for an absolute packet index. */
static inline void *queue_slot(const struct softgpu_queue *queue, uint64_t index)
{
	uint64_t slot = index & (queue->amd.hsa_queue.size - 1);

	return (char *)queue->amd.hsa_queue.base_address + slot * AQL_PACKET_BYTES;
}

/* ---- queue_registry.c: what all kinds of queues share ---- */

/* Allocates a zeroed queue with its own index words, and adds it to the registry. It has no ring,
 * doorbell or thread. Returns NULL when out of memory. Release it with queue_destroy. */
struct softgpu_queue *queue_allocate(const struct queue_request *request);
/* Gives QUEUE a doorbell signal. Returns false when there is no room for the signal. */
bool queue_add_doorbell(struct softgpu_queue *queue);

/* Removes QUEUE from the registry. */
void queue_forget(struct softgpu_queue *queue);
/* Removes QUEUE from the registry and destroys its doorbell signal, if it has one. The first step
 * of destroying a queue. */
void queue_close(struct softgpu_queue *queue);

/* Returns the queue of HANDLE; NULL when HANDLE is not a live queue. Cost: a list walk under the
 * registry's lock. */
struct softgpu_queue *queue_find(const hsa_queue_t *handle);
/* Returns a live queue other than the hardware queue of a proxy; NULL when there is none. */
struct softgpu_queue *queue_find_any(void);

/* Wakes all packet processors, so that they check again whether they may take a packet. */
void queue_wake_all(void);

/* ---- processor.c: the thread that takes a hardware queue's packets ---- */

/* Starts the packet processor of QUEUE. Returns 0 or a negative errno. */
int processor_start(struct softgpu_queue *queue);
/* Stops the packet processor and waits for its thread. Packets that have not completed are dropped:
 * their signals keep their values. Does nothing without a thread, and in a forked child. */
void processor_stop(struct softgpu_queue *queue);

/* ---- aql_queue.c: queues with a ring of AQL packets ---- */

/* Checks REQUEST and creates a queue without a thread, with a ring full of invalid packets. Returns
 * the status of hsa_queue_create. */
hsa_status_t queue_make(const struct queue_request *request, struct softgpu_queue **ret_queue);
/* As queue_make, but also starts the packet processor and counts the queue. */
hsa_status_t queue_make_running(const struct queue_request *request,
				struct softgpu_queue **ret_queue);
/* Stops the packet processor of a closed queue, if it has one, and frees the ring and QUEUE. */
void queue_free_aql(struct softgpu_queue *queue);
/* As queue_destroy, for a hardware queue; it need not be behind a proxy. */
void queue_destroy_aql(struct softgpu_queue *queue);

/* Counts the ring of a hardware doorbell, takes the configured time, and tells the schedule. */
void queue_charge_ring(void);
/* As queue_ring, for a hardware queue. */
void queue_ring_aql(struct softgpu_queue *queue, int64_t value);

/* ---- queue.c: queues of all kinds ---- */

/* Destroys QUEUE, also an incomplete one: waits for its thread to end, which drops packets that
 * have not completed, and destroys the hardware queue behind a proxy. A counted handle is freed,
 * and its hardware queue stays. Not for the queue's own thread. */
void queue_destroy(struct softgpu_queue *queue);

/* Destroys all queues. For the last hsa_shut_down. */
void queue_destroy_all(void);

/* Handles a store of VALUE to QUEUE's doorbell: wakes the packet processor, or runs a proxy's
 * interceptors, or executes the packets of a copy engine's queue. VALUE is the index of the last
 * packet; of a copy engine's queue the write index in bytes. Called by the thread that stores. */
void queue_ring(struct softgpu_queue *queue, int64_t value);

#endif
