/* Taking a completion slot while other threads take slots, and the collector frees them or gives
 * them up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/hsa/completion.h"
#include "capture/hsa/completion_slots.h"
#include "capture/owner_lock.h"
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

/* ---- giving up ---- */

static uint64_t left;
static unsigned int lefts, interrupted;

static void another_gives_up(void)
{
	left = slot_ring_give_up(ring, RECORD_UNTIMED_SHUTDOWN, timer_start_ns(0));
	assert_int_equal(slot_ring_outstanding(ring), left);
	lefts += left;
}

/* The thread may go on at any time, and its slot be used by the device. */
static void slot_that_is_being_taken_stays_in_the_ring(void **state)
{
	(void)state;
	assert_int_equal(slot_ring_create(SLOTS, &ring), 0);
	lefts = 0;
	for (uint32_t n = 1; step_until(n, thread_takes, another_gives_up); n++) {
		assert_non_null(taken);
		slot_ring_collect(ring);
		assert_true(slot_ring_is_empty(ring));
	}
	assert_true(lefts > 10);
}

static void collect(void)
{
	slot_ring_collect(ring);
}

/* A ring with a slot that is being taken. */
static struct slot *make_collected_ring(uint64_t *ret_sequence)
{
	assert_int_equal(slot_ring_create(SLOTS, &ring), 0);
	return slot_take(ring, ret_sequence);
}

static void assert_ends(struct slot *slot, uint64_t sequence)
{
	slot_cancel(slot, sequence);
	slot_ring_collect(ring);
	assert_true(slot_ring_is_empty(ring));
}

static void stopped_collector_is_awaited_until_the_limit(void **state)
{
	uint64_t sequence;
	struct slot *slot = make_collected_ring(&sequence);

	(void)state;
	timer_configure("hsa_lock=0");
	lefts = 0;
	for (uint32_t n = 1; step_until(n, collect, another_gives_up); n++)
		assert_int_equal(left, 1);
	timer_configure("hsa_lock=never");
	assert_true(lefts > 10);
	assert_ends(slot, sequence);
}

static void give_up_in_handler(void)
{
	interrupted += owner_lock_is_mine(&ring->collecting);
	another_gives_up();
}

static void collector_that_is_interrupted_is_not_awaited(void **state)
{
	uint64_t sequence;
	struct slot *slot = make_collected_ring(&sequence);

	(void)state;
	timer_configure("hsa_lock=never");
	for (uint32_t n = 1; interrupt_at(n, collect, give_up_in_handler); n++)
		assert_int_equal(left, 1);
	assert_true(interrupted > 10);
	assert_ends(slot, sequence);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_slot_is_taken_at_each_instruction),
		cmocka_unit_test(full_ring_has_no_slot),
		cmocka_unit_test(slot_that_is_being_taken_stays_in_the_ring),
		cmocka_unit_test(stopped_collector_is_awaited_until_the_limit),
		cmocka_unit_test(collector_that_is_interrupted_is_not_awaited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
