/* Ranges of roctx, as the kind MARKER_CORE_RANGE_API has them: a range is entered by the call that
 * begins it, and left by the one that ends it, with one correlation id, that of the first call. A
 * record goes from the one to the other. Marks and roctxGetThreadId are as in MARKER_CORE_API.
 *
 * A range of which a begin or an end was not told, because nothing was recorded then, is not told
 * of any more. Any thread. */
#ifndef DAGTAP_SDK_MARK_RANGES_H
#define DAGTAP_SDK_MARK_RANGES_H

#include "base/inject.h"

enum { SDK_RANGE_MARK, SDK_RANGE_THREAD, SDK_RANGE_PROCESS, SDK_RANGE_THREAD_ID };

/* A call of roctx's first table (INJECT_MARK to INJECT_THREAD_ID) is entered or has returned. Not
 * to be called of what a tool calls within its own callback. */
void mark_ranges_observe(const struct inject_mark *mark);

/* In a child of fork, on its only thread: makes the lock free, and forgets the ranges. */
void mark_ranges_forget_parent(void);

#endif
