/* Counts of the packets of queues without a gate; see the header. */
#include "capture/hsa/unknown_queues.h"

#include <stdatomic.h>

#include "capture/capture_session.h"
#include "capture/hsa/doorbell.h"
#include "capture/hsa/gate.h"

/* A power of two. For further queues one packet is counted for each doorbell. */
#define QUEUES_MOST 256u

/* A hash table by doorbell. Entries are never removed: a later queue with the same doorbell uses
 * the entry again. */
struct unknown_queue {
	_Atomic uint64_t doorbell; /* 0: free */
	_Atomic uint64_t counted;  /* packets before this index are counted */
};

static struct unknown_queue queues[QUEUES_MOST];
/* Counted since the process began; and the values when the recording began. */
static _Atomic uint64_t packets, submissions, packets_before, submissions_before;

/* Returns the entry of DOORBELL, new or not; NULL when the table is full. */
static struct unknown_queue *queue_get(uint64_t doorbell)
{
	uint64_t place = (doorbell * 0x9E3779B97F4A7C15ull) >> 32;

	for (uint32_t i = 0; i < QUEUES_MOST; i++) {
		struct unknown_queue *queue = &queues[(place + i) % QUEUES_MOST];
		uint64_t found = 0;

		if (atomic_compare_exchange_strong_explicit(&queue->doorbell, &found, doorbell,
							    memory_order_relaxed,
							    memory_order_relaxed) ||
		    found == doorbell)
			return queue;
	}
	return NULL;
}

/* Returns how many packets of the queue are not counted yet, and counts them. The index is read
 * after `counted`, with acquire, so it is less than that only when a new queue has the doorbell. */
static uint64_t new_packets(struct unknown_queue *queue, const amd_queue_t *device)
{
	uint64_t counted = atomic_load_explicit(&queue->counted, memory_order_acquire);
	uint64_t index;

	do {
		index = __atomic_load_n(&device->write_dispatch_id, __ATOMIC_ACQUIRE);
	} while (!atomic_compare_exchange_weak_explicit(
		&queue->counted, &counted, index, memory_order_acq_rel, memory_order_acquire));
	return index < counted ? index : index - counted;
}

/* Adds COUNT to *SUM. Returns whether it was the first addition of the recording. */
static bool add(_Atomic uint64_t *sum, const _Atomic uint64_t *before, uint64_t count)
{
	return atomic_fetch_add_explicit(sum, count, memory_order_relaxed) ==
	       atomic_load_explicit(before, memory_order_relaxed);
}

void unknown_queue_ring(hsa_signal_t signal)
{
	struct unknown_queue *queue;
	const amd_queue_t *device;
	uint64_t count = 1;

	if (!doorbell_is(signal))
		return;
	device = doorbell_queue(signal);
	queue = device ? queue_get(signal.handle) : NULL;
	if (queue)
		count = new_packets(queue, device);
	if (count && gates_are_tracing() &&
	    (device ? add(&packets, &packets_before, count)
		    : add(&submissions, &submissions_before, count)))
		unknown_queues_witness();
}

void unknown_queues_begin(void)
{
	atomic_store_explicit(&packets_before, atomic_load(&packets), memory_order_relaxed);
	atomic_store_explicit(&submissions_before, atomic_load(&submissions), memory_order_relaxed);
}

void unknown_queues_witness(void)
{
	session_witness(WITNESS_HSA_PACKETS_UNKNOWN,
			atomic_load(&packets) -
				atomic_load_explicit(&packets_before, memory_order_relaxed));
	session_witness(WITNESS_HSA_SUBMISSIONS_UNKNOWN,
			atomic_load(&submissions) -
				atomic_load_explicit(&submissions_before, memory_order_relaxed));
}
