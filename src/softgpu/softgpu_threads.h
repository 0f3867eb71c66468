/* Threads of the library, and fork. A forked child has none of the threads, and a lock that another
 * thread held at the fork would stay held in the child for ever. So every long-lived lock is
 * registered here, and fork takes and releases them all. */
#ifndef SOFTGPU_PROCESS_H
#define SOFTGPU_PROCESS_H

#include <pthread.h>
#include <stdbool.h>

#define PROCESS_MAX_LOCKS 32

/* Registers LOCK, which must live as long as the process. The caller registers each lock once, and
 * not more than PROCESS_MAX_LOCKS of them: further ones are ignored. Any thread. */
void process_guard_lock(pthread_mutex_t *lock);

/* Returns whether this process is a child that was forked after the first lock was registered. In
 * such a child there is no device: nothing completes, and no code may wait for one of the library's
 * threads. Any thread; one relaxed load. */
bool process_is_forked_child(void);

/* Starts a thread that runs BODY with ARGUMENT. All POSIX signals are blocked in it, so that the
 * program's signal handlers never run there. NAME is at most 15 characters. Returns 0 or a negative
 * errno; -EAGAIN in a forked child. */
int process_start_thread(pthread_t *ret_thread, const char *name, void *(*body)(void *),
			 void *argument);

#endif
