/* Borrowed completions: the application's signal is still to be decremented for a slot when the
 * device has completed the packet (completion_slots.h). */
#include "capture/hsa/slot_parts.h"

void slot_poll_borrowed(struct slot *slot, uint64_t sequence)
{
	struct completion result = {0};

	if (!slot_source(slot)->is_over(slot, false, &result) ||
	    !slot_move(slot, sequence, SLOT_BORROWED, SLOT_CLAIMED))
		return;
	slot_source(slot)->pass_on(slot, &result);
	atomic_store_explicit(&slot->state, SLOT_STATE(sequence, SLOT_RECORDED),
			      memory_order_release);
}

bool slot_claim_borrowed(struct slot *slot, const struct object *signal, uint64_t *ret_state)
{
	uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
	uint64_t phase = state & SLOT_PHASE_MASK;

	if ((phase != SLOT_PENDING && phase != SLOT_BORROWED) ||
	    slot_source(slot) != &completion_borrow)
		return false;
	if (signal && atomic_load_explicit(&slot->watched, memory_order_relaxed) != signal)
		return false;
	*ret_state = state;
	return slot_move(slot, state >> SLOT_PHASE_BITS, (enum slot_phase)phase, SLOT_CLAIMED);
}

bool slot_pass_on(struct slot *slot, uint64_t state)
{
	uint64_t sequence = state >> SLOT_PHASE_BITS;
	struct completion result = {0};

	if (!slot_source(slot)->is_over(slot, false, &result))
		return false;
	slot_source(slot)->pass_on(slot, &result);
	if ((state & SLOT_PHASE_MASK) == SLOT_PENDING)
		slot_conclude(slot, sequence, &result);
	else
		atomic_store_explicit(&slot->state, SLOT_STATE(sequence, SLOT_RECORDED),
				      memory_order_release);
	return true;
}

void slot_ring_pass_on_unlocked(struct slot_ring *ring)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

	for (; head < tail; head++) {
		struct slot *slot = &ring->slots[head & ring->mask];
		uint64_t state;

		/* Stored before the claim, so that a thread that destroys the signal and finds the
		 * slot claimed waits for this one (slots_await_collectors). */
		atomic_store(&ring->completes, slot_watched_block(slot));
		if (slot_claim_borrowed(slot, NULL, &state) && !slot_pass_on(slot, state))
			atomic_store_explicit(&slot->state, state, memory_order_release);
	}
	atomic_store(&ring->completes, NULL);
}

/* slots_pass_on for one ring. Needs no lock: each slot is claimed before it is read. */
static void ring_pass_on(struct slot_ring *ring, struct object *signal, bool gone)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

	for (; head < tail; head++) {
		struct slot *slot = &ring->slots[head & ring->mask];
		uint64_t state;

		if (!slot_claim_borrowed(slot, signal, &state) || slot_pass_on(slot, state))
			continue;
		if (gone) {
			atomic_store_explicit(&slot->watched, NULL, memory_order_relaxed);
			atomic_fetch_sub_explicit(&signal->borrowed, 1, memory_order_relaxed);
		}
		atomic_store_explicit(&slot->state, state, memory_order_release);
	}
}

void slots_pass_on(struct object *signal, bool gone)
{
	uint32_t count = slot_ring_ids();

	for (uint32_t i = 1; i < count; i++) {
		struct slot_ring *ring = slot_ring_by_id(i);

		if (ring)
			ring_pass_on(ring, signal, gone);
	}
}
