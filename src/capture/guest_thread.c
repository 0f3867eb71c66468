/* Threads of dagtap's own: start, end, fork; see guest_thread.h. */
#include "capture/guest_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/timer.h"

#define STACK_BYTES_LEAST ((size_t)256 << 10)
#define LEAVE_PAUSE_NS	  20000

/* Without a limit: only for a thread that was created and has just to run. */
static void await(sem_t *fact)
{
	while (sem_wait(fact) != 0 && errno == EINTR)
		;
}

static void *run(void *argument)
{
	struct guest_thread *thread = argument;

	prctl(PR_SET_NAME, thread->name);
	thread->tid = (pid_t)syscall(SYS_gettid);
	sem_post(&thread->begun);
	thread->body();
	sem_post(&thread->done);
	return NULL;
}

static int create(struct guest_thread *thread)
{
	pthread_attr_t attributes;
	pthread_t unused;
	sigset_t all;
	sigset_t before;
	size_t usual_bytes;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_getstacksize(&attributes, &usual_bytes);
	/* Use the program's default stack size if it is larger: each stack also holds the
	 * thread-local memory of all libraries. */
	if (usual_bytes < STACK_BYTES_LEAST)
		pthread_attr_setstacksize(&attributes, STACK_BYTES_LEAST);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&unused, &attributes, run, thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -err;
}

bool guest_thread_exists(struct guest_thread *thread)
{
	/* The body may have returned after an earlier wait had reached its limit. */
	if (thread->is_there && sem_trywait(&thread->done) == 0)
		thread->is_there = false;
	return thread->is_there;
}

int guest_thread_start(struct guest_thread *thread)
{
	int err;

	if (guest_thread_exists(thread))
		return -EBUSY;
	/* The previous thread may still be in sem_post of the semaphores that are initialised
	 * now. */
	guest_thread_see_off(thread, timer_start(TIMER_THREAD_LEAVE));
	sem_init(&thread->begun, 0, 0);
	sem_init(&thread->done, 0, 0);
	err = create(thread);
	thread->is_there = !err;
	if (!err)
		await(&thread->begun);
	return err;
}

bool guest_thread_await_end(struct guest_thread *thread, struct timer_limit limit)
{
	if (thread->is_there && timer_wait(&thread->done, limit))
		thread->is_there = false;
	return !thread->is_there;
}

/* Any error of tgkill means that the thread is gone, or that it cannot be observed. */
void guest_thread_see_off(struct guest_thread *thread, struct timer_limit limit)
{
	const struct timespec pause = {.tv_nsec = LEAVE_PAUSE_NS};

	while (thread->tid && !timer_is_over(limit)) {
		if (syscall(SYS_tgkill, getpid(), thread->tid, 0))
			thread->tid = 0;
		else
			nanosleep(&pause, NULL);
	}
}

void guest_thread_forget(struct guest_thread *thread)
{
	thread->is_there = false;
	thread->tid = 0;
}
