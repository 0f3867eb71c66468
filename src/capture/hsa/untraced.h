/* Where the rows and the device cannot agree: packets that were recorded and that the device has
 * not taken yet, and packets that the device has taken since tracing ended. The ledger explains its
 * differences by these two counts.
 *
 * Both are computed from the queues' own indices when they are asked for, so packets cost nothing
 * more. What moves while they are computed is counted too: neither count is ever too small, and
 * both are exact once nothing moves. Of the packets in a queue that is destroyed, it is
 * unknown which ones the device took: all of them count. */
#ifndef CAPTURE_HSA_UNTRACED_H
#define CAPTURE_HSA_UNTRACED_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/hsa/gate.h"

/* Packets of all queues that were recorded and not taken by the device. Read it before the device's
 * own counts. Any thread. */
uint64_t untraced_waiting(void);

/* Packets that the device took and that are not recorded, because no recording was on. Read it
 * after the device's own counts. Any thread; takes the lock of late queues for at most
 * TIMER_LATE_QUEUES. */
uint64_t untraced_packets(void);

/* A recording begins: what the device takes from here on counts for it. Call before the device's
 * counts are read and before the gates record. Waits up to 1 ms (TIMER_GATE_TAKEN) for each
 * gate. */
void untraced_begin(void);

/* Keeps the count of waiting packets of GATE. Call before closing GATE, while its queue exists. */
void untraced_gate_closes(struct gate *gate);

/* Adds the counts of GATE to those of gone queues. Call before GATE serves another queue. */
void untraced_gate_ends(struct gate *gate);

/* Counts the packets of QUEUE, which was made while nothing could be recorded and gets no gate.
 * PROXY: it was made by hsa_amd_queue_intercept_create. A cooperative queue may be announced
 * several times; each announcement adds a user. May allocate. */
void untraced_queue_made(hsa_queue_t *queue, bool is_proxy);

/* One user of QUEUE is about to destroy it. Does nothing for a queue that was not announced. */
void untraced_queue_goes(const hsa_queue_t *queue);

/* The runtime is about to shut down: all such queues go. */
void untraced_queues_go(void);

#endif
