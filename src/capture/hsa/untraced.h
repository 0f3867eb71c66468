/* Where the rows and the device cannot agree: packets that were recorded and that the device has not
 * taken yet, and packets that it got since tracing ended. Both are told by the queues' own indices when
 * they are asked for, so packets cost nothing more. What moves meanwhile is counted too: neither number is
 * ever too small, and both are exact once nothing moves. Of a queue that is destroyed with packets in it
 * nobody will know which of them the device took: all count. */
#ifndef CAPTURE_HSA_UNTRACED_H
#define CAPTURE_HSA_UNTRACED_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/hsa/gate.h"

/* Recorded, and not taken by the device: to be read before the device's own counts. */
uint64_t untraced_waiting(void);
/* Taken by the device, and not recorded because tracing had ended: to be read after them. */
uint64_t untraced_packets(void);

/* A recording begins: what the device takes from here on counts for it. Before the device's counts are
 * read, and before the gates record. */
void untraced_begin(void);

/* Before nobody may enter GATE any more: its queue is still there. */
void untraced_gate_closes(struct gate *gate);
/* Before GATE serves another queue. */
void untraced_gate_ends(struct gate *gate);

/* QUEUE was made after tracing ended: it gets no gate. PROXY: by hsa_amd_queue_intercept_create. */
void untraced_queue_made(hsa_queue_t *queue, bool is_proxy);
/* QUEUE, which has no gate, is about to be destroyed. */
void untraced_queue_goes(const hsa_queue_t *queue);
/* All of them are. */
void untraced_queues_go(void);

#endif
