/* Completion slots: one for each dispatch or copy that is outstanding on the device and whose times
 * are awaited.
 *
 * Each queue has a ring of completion slots in the order of submission; one more ring serves all
 * copies. The submitting thread takes a slot at the tail. The monitor, under the ring's collector
 * lock, looks at the oldest slots, copies the ticks, writes the DONE record and frees slots at the
 * head; the thread that has this lock is called the collector. How the end of an activity is seen
 * is the business of its completion source (completion.h).
 *
 * A use of a slot is named by its sequence number, which never repeats in a ring; the slot is
 * sequence & mask. Sequence and phase share one atomic word, `state`, and every change of phase
 * that two threads may attempt is a compare-and-swap on it. So a stale reference cannot finish the
 * slot's next use, and of several threads that try to finish a use exactly one does.
 *
 * Phases of a use, and which thread moves it on:
 * - SLOT_PREPARING: taken by the submitting thread, which fills the slot.
 *	-> PENDING by that thread (slot_submit)
 *	-> CLAIMED -> DONE by a thread that uses the same signal meanwhile (slot_settle): untimed
 *	-> RECORDED by the submitting thread (slot_cancel): nothing was submitted, no record
 * - SLOT_PENDING: on its way to the device or on it.
 *	-> CLAIMED by the thread that finishes it: the collector, or a thread in slot_settle,
 *	   slots_pass_on, slot_ring_give_up or slot_ring_end
 *	-> BORROWED by slot_ring_give_up, for a borrowed completion
 *	-> RECORDED by slot_cancel
 * - SLOT_CLAIMED: one thread works on it; no other thread touches it.
 *	-> DONE when the use has ended or is given up
 *	-> RECORDED when it was BORROWED before
 *	-> PENDING or BORROWED, as before, when the device turns out not to be done
 * - SLOT_DONE: the result is in `untimed`, `start` and `end`, not yet recorded.
 *	-> RECORDED by the collector, which writes the DONE record
 * - SLOT_BORROWED: given up and recorded as untimed, but the application's signal is still to be
 *   decremented when the device has completed the packet. Only borrowed completions get here.
 *	-> CLAIMED -> RECORDED by the thread that passes the completion on
 * - SLOT_RECORDED: nothing is left to do. The collector moves the head past it; then it can be
 *   taken again.
 *
 * The application's threads do not collect: a thread that is stopped while it does, by a debugger
 * or in a signal handler, would keep back completions for which other threads wait. Where such a
 * thread has the collector lock, because its queue or the recording ends, the monitor passes
 * completions on without the lock.
 *
 * Memory order:
 * - `head` is stored with release when a slot is freed; it pairs with the acquire in slot_take, so
 *   the next user of the slot comes after everything that was done to it.
 * - `state` is stored with release and loaded with acquire: a thread that sees a phase sees the
 *   fields that were written before it.
 * - `tail` is changed with a sequentially consistent operation, because the monitor that parks
 *   stores hsa_monitor_parked and then looks at `tail` (park in hsa_monitor.c), while a submitting
 *   thread changes `tail` and then looks at hsa_monitor_parked.
 * - `looks_at` and `completes` against a thread that destroys a signal: the collector stores the
 *   signal in `looks_at` and then loads the slot's state; the destroying thread settles the slot
 *   and then waits until `looks_at` is another one (slots_await_collectors). Either the destroying
 *   thread sees that its signal is being read, or the collector sees that the slot is settled.
 * - `own` is stored with release by the thread that makes the signal; own_begin loads it with
 *   acquire.
 * - `makes_signals` is stored with release by slot_ring_make_signals, and loaded with acquire in
 *   slot_ring_needs_signals: the monitor then sees `made` and `made_first`. */
#ifndef CAPTURE_HSA_COMPLETION_SLOTS_H
#define CAPTURE_HSA_COMPLETION_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hsa/amd_hsa_signal.h>

#include "base/timer.h"
#include "capture/hsa/object_map.h"
#include "capture/owner_lock.h"
#include "record/record.h"

/* See the head of this file. 0: the slot was never used. */
enum slot_phase {
	SLOT_PREPARING = 1,
	SLOT_PENDING,
	SLOT_CLAIMED,
	SLOT_DONE,
	SLOT_BORROWED,
	SLOT_RECORDED,
};

#define SLOT_PHASE_BITS 3

struct completion_source;

/* The submitting thread writes the fields up to `old_end` while the slot is in PREPARING;
 * afterwards they are constant until the slot is taken again, unless stated otherwise. */
struct slot {
	_Atomic uint64_t state; /* sequence << SLOT_PHASE_BITS | enum slot_phase */
	/* The tool's signal of this slot, kept over all its uses. NULL: not made yet, or never. */
	_Atomic(amd_signal_t *) own;
	/* The signal that the device decrements: `own` or the application's. */
	amd_signal_t *signal;
	/* The entry of the application's signal, or NULL. Set to NULL when a borrowed completion is
	 * forgotten, because the application destroys the signal or the queue is gone. */
	_Atomic(struct object *) watched;
	_Atomic(const struct completion_source *) source;
	uint64_t subject;   /* packet index, or copy id */
	int64_t value;	    /* of the application's signal at submission */
	uint64_t submit_ns; /* host clock */
	/* The signal's tick words at submission, 0 if zeroed. Other values are this use's ticks. */
	uint64_t old_start;
	uint64_t old_end;
	/* When the collector first saw the value lower without ticks, host clock; 0: not yet. */
	uint64_t low_ns;
	/* The result, written by the thread that has claimed the slot or has given it up. */
	uint32_t untimed; /* enum record_untimed */
	uint64_t start;	  /* ticks of a dispatch, host ns of a copy; 0 if untimed */
	uint64_t end;
} __attribute__((aligned(64)));

struct slot_ring {
	uint32_t id;	    /* in references; never 0 */
	uint32_t tag;	    /* of the DONE records: the queue's id; 0: the ring of copies */
	struct slot *slots; /* mask + 1 of them; owned, never freed */
	uint64_t mask;
	struct owner_lock collecting; /* the collector lock */
	/* Written under the collector lock, once other threads know the ring: */
	_Atomic uint64_t made_first; /* the sequence number whose slot got the first signal */
	_Atomic uint64_t made;	     /* slots from made_first on that have a signal of their own */
	_Atomic bool makes_signals;  /* the monitor may make more */
	/* The application's signal that the collector is reading, mostly NULL. It may not be
	 * destroyed meanwhile. */
	_Atomic(const amd_signal_t *) looks_at;
	/* The same for the signal to which the monitor passes a completion on without the lock. */
	_Atomic(const amd_signal_t *) completes;
	/* Sequence numbers. Slots from head to tail - 1 are in use. `head` is written under the
	 * collector lock, `tail` by threads that take a slot. */
	_Atomic uint64_t head __attribute__((aligned(64)));
	_Atomic uint64_t tail __attribute__((aligned(64)));
};

/* Most rings of a process. */
#define SLOT_RING_MOST 4096

/* Creates a ring of SLOT_COUNT slots, a power of two. Returns 0, -ENOMEM or -ENOSPC. Rings are
 * never freed, only used again, so that references stay safe. Any thread. */
int slot_ring_create(uint64_t slot_count, struct slot_ring **ret_ring);

/* Makes the signals of the slots that are taken first, 8,192 at most, and lets the monitor make
 * more. Call while no other thread uses the ring and while the runtime is open. */
void slot_ring_make_signals(struct slot_ring *ring);

/* Called by the monitor: makes more signals, 4,096 at most, when fewer than 8,192 are ahead of the
 * slots that are taken. A dispatch that needs a signal and takes a slot without one is not
 * timed. */
void slot_ring_make_more(struct slot_ring *ring);

/* The step of slot_ring_make_more that needs the collector lock (slot_signals.c). */
void slot_ring_make_step(struct slot_ring *ring);

/* Whether slot_ring_make_more has something to do. */
bool slot_ring_needs_signals(const struct slot_ring *ring);

/* Makes no more signals from now on. To be sure that the monitor is not just making some, take the
 * collector lock afterwards, as slot_ring_give_up and slot_ring_collect do. Call while the runtime
 * is open. */
void slot_ring_stop_making(struct slot_ring *ring);

/* Destroys the ring's signals, but for those to which the device may still write, which leak. Call
 * when the ring is empty and no thread uses it. FORGET: the runtime is gone, so none is
 * destroyed. */
void slot_ring_drop_signals(struct slot_ring *ring, bool forget);

/* Returns a slot in PREPARING and its sequence number, or NULL when none is free. Any thread,
 * lock-free. The caller fills the slot and calls slot_submit or slot_cancel. */
struct slot *slot_take(struct slot_ring *ring, uint64_t *ret_sequence);

/* PREPARING to PENDING. Returns false when another thread has finished the slot already, because it
 * uses the same signal. Called by the thread that took the slot, before the device gets the
 * packet. */
bool slot_submit(struct slot *slot, uint64_t sequence);

/* The activity was not submitted, or is not timed by this slot: nothing will be recorded from
 * it. */
void slot_cancel(struct slot *slot, uint64_t sequence);

/* The name of a use of a slot in all rings: the ring's id and 48 bits of the sequence number. Never
 * 0. Fits into struct object's `word`. */
static inline uint64_t slot_reference(const struct slot_ring *ring, uint64_t sequence)
{
	return (uint64_t)ring->id << 48 | (sequence & 0xffffffffffffull);
}

/* Ends the use that REFERENCE names, because its signal is about to be used again, stored to or
 * destroyed. Takes the ticks if they are there. CERTAIN: a copy is known to be over; for a dispatch
 * the ticks alone decide. Returns true when the use was over, also when another thread has finished
 * it. False: it was not over and is finished as untimed with CAUSE. Any thread; never waits. */
bool slot_settle(uint64_t reference, enum record_untimed cause, bool certain);

/* Whether REFERENCE names the use of a slot by a copy. */
bool slot_reference_is_copy(uint64_t reference);

/* Decrements SIGNAL for all borrowed completions that the device has completed. Call before the
 * application's store to SIGNAL or its destruction takes effect. GONE: SIGNAL is being destroyed;
 * the slots forget it and decrement it never again. Costs a walk over all rings. */
void slots_pass_on(struct object *signal, bool gone);

/* Called by the monitor: records what is finished and frees slots at the head. Looks past at most
 * 64 slots that are not finished. Returns how many were recorded. Returns 0 when another thread has
 * the collector lock: then it only passes borrowed completions on. */
uint32_t slot_ring_collect(struct slot_ring *ring);

/* Finishes everything that is outstanding, as untimed with CAUSE, and records it. Borrowed
 * completions stay in the ring as BORROWED, for the monitor to pass on. Waits for the collector
 * lock up to TIMER_HSA_LOCK, unless this thread has it and is interrupted by a signal handler, and
 * until LIMIT for slots that threads are changing. Returns how many slots could not be finished.
 * They stay in the ring as they are: the thread that is changing one may go on later. */
uint64_t slot_ring_give_up(struct slot_ring *ring, enum record_untimed cause,
			   struct timer_limit limit);

/* Empties the ring after its queue is destroyed: passes on what the device has completed, unless
 * RUNTIME_IS_GONE, and forgets the other borrowed completions. Waits for the collector lock as
 * slot_ring_give_up does; without it, does nothing. */
void slot_ring_end(struct slot_ring *ring, bool runtime_is_gone);

/* Whether no slot is in use. Any thread. The loads are sequentially consistent: they pair with the
 * parking of the monitor. */
bool slot_ring_is_empty(const struct slot_ring *ring);
/* How many slots are in use, those that are finished and not yet freed included. */
uint64_t slot_ring_outstanding(const struct slot_ring *ring);

/* Whether the use SEQUENCE has ended or was given up. */
bool slot_is_finished(const struct slot_ring *ring, uint64_t sequence);

/* Waits until no thread that collects or passes completions on reads SIGNAL; then it may be
 * destroyed. The caller has settled the slots that use it. */
void slots_await_collectors(const amd_signal_t *signal);

#endif
