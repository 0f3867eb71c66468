/* The list of all gates, and which gate a queue has. */
#ifndef CAPTURE_HSA_GATE_LIST_H
#define CAPTURE_HSA_GATE_LIST_H

#include "capture/hsa/gate.h"

/* The head of the list of all gates, unused ones included:
 * for (g = gate_newest(); g; g = g->older). Any thread, without a lock. */
struct gate *gate_newest(void);

/* Adds GATE to the list. Called under the lock of gate_open, once for each gate. */
void gate_list_add(struct gate *gate);

/* Returns the gate of QUEUE, or NULL. Does not read QUEUE. Any thread, lock-free. */
struct gate *gate_find(const hsa_queue_t *queue);

/* The same when QUEUE may be the handle of a counted queue, whose gate is found by its doorbell.
 * QUEUE must be alive, or NULL. */
struct gate *gate_of(const hsa_queue_t *queue);

#endif
