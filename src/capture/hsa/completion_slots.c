/* Completion slots: taking, finishing and collecting them. Phases and memory orders are described
 * in the header. slot_signals.c makes the slots' own signals. */
#include "capture/hsa/completion_slots.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "capture/capture_session.h"
#include "capture/hsa/completion.h"
#include "capture/hsa/hsa_calls.h"

#define LOOK_AHEAD	 64	 /* unfinished slots that one collection looks past */
#define GIVE_UP_YIELDS	 100000u /* limit of each wait for another thread */
#define PHASE_MASK	 ((1u << SLOT_PHASE_BITS) - 1)
#define STATE(seq, name) ((uint64_t)(seq) << SLOT_PHASE_BITS | (name))

/* By id; entry 0 is not used, so that no reference is 0. A ring's entry is stored with release
 * after the ring is complete; readers load it with acquire and may still find NULL. */
static _Atomic(struct slot_ring *) rings[SLOT_RING_MOST];
static _Atomic uint32_t ring_count = 1;

/* Zeroed; the kernel provides no memory for slots that are never used. */
static struct slot *slots_map(size_t bytes)
{
	void *slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return slots == MAP_FAILED ? NULL : slots;
}

int slot_ring_create(uint64_t slot_count, struct slot_ring **ret_ring)
{
	struct slot_ring *ring;
	uint32_t id;

	if (atomic_load(&ring_count) >= SLOT_RING_MOST)
		return -ENOSPC;
	ring = aligned_alloc(64, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	*ring = (struct slot_ring){.mask = slot_count - 1};
	ring->slots = slots_map(slot_count * sizeof(*ring->slots));
	id = ring->slots ? atomic_fetch_add(&ring_count, 1) : SLOT_RING_MOST;
	if (id >= SLOT_RING_MOST) {
		if (ring->slots)
			munmap(ring->slots, slot_count * sizeof(*ring->slots));
		free(ring);
		return -ENOMEM;
	}
	ring->id = id;
	atomic_store_explicit(&rings[id], ring, memory_order_release);
	*ret_ring = ring;
	return 0;
}

struct slot *slot_take(struct slot_ring *ring, uint64_t *ret_sequence)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	struct slot *slot;

	do {
		/* Pairs with the release in slot_ring_collect: the slot's last use has ended. */
		uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

		/* Other threads may have taken slots, and the collector may have freed them, since
		 * `tail` was loaded. It is then below `head`, and the exchange loads it again. */
		if (tail >= head && tail - head > ring->mask)
			return NULL;
	} while (!atomic_compare_exchange_weak(&ring->tail, &tail, tail + 1));
	slot = &ring->slots[tail & ring->mask];
	atomic_store_explicit(&slot->watched, NULL, memory_order_relaxed);
	slot->untimed = RECORD_UNTIMED_NO;
	slot->start = slot->end = slot->low_ns = slot->old_start = slot->old_end = 0;
	slot->signal = NULL;
	atomic_store_explicit(&slot->state, STATE(tail, SLOT_PREPARING), memory_order_release);
	*ret_sequence = tail;
	return slot;
}

static bool slot_move(struct slot *slot, uint64_t sequence, enum slot_phase from,
		      enum slot_phase to)
{
	uint64_t expected = STATE(sequence, from);

	return atomic_compare_exchange_strong_explicit(&slot->state, &expected, STATE(sequence, to),
						       memory_order_acq_rel, memory_order_acquire);
}

bool slot_submit(struct slot *slot, uint64_t sequence)
{
	return slot_move(slot, sequence, SLOT_PREPARING, SLOT_PENDING);
}

void slot_cancel(struct slot *slot, uint64_t sequence)
{
	if (!slot_move(slot, sequence, SLOT_PREPARING, SLOT_RECORDED))
		slot_move(slot, sequence, SLOT_PENDING, SLOT_RECORDED);
}

static const struct completion_source *source_of(const struct slot *slot)
{
	return atomic_load_explicit(&slot->source, memory_order_relaxed);
}

/* CLAIMED to DONE, with RESULT. Called by the thread that has claimed the slot. */
static void slot_conclude(struct slot *slot, uint64_t sequence, const struct completion *result)
{
	slot->untimed = result->untimed;
	slot->start = result->untimed ? 0 : result->start;
	slot->end = result->untimed ? 0 : result->end;
	atomic_store_explicit(&slot->state, STATE(sequence, SLOT_DONE), memory_order_release);
}

/* FROM to DONE, with RESULT. Of all threads that try, exactly one succeeds. */
static bool slot_finish(struct slot *slot, uint64_t sequence, enum slot_phase from,
			const struct completion *result)
{
	if (!slot_move(slot, sequence, from, SLOT_CLAIMED))
		return false;
	if (source_of(slot)->pass_on && from == SLOT_PENDING)
		source_of(slot)->pass_on(slot, result);
	slot_conclude(slot, sequence, result);
	return true;
}

bool slot_settle(uint64_t reference, enum record_untimed cause, bool certain)
{
	struct slot_ring *ring =
		atomic_load_explicit(&rings[reference >> 48], memory_order_acquire);
	uint64_t sequence = reference & 0xffffffffffffull;
	struct slot *slot = &ring->slots[sequence & ring->mask];
	struct completion result = {.untimed = cause};
	bool over;

	/* The slot is not submitted yet, and its signal is already used again. */
	if (slot_finish(slot, sequence, SLOT_PREPARING, &result))
		return false;
	/* If this fails, another thread has finished the use, so it was over. The claim comes
	 * before the slot is read, because the slot could have its next use by now. */
	if (!slot_move(slot, sequence, SLOT_PENDING, SLOT_CLAIMED))
		return true;
	result.untimed = RECORD_UNTIMED_NO;
	/* For a dispatch the ticks decide, whatever the caller knows. */
	over = source_of(slot)->is_over(slot, certain || !source_of(slot)->is_copy, &result);
	if (!over)
		result.untimed = cause;
	slot_conclude(slot, sequence, &result);
	return over;
}

bool slot_reference_is_copy(uint64_t reference)
{
	struct slot_ring *ring =
		atomic_load_explicit(&rings[reference >> 48], memory_order_acquire);

	return ring && !ring->tag;
}

/* Finishes a PENDING slot if the device is done. */
static bool slot_poll(struct slot *slot, uint64_t sequence)
{
	struct completion result = {0};

	return source_of(slot)->is_over(slot, false, &result) &&
	       slot_finish(slot, sequence, SLOT_PENDING, &result);
}

/* Passes the completion of a BORROWED slot on if the device is done by now. */
static void slot_poll_borrowed(struct slot *slot, uint64_t sequence)
{
	struct completion result = {0};

	if (!source_of(slot)->is_over(slot, false, &result) ||
	    !slot_move(slot, sequence, SLOT_BORROWED, SLOT_CLAIMED))
		return;
	source_of(slot)->pass_on(slot, &result);
	atomic_store_explicit(&slot->state, STATE(sequence, SLOT_RECORDED), memory_order_release);
}

/* The memory of the application's signal, or NULL. */
static const amd_signal_t *block_watched(const struct slot *slot)
{
	const struct object *watched = atomic_load_explicit(&slot->watched, memory_order_relaxed);

	return watched ? (const amd_signal_t *)(uintptr_t)atomic_load(&watched->key) : NULL;
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
	atomic_store(&ring->looks_at, block_watched(slot));
	state = atomic_load(&slot->state);
	if (state == STATE(sequence, SLOT_BORROWED))
		slot_poll_borrowed(slot, sequence);
	else if (state == STATE(sequence, SLOT_PENDING) && slot_poll(slot, sequence) && watched)
		atomic_compare_exchange_strong(&watched->word, &reference, 0);
	atomic_store(&ring->looks_at, NULL);
}

void slots_await_collectors(const amd_signal_t *signal)
{
	uint32_t count = atomic_load(&ring_count);

	for (uint32_t i = 1; i < count; i++) {
		struct slot_ring *ring = atomic_load_explicit(&rings[i], memory_order_acquire);

		while (ring && (atomic_load(&ring->looks_at) == signal ||
				atomic_load(&ring->completes) == signal))
			sched_yield();
	}
}

static void record_done(const struct slot_ring *ring, const struct slot *slot)
{
	struct writer *w = session_writer();

	if (source_of(slot)->is_copy) {
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
	uint64_t phase = state & PHASE_MASK;

	if (state == STATE(sequence, SLOT_RECORDED))
		return true;
	if (state >> SLOT_PHASE_BITS == sequence &&
	    (phase == SLOT_PENDING || phase == SLOT_BORROWED)) {
		if (!source_of(slot)->is_watching)
			slot_poll(slot, sequence);
		else if (may_watch)
			watched_poll(slot, sequence, ring);
		state = atomic_load_explicit(&slot->state, memory_order_acquire);
	}
	if (state != STATE(sequence, SLOT_DONE))
		return state == STATE(sequence, SLOT_RECORDED);
	record_done(ring, slot);
	++*recorded;
	atomic_store_explicit(&slot->state, STATE(sequence, SLOT_RECORDED), memory_order_relaxed);
	return true;
}

/* ---- borrowed completions ---- */

/* Claims a slot with a borrowed completion, for SIGNAL or (NULL) for any, whose completion is not
 * yet passed on. *RET_STATE is its state before. */
static bool slot_claim_borrowed(struct slot *slot, const struct object *signal, uint64_t *ret_state)
{
	uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
	uint64_t phase = state & PHASE_MASK;

	if ((phase != SLOT_PENDING && phase != SLOT_BORROWED) ||
	    source_of(slot) != &completion_borrow)
		return false;
	if (signal && atomic_load_explicit(&slot->watched, memory_order_relaxed) != signal)
		return false;
	*ret_state = state;
	return slot_move(slot, state >> SLOT_PHASE_BITS, (enum slot_phase)phase, SLOT_CLAIMED);
}

/* Passes the completion on. Called by the thread that has claimed the slot, which was in STATE
 * before. Returns false when the device is not done; the slot is then still CLAIMED. */
static bool slot_pass_on(struct slot *slot, uint64_t state)
{
	uint64_t sequence = state >> SLOT_PHASE_BITS;
	struct completion result = {0};

	if (!source_of(slot)->is_over(slot, false, &result))
		return false;
	source_of(slot)->pass_on(slot, &result);
	if ((state & PHASE_MASK) == SLOT_PENDING)
		slot_conclude(slot, sequence, &result);
	else
		atomic_store_explicit(&slot->state, STATE(sequence, SLOT_RECORDED),
				      memory_order_release);
	return true;
}

/* Passes borrowed completions on while another thread has the collector lock; that thread may be
 * stopped. Slots are claimed before they are read, because that thread may free them. */
static void ring_pass_on_unlocked(struct slot_ring *ring)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

	for (; head < tail; head++) {
		struct slot *slot = &ring->slots[head & ring->mask];
		uint64_t state;

		/* Stored before the claim, so that a thread that destroys the signal and finds the
		 * slot claimed waits for this one (slots_await_collectors). */
		atomic_store(&ring->completes, block_watched(slot));
		if (slot_claim_borrowed(slot, NULL, &state) && !slot_pass_on(slot, state))
			atomic_store_explicit(&slot->state, state, memory_order_release);
	}
	atomic_store(&ring->completes, NULL);
}

/* ---- collecting ---- */

static bool collector_try(struct slot_ring *ring)
{
	return !atomic_load_explicit(&ring->collecting, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&ring->collecting, 1, memory_order_acquire);
}

static void collector_leave(struct slot_ring *ring)
{
	atomic_store_explicit(&ring->collecting, 0, memory_order_release);
}

void slot_ring_make_more(struct slot_ring *ring)
{
	if (!slot_ring_needs_signals(ring) || !collector_try(ring))
		return;
	slot_ring_make_step(ring);
	collector_leave(ring);
}

uint32_t slot_ring_collect(struct slot_ring *ring)
{
	uint64_t tail, head;
	uint32_t waiting = 0, recorded = 0;

	if (slot_ring_is_empty(ring))
		return 0;
	if (!collector_try(ring)) {
		if (completion_borrowed())
			ring_pass_on_unlocked(ring);
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
	collector_leave(ring);
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

/* Finishes a slot as untimed with CAUSE and records it. Returns true when nothing is left to do for
 * it, false when it is BORROWED. Called by the collector. */
static bool slot_give_up(struct slot_ring *ring, uint64_t sequence, enum record_untimed cause)
{
	struct slot *slot = &ring->slots[sequence & ring->mask];
	struct completion result = {.untimed = cause};
	uint64_t reference = slot_reference(ring, sequence);
	struct object *watched = atomic_load_explicit(&slot->watched, memory_order_relaxed);
	uint32_t recorded = 0;

	/* Waits for a thread that is just taking or settling the slot. After the limit the slot is
	 * left as it is. */
	for (uint32_t i = 0; !slot_collect(ring, sequence, false, &recorded); i++) {
		if (i == GIVE_UP_YIELDS)
			return true;
		if (atomic_load_explicit(&slot->state, memory_order_acquire) ==
		    STATE(sequence, SLOT_BORROWED))
			return false;
		if (source_of(slot) && source_of(slot)->pass_on) {
			if (slot_keep_borrowed(ring, slot, sequence, cause))
				return false;
			sched_yield();
		} else if (!slot_finish(slot, sequence, SLOT_PENDING, &result)) {
			sched_yield();
		}
	}
	if (watched)
		atomic_compare_exchange_strong(&watched->word, &reference, 0);
	return true;
}

/* Takes the collector lock. The wait is limited, because a collector may be stuck in a runtime that
 * has failed. */
static bool collector_await(struct slot_ring *ring)
{
	for (uint32_t i = 0; !collector_try(ring); i++) {
		if (i == GIVE_UP_YIELDS)
			return false;
		sched_yield();
	}
	return true;
}

static uint64_t ring_unrecorded(const struct slot_ring *ring)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	uint64_t count = 0;

	for (uint64_t i = atomic_load(&ring->head); i < tail; i++)
		count += atomic_load_explicit(&ring->slots[i & ring->mask].state,
					      memory_order_acquire) != STATE(i, SLOT_RECORDED);
	return count;
}

uint64_t slot_ring_give_up(struct slot_ring *ring, enum record_untimed cause)
{
	uint64_t tail, head;

	if (!collector_await(ring))
		return ring_unrecorded(ring);
	tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	for (uint64_t i = head; i < tail; i++) {
		if (slot_give_up(ring, i, cause) && i == head)
			head++;
	}
	atomic_store_explicit(&ring->head, head, memory_order_release);
	collector_leave(ring);
	return 0;
}

/* ---- passing borrowed completions on ---- */

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
	uint32_t count = atomic_load(&ring_count);

	for (uint32_t i = 1; i < count; i++) {
		struct slot_ring *ring = atomic_load_explicit(&rings[i], memory_order_acquire);

		if (ring)
			ring_pass_on(ring, signal, gone);
	}
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
		source_of(slot)->pass_on(slot, &untimed);
		atomic_store_explicit(&slot->state, STATE(head, SLOT_RECORDED),
				      memory_order_release);
	}
	atomic_store_explicit(&ring->head, head, memory_order_release);
	collector_leave(ring);
}

bool slot_ring_is_empty(const struct slot_ring *ring)
{
	return !slot_ring_outstanding(ring);
}

uint64_t slot_ring_outstanding(const struct slot_ring *ring)
{
	/* `head` is loaded first: it never passes the tail, so the difference is not negative. */
	uint64_t head = atomic_load(&ring->head);

	return atomic_load(&ring->tail) - head;
}

bool slot_is_finished(const struct slot_ring *ring, uint64_t sequence)
{
	uint64_t state;

	if (atomic_load_explicit(&ring->head, memory_order_acquire) > sequence)
		return true;
	state = atomic_load_explicit(&ring->slots[sequence & ring->mask].state,
				     memory_order_acquire);
	return state != STATE(sequence, SLOT_PREPARING) && state != STATE(sequence, SLOT_PENDING) &&
	       state != STATE(sequence, SLOT_CLAIMED);
}
