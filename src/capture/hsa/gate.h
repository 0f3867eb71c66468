/* Between the application's packets and the device: one gate per queue.
 *
 * The application writes its packets into the real ring, but reserves slots in a virtual write
 * index; the device's own write index is only moved by the gate, past packets that it has looked
 * at. So the device never sees a packet before it was recorded and has the signal that times it,
 * and it sees as many packets as the application wrote, byte for byte the same but for a completion
 * signal where there was none.
 *
 * Doorbells may ring out of order and from many threads. The first one holds the gate and answers
 * also for those that ring meanwhile (capture/hsa/hold.h). They wait for their record, within
 * bounds. The device gets a doorbell for each of theirs. A reserved slot that is not written yet
 * stops the scan. If a doorbell already covered it the writer need not ring again, so the monitor
 * looks after it.
 *
 * Another tool may move the device's write index itself, past packets that it alone has seen: then
 * the gate follows that index. It changes nothing in such packets, because the device may take them
 * any moment, and counts those that the device has taken before it looked.
 *
 * A thread may be stopped while it holds a gate, by a debugger or in a signal handler: after a
 * while the monitor takes the gate from it (capture/hsa/gate_resort.h).
 *
 * Gates are never freed, only used again by later queues. */
#ifndef CAPTURE_HSA_GATE_H
#define CAPTURE_HSA_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hsa/amd_hsa_queue.h>

#include "base/timer.h"
#include "capture/hsa/hold.h"
#include "capture/hsa/reservations.h"
#include "capture/hsa/slots.h"
#include "record/record.h"

enum gate_state { GATE_UNUSED, GATE_LIVE, GATE_CLOSING };
enum gate_change { GATE_STAYS, GATE_STARTS, GATE_STOPS }; /* whether it records */

struct gate {
	struct hold hold __attribute__((aligned(64)));
	_Atomic uint64_t announced; /* packets that doorbells have covered */
	_Atomic uint64_t rung;	    /* doorbells of the application's */
	_Atomic uint32_t is_owed;   /* announced packets are not written yet */
	_Atomic uint32_t passes;    /* ended */
	_Atomic uint64_t virtual_index __attribute__((aligned(64)));
	_Atomic uint64_t next __attribute__((aligned(64))); /* published; the holder stores it */
	/* The holder's: */
	uint64_t forwarded; /* doorbells of the device's */
	uint64_t published; /* the greatest write index that the queue has had, as far as we know */
	uint64_t foreign_end;	/* packets before it were published by another tool */
	bool passes_unreserved; /* valid packets that doorbells have covered, this once */
	struct {
		uint32_t passes; /* that do not wait for slots, */
		uint32_t most;	 /* since the last wait for them, which was in vain */
	} unwaited;
	_Atomic bool is_foreign; /* there were some */
	/* By which another thread knows what the holder, if it is stopped, has done: */
	_Atomic uint64_t at;	     /* packets before it are counted */
	_Atomic uint32_t preparing;  /* enum record_type of the record of the packet there, or 0 */
	_Atomic uint32_t storing;    /* its stores go where others look: nobody may take the gate */
	_Atomic bool is_taken_over;  /* it was taken from its holder: packets pass unrecorded */
	_Atomic uint32_t is_awaited; /* somebody has rung, and waited for the holder in vain */
	_Atomic uint32_t is_ahead;   /* doorbells have covered packets that nobody has reserved */
	struct gate_patience {
		uint64_t seen; /* what does not change */
		struct timer_limit limit;
	} holder, index;	     /* the monitor's */
	_Atomic uint64_t unrecorded; /* packets of this recording that passed without a record */
	_Atomic uint64_t dispatches;
	_Atomic uint64_t barriers;
	_Atomic uint64_t others;
	_Atomic uint64_t without_context; /* dispatches */
	_Atomic uint64_t traced_first;	  /* of this recording; packets before it pass unrecorded */
	_Atomic uint64_t passed_first; /* the first that the device had not taken when it began */
	_Atomic uint64_t traced_end;   /* once tracing has ended: the first unrecorded packet */
	_Atomic uint64_t handed_on;    /* since then, on an intercept queue */
	_Atomic uint64_t left;	       /* once closed: recorded, not taken by the device */
	_Atomic bool is_tracing;       /* changed by the holder: packets are counted and recorded */
	_Atomic uint32_t change;       /* enum gate_change: what the holder is to do first */
	_Atomic uint32_t state;
	_Atomic uint32_t closer;	/* the thread that closes it; 0 before */
	_Atomic bool has_counted;	/* once closed: the last count is written */
	_Atomic uint64_t closing_index; /* what index_passed gives while the queue goes */
	uint32_t queue_id;
	_Atomic uint64_t told_taken; /* by the last QUEUE_TAKEN, and one more; 0: there is none */
	_Atomic uint32_t told_in;    /* the session that has the queue's record */
	hsa_agent_t agent;
	uint32_t references; /* cooperative queues are handed out several times */
	enum record_queue_mode mode;
	bool is_chained; /* intercepted by another tool, too: its packets may not be the program's */
	bool is_stuck;	 /* closed while a thread was in it that did not leave: never used again */
	amd_queue_t *queue;
	struct serial_turn *turn; /* NULL: packets are not held back */
	void *staging;		  /* INTERCEPT: as many packets as the ring has */
	struct object *queue_entry;
	struct object *doorbell_entry;
	struct reservations reservations;
	struct slot_ring *slots;
	struct gate *older; /* list of all gates; constant */
};

/* How a queue is to be treated. */
struct gate_kind {
	enum record_queue_mode mode;
	bool is_chained; /* another tool's */
};

/* Takes QUEUE, which nobody uses yet, under a gate and lets it be found. 0 or a negative errno: the
 * queue then works without the tool. */
int gate_open(hsa_queue_t *queue, hsa_agent_t agent, struct gate_kind kind, struct gate **ret_gate);

/* The gate of QUEUE, or NULL. */
struct gate *gate_find(const hsa_queue_t *queue);
/* The same where QUEUE, which lives or is NULL, may be a counted queue's handle: by its
 * doorbell. */
struct gate *gate_of(const hsa_queue_t *queue);

/* A doorbell rang with VALUE. Afterwards the packets up to it that were written, and none before
 * them unwritten, are recorded: here when the gate was free, else by its holder, who is waited
 * for (half a second at most). */
void gate_ring(struct gate *gate, uint64_t value);

/* Whether the program's write index is the gate's: on an intercept queue it is the runtime's. */
static inline bool gate_has_index(const struct gate *gate)
{
	return gate->mode != RECORD_QUEUE_INTERCEPT;
}

static inline uint64_t gate_ring_size(const struct gate *gate)
{
	return (gate->reservations.mask + 1) / 2;
}

/* Announced packets that are not written yet: their writer need not ring again. */
static inline bool gate_owes(const struct gate *gate)
{
	uint64_t next = atomic_load_explicit(&gate->next, memory_order_relaxed);

	return next < atomic_load_explicit(&gate->announced, memory_order_relaxed) &&
	       next < atomic_load_explicit(&gate->virtual_index, memory_order_relaxed);
}

/* By the holder: does the work of all who ring meanwhile, and leaves. */
void gate_work(struct gate *gate);
/* Takes the gate when nobody holds it; false also when it is closed. */
bool gate_try_hold(struct gate *gate);
/* Whether a signal handler has interrupted the holder on this very thread: it would wait for
 * itself. */
bool gate_is_mine(const struct gate *gate);
/* Does the work of those who rang meanwhile, too. */
void gate_leave(struct gate *gate);

/* Doorbells have rung for packets behind the write index: whoever wrote them does not use it. */
static inline bool gate_index_is_behind(const struct gate *gate)
{
	uint64_t reserved = atomic_load_explicit(&gate->virtual_index, memory_order_relaxed);

	return reserved < atomic_load_explicit(&gate->announced, memory_order_relaxed) &&
	       reserved <= atomic_load_explicit(&gate->next, memory_order_relaxed);
}

static inline bool gate_is_tracing(const struct gate *gate)
{
	return atomic_load_explicit(&gate->is_tracing, memory_order_relaxed);
}

/* Looks again for announced packets that were not written when their doorbell rang. */
void gate_retry(struct gate *gate);

/* Whether the monitor has to look after the gate. */
static inline bool gate_needs_monitor(struct gate *gate)
{
	return atomic_load(&gate->is_owed) || atomic_load(&gate->is_awaited) ||
	       atomic_load(&gate->is_ahead);
}

/* Waits, until LIMIT, until the device has finished what was published. */
void gate_drain(struct gate *gate, struct timer_limit limit);

/* Lets nothing pass any more, gives up with CAUSE what is outstanding, writes the queue's last
 * count, and forgets the queue's handles. */
void gate_close(struct gate *gate, enum record_untimed cause);
/* After the runtime has destroyed the queue: the gate may be used again. */
void gate_reuse(struct gate *gate, bool runtime_is_gone);

/* From now on packets pass unrecorded, those that were held back at once, and new gates record
 * nothing. Waits 20 ms at most for packets that are just being written. The last counts are
 * exact. */
void gates_stop_tracing(void);

/* The other way round, for the next recording: packets reserved from now on are recorded, and the
 * counts begin anew. */
void gates_start_tracing(void);

/* False from the end of a recording until the next begins. */
bool gates_are_tracing(void);

/* Writes the queue's count, and how far the device has got, unless somebody holds the gate. */
void gate_count(struct gate *gate);
/* Of all queues, how far the device has got: where somebody holds a gate, a millisecond later at
 * most. */
void gates_tell_taken(void);

/* Packets that passed without a record while their gate recorded. */
uint64_t gates_packets_unrecorded(void);

/* All gates, also unused ones: for (g = gate_newest(); g; g = g->older). */
struct gate *gate_newest(void);
/* Dispatches whose thread was in no call that we saw. */
uint64_t gate_dispatches_without_context(void);
/* Reservations whose context found no room. */
uint64_t gate_reservations_lost(void);
/* Packets that were reserved when their gate ended recording, and are not in it. */
uint64_t gates_packets_cut(void);

#endif
