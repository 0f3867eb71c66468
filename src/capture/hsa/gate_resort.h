/* The last resort of a gate that gets no further: packets pass it unrecorded, and are counted. Two
 * states come to it, when nothing has changed in them for a while (TIMER_GATE_STUCK):
 *
 * - The gate's holder is stopped: by a debugger, or in a signal handler that waits for the device.
 *   The monitor takes the gate over. What the holder has counted is published; what comes behind it
 *   passes unrecorded until the next recording begins. When the holder runs again it finds out, at
 *   the next of its stores that others may see (gate_store_begin), and leaves. In the middle of
 *   those it is waited for, without a limit: the gate cannot know what it has done.
 * - Doorbells have rung for packets behind the queue's write index. Valid packets there pass.
 *
 * By the monitor, but for gate_resort_prepare and the two of gate_store_. */
#ifndef CAPTURE_HSA_GATE_RESORT_H
#define CAPTURE_HSA_GATE_RESORT_H

#include "capture/hsa/gate.h"
#include "capture/session.h"

/* Before GATE is used, by a queue whose indices are at INDEX. */
void gate_resort_prepare(struct gate *gate, uint64_t index);

/* Looks whether GATE gets no further, and has packets pass. */
void gate_resort(struct gate *gate);

/* By the holder, before it stores what others see: packets, signals, counts. False: the gate was
 * taken from it, and it must not. Costs two stores and a load. */
static inline bool gate_store_begin(struct gate *gate)
{
	atomic_store_explicit(&gate->storing, 1, memory_order_relaxed);
	/* Against the monitor the pair is its membarrier (gate_resort.c). */
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(gate_is_mine(gate), 1))
		return true;
	atomic_store_explicit(&gate->storing, 0, memory_order_relaxed);
	return false;
}

/* All packets before AT are counted now. */
static inline void gate_store_end(struct gate *gate, uint64_t at)
{
	atomic_store_explicit(&gate->at, at, memory_order_relaxed);
	atomic_store_explicit(&gate->preparing, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->storing, 0, memory_order_release);
}

#endif
