/* A thread of dagtap's own in the traced program (the housekeeper, the monitor). It blocks all
 * signals, so that the program's handlers never run on it, and it is detached. It is never
 * joined: joining takes a lock of the thread library, and the thread that holds this lock may be
 * the one whose signal handler has called exit.
 *
 * Threading: one thread at a time calls these functions for one guest_thread; the session's
 * states and the callers' locks ensure it. */
#ifndef DAGTAP_CAPTURE_GUEST_THREAD_H
#define DAGTAP_CAPTURE_GUEST_THREAD_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/timer.h"

struct guest_thread {
	const char *name;   /* thread name for the kernel: at most 15 characters */
	void (*body)(void); /* runs once on the new thread */
	/* Zero at first; only guest_thread.c uses the rest. */
	sem_t begun;   /* posted by the thread when it runs */
	sem_t done;    /* posted by the thread when body has returned */
	pid_t tid;     /* 0: none, or the kernel has released it */
	bool is_there; /* started, and done was not taken yet */
};

/* Starts the thread and waits until it runs. The wait matters for a program that forks right
 * afterwards: while a thread is half created, runtimes (sanitizers, allocators) hold locks of
 * their own, and the child would inherit them locked. Before, waits up to TIMER_THREAD_LEAVE for
 * the kernel to release the previous thread. Returns 0 or a negative errno of pthread_create;
 * -EBUSY when the previous body has not returned. */
int guest_thread_start(struct guest_thread *thread);

/* Returns whether the thread was started and its body is not known to have returned. */
bool guest_thread_exists(struct guest_thread *thread);

/* Waits until the body has returned, or until LIMIT; the caller has asked the body to return
 * before. Returns false when it has not returned; true also when no thread was started. */
bool guest_thread_await_end(struct guest_thread *thread, struct timer_limit limit);

/* After guest_thread_await_end: waits until the kernel has released the thread, or until LIMIT.
 * The thread still runs its thread-local destructors after its body has returned; the child of a
 * fork that happens meanwhile would inherit their locks locked. Not to be called when the
 * process ends: the thread may wait for a lock that the calling thread holds. */
void guest_thread_see_off(struct guest_thread *thread, struct timer_limit limit);

/* In a fork child, which does not have the thread: forgets it. */
void guest_thread_forget(struct guest_thread *thread);

#endif
