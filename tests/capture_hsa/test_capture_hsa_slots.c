/* Taking a completion slot while other threads take slots, and the collector frees them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/hsa/completion.h"
#include "capture/hsa/completion_slots.h"
#include "step.h"

#define SLOTS 8

static struct slot_ring *ring;
static struct slot *taken;

/* The tool calls these only for packets of a device, and there is none here. */
const struct completion_source completion_borrow;
static const struct completion_source no_device;

uint32_t completion_borrowed(void)
{
	return 0;
}

bool slot_ring_needs_signals(const struct slot_ring *of)
{
	(void)of;
	return false;
}

void slot_ring_make_step(struct slot_ring *of)
{
	(void)of;
}

void slot_ring_stop_making(struct slot_ring *of)
{
	(void)of;
}

void slot_ring_drop_signals(struct slot_ring *of, bool forget)
{
	(void)of;
	(void)forget;
}

static void thread_takes(void)
{
	uint64_t sequence;

	taken = slot_take(ring, &sequence);
	if (taken) {
		atomic_store_explicit(&taken->source, &no_device, memory_order_relaxed);
		slot_cancel(taken, sequence);
	}
}

/* Another thread uses a slot from beginning to end. */
static void another_uses(void)
{
	uint64_t sequence;
	struct slot *slot = slot_take(ring, &sequence);

	assert_non_null(slot);
	atomic_store_explicit(&slot->source, &no_device, memory_order_relaxed);
	slot_cancel(slot, sequence);
	slot_ring_collect(ring);
}

/* One slot is in use at most, so there is a free one for a thread that is stopped while it takes
 * its own. */
static void free_slot_is_taken_at_each_instruction(void **state)
{
	uint32_t n = 1;

	(void)state;
	assert_int_equal(slot_ring_create(SLOTS, &ring), 0);
	for (; step_until(n, thread_takes, another_uses); n++) {
		if (!taken)
			fail_msg("no slot was free at instruction %u", n);
		slot_ring_collect(ring);
		assert_true(slot_ring_is_empty(ring));
	}
	assert_true(n > 10);
}

/* A ring of which all slots are in use has none to take. */
static void full_ring_has_no_slot(void **state)
{
	uint64_t sequences[SLOTS], other;
	struct slot *slots[SLOTS];

	(void)state;
	assert_int_equal(slot_ring_create(SLOTS, &ring), 0);
	for (int i = 0; i < SLOTS; i++) {
		slots[i] = slot_take(ring, &sequences[i]);
		assert_non_null(slots[i]);
		atomic_store_explicit(&slots[i]->source, &no_device, memory_order_relaxed);
	}
	assert_null(slot_take(ring, &other));
	slot_cancel(slots[0], sequences[0]);
	slot_ring_collect(ring);
	assert_ptr_equal(slot_take(ring, &other), slots[0]);
	assert_null(slot_take(ring, &other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_slot_is_taken_at_each_instruction),
		cmocka_unit_test(full_ring_has_no_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
