#include "capture/hsa/slots.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "capture/hsa/hsa_anchors.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/session.h"

#define LOOK_AHEAD	 64
#define TICKS_LATE_NS	 100000000u /* a value without ticks for so long: none will come */
#define STALE_COPY_NS	 100000u
#define GIVE_UP_YIELDS	 100000u
#define PHASE_MASK	 7u
#define STATE(seq, name) ((uint64_t)(seq) << 3 | (name))

static _Atomic(struct slot_ring *) rings[SLOT_RING_MOST];
static _Atomic uint32_t ring_count = 1;

/* The application's signal that the monitor is looking at; its destruction waits meanwhile. */
static _Atomic(const amd_signal_t *) monitor_looks_at;

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
	ring->slots = aligned_alloc(64, slot_count * sizeof(*ring->slots));
	id = ring->slots ? atomic_fetch_add(&ring_count, 1) : SLOT_RING_MOST;
	if (id >= SLOT_RING_MOST) {
		free(ring->slots);
		free(ring);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < slot_count; i++)
		ring->slots[i] = (struct slot){0};
	ring->id = id;
	atomic_store_explicit(&rings[id], ring, memory_order_release);
	*ret_ring = ring;
	return 0;
}

void slot_ring_make_signals(struct slot_ring *ring)
{
	for (uint64_t i = 0; i <= ring->mask; i++) {
		hsa_signal_t signal = {0};

		if (ring->slots[i].own)
			continue;
		/* GPU_ONLY: plain memory, no interrupt event (of which a process has 4,096). */
		if (!hsa_next.hsa_amd_signal_create ||
		    hsa_next.hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY,
						   &signal) != HSA_STATUS_SUCCESS)
			return;
		/* A runtime out of events has been seen to report success with handle 0. */
		ring->slots[i].own = (amd_signal_t *)(uintptr_t)signal.handle;
	}
}

/* The device may write to its signal yet. */
static bool slot_is_abandoned(const struct slot *slot)
{
	return slot->kind == SLOT_OWN && (slot->untimed == RECORD_UNTIMED_QUEUE_DESTROYED ||
					  slot->untimed == RECORD_UNTIMED_SHUTDOWN);
}

void slot_ring_drop_signals(struct slot_ring *ring, bool forget)
{
	for (uint64_t i = 0; i <= ring->mask; i++) {
		amd_signal_t *own = ring->slots[i].own;

		if (own && !forget && !slot_is_abandoned(&ring->slots[i]))
			hsa_next.hsa_signal_destroy((hsa_signal_t){(uint64_t)(uintptr_t)own});
		ring->slots[i].own = NULL;
	}
}

struct slot *slot_take(struct slot_ring *ring, uint64_t *ret_sequence)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	struct slot *slot;

	do {
		/* Pairs with the release in slot_ring_collect: the slot's last user is gone. */
		if (tail - atomic_load_explicit(&ring->head, memory_order_acquire) > ring->mask)
			return NULL;
	} while (!atomic_compare_exchange_weak(&ring->tail, &tail, tail + 1));
	slot = &ring->slots[tail & ring->mask];
	slot->watched = NULL;
	slot->untimed = RECORD_UNTIMED_NO;
	slot->start = slot->end = slot->low_ns = 0;
	slot->signal = NULL;
	atomic_store_explicit(&slot->state, STATE(tail, SLOT_PREPARING), memory_order_release);
	*ret_sequence = tail;
	return slot;
}

static int64_t value_read(amd_signal_t *signal)
{
	return __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE);
}

bool slot_use_own(struct slot *slot)
{
	amd_signal_t *own = slot->own;

	slot->kind = SLOT_OWN;
	slot->signal = own;
	if (!own)
		return false;
	/* The device has not got the packet yet; the doorbell publishes these stores. */
	__atomic_store_n(&own->start_ts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&own->end_ts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&own->value, 1, __ATOMIC_RELAXED);
	return true;
}

void slot_use_watched(struct slot *slot, enum slot_kind kind, struct object *watched)
{
	slot->kind = kind;
	slot->watched = watched;
	slot->signal = (amd_signal_t *)(uintptr_t)atomic_load_explicit(&watched->key,
								       memory_order_relaxed);
	slot->value = value_read(slot->signal);
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

struct slot_result {
	uint32_t untimed;
	uint64_t start;
	uint64_t end;
};

/* By who has claimed the slot. */
static void slot_conclude(struct slot *slot, uint64_t sequence, const struct slot_result *result)
{
	slot->untimed = result->untimed;
	slot->start = result->untimed ? 0 : result->start;
	slot->end = result->untimed ? 0 : result->end;
	atomic_store_explicit(&slot->state, STATE(sequence, SLOT_DONE), memory_order_release);
}

/* Of all who try, one succeeds. */
static bool slot_finish(struct slot *slot, uint64_t sequence, enum slot_phase from,
			const struct slot_result *result)
{
	if (!slot_move(slot, sequence, from, SLOT_CLAIMED))
		return false;
	slot_conclude(slot, sequence, result);
	return true;
}

/* True when both ticks are there. The device may be writing them: end last. */
static bool ticks_read(amd_signal_t *signal, struct slot_result *result)
{
	result->end = __atomic_load_n(&signal->end_ts, __ATOMIC_ACQUIRE);
	result->start = __atomic_load_n(&signal->start_ts, __ATOMIC_ACQUIRE);
	return result->start && result->end;
}

/* A copy's times are the runtime's to know: on a copy engine they are not in the signal. */
static void copy_times(const struct slot *slot, struct slot_result *result)
{
	hsa_amd_profiling_async_copy_time_t time = {0};
	hsa_signal_t signal = {(uint64_t)(uintptr_t)slot->signal};
	uint64_t offset = hsa_anchors_host_offset();

	result->untimed = RECORD_UNTIMED_ZERO_TICK;
	if (!hsa_next.hsa_amd_profiling_get_async_copy_time ||
	    hsa_next.hsa_amd_profiling_get_async_copy_time(signal, &time) != HSA_STATUS_SUCCESS ||
	    !time.start || !time.end)
		return;
	result->start = time.start + offset;
	result->end = time.end + offset;
	/* The times of the signal's previous copy: this one left none. */
	if (result->end + STALE_COPY_NS < slot->submit_ns)
		return;
	result->untimed = RECORD_UNTIMED_NO;
}

static bool copy_is_over(struct slot *slot, struct slot_result *result, bool certain)
{
	if (!certain && value_read(slot->signal) >= slot->value)
		return false;
	copy_times(slot, result);
	return true;
}

bool slot_settle(uint64_t reference, enum record_untimed cause, bool certain)
{
	struct slot_ring *ring =
		atomic_load_explicit(&rings[reference >> 48], memory_order_acquire);
	uint64_t sequence = reference & 0xffffffffffffull;
	struct slot *slot = &ring->slots[sequence & ring->mask];
	struct slot_result result = {.untimed = cause};
	bool over;

	/* Not even submitted, and its signal is used again. */
	if (slot_finish(slot, sequence, SLOT_PREPARING, &result))
		return false;
	/* When the monitor was faster the use was over. Claimed before anything is looked at: the
	 * slot could be somebody else's by now. */
	if (!slot_move(slot, sequence, SLOT_PENDING, SLOT_CLAIMED))
		return true;
	result.untimed = RECORD_UNTIMED_NO;
	over = slot->kind == SLOT_COPY ? copy_is_over(slot, &result, certain)
				       : ticks_read(slot->signal, &result);
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

static bool own_poll(struct slot *slot, uint64_t sequence)
{
	struct slot_result result = {0};

	if (value_read(slot->signal) > 0)
		return false;
	if (!ticks_read(slot->signal, &result))
		result.untimed = RECORD_UNTIMED_ZERO_TICK;
	return slot_finish(slot, sequence, SLOT_PENDING, &result);
}

/* Decremented, and still no ticks: the device writes them first, unless it writes none. */
static bool ticks_are_late(struct slot *slot)
{
	uint64_t now = session_now_ns();

	if (!slot->low_ns)
		slot->low_ns = now;
	return now - slot->low_ns > TICKS_LATE_NS;
}

static bool watched_is_over(struct slot *slot, struct slot_result *result)
{
	bool is_low;

	if (slot->kind == SLOT_COPY)
		return copy_is_over(slot, result, false);
	is_low = value_read(slot->signal) < slot->value;
	if (ticks_read(slot->signal, result))
		return true;
	result->untimed = RECORD_UNTIMED_ZERO_TICK;
	return is_low && ticks_are_late(slot);
}

static bool watched_poll(struct slot *slot, uint64_t sequence, struct slot_ring *ring)
{
	struct slot_result result = {0};
	uint64_t reference = slot_reference(ring, sequence);
	bool finished = false;

	/* Sequentially consistent against slot_await_monitor: either the destroying thread, which
	 * has settled the slot before, sees what we look at, or we see that it is settled. */
	atomic_store(&monitor_looks_at, slot->signal);
	if (atomic_load(&slot->state) == STATE(sequence, SLOT_PENDING) &&
	    watched_is_over(slot, &result))
		finished = slot_finish(slot, sequence, SLOT_PENDING, &result);
	if (finished)
		atomic_compare_exchange_strong(&slot->watched->word, &reference, 0);
	atomic_store(&monitor_looks_at, NULL);
	return finished;
}

void slot_await_monitor(const amd_signal_t *signal)
{
	while (atomic_load(&monitor_looks_at) == signal)
		sched_yield();
}

static void record_done(const struct slot_ring *ring, const struct slot *slot)
{
	struct writer *w = session_writer();

	if (slot->kind == SLOT_COPY) {
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

/* True when the slot needs no more attention. */
static bool slot_collect(struct slot_ring *ring, uint64_t sequence, bool monitor,
			 uint32_t *recorded)
{
	struct slot *slot = &ring->slots[sequence & ring->mask];
	uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

	if (state == STATE(sequence, SLOT_RECORDED))
		return true;
	if (state == STATE(sequence, SLOT_PENDING)) {
		if (slot->kind == SLOT_OWN)
			own_poll(slot, sequence);
		else if (monitor)
			watched_poll(slot, sequence, ring);
		state = atomic_load_explicit(&slot->state, memory_order_acquire);
	}
	if (state != STATE(sequence, SLOT_DONE))
		return false;
	record_done(ring, slot);
	++*recorded;
	atomic_store_explicit(&slot->state, STATE(sequence, SLOT_RECORDED), memory_order_relaxed);
	return true;
}

static bool collector_try(struct slot_ring *ring)
{
	return !atomic_load_explicit(&ring->collecting, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&ring->collecting, 1, memory_order_acquire);
}

static void collector_leave(struct slot_ring *ring)
{
	atomic_store_explicit(&ring->collecting, 0, memory_order_release);
}

uint32_t slot_ring_collect(struct slot_ring *ring, bool monitor)
{
	uint64_t tail, head;
	uint32_t waiting = 0, recorded = 0;

	if (slot_ring_is_empty(ring) || !collector_try(ring))
		return 0;
	tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	for (uint64_t i = head; i < tail && waiting < LOOK_AHEAD; i++) {
		if (!slot_collect(ring, i, monitor, &recorded))
			waiting++;
		else if (i == head)
			/* Release: whoever takes the slot next comes after what we did to it. */
			atomic_store_explicit(&ring->head, ++head, memory_order_release);
	}
	collector_leave(ring);
	return recorded;
}

static void slot_give_up(struct slot_ring *ring, uint64_t sequence, enum record_untimed cause)
{
	struct slot *slot = &ring->slots[sequence & ring->mask];
	struct slot_result result = {.untimed = cause};
	uint64_t reference = slot_reference(ring, sequence);
	uint32_t recorded = 0;

	/* A thread that is just taking or settling the slot is given a moment. */
	for (uint32_t i = 0; !slot_collect(ring, sequence, false, &recorded); i++) {
		if (i == GIVE_UP_YIELDS)
			return;
		if (!slot_finish(slot, sequence, SLOT_PENDING, &result))
			sched_yield();
	}
	if (slot->watched)
		atomic_compare_exchange_strong(&slot->watched->word, &reference, 0);
}

void slot_ring_give_up(struct slot_ring *ring, enum record_untimed cause)
{
	uint64_t tail, head;

	/* Not for ever: a collector may be stuck in a runtime that has failed. */
	for (uint32_t i = 0; !collector_try(ring); i++) {
		if (i == GIVE_UP_YIELDS)
			return;
		sched_yield();
	}
	tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	for (; head < tail; head++)
		slot_give_up(ring, head, cause);
	atomic_store_explicit(&ring->head, head, memory_order_release);
	collector_leave(ring);
}

bool slot_ring_is_being_collected(const struct slot_ring *ring)
{
	return atomic_load_explicit(&ring->collecting, memory_order_relaxed);
}

bool slot_ring_is_empty(const struct slot_ring *ring)
{
	return !slot_ring_outstanding(ring);
}

uint64_t slot_ring_outstanding(const struct slot_ring *ring)
{
	/* head first: it never passes the tail. */
	uint64_t head = atomic_load(&ring->head);

	return atomic_load(&ring->tail) - head;
}
