/* Calls of roctx: a tool's callbacks on the thread of the call, and records for its buffers. */
#ifndef DAGTAP_SDK_MARKS_H
#define DAGTAP_SDK_MARKS_H

#include "base/inject.h"

/* A call of roctx is entered, or has returned: calls the tool, and keeps a record (observed.h). Any
 * thread. */
void marks_observe(const struct inject_mark *mark);

#endif
