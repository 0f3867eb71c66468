/* Second wrappers of the functions that reserve packets in a queue, for dispatch tables in which
 * another tool has replaced our wrappers by its own functions. */
#ifndef CAPTURE_HSA_OUTSIDE_H
#define CAPTURE_HSA_OUTSIDE_H

/* Where another tool has replaced our wrapper of a reserving function, stores a second wrapper
 * around that tool's function. Call each time that the program has created a queue, before it uses
 * it. */
void outside_wrap(void);

#endif
