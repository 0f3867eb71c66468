/* External correlation ids: which activity has which, and how long they are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "sdk/externals.h"
#include "sdk/pushed.h"

static void those_of_a_recording_that_is_over_are_forgotten(void **state)
{
	(void)state;
	for (uint64_t cid = 1; cid <= 100; cid++) {
		externals_add(0, cid, 1, cid * 10);
		externals_add(1, cid, 1, cid * 20);
	}
	externals_drop(7);
	/* The next recording may have begun before the last one was given out. */
	externals_end_recording();
	for (uint64_t cid = 1; cid <= 100; cid++) {
		assert_int_equal(externals_find(0, cid, 1, 0), cid == 7 ? 0 : cid * 10);
		assert_int_equal(externals_find(1, cid, 1, 0), cid == 7 ? 0 : cid * 20);
	}
	externals_add(0, 7, 1, 5);
	externals_end_recording();
	for (uint64_t cid = 1; cid <= 100; cid++) {
		assert_int_equal(externals_find(0, cid, 1, 0), cid == 7 ? 5 : 0);
		assert_int_equal(externals_find(1, cid, 1, 0), 0);
	}
	externals_end_recording();
	assert_int_equal(externals_find(0, 7, 1, 0), 0);
}

static void an_entry_is_known_until_the_call_is_dropped(void **state)
{
	(void)state;
	assert_int_equal(externals_find_entry(0, 300), EXTERNALS_ENTRY_UNKNOWN);
	externals_add_entry(0, 300, EXTERNALS_TOLD);
	externals_add_entry(1, 300, EXTERNALS_NOT_TOLD);
	assert_int_equal(externals_find_entry(0, 300), EXTERNALS_TOLD);
	assert_int_equal(externals_find_entry(1, 300), EXTERNALS_NOT_TOLD);
	assert_int_equal(externals_find_entry(2, 300), EXTERNALS_ENTRY_UNKNOWN);
	externals_drop(300);
	assert_int_equal(externals_find_entry(0, 300), EXTERNALS_ENTRY_UNKNOWN);
}

static void each_activity_of_a_call_has_its_own(void **state)
{
	static const uint64_t values[] = {7, 7, 9, 7, 0};

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		externals_add(0, 200, 1, values[i]);
		externals_add(0, 200, 2, 40);
		externals_add(0, 201, 1, 50 + i);
	}
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(externals_find(0, 200, 1, i), values[i]);
		assert_int_equal(externals_find(0, 200, 2, i), 40);
		assert_int_equal(externals_find(0, 201, 1, i), 50 + i);
	}
	assert_int_equal(externals_find(0, 200, 1, 5), 0);
	assert_int_equal(externals_find(0, 201, 1, 5), 54);
	assert_int_equal(externals_find(0, 202, 1, 0), 0);
	externals_drop(200);
	externals_drop(201);
	assert_int_equal(externals_find(0, 201, 1, 0), 0);
}

static void what_a_thread_has_pushed_last_holds(void **state)
{
	uint64_t first = (uint64_t)getpid();

	(void)state;
	assert_int_equal(pushed_last(0, 17), 0);
	assert_int_equal(pushed_push(0, 17, 1), 0);
	assert_int_equal(pushed_push(0, 17, 2), 0);
	assert_int_equal(pushed_push(1, 17, 3), 0);
	assert_int_equal(pushed_push(0, first, 4), 0);
	assert_int_equal(pushed_last(0, 17), 2);
	assert_int_equal(pushed_last(1, 17), 3);
	/* The first thread's holds for threads that have none. */
	assert_int_equal(pushed_last(0, 18), 4);
	assert_int_equal(pushed_last(1, 18), 0);
	assert_int_equal(pushed_pop(0, 17), 2);
	assert_int_equal(pushed_last(0, 17), 1);
	assert_int_equal(pushed_pop(0, 17), 1);
	assert_int_equal(pushed_last(0, 17), 4);
	assert_int_equal(pushed_pop(0, 17), 0);
	assert_int_equal(pushed_pop(0, first), 4);
	assert_int_equal(pushed_last(0, 17), 0);
	assert_int_equal(pushed_last(1, 17), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_activity_of_a_call_has_its_own),
		cmocka_unit_test(what_a_thread_has_pushed_last_holds),
		cmocka_unit_test(those_of_a_recording_that_is_over_are_forgotten),
		cmocka_unit_test(an_entry_is_known_until_the_call_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
