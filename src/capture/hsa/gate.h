/* The gate of a queue: it stands between the packets that the application writes and the device.
 *
 * The application writes its packets into the real ring, but reserves them in a virtual write index
 * that the gate keeps. The device's own write index is moved only by the gate, and only past
 * packets that the gate has recorded. The device therefore never sees a packet before it is
 * recorded and has the signal that times it. It sees as many packets as the application wrote, byte
 * for byte the same, but for a completion signal where there was none.
 *
 * Packet indices only grow. In a live gate that records, next <= virtual_index and next <= at:
 * - packets before `next` are published,
 * - packets before `at` are counted, and recorded unless the record was dropped; they are published
 *   at the end of the pass,
 * - packets before `virtual_index` are reserved by the application,
 * - packets before `announced` are covered by a doorbell of the application. It may be below or
 *   above the others.
 *
 * There are two exceptions: `virtual_index` falls when the program stores a lower value to the
 * write index, and packets that no thread has reserved may pass as a last resort
 * (gate_resort.h).
 *
 * Doorbells and the holder. Doorbells may ring out of order and from many threads. The first thread
 * that rings takes the gate (hold.h): it is the holder, and does the work also for the threads that
 * ring meanwhile. These wait until their packets are recorded, within limits, so that a launch that
 * has returned is in the trace even if the process is killed. The device gets one doorbell for each
 * of the application's. One scan of the ring by the holder is called a pass. A packet that is
 * reserved and not yet written ends the pass. If a doorbell has already covered that packet, its
 * writer need not ring again; `has_unpublished` then makes the monitor try again.
 *
 * Another tool may move the device's write index itself, past packets that the gate has not seen.
 * The gate then follows that index (gate_follow_index). It changes nothing in such packets, because
 * the device may take them at any moment, and it counts those that the device has taken before the
 * gate could copy them.
 *
 * A thread may be stopped while it holds a gate, by a debugger or in a signal handler. After a
 * while the monitor takes the gate over (gate_resort.h).
 *
 * States of a gate, enum gate_state:
 * - GATE_UNUSED: it serves no queue. gate_open prepares it for a queue of the same size and
 *   mode.
 * - GATE_LIVE: it serves a queue. Within this state, `is_tracing` says whether it records packets
 *   or lets them pass unrecorded; `is_taken_over` says that packets of the present recording pass
 *   unrecorded because the monitor has taken the gate over.
 * - GATE_CLOSING: from gate_close until gate_reuse. The lock is closed, nothing passes, the queue
 *   may go at any moment. A gate whose holder did not leave (`is_stuck`) stays in this state for
 *   ever.
 *
 * Gates are never freed, only used again by later queues, so any thread may walk their list without
 * a lock and keep a pointer to a gate.
 *
 * This file has the struct, and the life of gates: opening, closing, and where recordings begin and
 * end (gate.c). It stands on gate_resort.h (the monitor's part), gate_hold.h (doorbells and the
 * holder's loop), gate_pass.h (one pass), gate_packet.h (one packet of a pass), gate_counts.h
 * (counts and their records) and gate_list.h (all gates), each of which calls only those named
 * after it.
 *
 * Memory order, each with its partner:
 * - The application's packets: gate_ring adds to `rung` with release; gate_pass loads it with
 *   acquire, so a pass sees the packets that were written before the doorbells that it forwards. A
 *   packet's header is read with acquire; it pairs with the application's release store that makes
 *   the packet valid.
 * - Publication: move_index (gate_pass.c) stores the device's write index with release, and the
 *   doorbell is stored with release, after all stores into the packets and their signals. They pair
 *   with the acquire of the device, which is HSA's own protocol.
 * - The holder's fields, and `next`, `announced` and the counts: they are ordered between two
 *   holders by the lock (hold.h). Other threads read the atomic ones with relaxed loads and may see
 *   an older value. `next` and `passes` are stored with release where packets are published, and
 *   loaded with acquire where a gate is drained and by a thread that waits for the holder, which
 *   then sees what was counted for its call.
 * - `state` and `is_tracing`: stored with release, loaded with acquire by a thread that then reads
 *   the fields that gate_open or the end of a recording has set.
 * - `change`: stored by the thread that asks, published by its request for the lock; the holder
 *   sets it to GATE_STAYS with release, and the thread that asked loads it with acquire.
 * - `has_counted`: release in gate_close, acquire in gates_stop_tracing.
 * - `has_unpublished`, `is_ahead`, `is_awaited` against the parking of the monitor: a thread stores
 *   one of them, then executes a sequentially consistent operation (hold_leave, or the store
 *   itself), then loads hsa_monitor_parked. The monitor stores that, then loads them
 *   (gate_needs_monitor). One of the two sees the other's store.
 * - `storing`, `at`, `preparing` against a take-over: see gate_resort.h. */
#ifndef CAPTURE_HSA_GATE_H
#define CAPTURE_HSA_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hsa/amd_hsa_queue.h>

#include "base/timer.h"
#include "capture/capture_session.h"
#include "capture/hsa/completion_slots.h"
#include "capture/hsa/hold.h"
#include "capture/hsa/reservations.h"
#include "record/record.h"

/* See the head of this file. */
enum gate_state { GATE_UNUSED, GATE_LIVE, GATE_CLOSING };
/* What the holder is to do before its next pass: nothing, begin to record, end recording. */
enum gate_change { GATE_STAYS, GATE_STARTS, GATE_STOPS };

/* "Holder" is the thread that holds the gate. Fields without a writer named are set by gate_open,
 * before the gate is live, and constant until it is reused. */
struct gate {
	struct hold hold __attribute__((aligned(64)));

	/* Written by threads that ring. */
	_Atomic uint64_t announced; /* packets before it are covered by a doorbell; never falls */
	_Atomic uint64_t rung;	    /* the application's doorbells */

	/* Written by the holder. */
	/* The last pass left announced packets unpublished (gate_has_unpublished). */
	_Atomic uint32_t has_unpublished;
	_Atomic uint32_t passes; /* passes that have ended; wraps around */

	/* The write index that the application sees. Written by threads that reserve, and raised by
	 * the holder when another tool has moved the queue's own index. */
	_Atomic uint64_t virtual_index __attribute__((aligned(64)));

	/* Packets before it are published. Written by the holder. */
	_Atomic uint64_t next __attribute__((aligned(64)));

	/* Read and written by the holder only. */
	uint64_t forwarded;	/* doorbells that the gate has rung on the device */
	uint64_t published;	/* the greatest write index of the device's queue that is known */
	uint64_t foreign_end;	/* packets before it were published by another tool */
	bool passes_unreserved; /* the next pass publishes written packets that a doorbell has
				 * covered and no thread has reserved (gate_resort.c) */
	struct {
		/* Passes that are still to begin without a wait for free completion slots. */
		uint32_t passes;
		/* The number that the last wait has set there because it made no room; 0: it made
		 * room. */
		uint32_t most;
	} unwaited;
	_Atomic bool is_foreign; /* another tool has published packets; read by other threads too */

	/* What the monitor must know of a holder that is stopped (gate_resort.h). */
	_Atomic uint64_t at;	     /* packets before it are counted; written by the holder */
	_Atomic uint32_t preparing;  /* enum record_type of the record that the holder has reserved
				     * for the packet at `at`, or 0 */
	_Atomic uint32_t storing;    /* the holder is storing what others see: no take-over now */
	_Atomic bool is_taken_over;  /* packets pass unrecorded until the next recording begins */
	_Atomic uint32_t is_awaited; /* a thread rang and waited for the holder in vain */
	_Atomic uint32_t is_ahead; /* doorbells have covered packets that no thread has reserved */
	/* Read and written by the monitor only: how long a value has not changed. */
	struct gate_patience {
		uint64_t seen;		  /* the value; 0: none */
		struct timer_limit limit; /* started when the value was first seen */
	} holder, index;

	/* Counts of the present recording, written by the holder. `unrecorded` also by handlers of
	 * an intercept queue that could not take the gate. */
	_Atomic uint64_t unrecorded; /* packets that passed without a record */
	_Atomic uint64_t dispatches;
	_Atomic uint64_t barriers;
	_Atomic uint64_t others; /* packets of all other types */
	/* Dispatches whose thread was in no wrapped call; not reset by a new recording. */
	_Atomic uint64_t without_context;

	/* Where recordings begin and end, packet indices. */
	_Atomic uint64_t traced_first; /* the first packet of this recording */
	_Atomic uint64_t passed_first; /* the first packet that the device may count for it */
	_Atomic uint64_t traced_end;   /* after the end of tracing: the first unrecorded packet */
	_Atomic uint64_t handed_on;    /* intercept queue: packets handed on since that end */
	_Atomic uint64_t left;	       /* set by gate_close: packets recorded and not taken */

	/* Packets are counted and recorded. Written by the holder, or by gates_stop_tracing when
	 * the holder does not leave. */
	_Atomic bool is_tracing;
	/* enum gate_change. Written by the thread that begins or ends a recording, and by the
	 * holder when it has made the change. */
	_Atomic uint32_t change;
	_Atomic uint32_t state; /* enum gate_state; written by gate_open, gate_close, gate_reuse */

	/* Set by gate_close. */
	_Atomic uint32_t closer;	/* id of the thread that closes the gate; 0 before */
	_Atomic bool has_counted;	/* the last QUEUE_COUNT is written, if one was due */
	_Atomic uint64_t closing_index; /* the queue's index, to be used instead of reading it */

	uint32_t queue_id; /* in records; from 1, never used twice in a process */
	_Atomic uint64_t
		recorded_taken; /* 1 + index in the last QUEUE_TAKEN record; 0: none written */
	_Atomic uint32_t announced_in; /* number of the session that has the queue's QUEUE record */
	hsa_agent_t agent;
	/* Users of a cooperative queue, which the runtime hands out several times. Guarded by
	 * open_lock in queue_wrap.c. */
	uint32_t references;
	enum record_queue_mode mode;
	bool is_chained; /* an intercept queue that another tool made: packets may be that tool's */
	bool is_stuck; /* set by gate_close: its holder did not leave, so it is never used again */
	amd_queue_t *queue;	    /* owned by the runtime; not to be read after gate_close */
	struct serial_turn *turn;   /* NULL: packets are not held back (serial.h) */
	void *staging;		    /* intercept queue: room for the packets of one ring; owned */
	struct object *queue_entry; /* the queue's entry in object_map */
	struct object *doorbell_entry; /* its doorbell's entry */
	struct reservations reservations;
	struct slot_ring *slots; /* completion slots; owned, never freed */
	struct gate *older;	 /* next in the list of all gates; constant */
};

/* How a queue is to be treated. */
struct gate_kind {
	enum record_queue_mode mode;
	bool is_chained; /* the queue is another tool's intercept queue */
};

/* Prepares a gate for QUEUE, which no thread uses yet, writes the QUEUE record and makes the gate
 * findable. Returns 0 or a negative errno; after a failure the queue works without the tool. Any
 * thread. Takes a lock, allocates when no unused gate fits, and has the runtime create signals. */
int gate_open(hsa_queue_t *queue, hsa_agent_t agent, struct gate_kind kind, struct gate **ret_gate);

/* Whether the calling thread holds the gate. A signal handler that has interrupted the holder gets
 * true: it must not wait for the gate. */
static inline bool gate_is_mine(const struct gate *gate)
{
	return hold_thread(&gate->hold) == session_tid();
}

/* Loads a count or an index of a gate, with relaxed order. */
static inline uint64_t gate_get(const _Atomic uint64_t *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

/* Whether the application's write index is the gate's virtual one. False for an intercept queue,
 * whose index the runtime keeps. */
static inline bool gate_has_index(const struct gate *gate)
{
	return gate->mode != RECORD_QUEUE_INTERCEPT;
}

/* Packets that the queue's ring holds. */
static inline uint64_t gate_ring_size(const struct gate *gate)
{
	return (gate->reservations.mask + 1) / 2;
}

/* Whether a doorbell has covered reserved packets that are not published yet, because they are not
 * written or are held back. Their writer need not ring again. */
static inline bool gate_has_unpublished(const struct gate *gate)
{
	uint64_t next = atomic_load_explicit(&gate->next, memory_order_relaxed);

	return next < atomic_load_explicit(&gate->announced, memory_order_relaxed) &&
	       next < atomic_load_explicit(&gate->virtual_index, memory_order_relaxed);
}

/* Whether doorbells have covered packets behind both write indices: the thread that wrote them does
 * not use the queue's write index. */
static inline bool gate_index_is_behind(const struct gate *gate)
{
	uint64_t reserved = atomic_load_explicit(&gate->virtual_index, memory_order_relaxed);

	return reserved < atomic_load_explicit(&gate->announced, memory_order_relaxed) &&
	       reserved <= atomic_load_explicit(&gate->next, memory_order_relaxed);
}

/* Whether packets are being recorded. A relaxed load: the answer may be old. */
static inline bool gate_is_tracing(const struct gate *gate)
{
	return atomic_load_explicit(&gate->is_tracing, memory_order_relaxed);
}

/* Whether the monitor has to call gate_retry. Sequentially consistent: see "Memory order" above. */
static inline bool gate_needs_monitor(struct gate *gate)
{
	return atomic_load(&gate->has_unpublished) || atomic_load(&gate->is_awaited) ||
	       atomic_load(&gate->is_ahead);
}

/* Waits until the device has finished what was published and all completion slots are free, at most
 * until LIMIT. Returns at once when the gate does not record. */
void gate_drain(struct gate *gate, struct timer_limit limit);

/* Closes the gate of a queue that is about to be destroyed. Lets nothing pass any more, records
 * what is outstanding as untimed with CAUSE, writes the queue's last count and removes the queue's
 * handles from object_map. Waits for the holder up to TIMER_GATE_HOLD. The queue must still
 * exist. */
void gate_close(struct gate *gate, enum record_untimed cause);

/* Makes a closed gate available to later queues. Call after the runtime has destroyed the queue.
 * RUNTIME_IS_GONE: the runtime has shut down, so no function of it is called. */
void gate_reuse(struct gate *gate, bool runtime_is_gone);

/* Ends recording in all gates. From now on packets pass unrecorded, those that were held back at
 * once, and new gates record nothing. Waits at most 20 ms (TIMER_GATE_WRITTEN) for packets that are
 * just being written, and for holders up to TIMER_GATE_HOLD, all gates together. The last counts
 * are exact. */
void gates_stop_tracing(void);

/* Begins the next recording in all live gates, and in gates opened from now on. Packets reserved
 * from now on are recorded, and the counts begin anew. */
void gates_start_tracing(void);

/* False from the end of a recording until the next one begins. */
bool gates_are_tracing(void);

/* Writes the queue's QUEUE_COUNT and QUEUE_TAKEN records if the gate records. Does nothing when
 * another thread holds the gate. */
void gate_count(struct gate *gate);

/* Writes for every live queue how far the device has got (QUEUE_TAKEN). Waits up to 1 ms
 * (TIMER_GATE_TAKEN) for each gate that another thread holds, and then leaves that one out. */
void gates_tell_taken(void);

#endif
