/* The last resort of a gate that makes no progress: packets pass unrecorded, and are counted in
 * `unrecorded`. The monitor applies it in two states, when nothing has changed for a while
 * (TIMER_GATE_STUCK):
 *
 * - The gate's holder is stopped, by a debugger or in a signal handler that waits for the device.
 *   The monitor takes the gate over. It publishes what the holder has counted; packets behind that
 *   pass unrecorded until the next recording begins. When the old holder runs again it finds out at
 *   its next gate_store_begin, and leaves. While `storing` is set no take-over takes effect,
 *   without a limit, because the monitor cannot know which of the holder's stores are done.
 * - Doorbells have rung for packets behind the queue's write index. Valid packets there pass.
 *
 * The protocol of a take-over. The holder brackets each group of stores that others see (packets,
 * signals, counts) with gate_store_begin and gate_store_end:
 *
 *	holder				monitor
 *	storing = 1			hold word = monitor's thread id
 *	compiler barrier		membarrier: a full barrier in all threads of the process
 *	load the hold word		load `storing`
 *
 * After the membarrier either the holder sees that the gate is no longer its own and stores
 * nothing, or the monitor sees storing == 1 and waits. The release store of `storing` in
 * gate_store_end pairs with the monitor's acquire load: when it reads 0, the holder's stores before
 * it are visible, `at` and `preparing` included. The membarrier saves the holder a full barrier for
 * each packet.
 *
 * `at` and `preparing` tell the monitor how far the holder has got: packets before `at` are
 * counted. If `preparing` is not 0, the holder has reserved the record of the packet at `at` and
 * will commit it when it runs again, so the monitor counts this packet too. */
#ifndef CAPTURE_HSA_GATE_RESORT_H
#define CAPTURE_HSA_GATE_RESORT_H

#include "capture/capture_session.h"
#include "capture/hsa/gate.h"

/* Sets the fields of this module. Called by gate_open before GATE is live. INDEX: the queue's write
 * index. */
void gate_resort_prepare(struct gate *gate, uint64_t index);

/* Called by the monitor: makes another pass when announced packets were not published, and lets
 * packets pass when the gate has made no progress for TIMER_GATE_STUCK. */
void gate_retry(struct gate *gate);

/* Called by the holder before it stores what other threads or the device see. Returns false when
 * the gate was taken over: the holder must then store nothing and leave. Costs two stores and a
 * load. */
static inline bool gate_store_begin(struct gate *gate)
{
	atomic_store_explicit(&gate->storing, 1, memory_order_relaxed);
	/* A compiler barrier is enough: the monitor's membarrier is the other half of the pair. */
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(gate_is_mine(gate), 1))
		return true;
	atomic_store_explicit(&gate->storing, 0, memory_order_relaxed);
	return false;
}

/* Called by the holder after these stores. All packets before AT are counted now. The release pairs
 * with the acquire load of `storing` in gate_resort.c. */
static inline void gate_store_end(struct gate *gate, uint64_t at)
{
	atomic_store_explicit(&gate->at, at, memory_order_relaxed);
	atomic_store_explicit(&gate->preparing, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->storing, 0, memory_order_release);
}

#endif
