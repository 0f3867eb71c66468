/* Collecting of completion slots (completion_slots.h): the collector finds what the device has
 * finished, records it and frees slots at the ring's head; or gives up what is outstanding. */
#include <sched.h>

#include "capture/capture_session.h"
#include "capture/hsa/slot_parts.h"

#define LOOK_AHEAD 64 /* unfinished slots that one collection looks past */

/* Finishes a PENDING slot if the device is done. */
static bool slot_poll(struct slot *slot, uint64_t sequence)
{
	struct completion result = {0};

	return slot_source(slot)->is_over(slot, false, &result) &&
	       slot_finish(slot, sequence, SLOT_PENDING, &result);
}

/* Polls a slot whose source reads or decrements the application's signal. Called by the
 * collector. */
static void watched_poll(struct slot *slot, uint64_t sequence, struct slot_ring *ring)
{
	struct object *watched = atomic_load_explicit(&slot->watched, memory_order_relaxed);
	uint64_t reference = slot_reference(ring, sequence);
	uint64_t state;

	/* Sequentially consistent: pairs with slots_await_collectors. Either the destroying thread,
	 * which has settled the slot before, sees which signal is read here, or this thread sees
	 * that the slot is settled. */
	atomic_store(&ring->looks_at, slot_watched_block(slot));
	state = atomic_load(&slot->state);
	if (state == SLOT_STATE(sequence, SLOT_BORROWED))
		slot_poll_borrowed(slot, sequence);
	else if (state == SLOT_STATE(sequence, SLOT_PENDING) && slot_poll(slot, sequence) &&
		 watched)
		atomic_compare_exchange_strong(&watched->word, &reference, 0);
	atomic_store(&ring->looks_at, NULL);
}

static void record_done(const struct slot_ring *ring, const struct slot *slot)
{
	struct writer *w = session_writer();

	if (slot_source(slot)->is_copy) {
		struct record_copy_done copy = {
			.copy_id = slot->subject, .start = slot->start, .end = slot->end};

		writer_put(w, RECORD_COPY_DONE, slot->untimed, &copy, sizeof(copy));
	} else {
		struct record_dispatch_done *done =
			writer_reserve(w, RECORD_DISPATCH_DONE, sizeof(*done));

		if (!done)
			return;
		done->packet_index = slot->subject;
		done->start_tick = slot->start;
		done->end_tick = slot->end;
		done->untimed = slot->untimed;
		writer_commit(w, done, RECORD_DISPATCH_DONE, sizeof(*done), ring->tag);
	}
}

/* Polls and records one slot. Returns true when the slot may be freed. MAY_WATCH: signals of the
 * application's may be read. Called by the collector. */
static bool slot_collect(struct slot_ring *ring, uint64_t sequence, bool may_watch,
			 uint32_t *recorded)
{
	struct slot *slot = &ring->slots[sequence & ring->mask];
	uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
	uint64_t phase = state & SLOT_PHASE_MASK;

	if (state == SLOT_STATE(sequence, SLOT_RECORDED))
		return true;
	if (state >> SLOT_PHASE_BITS == sequence &&
	    (phase == SLOT_PENDING || phase == SLOT_BORROWED)) {
		if (!slot_source(slot)->is_watching)
			slot_poll(slot, sequence);
		else if (may_watch)
			watched_poll(slot, sequence, ring);
		state = atomic_load_explicit(&slot->state, memory_order_acquire);
	}
	if (state != SLOT_STATE(sequence, SLOT_DONE))
		return state == SLOT_STATE(sequence, SLOT_RECORDED);
	record_done(ring, slot);
	++*recorded;
	atomic_store_explicit(&slot->state, SLOT_STATE(sequence, SLOT_RECORDED),
			      memory_order_relaxed);
	return true;
}

void slot_ring_make_more(struct slot_ring *ring)
{
	if (!slot_ring_needs_signals(ring) || !owner_lock_try(&ring->collecting))
		return;
	slot_ring_make_step(ring);
	owner_lock_release(&ring->collecting);
}

uint32_t slot_ring_collect(struct slot_ring *ring)
{
	uint64_t tail, head;
	uint32_t waiting = 0, recorded = 0;

	if (slot_ring_is_empty(ring))
		return 0;
	if (!owner_lock_try(&ring->collecting)) {
		if (completion_borrowed())
			slot_ring_pass_on_unlocked(ring);
		return 0;
	}
	tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	for (uint64_t i = head; i < tail && waiting < LOOK_AHEAD; i++) {
		if (!slot_collect(ring, i, true, &recorded))
			waiting++;
		else if (i == head)
			/* Pairs with the acquire in slot_take: the slot's next user comes after all
			 * that was done to it here. */
			atomic_store_explicit(&ring->head, ++head, memory_order_release);
	}
	owner_lock_release(&ring->collecting);
	return recorded;
}

/* PENDING to BORROWED: records the slot as untimed and keeps the application's completion until the
 * device is done. */
static bool slot_keep_borrowed(struct slot_ring *ring, struct slot *slot, uint64_t sequence,
			       enum record_untimed cause)
{
	/* In one step, so that the monitor can pass the completion on even if this thread is
	 * stopped here. */
	if (!slot_move(slot, sequence, SLOT_PENDING, SLOT_BORROWED))
		return false;
	slot->untimed = cause;
	record_done(ring, slot);
	return true;
}

/* Finishes a slot as untimed with CAUSE and records it. Waits until LIMIT for a thread that is just
 * taking or settling the slot. Returns the slot's phase, SLOT_RECORDED or SLOT_BORROWED; 0: that
 * thread is still changing it. Called by the collector. */
static unsigned int slot_give_up(struct slot_ring *ring, uint64_t sequence,
				 enum record_untimed cause, struct timer_limit limit)
{
	struct slot *slot = &ring->slots[sequence & ring->mask];
	struct completion result = {.untimed = cause};
	uint64_t reference = slot_reference(ring, sequence);
	struct object *watched = atomic_load_explicit(&slot->watched, memory_order_relaxed);
	uint32_t recorded = 0;

	while (!slot_collect(ring, sequence, false, &recorded)) {
		if (atomic_load_explicit(&slot->state, memory_order_acquire) ==
		    SLOT_STATE(sequence, SLOT_BORROWED))
			return SLOT_BORROWED;
		if (slot_source(slot) && slot_source(slot)->pass_on) {
			if (slot_keep_borrowed(ring, slot, sequence, cause))
				return SLOT_BORROWED;
		} else if (slot_finish(slot, sequence, SLOT_PENDING, &result)) {
			continue;
		}
		if (timer_is_over(limit))
			return 0;
		sched_yield();
	}
	if (watched)
		atomic_compare_exchange_strong(&watched->word, &reference, 0);
	return SLOT_RECORDED;
}

/* Takes the collector lock. The wait is limited, because a collector may be stuck in a runtime that
 * has failed. */
static bool collector_await(struct slot_ring *ring)
{
	return owner_lock_take(&ring->collecting, timer_start(TIMER_HSA_LOCK));
}

static uint64_t ring_unrecorded(const struct slot_ring *ring)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	uint64_t count = 0;

	for (uint64_t i = atomic_load(&ring->head); i < tail; i++)
		count += atomic_load_explicit(&ring->slots[i & ring->mask].state,
					      memory_order_acquire) != SLOT_STATE(i, SLOT_RECORDED);
	return count;
}

uint64_t slot_ring_give_up(struct slot_ring *ring, enum record_untimed cause,
			   struct timer_limit limit)
{
	uint64_t tail, head, left = 0;

	if (!collector_await(ring))
		return ring_unrecorded(ring);
	tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	for (uint64_t i = head; i < tail; i++) {
		unsigned int phase = slot_give_up(ring, i, cause, limit);

		head += phase == SLOT_RECORDED && i == head;
		left += !phase;
	}
	atomic_store_explicit(&ring->head, head, memory_order_release);
	owner_lock_release(&ring->collecting);
	return left;
}

void slot_ring_end(struct slot_ring *ring, bool runtime_is_gone)
{
	uint64_t tail, head;

	if (slot_ring_is_empty(ring) || !collector_await(ring))
		return;
	tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	for (; head < tail; head++) {
		struct slot *slot = &ring->slots[head & ring->mask];
		struct completion untimed = {.untimed = slot->untimed};
		uint64_t state;

		if (!slot_claim_borrowed(slot, NULL, &state) ||
		    (!runtime_is_gone && slot_pass_on(slot, state)))
			continue;
		/* Drops our bookkeeping; sends no completion. */
		atomic_store_explicit(&slot->watched, NULL, memory_order_relaxed);
		slot_source(slot)->pass_on(slot, &untimed);
		atomic_store_explicit(&slot->state, SLOT_STATE(head, SLOT_RECORDED),
				      memory_order_release);
	}
	atomic_store_explicit(&ring->head, head, memory_order_release);
	owner_lock_release(&ring->collecting);
}
