/* What the files of completion slots share: completion_slots.c has the rings, and takes and settles
 * slots; slot_collect.c collects them; slot_borrowed.c passes borrowed completions on;
 * slot_signals.c makes the slots' signals. The phases and the memory order are in
 * completion_slots.h. Functions that a collection calls for each slot are inline. */
#ifndef CAPTURE_HSA_SLOT_PARTS_H
#define CAPTURE_HSA_SLOT_PARTS_H

#include "capture/hsa/completion.h"
#include "capture/hsa/completion_slots.h"

#define SLOT_PHASE_MASK	      ((1u << SLOT_PHASE_BITS) - 1)
#define SLOT_STATE(seq, name) ((uint64_t)(seq) << SLOT_PHASE_BITS | (name))

/* Changes the phase of the use SEQUENCE. Returns false when it is not in FROM. */
static inline bool slot_move(struct slot *slot, uint64_t sequence, enum slot_phase from,
			     enum slot_phase to)
{
	uint64_t expected = SLOT_STATE(sequence, from);

	return atomic_compare_exchange_strong_explicit(&slot->state, &expected,
						       SLOT_STATE(sequence, to),
						       memory_order_acq_rel, memory_order_acquire);
}

/* Returns the slot's completion source; NULL until its first use is filled in. */
static inline const struct completion_source *slot_source(const struct slot *slot)
{
	return atomic_load_explicit(&slot->source, memory_order_relaxed);
}

/* CLAIMED to DONE, with RESULT. Called by the thread that has claimed the slot. */
static inline void slot_conclude(struct slot *slot, uint64_t sequence,
				 const struct completion *result)
{
	slot->untimed = result->untimed;
	slot->start = result->untimed ? 0 : result->start;
	slot->end = result->untimed ? 0 : result->end;
	atomic_store_explicit(&slot->state, SLOT_STATE(sequence, SLOT_DONE), memory_order_release);
}

/* FROM to DONE, with RESULT. Of all threads that try, exactly one succeeds. */
static inline bool slot_finish(struct slot *slot, uint64_t sequence, enum slot_phase from,
			       const struct completion *result)
{
	if (!slot_move(slot, sequence, from, SLOT_CLAIMED))
		return false;
	if (slot_source(slot)->pass_on && from == SLOT_PENDING)
		slot_source(slot)->pass_on(slot, result);
	slot_conclude(slot, sequence, result);
	return true;
}

/* Returns the memory of the application's signal, or NULL. */
static inline const amd_signal_t *slot_watched_block(const struct slot *slot)
{
	const struct object *watched = atomic_load_explicit(&slot->watched, memory_order_relaxed);

	return watched ? (const amd_signal_t *)(uintptr_t)atomic_load(&watched->key) : NULL;
}

/* ---- completion_slots.c ---- */

/* Returns one more than the highest id of a ring; the lowest is 1. */
uint32_t slot_ring_ids(void);

/* Returns the ring with this id, or NULL while it is being created. */
struct slot_ring *slot_ring_by_id(uint32_t id);

/* ---- slot_borrowed.c ---- */

/* Passes the completion of a BORROWED slot on if the device is done by now. */
void slot_poll_borrowed(struct slot *slot, uint64_t sequence);

/* Claims a slot with a borrowed completion, for SIGNAL or (NULL) for any, whose completion is not
 * yet passed on. *RET_STATE is its state before. */
bool slot_claim_borrowed(struct slot *slot, const struct object *signal, uint64_t *ret_state);

/* Passes the completion on. Called by the thread that has claimed the slot, which was in STATE
 * before. Returns false when the device is not done; the slot is then still CLAIMED. */
bool slot_pass_on(struct slot *slot, uint64_t state);

/* Passes borrowed completions on while another thread has the collector lock; that thread may be
 * stopped. Slots are claimed before they are read, because that thread may free them. */
void slot_ring_pass_on_unlocked(struct slot_ring *ring);

#endif
