/* A lock that names its holder. A signal handler that has interrupted the holder does not wait for
 * it, because the holder cannot continue before the handler returns. With a pthread_mutex_t there
 * are some instructions in which the lock is taken and its holder is not known yet.
 *
 * A thread that has to wait looks at the lock again every 50 us, so the lock is for sections that
 * are short or rare. Threading: any thread, signal handlers included. All zero: free. Cost of a
 * free lock: one compare-and-swap. */
#ifndef DAGTAP_CAPTURE_OWNER_LOCK_H
#define DAGTAP_CAPTURE_OWNER_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/timer.h"

struct owner_lock {
	_Atomic uint32_t tid; /* the holder's kernel thread id; 0: free */
};

/* Returns whether the calling thread holds the lock. */
bool owner_lock_is_mine(const struct owner_lock *lock);

/* Takes the lock if it is free. */
bool owner_lock_try(struct owner_lock *lock);

/* Takes the lock, and waits for it until LIMIT. Returns false at the limit, and at once when the
 * calling thread holds the lock. */
bool owner_lock_take(struct owner_lock *lock, struct timer_limit limit);

/* Called by the holder. */
void owner_lock_release(struct owner_lock *lock);

/* In a fork child, which does not have the holder: the lock is free. */
void owner_lock_forget(struct owner_lock *lock);

#endif
