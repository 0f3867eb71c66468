/* The hot half of the gate: one pass over the packets that the application has written, which
 * records and publishes them. Split from gate.c, which holds the life of a gate.
 *
 * All functions are called by the holder of the gate. None allocates. A pass waits at most
 * TIMER_SLOT_ROOM for the monitor to free completion slots. */
#ifndef CAPTURE_HSA_GATE_PASS_H
#define CAPTURE_HSA_GATE_PASS_H

#include "capture/hsa/gate.h"
#include "capture/hsa/gate_packet.h"

/* Prepares PASS, whose `gate` is set: waits for free completion slots when few are left, and reads
 * the clock. */
void pass_begin(struct pass *pass);

/* When another tool has moved the queue's write index further than the gate, raises the virtual
 * index to it and marks the packets before it as published by that tool. */
void gate_follow_index(struct gate *gate);

/* Publishes the packets before AT, which are counted already. Does nothing when they are published.
 * Called at the end of a pass, and by the monitor when it has taken the gate over. */
void pass_publish_counted(struct gate *gate, uint64_t at);

/* Makes one pass: publishes the packets that may pass and rings the device's doorbells. Returns how
 * many packets were published; 0 also when the gate was taken over from this thread. */
uint64_t gate_pass(struct gate *gate);

#endif
