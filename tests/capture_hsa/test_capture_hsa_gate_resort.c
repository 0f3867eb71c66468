/* The monitor's half of the last resort: that a thread waits for a gate's holder is not
 * forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/hsa/gate_hold.h"
#include "capture/hsa/gate_pass.h"
#include "capture/hsa/gate_resort.h"
#include "capture/hsa/serial.h"
#include "step.h"

#define OTHER 8

static struct gate gate;

/* What the monitor would call to take the gate over: it must not in these tests. */
uint64_t gate_enter(struct gate *entered)
{
	fail_msg("entered %p", (void *)entered);
	return 0;
}

bool gate_try_hold(struct gate *held)
{
	fail_msg("held %p", (void *)held);
	return false;
}

void gate_work(struct gate *worked)
{
	fail_msg("worked %p", (void *)worked);
}

void pass_publish_counted(struct gate *published, uint64_t end)
{
	fail_msg("published %p to %d", (void *)published, (int)end);
}

void serial_leave(struct gate *left)
{
	fail_msg("left %p", (void *)left);
}

/* A thread has waited for a holder, which has left since. */
static void holder_has_left(void)
{
	atomic_store(&gate.hold.word, 0);
	gate_resort_prepare(&gate, 0);
	atomic_store(&gate.state, GATE_LIVE);
	atomic_store(&gate.is_awaited, 1);
}

static void monitor_looks(void)
{
	gate_retry(&gate);
}

/* Another thread takes the gate and stops, and one more has waited for it. */
static void next_holder_is_awaited(void)
{
	atomic_store(&gate.hold.word, hold_of(OTHER));
	atomic_store(&gate.is_awaited, 1);
}

static void nobody_is_awaited_when_the_holder_has_left(void **state)
{
	(void)state;
	holder_has_left();
	monitor_looks();
	assert_int_equal(atomic_load(&gate.is_awaited), 0);
}

/* The next holder is awaited from each instruction of the monitor's look on. */
static void next_holder_is_awaited_at_each_instruction(void **state)
{
	uint32_t n = 1;

	(void)state;
	for (holder_has_left(); step_until(n, monitor_looks, next_holder_is_awaited); n++) {
		if (!atomic_load(&gate.is_awaited))
			fail_msg("forgotten before instruction %u", n);
		holder_has_left();
	}
	assert_true(n > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_is_awaited_when_the_holder_has_left),
		cmocka_unit_test(next_holder_is_awaited_at_each_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
