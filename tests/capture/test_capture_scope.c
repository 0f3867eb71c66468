/*
 * Annotation stacks: numbering, nesting, attributes, paths, and scopes that were open before the
 * session.
 */
#include <dagtap/annotate.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/scope.h"
#include "in_child.h"
#include "record/attribute.h"
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

/* ---- attributes and steps ---- */

static void push_attributes(void)
{
	const struct dagtap_attribute attributes[] = {
		dagtap_attribute_int64("layer", -3),
		dagtap_attribute_uint64("program_id", UINT64_MAX),
		dagtap_attribute_double("loss", 0.25),
		dagtap_attribute_text("hlo_op", "fusion.1"),
		dagtap_attribute_text("", ""),
	};

	expect(session_start());
	expect(scope_push_with(RECORD_SCOPE_DAGTAP, "a", attributes, 5) == ID(1, 1));
	expect(scope_push_with(RECORD_SCOPE_DAGTAP, "12345678", attributes, 1) == ID(1, 2));
	expect(scope_push_with(RECORD_SCOPE_DAGTAP, NULL, attributes + 3, 1) == ID(1, 3));
	scope_pop(RECORD_SCOPE_DAGTAP);
}

static void attributes_keep_their_types(void **state)
{
	assert_scopes(*state, push_attributes,
		      "1:1 0 1 a layer=i-3 program_id=u18446744073709551615 loss=d0.25 "
		      "hlo_op=\"fusion.1\" =\"\"\n"
		      "1:2 1 1 12345678 layer=i-3\n"
		      "1:3 2 1  hlo_op=\"fusion.1\"\n-3\n");
}

static void push_attributes_early(void)
{
	const struct dagtap_attribute attribute = dagtap_attribute_int64("n", 7);

	scope_push_with(RECORD_SCOPE_DAGTAP, "over before", &attribute, 1);
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_push_with(RECORD_SCOPE_DAGTAP, "open", &attribute, 1);
	scope_step_begin("step", 12);
	expect(session_start());
	scope_pop(RECORD_SCOPE_STEP);
}

static void attributes_of_open_scopes_are_written_at_the_start(void **state)
{
	assert_scopes(*state, push_attributes_early,
		      "1:2 0 1 open n=i7\n1:3 2 5 step step_num=i12\n-3\n");
}

static void push_no_attributes(void)
{
	struct dagtap_attribute attributes[] = {
		dagtap_attribute_int64(NULL, 1),
		dagtap_attribute_text("t", NULL),
		dagtap_attribute_int64("kind", 1),
		dagtap_attribute_int64("last", 2),
	};

	attributes[2].kind = 99;
	expect(session_start());
	expect(scope_push_with(RECORD_SCOPE_DAGTAP, "a", attributes, 4) != 0);
	expect(scope_push_with(RECORD_SCOPE_DAGTAP, "b", attributes, 3) != 0);
	expect(scope_push_with(RECORD_SCOPE_DAGTAP, "c", NULL, 0) != 0);
}

static void what_is_no_attribute_is_left_out(void **state)
{
	assert_scopes(*state, push_no_attributes, "1:1 0 1 a last=i2\n1:2 1 1 b\n1:3 2 1 c\n");
}

static void push_too_much(void)
{
	static struct dagtap_attribute attributes[5000];
	static char text[20000];

	memset(text, 'x', sizeof(text) - 1);
	for (size_t i = 0; i < 5000; i++)
		attributes[i] = dagtap_attribute_uint64("0123456", i);
	expect(session_start());
	expect(scope_push_with(RECORD_SCOPE_DAGTAP, text, attributes, 5000) != 0);
	attributes[0] = dagtap_attribute_text(text, text);
	attributes[1] = dagtap_attribute_text("k", text);
	attributes[2] = dagtap_attribute_text("l", text);
	expect(scope_push_with(RECORD_SCOPE_DAGTAP, text, attributes, 5000) != 0);
}

static void too_many_attributes_are_cut(void **state)
{
	const struct fixture *fixture = *state;
	const uint64_t expected[] = {32768 / 24, 2};
	struct spool_reader *reader;
	struct spool_cursor cursor;
	struct spool_record record;
	size_t found = 0;

	assert_int_equal(in_child(fixture->folder, push_too_much), 0);
	reader = fixture_read(fixture);
	fixture_assert_sound(reader);
	spool_cursor_init(&cursor, reader, 0);
	while (spool_cursor_next(&cursor, &record)) {
		const struct record_scope *scope = (const void *)record.header;
		const struct record_attribute *attribute = NULL;
		uint64_t count = 0;

		if (record.type != RECORD_SCOPE)
			continue;
		while ((attribute = record_attribute_next(scope, attribute)))
			count++;
		assert_int_equal(scope->text_bytes, 8192);
		assert_int_equal(count, expected[found++]);
	}
	assert_int_equal(found, 2);
	spool_reader_close(reader);
}

static void take_steps(void)
{
	expect(session_start());
	expect(scope_step_begin("train", 41) == ID(1, 1));
	scope_push(RECORD_SCOPE_DAGTAP, "forward");
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_pop(RECORD_SCOPE_STEP);
	scope_pop(RECORD_SCOPE_STEP);
	expect(scope_step_begin(NULL, INT64_MIN) == ID(1, 3));
}

static void steps_are_scopes_with_a_number(void **state)
{
	assert_scopes(*state, take_steps,
		      "1:1 0 5 train step_num=i41\n1:2 1 1 forward\n-2\n-1\n"
		      "1:3 0 5  step_num=i-9223372036854775808\n");
}

static void push_odd_names(void)
{
	expect(session_start());
	scope_push(RECORD_SCOPE_DAGTAP, "std::vector<int>::push_back");
	scope_push(RECORD_SCOPE_DAGTAP, "Thunk:#hlo_op=a::b,name=\"x,y\"#");
	scope_push(RECORD_SCOPE_DAGTAP, "\xe5\xb1\x82 \"q\" 'q' #");
	expect(scope_path(NULL, 0) == 3);
}

static void a_name_is_one_level_whatever_is_in_it(void **state)
{
	assert_scopes(*state, push_odd_names,
		      "1:1 0 1 std::vector<int>::push_back\n"
		      "1:2 1 1 Thunk:#hlo_op=a::b,name=\"x,y\"#\n"
		      "1:3 2 1 \xe5\xb1\x82 \"q\" 'q' #\n");
}

/* ---- paths ---- */

static void walk(void)
{
	uint64_t ids[4] = {9, 9, 9, 9};

	expect(scope_path(ids, 4) == 0);
	scope_push(RECORD_SCOPE_DAGTAP, "a");
	expect(scope_path(ids, 4) == 1 && ids[0] == ID(1, 1));
	expect(session_start());
	scope_push(RECORD_SCOPE_ROCTX, "b");
	scope_step_begin("c", 1);
	expect(scope_path(ids, 2) == 3 && ids[0] == ID(1, 1) && ids[1] == ID(1, 2) && ids[2] == 9);
	expect(scope_path(ids, 4) == 3 && ids[2] == ID(1, 3) && ids[3] == 9);
	scope_pop(RECORD_SCOPE_ROCTX);
	expect(scope_path(ids, 4) == 2 && ids[1] == ID(1, 3));
	session_stop();
	expect(scope_path(ids, 4) == 0);
}

static void the_path_goes_from_root_to_leaf(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, walk), 0);
}

static uint64_t handed[2];

static void *work_for_another(void *unused)
{
	uint64_t ids[4];

	scope_push(RECORD_SCOPE_DAGTAP, "own");
	scope_attach(handed, 2);
	expect(scope_current() == handed[1]);
	expect(scope_path(ids, 4) == 2 && ids[0] == handed[0] && ids[1] == handed[1]);
	scope_push(RECORD_SCOPE_DAGTAP, "task");
	expect(scope_path(ids, 4) == 3 && ids[2] == ID(2, 2));
	scope_attach(NULL, 0);
	expect(scope_path(ids, 4) == 0 && scope_current() == 0);
	scope_push(RECORD_SCOPE_DAGTAP, "root");
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_detach();
	expect(scope_current() == ID(2, 2));
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_detach();
	expect(scope_path(ids, 4) == 1 && ids[0] == ID(2, 1));
	scope_detach();
	scope_pop(RECORD_SCOPE_DAGTAP);
	expect(scope_path(ids, 4) == 0);
	return NULL;
}

static void hand_over(void)
{
	pthread_t thread;

	expect(session_start());
	scope_push(RECORD_SCOPE_DAGTAP, "step");
	scope_push(RECORD_SCOPE_DAGTAP, "layer");
	expect(scope_path(handed, 2) == 2);
	expect(!pthread_create(&thread, NULL, work_for_another, NULL));
	pthread_join(thread, NULL);
}

static void a_thread_can_work_under_another_ones_path(void **state)
{
	assert_scopes(*state, hand_over,
		      "1:1 0 1 step\n1:2 1 1 layer\n"
		      "2:1 0 1 own\n2:2 2 1 task\n2:3 0 1 root\n-3\n-2\n-1\n");
}

static void attach_too_deep(void)
{
	static uint64_t ids[65536];

	expect(session_start());
	for (int i = 0; i < 65535; i++)
		scope_push(RECORD_SCOPE_DAGTAP, "");
	scope_attach(ids, 2);
	expect(scope_path(NULL, 0) == 0);
	scope_attach(ids, 2);
	scope_detach();
	scope_detach();
	expect(scope_current() == ID(1, 65535));
	for (int i = 0; i < 65535; i++)
		scope_pop(RECORD_SCOPE_DAGTAP);
	scope_attach(ids, 65536);
	scope_push(RECORD_SCOPE_DAGTAP, "");
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_detach();
	expect(scope_push(RECORD_SCOPE_DAGTAP, "last") != 0);
	expect(scope_path(NULL, 0) == 1);
}

static void paths_that_are_too_deep_stay_paired(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, attach_too_deep), 0);
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
		CASE(attributes_keep_their_types),
		CASE(attributes_of_open_scopes_are_written_at_the_start),
		CASE(what_is_no_attribute_is_left_out),
		CASE(too_many_attributes_are_cut),
		CASE(steps_are_scopes_with_a_number),
		CASE(a_name_is_one_level_whatever_is_in_it),
		CASE(the_path_goes_from_root_to_leaf),
		CASE(a_thread_can_work_under_another_ones_path),
		CASE(paths_that_are_too_deep_stay_paired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
