/* The signals of completion slots, which are made ahead of the slots that are taken. Phases and
 * memory orders are described in the header. */
#include "capture/hsa/completion_slots.h"
#include "capture/hsa/hsa_calls.h"

#define SIGNALS_AHEAD  8192u /* signals made ahead of the slots that are taken */
#define SIGNALS_A_STEP 4096u /* signals made in one look of the monitor */

/* Returns false when the runtime makes no signal. */
static bool make_signal(struct slot *slot)
{
	hsa_signal_t signal = {0};

	/* GPU_ONLY: a signal in plain memory. It takes none of the 4,096 interrupt events of a
	 * process. */
	if (!hsa_next.hsa_amd_signal_create ||
	    hsa_next.hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal) !=
		    HSA_STATUS_SUCCESS)
		return false;
	/* A runtime that had no events left was seen to report success with handle 0. `own` is then
	 * NULL, and the slot has no signal. Release: pairs with the acquire in own_begin. */
	atomic_store_explicit(&slot->own, (amd_signal_t *)(uintptr_t)signal.handle,
			      memory_order_release);
	return true;
}

/* Makes COUNT more signals, or as many as there are slots. Returns false when the runtime makes no
 * more. */
static bool make_signals(struct slot_ring *ring, uint64_t count)
{
	uint64_t first = atomic_load_explicit(&ring->made_first, memory_order_relaxed);
	uint64_t made = atomic_load_explicit(&ring->made, memory_order_relaxed);
	uint64_t end = made + count < ring->mask + 1 ? made + count : ring->mask + 1;

	while (made < end && make_signal(&ring->slots[(first + made) & ring->mask]))
		made++;
	atomic_store_explicit(&ring->made, made, memory_order_relaxed);
	return made == end;
}

void slot_ring_make_signals(struct slot_ring *ring)
{
	bool makes;

	atomic_store_explicit(&ring->made_first,
			      atomic_load_explicit(&ring->tail, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&ring->made, 0, memory_order_relaxed);
	makes = make_signals(ring, SIGNALS_AHEAD);
	/* From here on the monitor, which looks at all rings, may make signals. Pairs with the
	 * acquire in slot_ring_needs_signals. */
	atomic_store_explicit(&ring->makes_signals, makes, memory_order_release);
}

bool slot_ring_needs_signals(const struct slot_ring *ring)
{
	uint64_t made, used;

	if (!atomic_load_explicit(&ring->makes_signals, memory_order_acquire))
		return false;
	made = atomic_load_explicit(&ring->made, memory_order_relaxed);
	used = atomic_load_explicit(&ring->tail, memory_order_relaxed) -
	       atomic_load_explicit(&ring->made_first, memory_order_relaxed);
	return made <= ring->mask && made < used + SIGNALS_AHEAD;
}

void slot_ring_stop_making(struct slot_ring *ring)
{
	atomic_store_explicit(&ring->makes_signals, false, memory_order_relaxed);
}

void slot_ring_make_step(struct slot_ring *ring)
{
	if (slot_ring_needs_signals(ring) && !make_signals(ring, SIGNALS_A_STEP))
		slot_ring_stop_making(ring);
}

/* Whether the device may still write to the slot's own signal. */
static bool slot_is_abandoned(const struct slot *slot)
{
	return slot->signal == slot->own && (slot->untimed == RECORD_UNTIMED_QUEUE_DESTROYED ||
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
