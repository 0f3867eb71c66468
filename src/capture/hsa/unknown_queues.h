/* The safety net: doorbells of queues that no gate knows, because a call made them that we do not
 * know, or because there was no memory for a gate. Such a queue is not taken under a gate when it
 * is found: threads may be writing into it past us, and by what call it will be destroyed nobody
 * knows. Its packets are counted, by its write index at each doorbell, and `dagtap check` fails by
 * their number. The queue is not touched but while the program rings it. */
#ifndef CAPTURE_HSA_UNKNOWN_QUEUES_H
#define CAPTURE_HSA_UNKNOWN_QUEUES_H

#include <hsa/hsa.h>

/* The program is about to store to SIGNAL, which is in no map. Counts when it is a doorbell and
 * something is being recorded; the first time in a recording it writes the witnesses, so that they
 * are there even if the process is killed now. Any thread; no lock and no allocation. */
void unknown_queue_ring(hsa_signal_t signal);

/* A recording begins: what is counted from now on is its own. */
void unknown_queues_begin(void);

/* Writes the recording's witnesses: packets_unknown; and submissions_unknown, doorbells of queues
 * whose packets cannot be counted, as those of copy engines. */
void unknown_queues_witness(void);

#endif
