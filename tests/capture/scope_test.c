/* Annotation stacks: numbering, nesting, and what was open before the session. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "capture/scope.h"
#include "capture/session.h"
#include "in_child.h"
#include "scope_story.h"

static void nest(void)
{
	expect(session_start());
	expect(scope_current() == 0);
	expect(scope_push(RECORD_SCOPE_DAGTAP, "step") == ID(1, 1));
	expect(scope_push(RECORD_SCOPE_ROCTX, "layer") == ID(1, 2));
	expect(scope_current() == ID(1, 2));
	scope_pop(RECORD_SCOPE_ROCTX);
	expect(scope_current() == ID(1, 1));
	expect(scope_push(RECORD_SCOPE_DAGTAP, NULL) == ID(1, 3));
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_pop(RECORD_SCOPE_DAGTAP);
	expect(scope_current() == 0);
}

static void scopes_nest(void **state)
{
	assert_scopes(*state, nest, "1:1 0 1 step\n1:2 1 2 layer\n-2\n1:3 1 1 \n-3\n-1\n");
}

static void cross(void)
{
	expect(session_start());
	scope_push(RECORD_SCOPE_DAGTAP, "a");
	scope_push(RECORD_SCOPE_ROCTX, "b");
	scope_pop(RECORD_SCOPE_DAGTAP);
	expect(scope_current() == ID(1, 2));
	scope_pop(RECORD_SCOPE_DAGTAP);
	expect(scope_current() == ID(1, 2));
	scope_push(RECORD_SCOPE_DAGTAP, "c");
	scope_pop(RECORD_SCOPE_ROCTX);
	expect(scope_current() == ID(1, 3));
}

static void two_kinds_may_cross(void **state)
{
	assert_scopes(*state, cross, "1:1 0 1 a\n1:2 1 2 b\n-1\n1:3 2 1 c\n-2\n");
}

static void push_early(void)
{
	scope_push(RECORD_SCOPE_DAGTAP, "over before");
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_push(RECORD_SCOPE_DAGTAP, "open");
	scope_push(RECORD_SCOPE_DAGTAP, "inner");
	expect(scope_range_start("range") == ID(1, 4));
	expect(scope_range_start("range over before") == ID(1, 5));
	scope_range_stop(ID(1, 5));
	expect(session_start());
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_range_stop(ID(1, 4));
}

static void what_is_open_at_the_start_is_written(void **state)
{
	assert_scopes(*state, push_early, "1:2 0 1 open\n1:3 2 1 inner\n1:4 0 3 range\n-3\n-4\n");
}

static void only_annotate(void)
{
	session_arm();
	scope_push(RECORD_SCOPE_DAGTAP, "a");
	scope_mark("m");
	scope_pop(RECORD_SCOPE_DAGTAP);
}

static void annotations_alone_leave_no_file(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, only_annotate), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 0);
}

static void annotate_nothing(void)
{
	session_arm();
	expect(scope_push(RECORD_SCOPE_DAGTAP, "a") == 0);
	expect(scope_range_start("r") == 0);
	scope_mark("m");
	scope_range_stop(0);
	scope_pop(RECORD_SCOPE_DAGTAP);
	expect(scope_current() == 0);
}

static void untraced_nothing_is_kept(void **state)
{
	assert_int_equal(in_child(NULL, annotate_nothing), 0);
}

static void go_deep(void)
{
	char text[32];

	expect(session_start());
	for (int i = 0; i < 70000; i++) {
		snprintf(text, sizeof(text), "level %d", i);
		expect((scope_push(RECORD_SCOPE_DAGTAP, text) != 0) == (i < 65536));
	}
	for (int i = 0; i < 70000; i++) {
		expect(scope_current() != 0);
		scope_pop(RECORD_SCOPE_DAGTAP);
	}
	expect(scope_current() == 0);
}

static void depth_is_bounded_and_pops_stay_paired(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, go_deep), 0);
}

static void mark_and_range(void)
{
	expect(session_start());
	scope_push(RECORD_SCOPE_DAGTAP, "s");
	scope_mark("m");
	expect(scope_range_start("r") == ID(1, 3));
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_range_stop(ID(1, 3));
}

static void marks_and_ranges_know_where_they_began(void **state)
{
	assert_scopes(*state, mark_and_range, "1:1 0 1 s\n1:2 1 4 m\n1:3 1 3 r\n-1\n-3\n");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(scopes_nest),
		CASE(two_kinds_may_cross),
		CASE(what_is_open_at_the_start_is_written),
		CASE(annotations_alone_leave_no_file),
		CASE(untraced_nothing_is_kept),
		CASE(depth_is_bounded_and_pops_stay_paired),
		CASE(marks_and_ranges_know_where_they_began),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
