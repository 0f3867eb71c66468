/* What fork does to a library with threads: the child has none of them, and locks that another
 * thread held would stay held. Every long-lived lock registers here and is taken around fork. */
#ifndef SOFTGPU_PROCESS_H
#define SOFTGPU_PROCESS_H

#include <pthread.h>
#include <stdbool.h>

#define PROCESS_MAX_LOCKS 32

/* Registers LOCK once (the caller sees to that). */
void process_guard_lock(pthread_mutex_t *lock);

/* True in a child that was forked after the library came up: the device is not there, nothing will
 * complete, and no thread of ours may be waited for. */
bool process_is_forked_child(void);

/* Starts a thread with every POSIX signal blocked, so that the program's handlers never run there.
 * 0 or a negative errno. */
int process_start_thread(pthread_t *ret_thread, const char *name, void *(*body)(void *),
			 void *argument);

#endif
