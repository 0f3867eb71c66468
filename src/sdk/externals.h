/* External correlation ids by context and call, from the call's entry until its records have been
 * delivered. A call has one for each of its activities. Any thread: a lock covers all functions. */
#ifndef DAGTAP_SDK_EXTERNALS_H
#define DAGTAP_SDK_EXTERNALS_H

#include <stdint.h>

/* Keeps VALUE for the next activity of KIND of call CID. Without memory the activity gets the value
 * of the one before. */
void externals_add(uint32_t context, uint64_t cid, int kind, uint64_t value);

/* The value of the activity of KIND of call CID with this INDEX, from 0: the last one that was kept
 * if there are fewer, and 0 if there is none. */
uint64_t externals_find(uint32_t context, uint64_t cid, int kind, uint32_t index);

/* Keeps whether context CONTEXT was told of the entry of call CID, during which it was started or
 * stopped. The call's record begins between the entry and the return, so its time does not tell. */
enum externals_entry { EXTERNALS_ENTRY_UNKNOWN, EXTERNALS_NOT_TOLD, EXTERNALS_TOLD };
void externals_add_entry(uint32_t context, uint64_t cid, enum externals_entry entry);

/* What was kept of the entry; UNKNOWN: nothing. Without a lock if nothing is kept of any call. */
enum externals_entry externals_find_entry(uint32_t context, uint64_t cid);

/* Forgets all values of call CID. */
void externals_drop(uint64_t cid);

/* A recording has been given out. Forgets what was kept before the last call of this function, of
 * calls whose records are lost. The next recording may have begun, and its calls may have smaller
 * numbers: what was kept since then stays until the next call. */
void externals_end_recording(void);

/* In a child of fork, on its only thread: makes the lock free. No other function may be called
 * after it. */
void externals_reset_lock(void);

#endif
