/* The tick of the housekeeping thread, on a clock that the test holds. */
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/timer.h"
#include "capture/housekeeper.h"
#include "spool_fixture.h"

#define PERIOD_NS 1000000000u

enum { TICKS = 5 };

static struct clock_page page;
static sem_t ticked;

static void tick_for_a_period(void)
{
	clock_step(&page, PERIOD_NS);
	sem_post(&ticked);
}

static void await_tick(void)
{
	while (sem_wait(&ticked))
		;
}

/*
 * The period is from the begin of one tick to the begin of the next, so a test that holds the clock
 * knows when each is due, however long the last one took.
 */
static void next_tick_is_due_a_period_after_the_last_began(void **state)
{
	struct spooler *spooler = fixture_open_spool(*state);

	timer_configure("limits=never,house_tick=1000000000,house_tick_first=1000000000");
	clock_page = &page;
	clock_hold(&page);
	assert_int_equal(sem_init(&ticked, 0, 0), 0);
	assert_int_equal(housekeeper_start(spooler, tick_for_a_period), 0);
	clock_step(&page, PERIOD_NS);
	for (int i = 0; i < TICKS; i++)
		await_tick();
	housekeeper_stop();
	housekeeper_see_off();
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(next_tick_is_due_a_period_after_the_last_began,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
