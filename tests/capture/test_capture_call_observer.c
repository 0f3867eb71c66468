/* Observers of calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/call_observer.h"

#define FUNCTION 7

static unsigned entered, left;
static bool was_under_way;

/* A tool that makes the same call by the slot of the table. */
static void enter(const struct inject_call *call)
{
	entered++;
	assert_int_equal(call->function, FUNCTION);
	was_under_way = frame_is_under_way(FUNCTION);
}

static void leave(const struct inject_call *call)
{
	left++;
	assert_int_equal(call->result, 3);
}

static void the_same_call_inside_of_the_observer_is_another_one(void **state)
{
	static const struct inject_observer observer = {.enter = enter, .leave = leave};
	struct frame frame = {.cid = 5, .function = FUNCTION, .session = 1, .comes_again = true};

	(void)state;
	atomic_store(&call_observer, &observer);
	frame_push(&frame);
	call_observe_entry(&frame, "function", NULL, (const uint64_t[]){0});
	assert_int_equal(entered, 1);
	assert_false(was_under_way);
	/* The slot's call of this one. */
	assert_true(frame_is_under_way(FUNCTION));
	frame_pop(&frame);
	call_observe_return(&frame, "function", NULL, 3);
	assert_int_equal(left, 1);
	atomic_store(&call_observer, NULL);
}

static struct frame left_behind;

/* Calls HIP and jumps out of that call: its frame stays in the list. */
static void leave_a_frame(const struct inject_call *call)
{
	(void)call;
	left_behind = (struct frame){.cid = 7, .session = 1};
	frame_push(&left_behind);
}

static void frames_that_the_observer_leaves_behind_are_forgotten(void **state)
{
	static const struct inject_observer observer = {.enter = leave_a_frame, .leave = leave};
	struct frame outer = {.cid = 5, .session = 1}, frame = {.cid = 6, .session = 1};

	(void)state;
	atomic_store(&call_observer, &observer);
	frame_push(&outer);
	frame_push(&frame);
	call_observe_entry(&frame, "function", NULL, (const uint64_t[]){0});
	assert_ptr_equal(frame_top, &frame);
	assert_ptr_equal(frame.outer, &outer);
	frame_pop(&frame);
	frame_pop(&outer);
	assert_null(frame_top);
	atomic_store(&call_observer, NULL);
}

static void a_call_that_is_not_recorded_is_not_told(void **state)
{
	static const struct inject_observer observer = {.enter = enter, .leave = leave};
	struct frame frame = {.cid = 6, .function = FUNCTION};

	(void)state;
	entered = left = 0;
	atomic_store(&call_observer, &observer);
	call_observe_entry(&frame, "function", NULL, (const uint64_t[]){0});
	call_observe_return(&frame, "function", NULL, 3);
	assert_int_equal(entered + left, 0);
	atomic_store(&call_observer, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_call_inside_of_the_observer_is_another_one),
		cmocka_unit_test(frames_that_the_observer_leaves_behind_are_forgotten),
		cmocka_unit_test(a_call_that_is_not_recorded_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
