/* Calls of roctx: a tool's callbacks on the thread of the call, and records for its buffers. */
#ifndef DAGTAP_SDK_MARKS_H
#define DAGTAP_SDK_MARKS_H

#include "base/inject.h"

/* A call of roctx is entered, or has returned: calls the tool, and keeps a record. Any thread. */
void marks_observe(const struct inject_mark *mark);

/* Puts the records that are kept into their buffers. The source's thread alone. Returns 0 or
 * -ENOMEM. */
int marks_deliver(void);

/* In a child of fork, on its only thread: makes the lock free. */
void marks_reset_lock(void);

#endif
