/* External correlation ids by context and call, from the call's return until its activities have
 * been delivered. Any thread: a lock covers all functions. */
#ifndef DAGTAP_SDK_EXTERNALS_H
#define DAGTAP_SDK_EXTERNALS_H

#include <stdint.h>

/* Keeps VALUE for the activities of a kind of call CID. Without memory the value is lost. */
void externals_put(uint32_t context, uint64_t cid, int kind, uint64_t value);

/* The value that was kept; 0: none. */
uint64_t externals_find(uint32_t context, uint64_t cid, int kind);

/* Forgets all values of call CID. */
void externals_drop(uint64_t cid);

/* Forgets the values of all calls up to LAST: their recording is over. */
void externals_drop_until(uint64_t last);

/* In a child of fork, on its only thread: makes the lock free. No other function may be called
 * after it. */
void externals_reset_lock(void);

#endif
