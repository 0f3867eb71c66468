/* A thread of the tool's own in the traced program: detached, with all signals blocked, so that the
 * program's handlers never run on it. It is never joined: joining takes a lock of the threads library,
 * which the very thread may hold in which a signal handler calls exit.
 *
 * Started and ended by one thread at a time (the session's locks see to it). */
#ifndef DAGTAP_CAPTURE_GUEST_THREAD_H
#define DAGTAP_CAPTURE_GUEST_THREAD_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/timer.h"

struct guest_thread {
	const char *name; /* as the kernel shows it: at most 15 characters */
	void (*body)(void);
	/* The rest is zero at first, and this room's own. */
	sem_t begun;
	sem_t done;
	pid_t tid;
	bool is_there;
};

/* Waits until it has begun: a program that forks right afterwards must not do so while a thread is half
 * made, for runtimes with locks of their own (sanitizers, allocators) would be copied with them held.
 * 0 or a negative errno; -EBUSY: the last one has not ended. */
int guest_thread_start(struct guest_thread *thread);

/* Started, and its body is not known to have returned. */
bool guest_thread_exists(struct guest_thread *thread);

/* After its body was told to return: waits until it has, or until the limit. False: it is still there. None was
 * started: true. */
bool guest_thread_await_end(struct guest_thread *thread, struct timer_limit limit);

/* Afterwards: waits until the kernel has let go of the thread. A thread that has done its work has yet to leave:
 * its destructors run, and the child of a fork in the middle of them would have their locks held for ever.
 * Not when the process ends: the thread may wait for a lock that the ending one's caller holds. */
void guest_thread_see_off(struct guest_thread *thread, struct timer_limit limit);

/* In a fork child, which has no such thread. */
void guest_thread_forget(struct guest_thread *thread);

#endif
