/* Completion slots: their rings, and taking and settling a slot. Phases and memory orders are
 * described in the header; slot_parts.h names the other files. */
#include "capture/hsa/completion_slots.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "capture/hsa/slot_parts.h"

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
	atomic_store_explicit(&slot->state, SLOT_STATE(tail, SLOT_PREPARING), memory_order_release);
	*ret_sequence = tail;
	return slot;
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
	over = slot_source(slot)->is_over(slot, certain || !slot_source(slot)->is_copy, &result);
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

uint32_t slot_ring_ids(void)
{
	return atomic_load(&ring_count);
}

struct slot_ring *slot_ring_by_id(uint32_t id)
{
	return atomic_load_explicit(&rings[id], memory_order_acquire);
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
	return state != SLOT_STATE(sequence, SLOT_PREPARING) &&
	       state != SLOT_STATE(sequence, SLOT_PENDING) &&
	       state != SLOT_STATE(sequence, SLOT_CLAIMED);
}
