/* The lock of a gate: one atomic word that names the holder's thread and counts the requests made
 * since the holder took it. A signal handler can therefore tell at any instruction whether it has
 * interrupted the holder.
 *
 * States of the word:
 * - 0: free.
 * - holder's thread id in the upper 32 bits, number of requests in the lower 31: held. The count is
 *   1 when the holder takes the lock.
 * - HOLD_CLOSED (bit 31) with a thread id: closed, and its last holder is still at work.
 * - HOLD_CLOSED without a thread id: closed. No thread can take it. Requests still add to the
 *   count; they have no effect.
 *
 * The first thread that requests the lock (hold_request) becomes the holder and does the work of
 * all threads that request it meanwhile: hold_leave fails while there are requests that the holder
 * has not seen. The monitor may take the lock from a holder that is stopped (hold_take_from); that
 * holder finds out by hold_thread.
 *
 * Memory order: every call that takes the lock acquires, every call that leaves it or adds a
 * request releases. So a holder sees what the previous holder wrote, and, after hold_request of
 * another thread was seen by hold_look or hold_leave, what that thread wrote before.
 *
 * Threads are told apart by their kernel ids. All calls may be made by any thread and in signal
 * handlers, unless stated otherwise; none blocks. */
#ifndef CAPTURE_HSA_HOLD_H
#define CAPTURE_HSA_HOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HOLD_CLOSED 0x80000000u

struct hold {
	_Atomic uint64_t word; /* see the states above */
};

/* The word with which thread TID takes the lock: one request, its own. */
static inline uint64_t hold_of(uint32_t tid)
{
	return (uint64_t)tid << 32 | 1;
}

/* Returns the holder's thread id, or 0 when no thread holds the lock. Acquire: pairs with the
 * release of hold_leave, so a caller that reads 0 sees what the last holder wrote. */
static inline uint32_t hold_thread(const struct hold *hold)
{
	return (uint32_t)(atomic_load_explicit(&hold->word, memory_order_acquire) >> 32);
}

/* Takes the lock for TID if the word is 0, else adds a request. Returns the word as it was before:
 * 0 means that TID is the holder now. Release: the holder sees what TID wrote before. Acquire: TID
 * sees what the last holder wrote. */
static inline uint64_t hold_request(struct hold *hold, uint32_t tid)
{
	uint64_t before = atomic_load_explicit(&hold->word, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(&hold->word, &before,
						      before ? before + 1 : hold_of(tid),
						      memory_order_acq_rel, memory_order_relaxed))
		;
	return before;
}

/* Takes the lock for TID if it is free and not closed. Adds no request when it fails. */
static inline bool hold_try(struct hold *hold, uint32_t tid)
{
	uint64_t nobody = 0;

	return atomic_compare_exchange_strong_explicit(&hold->word, &nobody, hold_of(tid),
						       memory_order_acq_rel, memory_order_relaxed);
}

/* Called by the holder before it begins its work. Returns the word, to be passed to hold_leave.
 * Acquire: the holder sees what the requesting threads wrote before their requests. */
static inline uint64_t hold_look(const struct hold *hold)
{
	return atomic_load_explicit(&hold->word, memory_order_acquire);
}

/* Moves the lock from thread FROM to TID and keeps HOLD_CLOSED. Returns false when FROM is no
 * longer the holder. Sequentially consistent: gate_resort.c pairs it with the stores of FROM. */
static inline bool hold_take_from(struct hold *hold, uint32_t from, uint32_t tid)
{
	uint64_t before = atomic_load_explicit(&hold->word, memory_order_relaxed);

	while (before >> 32 == from) {
		if (atomic_compare_exchange_weak(&hold->word, &before,
						 hold_of(tid) | (before & HOLD_CLOSED)))
			return true;
	}
	return false;
}

/* Called by the holder when its work is done. Leaves the lock if the word is still *SEEN. Returns
 * false when the word has changed: a thread has made a request, has closed the lock or has taken it
 * over. *SEEN is then the present word, and what the requesting threads wrote before is visible.
 * Sequentially consistent: pairs with the parking of the monitor (park in hsa_monitor.c). */
static inline bool hold_leave(struct hold *hold, uint64_t *seen)
{
	return atomic_compare_exchange_strong(&hold->word, seen, *seen & HOLD_CLOSED);
}

/* Closes the lock: no thread can take it from now on. Returns the thread id of the holder, which is
 * still at work and leaves as usual, or 0. */
static inline uint32_t hold_close(struct hold *hold)
{
	uint64_t before = atomic_fetch_or(&hold->word, HOLD_CLOSED);

	return (uint32_t)(before >> 32);
}

#endif
