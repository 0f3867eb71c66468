/* The hold of a gate: its holder is known before every instruction, and no request of another
 * thread (a request) is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/hsa/hold.h"
#include "step.h"

#define ME    7
#define OTHER 8

static struct hold hold;
static _Atomic uint32_t moments_held;

static int setup(void **state)
{
	(void)state;
	atomic_store(&hold.word, 0);
	return 0;
}

/* A thread that knocks while another one holds the gate returns; the holder must look again. */
static void who_knocks_first_works_for_all(void **state)
{
	uint64_t seen;

	(void)state;
	assert_int_equal(hold_request(&hold, ME), 0);
	seen = hold_look(&hold);
	assert_int_not_equal(hold_request(&hold, OTHER), 0);
	assert_int_equal(hold_thread(&hold), ME);
	assert_false(hold_leave(&hold, &seen));
	assert_true(hold_leave(&hold, &seen));
	assert_int_equal(hold_thread(&hold), 0);
}

/* hold_try takes a free gate only and leaves no request. */
static void who_tries_takes_only_what_is_free(void **state)
{
	uint64_t seen = hold_of(ME);

	(void)state;
	assert_true(hold_try(&hold, ME));
	assert_false(hold_try(&hold, OTHER));
	assert_true(hold_leave(&hold, &seen));
	assert_true(hold_try(&hold, OTHER));
}

/* A closed gate can be released by its holder but not taken again. */
static void closed_it_is_left_and_not_taken(void **state)
{
	uint64_t seen = hold_of(ME);

	(void)state;
	assert_true(hold_try(&hold, ME));
	assert_int_equal(hold_close(&hold), ME);
	assert_false(hold_leave(&hold, &seen));
	assert_true(hold_leave(&hold, &seen));
	assert_int_equal(hold_thread(&hold), 0);
	assert_false(hold_try(&hold, OTHER));
	assert_int_not_equal(hold_request(&hold, OTHER), 0);
	assert_int_equal(hold_thread(&hold), 0);
}

/* Closing a free gate returns no holder. */
static void closed_while_free_nobody_has_it(void **state)
{
	(void)state;
	assert_int_equal(hold_close(&hold), 0);
}

static void take_and_leave(void)
{
	uint64_t seen = hold_of(ME);

	if (!hold_request(&hold, ME)) {
		seen = hold_look(&hold);
		hold_leave(&hold, &seen);
	}
	seen = hold_of(ME);
	if (hold_try(&hold, ME))
		hold_leave(&hold, &seen);
}

static void check(void)
{
	if (!atomic_load(&hold.word))
		return;
	assert_int_equal(hold_thread(&hold), ME);
	atomic_fetch_add(&moments_held, 1);
}

/* Checks the holder before each instruction of taking and releasing. */
static void its_holder_is_known_at_each_instruction(void **state)
{
	(void)state;
	for (uint32_t n = 1; step_until(n, take_and_leave, check); n++)
		;
	assert_int_equal(atomic_load(&hold.word), 0);
	assert_int_not_equal(atomic_load(&moments_held), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(who_knocks_first_works_for_all, setup),
		cmocka_unit_test_setup(who_tries_takes_only_what_is_free, setup),
		cmocka_unit_test_setup(closed_it_is_left_and_not_taken, setup),
		cmocka_unit_test_setup(closed_while_free_nobody_has_it, setup),
		cmocka_unit_test_setup(its_holder_is_known_at_each_instruction, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
