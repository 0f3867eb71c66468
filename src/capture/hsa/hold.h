/* Who holds a gate, and how many have knocked since, in one word. A gate is never held without its
 * holder's thread beside: a signal handler knows at any instruction whether it has interrupted the
 * holder.
 *
 * Whoever knocks first holds it and does the work of all who knock meanwhile: it leaves when nobody
 * has knocked since it looked. Closed, it is not taken any more; who holds it then leaves as ever.
 * It may be taken from a holder that is stopped, who finds out by hold_thread. Threads are told
 * apart by their kernel ids. From any thread, also in a signal handler; no call blocks. */
#ifndef CAPTURE_HSA_HOLD_H
#define CAPTURE_HSA_HOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HOLD_CLOSED 0x80000000u

/* The holder's thread in the upper half, 0 = nobody; HOLD_CLOSED, and the knocks. */
struct hold {
	_Atomic uint64_t word;
};

static inline uint64_t hold_of(uint32_t tid)
{
	return (uint64_t)tid << 32 | 1;
}

/* The thread that has it, 0 = nobody. Acquire: what the last holder did. */
static inline uint32_t hold_thread(const struct hold *hold)
{
	return (uint32_t)(atomic_load_explicit(&hold->word, memory_order_acquire) >> 32);
}

/* The word before. 0: TID holds it now. Release: what TID wrote before. Acquire: what the last
 * holder did. */
static inline uint64_t hold_knock(struct hold *hold, uint32_t tid)
{
	uint64_t before = atomic_load_explicit(&hold->word, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(&hold->word, &before,
						      before ? before + 1 : hold_of(tid),
						      memory_order_acq_rel, memory_order_relaxed))
		;
	return before;
}

/* Takes it when nobody has it and it is not closed. */
static inline bool hold_try(struct hold *hold, uint32_t tid)
{
	uint64_t nobody = 0;

	return atomic_compare_exchange_strong_explicit(&hold->word, &nobody, hold_of(tid),
						       memory_order_acq_rel, memory_order_relaxed);
}

/* What the holder passes to hold_leave. */
static inline uint64_t hold_look(const struct hold *hold)
{
	return atomic_load_explicit(&hold->word, memory_order_acquire);
}

/* Takes it from the thread FROM. False: that has left, or another thread has it by now. */
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

/* By the holder, unless it was taken from it. False when somebody has knocked since *SEEN, which is
 * then the word as it is now: what they wrote before is visible. Sequentially consistent. */
static inline bool hold_leave(struct hold *hold, uint64_t *seen)
{
	return atomic_compare_exchange_strong(&hold->word, seen, *seen & HOLD_CLOSED);
}

/* Nobody takes it from now on. The thread that has it still, 0 = nobody. */
static inline uint32_t hold_close(struct hold *hold)
{
	uint64_t before = atomic_fetch_or(&hold->word, HOLD_CLOSED);

	return (uint32_t)(before >> 32);
}

#endif
