/* A lock whose word is its holder's thread id; see owner_lock.h. */
#include "capture/owner_lock.h"

#include <time.h>

#include "capture/capture_session.h"

#define PAUSE_NS 50000

bool owner_lock_is_mine(const struct owner_lock *lock)
{
	return atomic_load_explicit(&lock->tid, memory_order_relaxed) == session_tid();
}

bool owner_lock_try(struct owner_lock *lock)
{
	uint32_t free = 0;

	/* The exchange alone would take the line from the holder. */
	if (atomic_load_explicit(&lock->tid, memory_order_relaxed))
		return false;
	/* Acquire: pairs with the release in owner_lock_release. */
	return atomic_compare_exchange_strong_explicit(&lock->tid, &free, session_tid(),
						       memory_order_acquire, memory_order_relaxed);
}

bool owner_lock_take(struct owner_lock *lock, struct timer_limit limit)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	while (!owner_lock_try(lock)) {
		if (owner_lock_is_mine(lock) || timer_is_over(limit))
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

void owner_lock_release(struct owner_lock *lock)
{
	atomic_store_explicit(&lock->tid, 0, memory_order_release);
}

void owner_lock_forget(struct owner_lock *lock)
{
	atomic_store_explicit(&lock->tid, 0, memory_order_relaxed);
}
