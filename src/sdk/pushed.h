/* The external correlation ids that tools push for threads: a stack for each context and thread.
 * Any thread: a lock covers the stacks. While no tool has pushed anything, a look costs one
 * load. */
#ifndef DAGTAP_SDK_PUSHED_H
#define DAGTAP_SDK_PUSHED_H

#include <stdint.h>

/* Pushes VALUE for thread TID. Returns 0 or -ENOMEM. */
int pushed_push(uint32_t context, uint64_t tid, uint64_t value);

/* Pops the value that was pushed last, and returns it; 0: there is none. */
uint64_t pushed_pop(uint32_t context, uint64_t tid);

/* The value that was pushed last for thread TID; if there is none, for the process's first thread;
 * else 0. */
uint64_t pushed_last(uint32_t context, uint64_t tid);

/* In a child of fork, on its only thread: makes the lock free. No other function may be called
 * after it. */
void pushed_reset_lock(void);

#endif
