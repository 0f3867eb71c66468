/* Counts of activities that one thread makes for a call of another one (frame.h). Calls of this
 * test are in no frame of the thread, so all counts are those of another thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/frame.h"

#define SESSION	   3
#define DISPATCHES 16383 /* that are counted at most */

static int setup(void **state)
{
	(void)state;
	atomic_store(&session_number, SESSION);
	return 0;
}

/* A call that returns after it has submitted as many activities. */
static struct frame call_of(uint64_t cid, uint32_t activities)
{
	return (struct frame){.cid = cid, .session = SESSION, .activities = activities};
}

static void a_call_takes_what_was_counted_for_it(void **state)
{
	struct frame frame = call_of(5, 6);

	(void)state;
	frame.copies = 1; /* its thread has submitted this one itself */
	for (int i = 0; i < 2; i++)
		frame_count(5, FRAME_DISPATCH);
	frame_count(5, FRAME_BARRIER);
	frame_count(5, FRAME_UNRECORDED);
	frame_take_counted(&frame);
	assert_int_equal(frame.dispatches, 2);
	assert_int_equal(frame.copies, 1);
	assert_int_equal(frame.others, 2);
	assert_int_equal(frame.unrecorded, 1);
	assert_int_equal(frame_unknown(&frame), 1);
	/* They are taken once. */
	frame = call_of(5, 6);
	frame_take_counted(&frame);
	assert_int_equal(frame_unknown(&frame), 6);
}

static void counts_of_other_calls_are_not_taken(void **state)
{
	struct frame frame = call_of(5, 1), next = call_of(6, 1), far = call_of(5 + 256, 1);

	(void)state;
	frame_count(5, FRAME_DISPATCH);
	frame_take_counted(&next);
	frame_take_counted(&far);
	assert_int_equal(frame_unknown(&next), 1);
	assert_int_equal(frame_unknown(&far), 1);
	frame_take_counted(&frame);
	assert_int_equal(frame.dispatches, 1);
}

/* The cell of a call that has returned goes to another one. */
static void counts_that_nobody_took_make_room(void **state)
{
	struct frame frame = call_of(5, 1), far = call_of(5 + 256, 1);

	(void)state;
	frame_count(5, FRAME_DISPATCH);
	frame_count(5 + 256, FRAME_BARRIER);
	frame_take_counted(&far);
	assert_int_equal(far.others, 1);
	assert_int_equal(far.dispatches, 0);
	frame_take_counted(&frame);
	assert_int_equal(frame_unknown(&frame), 1);
}

/* The numbers of calls begin again in each session. */
static void counts_of_an_earlier_session_are_not_taken(void **state)
{
	struct frame frame = call_of(5, 1);

	(void)state;
	frame_count(5, FRAME_DISPATCH);
	frame.session = SESSION + 1;
	frame_take_counted(&frame);
	assert_int_equal(frame_unknown(&frame), 1);
	frame.session = SESSION;
	frame_take_counted(&frame);
	assert_int_equal(frame_unknown(&frame), 0);
}

/* What exceeds the room stays unknown, and spoils no other count. */
static void a_count_that_is_full_stays(void **state)
{
	struct frame frame = call_of(5, DISPATCHES + 2);

	(void)state;
	for (int i = 0; i <= DISPATCHES; i++)
		frame_count(5, FRAME_DISPATCH);
	frame_count(5, FRAME_BARRIER);
	frame_take_counted(&frame);
	assert_int_equal(frame.dispatches, DISPATCHES);
	assert_int_equal(frame.others, 1);
	assert_int_equal(frame_unknown(&frame), 1);
}

/* A call has not submitted what was counted for it: the count is that of another one. */
static void more_than_a_call_has_submitted_is_not_taken(void **state)
{
	struct frame frame = call_of(5, 1);

	(void)state;
	frame_count(5, FRAME_DISPATCH);
	frame_count(5, FRAME_DISPATCH);
	frame_take_counted(&frame);
	assert_int_equal(frame.dispatches, 0);
	assert_int_equal(frame_unknown(&frame), 1);
}

static void a_child_of_fork_does_not_take_its_parents(void **state)
{
	struct frame frame = call_of(5, 1);

	(void)state;
	frame_count(5, FRAME_DISPATCH);
	frame_counts_forget_parent();
	frame_take_counted(&frame);
	assert_int_equal(frame_unknown(&frame), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_call_takes_what_was_counted_for_it, setup),
		cmocka_unit_test_setup(counts_of_other_calls_are_not_taken, setup),
		cmocka_unit_test_setup(counts_that_nobody_took_make_room, setup),
		cmocka_unit_test_setup(counts_of_an_earlier_session_are_not_taken, setup),
		cmocka_unit_test_setup(a_count_that_is_full_stays, setup),
		cmocka_unit_test_setup(more_than_a_call_has_submitted_is_not_taken, setup),
		cmocka_unit_test_setup(a_child_of_fork_does_not_take_its_parents, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
