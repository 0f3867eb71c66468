/* The counts of gates: the records that tell them, and their sums over all gates. Any thread,
 * unless stated otherwise. */
#ifndef CAPTURE_HSA_GATE_COUNTS_H
#define CAPTURE_HSA_GATE_COUNTS_H

#include "capture/hsa/gate.h"

/* Keeps the counts of the queue that GATE had before, and sets GATE's to 0. Called by gate_open
 * before GATE is live. */
void gate_counts_prepare(struct gate *gate);

/* A recording begins: the sums of this recording begin anew. */
void gate_counts_begin(void);

/* Returns how many packets the queue has passed on, by the runtime's own indices, as an independent
 * count to compare with the gate's. For an intercept queue the two indices are only bounds, while
 * packets are on their way through it. For another tool's intercept queue they say nothing, so
 * `next` is returned. */
uint64_t gate_index_read(const struct gate *gate);

/* Writes the queue's QUEUE_COUNT record. DESTROYED: it is the queue's last. Called by the holder,
 * or when the gate is closed, or its holder is interrupted or stopped. */
void gate_write_count(struct gate *gate, bool destroyed);

/* Writes how far the device has got (QUEUE_TAKEN), if that has changed since the last such record.
 * Writes nothing for an intercept queue: its indices are the proxy's and do not say what the device
 * has taken. Called by the holder while the queue exists, or when the gate is closed. */
void gate_write_taken(struct gate *gate);

/* Writes the QUEUE record once in each session, whichever thread comes first. */
void gate_write_queue(struct gate *gate);

/* Counts the packets that are reserved when GATE ends recording and are not recorded: a packet that
 * its thread has not written yet, and all packets behind it. For another tool's intercept queue
 * their number is unknown and taken as 0. Called as gate_write_count. */
void gate_count_cut(const struct gate *gate);

/* Packets of this recording that passed without a record while their gate recorded. */
uint64_t gates_packets_unrecorded(void);

/* Dispatches of this process whose thread was in no wrapped call. Never reset. */
uint64_t gate_dispatches_without_context(void);

/* Reservations of this process whose context found no cell. Never reset. */
uint64_t gate_reservations_lost(void);

/* Packets that were reserved when their gate ended this recording, and that are not in it. */
uint64_t gates_packets_cut(void);

#endif
