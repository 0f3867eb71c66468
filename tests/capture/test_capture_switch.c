/*
 * The recordings that the options of `dagtap record` ask for: a child puts records all the time,
 * and each spool must hold those that were put in its capture range and no others.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/scope.h"
#include "scope_story.h"
#include "switch_scene.h"

static void push(const char *text)
{
	expect(scope_push(RECORD_SCOPE_DAGTAP, text));
}

static void pop(void)
{
	scope_pop(RECORD_SCOPE_DAGTAP);
}

/* ---- calls ---- */

static void wait_for_calls(void)
{
	setenv("DAGTAP_WAIT", "1", 1);
	scene_arm();
	expect(!session_start() && session_state == SESSION_STOPPED);
	scene_work(3);
	switch_profiler_start("test");
	expect(session_is_on());
	scene_work(5);
	switch_profiler_stop("test");
	scene_work(7);
	switch_profiler_stop("test");
	expect(switch_start("test") && switch_start("test"));
	scene_work(2);
	switch_stop("test");
	expect(!session_start() && !session_is_on());
	switch_profiler_start("test");
	scene_work(4); /* never stopped */
}

static void a_waiting_process_records_between_calls(void **state)
{
	scene_assert_work(*state, wait_for_calls, EXPECTED(5, 2, 4));
}

static void wait_in_vain(void)
{
	setenv("DAGTAP_WAIT", "1", 1);
	scene_arm();
	expect(!session_start());
	scene_work(3);
}

static void a_process_that_is_never_started_leaves_nothing(void **state)
{
	scene_assert_work(*state, wait_in_vain, EXPECTED(NONE));
}

static void start_before_gpu(void)
{
	setenv("DAGTAP_WAIT", "1", 1);
	scene_arm();
	expect(switch_start("test"));
	scene_work(2);
	expect(session_start());
	scene_work(1);
}

static void a_call_starts_before_the_first_use_of_a_gpu(void **state)
{
	scene_assert_work(*state, start_before_gpu, EXPECTED(3));
}

static void start_at_exit(void)
{
	switch_start("exit");
}

static void start_when_all_is_over(void)
{
	setenv("DAGTAP_WAIT", "1", 1);
	scene_arm();
	/* Handlers run in reverse order: the session's, which a start registers, runs first. */
	atexit(start_at_exit);
	expect(switch_start("test"));
	scene_work(1);
	switch_stop("test");
}

static void no_recording_starts_after_the_end(void **state)
{
	scene_assert_work(*state, start_when_all_is_over, EXPECTED(1));
}

static void profile_in_a_scope(void)
{
	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	scene_arm();
	expect(!session_start());
	switch_profiler_start("test");
	expect(!session_is_on());
	push("step");
	switch_profiler_stop("test");
	scene_work(1);
	switch_stop("test");
	scene_work(1);
	pop();
	expect(switch_start("test"));
	scene_work(2);
}

static void without_wait_only_the_programs_own_calls_count(void **state)
{
	scene_assert_work(*state, profile_in_a_scope, EXPECTED(1, 2));
}

/* ---- scopes ---- */

static void nest(void)
{
	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	scene_arm();
	expect(!session_start());
	scene_work(1);
	push("epoch");
	scene_work(1);
	push("step");
	scene_work(2);
	push("step");
	scene_work(3);
	pop();
	scene_work(4);
	pop();
	scene_work(1);
	push("steps"); /* another text */
	scene_work(1);
	pop();
	push("step#step_num=2#");
	scene_work(6);
	pop();
	pop();
	scene_work(1);
}

static void nested_scopes_are_one_instance(void **state)
{
	const char *const expected[] = {"1:1 0 1 epoch\n1:2 1 1 step\n1:3 2 1 step\n-3\n-2\n",
					"1:1 0 1 epoch\n1:5 1 1 step step_num=i2\n-5\n"};
	const struct fixture *fixture = *state;

	scene_assert_work(fixture, nest, EXPECTED(9, 6));
	for (uint32_t i = 0; i < 2; i++) {
		struct spool_reader *reader = fixture_open_session(fixture->folder, i);

		if (i == 0)
			assert_scopes_of(reader, expected[i]);
		assert_int_equal(fixture_count(reader, RECORD_NOTE), 2);
		spool_reader_close(reader);
	}
}

static void step_often(void)
{
	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	setenv("DAGTAP_SKIP", "2", 1);
	setenv("DAGTAP_COUNT", "3", 1);
	scene_arm();
	expect(!session_start());
	for (uint64_t i = 1; i <= 8; i++) {
		push("step");
		scene_work(i);
		pop();
		scene_work(1);
	}
}

static void skip_and_count_choose_instances(void **state)
{
	scene_assert_work(*state, step_often, EXPECTED(3, 4, 5));
}

static void leave_open(void)
{
	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	scene_arm();
	expect(!session_start());
	scene_work(1);
	push("step");
	scene_work(4);
}

static void an_instance_that_never_ends_is_recorded_to_the_end(void **state)
{
	scene_assert_work(*state, leave_open, EXPECTED(4));
}

static void use_gpu_late(void)
{
	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	scene_arm();
	push("step");
	pop();
	push("step");
	expect(!session_is_on());
	expect(session_start());
	scene_work(3);
	pop();
	expect(!session_is_on());
}

static void an_instance_from_before_the_first_use_of_a_gpu_counts(void **state)
{
	scene_assert_work(*state, use_gpu_late, EXPECTED(3));
}

static void use_ranges(void)
{
	uint64_t a, b, other;

	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	scene_arm();
	expect(!session_start());
	other = scope_range_start("other");
	scene_work(1);
	a = scope_range_start("step");
	scene_work(2);
	b = scope_range_start("step");
	scope_range_stop(a);
	scene_work(3);
	scope_range_stop(other);
	scope_range_stop(a);
	expect(session_is_on());
	scope_range_stop(b);
	scene_work(1);
	scope_range_stop(b);
}

static void ranges_by_id_may_overlap(void **state)
{
	scene_assert_work(*state, use_ranges, EXPECTED(5));
}

/* ---- threads ---- */

#define THREADS 4
#define ROUNDS	40

static pthread_barrier_t turn;

static void *overlap(void *unused)
{
	push("step");
	scene_work(1);
	pthread_barrier_wait(&turn); /* open on both */
	pthread_barrier_wait(&turn); /* ended by main */
	expect(session_is_on());
	scene_work(2);
	pop();
	expect(!session_is_on());
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	push("step");
	scene_work(8);
	return NULL; /* the scope ends with the thread */
}

static void overlap_on_threads(void)
{
	pthread_t thread;

	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	scene_arm();
	expect(!session_start());
	pthread_barrier_init(&turn, NULL, 2);
	push("step");
	scene_work(4);
	expect(!pthread_create(&thread, NULL, overlap, NULL));
	pthread_barrier_wait(&turn);
	pop();
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	expect(!session_is_on());
	scene_work(1);
	pthread_barrier_wait(&turn);
	pthread_join(thread, NULL);
	expect(!session_is_on());
	scene_work(1);
}

static void scopes_overlap_on_threads(void **state)
{
	scene_assert_work(*state, overlap_on_threads, EXPECTED(7, 8));
}

/* Inside its instance each thread is recorded, whatever the others do. */
static void *step_under_load(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		push("step");
		expect(session_is_on());
		expect(fixture_put(session_writer(), 1, 4));
		pop();
	}
	return NULL;
}

static void step_on_threads(void)
{
	pthread_t threads[THREADS];

	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	scene_arm();
	expect(!session_start());
	for (int i = 0; i < THREADS; i++)
		expect(!pthread_create(&threads[i], NULL, step_under_load, NULL));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	expect(!session_is_on());
}

static void each_instance_is_recorded_under_load(void **state)
{
	const struct fixture *fixture = *state;
	uint32_t sessions;

	assert_int_equal(in_child(fixture->folder, step_on_threads), 0);
	assert_int_equal(fixture_count_sessions(fixture, &sessions), THREADS * ROUNDS);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scene_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_waiting_process_records_between_calls),
		CASE(a_process_that_is_never_started_leaves_nothing),
		CASE(a_call_starts_before_the_first_use_of_a_gpu),
		CASE(no_recording_starts_after_the_end),
		CASE(without_wait_only_the_programs_own_calls_count),
		CASE(nested_scopes_are_one_instance),
		CASE(skip_and_count_choose_instances),
		CASE(an_instance_that_never_ends_is_recorded_to_the_end),
		CASE(an_instance_from_before_the_first_use_of_a_gpu_counts),
		CASE(ranges_by_id_may_overlap),
		CASE(scopes_overlap_on_threads),
		CASE(each_instance_is_recorded_under_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
