/* Starts the library's threads, and handles fork. */
#include "softgpu/softgpu_threads.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

static struct {
	pthread_mutex_t lock; /* protects the list; held during a fork */
	pthread_mutex_t *guarded[PROCESS_MAX_LOCKS];
	int count;
	_Atomic bool is_child;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Takes the registered locks without waiting, up to the first one that is not free. Returns how
 * many it took. */
static int try_all(void)
{
	int taken = 0;

	while (taken < process.count && !pthread_mutex_trylock(process.guarded[taken]))
		taken++;
	return taken;
}

static void unlock_first(int count)
{
	while (count-- > 0)
		pthread_mutex_unlock(process.guarded[count]);
}

/* Takes all registered locks. It never waits for a lock while it holds others, but releases them
 * and tries again, so code that nests these locks need not keep to an order. */
static void before_fork(void)
{
	int taken;

	pthread_mutex_lock(&process.lock);
	while ((taken = try_all()) < process.count) {
		unlock_first(taken);
		sched_yield();
	}
}

static void after_fork_in_parent(void)
{
	unlock_first(process.count);
	pthread_mutex_unlock(&process.lock);
}

static void after_fork_in_child(void)
{
	atomic_store(&process.is_child, true);
	after_fork_in_parent();
}

void process_guard_lock(pthread_mutex_t *lock)
{
	pthread_mutex_lock(&process.lock);
	if (!process.count)
		pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	if (process.count < PROCESS_MAX_LOCKS)
		process.guarded[process.count++] = lock;
	pthread_mutex_unlock(&process.lock);
}

bool process_is_forked_child(void)
{
	return atomic_load_explicit(&process.is_child, memory_order_relaxed);
}

int process_start_thread(pthread_t *ret_thread, const char *name, void *(*body)(void *),
			 void *argument)
{
	sigset_t all, before;
	int err;

	if (process_is_forked_child())
		return -EAGAIN;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(ret_thread, NULL, body, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -err;
	pthread_setname_np(*ret_thread, name);
	return 0;
}
