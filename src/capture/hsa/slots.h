/* What is outstanding on the device: one slot for each dispatch or copy whose times are awaited.
 *
 * A ring of slots per queue (and one for all copies) in the order of submission. The submitting
 * thread takes a slot at the tail; the monitor, under the ring's collector lock, looks at the
 * oldest ones, copies the ticks out, writes the DONE record and frees from the head. How a slot's
 * completion is seen is its source's business (completion.h). Several may try: a slot is finished
 * by whoever moves its state from PENDING to CLAIMED.
 *
 * The application's threads do not collect: one that is stopped there, by a debugger or in a signal
 * handler, would hold the completions that others wait for. Where one has the lock, because its
 * queue or the recording ends, the monitor passes completions on without it.
 *
 * Sequence numbers never repeat, so a stale reference to a slot cannot finish its next user. */
#ifndef CAPTURE_HSA_SLOTS_H
#define CAPTURE_HSA_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hsa/amd_hsa_signal.h>

#include "capture/hsa/object_map.h"
#include "record/record.h"

enum slot_phase {
	SLOT_PREPARING = 1, /* the submitting thread's */
	SLOT_PENDING,	    /* the device's */
	SLOT_CLAIMED,	    /* being finished */
	SLOT_DONE,	    /* ticks copied, not yet recorded */
	SLOT_OWED, /* recorded as untimed; the application is still to get its completion */
	SLOT_RECORDED,
};

#define SLOT_PHASE_BITS 3

struct completion_source;

struct slot {
	_Atomic uint64_t state;	     /* sequence << SLOT_PHASE_BITS | enum slot_phase */
	_Atomic(amd_signal_t *) own; /* kept for the slot's life; NULL: not made yet, or never */
	amd_signal_t *signal;	     /* what the device decrements */
	_Atomic(struct object *) watched; /* the application's signal, or NULL */
	_Atomic(const struct completion_source *) source;
	uint64_t subject; /* packet index or copy id */
	int64_t value;	  /* of the application's signal at submission */
	uint64_t submit_ns;
	uint64_t old_start; /* the tick words at submission: what the device has not written */
	uint64_t old_end;
	uint64_t low_ns;  /* collector's: when the value was first seen lower without ticks */
	uint32_t untimed; /* from here on: the result */
	uint64_t start;
	uint64_t end;
} __attribute__((aligned(64)));

struct slot_ring {
	uint32_t id;  /* in references; never 0 */
	uint32_t tag; /* of the DONE records: queue id */
	struct slot *slots;
	uint64_t mask;
	_Atomic uint32_t collecting; /* the collector lock */
	/* Under it, once other threads know the ring: */
	_Atomic uint64_t made_first; /* the sequence number whose slot got the first signal ... */
	_Atomic uint64_t made;	     /* ... and how many slots from there on have one */
	_Atomic bool makes_signals;  /* more may be made */
	/* The application's signal that the collector is reading; NULL mostly. */
	_Atomic(const amd_signal_t *) looks_at;
	/* The one that is passed on to without the lock. */
	_Atomic(const amd_signal_t *) completes;
	_Atomic uint64_t head __attribute__((aligned(64)));
	_Atomic uint64_t tail __attribute__((aligned(64)));
};

#define SLOT_RING_MOST 4096

/* 0 or a negative errno. Rings are never freed, only used again: references stay safe. */
int slot_ring_create(uint64_t slot_count, struct slot_ring **ret_ring);

/* Makes the signals of the slots that are taken first, 8,192 at most, while nobody uses the ring.
 * The runtime must be open. */
void slot_ring_make_signals(struct slot_ring *ring);
/* By the monitor: makes some more when as many may be wanted soon. A slot that is taken before it
 * has a signal is none for a dispatch that needs one. */
void slot_ring_make_more(struct slot_ring *ring);
bool slot_ring_needs_signals(const struct slot_ring *ring);
/* No more are made, once the ring was given up or collected: before that, while the runtime is
 * open. */
void slot_ring_stop_making(struct slot_ring *ring);
/* Destroys those that the device is done with. FORGET: the runtime is gone, only drop them. */
void slot_ring_drop_signals(struct slot_ring *ring, bool forget);

/* A slot in PREPARING, or NULL when none is free. Any thread. */
struct slot *slot_take(struct slot_ring *ring, uint64_t *ret_sequence);
/* Gives the slot to the device. False: another thread finished it already (shared signal). */
bool slot_submit(struct slot *slot, uint64_t sequence);
/* The submission did not happen: nothing will be recorded. */
void slot_cancel(struct slot *slot, uint64_t sequence);

static inline uint64_t slot_reference(const struct slot_ring *ring, uint64_t sequence)
{
	return (uint64_t)ring->id << 48 | (sequence & 0xffffffffffffull);
}

/* Ends the use that REFERENCE stands for, because its signal is about to be used again, stored to
 * or destroyed: takes the ticks if they are there. CERTAIN: the use is known to be over. Returns
 * false when it was not: the slot is then finished untimed, with CAUSE. */
bool slot_settle(uint64_t reference, enum record_untimed cause, bool certain);
bool slot_reference_is_copy(uint64_t reference);

/* Passes on to SIGNAL, which is about to be stored to or destroyed, what the device has completed
 * for it. GONE: and never anything again. */
void slots_pass_on(struct object *signal, bool gone);

/* Records what is finished, looking past at most 64 that are not. Returns how many, 0 also when
 * another thread is at it: then only what is the application's is passed on. By the monitor. */
uint32_t slot_ring_collect(struct slot_ring *ring);

/* Finishes everything that is outstanding, untimed with CAUSE. Waits for a collector to leave. What
 * is owed to the application stays in the ring, for the monitor. Returns how many could not be
 * finished, because the collector does not leave: the program may be ending in a signal handler
 * that interrupted it. */
uint64_t slot_ring_give_up(struct slot_ring *ring, enum record_untimed cause);
/* The device will complete nothing more: passes on what it has completed (not when the runtime is
 * gone, too), and forgets the rest. */
void slot_ring_end(struct slot_ring *ring, bool runtime_is_gone);

bool slot_ring_is_empty(const struct slot_ring *ring);
uint64_t slot_ring_outstanding(const struct slot_ring *ring);
bool slot_is_finished(const struct slot_ring *ring, uint64_t sequence);

/* Returns when no collector is looking at SIGNAL: it may be destroyed then. */
void slots_await_collectors(const amd_signal_t *signal);

#endif
