/* Asynchronous copies: the thread that starts a copy records it; its times come through a
 * completion slot, as for a dispatch with a signal of the application's. */
#ifndef CAPTURE_HSA_COPIES_H
#define CAPTURE_HSA_COPIES_H

#include <stdint.h>

#include "capture/hsa/completion_slots.h"

/* Creates the ring of completion slots for copies, once. Returns 0 or a negative errno. One thread
 * at a time. */
int hsa_copies_init(void);

/* Returns that ring; NULL before hsa_copies_init. Any thread. */
struct slot_ring *hsa_copies_ring(void);

/* Ends recording: from now on copies are not recorded, and count as untraced. */
void hsa_copies_close(void);

/* Begins the next recording: from now on copies are recorded, and the counts begin anew. Call
 * before the device's own counts are read. */
void hsa_copies_open(void);

/* Copies of this recording that were started and recorded: the wrappers' own count. */
uint64_t hsa_copies_started(void);

/* Copies that the device may have counted and that are not recorded, because tracing had ended.
 * Read it after the device's own count; it is never too small. */
uint64_t hsa_copies_untraced(void);

#endif
