/* Asynchronous copies: recorded by the thread that starts them, timed like packets with a signal of
 * the application's. */
#ifndef CAPTURE_HSA_COPIES_H
#define CAPTURE_HSA_COPIES_H

#include <stdint.h>

#include "capture/hsa/slots.h"

/* 0 or a negative errno. */
int hsa_copies_init(void);

/* NULL before hsa_copies_init. */
struct slot_ring *hsa_copies_ring(void);

/* From now on copies are not counted and not recorded. */
void hsa_copies_close(void);

/* The next recording: from now on they are, and the counts begin anew. Before the device's own are read. */
void hsa_copies_open(void);

/* Copies that were started: the wrappers' own count. */
uint64_t hsa_copies_started(void);
/* Copies that were not recorded because tracing had ended: to be read after the device's own count, than
 * which it is never less. */
uint64_t hsa_copies_untraced(void);

#endif
