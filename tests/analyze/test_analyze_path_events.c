/*
 * Critical paths and idle times through waits for events, worked out by hand. The numbers, and the
 * signs of the diagrams, go with those of test_analyze_path_schedules.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "path_schedule.h"

/*
 * 3. One stream waits for another stream's event.
 *
 * host  [0 2)a!1 [2 3)record s1 [3 5)x!4 [5 6)wait s2 [6 8)b!7
 * s1         [10      a      60)
 * s2           [12 x 30)        ~~~[65 b 95)
 *
 * b: s2 was free at 30, b submitted at 7, a ended at 60: b waited for a, which ended 60-30 = 30
 * after s2 was free, and began 5 ns later. s2: until 12: host 4, launch 8; 30 to 65: event 30,
 * launch 5.
 */
static void a_stream_waits_for_an_event(void **state)
{
	struct dependency_list list;
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_streams(schedule, 2, 0);
	schedule_kernel(schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 60));
	schedule_record(schedule, EVENT_1, STREAM_1, SPAN(2, 3));
	schedule_kernel(schedule, STREAM_2, "x", SPAN(3, 5), 4, SPAN(12, 30));
	schedule_wait(schedule, STREAM_2, EVENT_1, SPAN(5, 6));
	schedule_kernel(schedule, STREAM_2, "b", SPAN(6, 8), 7, SPAN(65, 95));
	found = schedule_find_until(schedule, 95);
	expect_steps(found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				  {PATH_KERNEL, 10, 60, "a"}, {PATH_WAIT, 60, 65, "b"},
				  {PATH_KERNEL, 65, 95, "b"}));
	list = dependencies_of_activity(&found->deps, found_activity(found, "b"));
	assert_int_equal(list.count, 2);
	assert_int_equal(list.rows[0].kind, DEPENDENCY_STREAM);
	assert_int_equal(list.rows[1].kind, DEPENDENCY_EVENT);
	assert_int_equal(list.rows[1].via, 0);
	assert_int_equal(found->report.waits_count, 1);
	assert_int_equal(found->report.waits[0].from, found_activity(found, "a"));
	assert_int_equal(found->report.waits[0].total_ns, 30);
	expect_stream(found, STREAM_1, 50,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9, [IDLE_END] = 35));
	expect_stream(found, STREAM_2, 18 + 30,
		      CAUSES([IDLE_HOST] = 4, [IDLE_LAUNCH] = 8 + 5, [IDLE_EVENT] = 30));
	assert_int_equal(found->idle.waits_count, 1);
	assert_int_equal(found->idle.waits[0].from, found_activity(found, "a"));
}

/*
 * 4. Two producers for one consumer, on CUDA, whose calls do not record when they submit: the end
 * of the call counts.
 *
 * host  [0 3)a [3 6)b [6 7)record s1 [7 8)record s2 [8 9)wait [9 10)wait [10 13)c
 * s1          [10 a 40)
 * s2            [12    b     70)
 * s3                            ~~~~~[75 c 100)
 *
 * c waits for both; b ends last, 70-40 = 30 after a. s3: until 75: host 13, event 57, launch 5.
 */
static void two_producers_for_one_consumer(void **state)
{
	struct dependency_list list;
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_kernel(schedule, STREAM_1, "a", SPAN(0, 3), 0, SPAN(10, 40));
	schedule_kernel(schedule, STREAM_2, "b", SPAN(3, 6), 0, SPAN(12, 70));
	schedule_record(schedule, EVENT_1, STREAM_1, SPAN(6, 7));
	schedule_record(schedule, EVENT_2, STREAM_2, SPAN(7, 8));
	schedule_wait(schedule, STREAM_3, EVENT_1, SPAN(8, 9));
	schedule_wait(schedule, STREAM_3, EVENT_2, SPAN(9, 10));
	schedule_kernel(schedule, STREAM_3, "c", SPAN(10, 13), 0, SPAN(75, 100));
	found = schedule_find_until(schedule, 100);
	expect_steps(found, STEPS({PATH_CALL, 0, 3, "cudaCall"}, {PATH_CALL, 3, 6, "cudaCall"},
				  {PATH_LAUNCH, 6, 12, "b"}, {PATH_KERNEL, 12, 70, "b"},
				  {PATH_WAIT, 70, 75, "c"}, {PATH_KERNEL, 75, 100, "c"}));
	list = dependencies_of_activity(&found->deps, found_activity(found, "c"));
	assert_int_equal(list.count, 2);
	assert_int_equal(found->report.waits[0].total_ns, 30);
	expect_stream(found, STREAM_1, 30,
		      CAUSES([IDLE_HOST] = 3, [IDLE_LAUNCH] = 7, [IDLE_END] = 60));
	expect_stream(found, STREAM_2, 58,
		      CAUSES([IDLE_HOST] = 6, [IDLE_LAUNCH] = 6, [IDLE_END] = 30));
	expect_stream(found, STREAM_3, 25,
		      CAUSES([IDLE_HOST] = 13, [IDLE_EVENT] = 57, [IDLE_LAUNCH] = 5));
}

/*
 * 5. An event is recorded again before the second wait for it.
 *
 * host  [0 2)a!1 [2 3)record [3 4)wait s2 [4 6)b!5 [6 8)c!7 [8 9)record [9 10)wait s2 [10 12)d!11
 * s1         [10 a 30)[30        c        90)
 * s2                ~~~[33 b 53)          ~~~[92 d 100)
 *
 * b waits for the first record, before which a ran; d for the second record, before which c ran,
 * and c ended 90-53 = 37 after s2 was free. s2: until 33: host 5, event 25, launch 3; 53 to 92:
 * event 37, launch 2.
 */
static void an_event_is_recorded_again(void **state)
{
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_streams(schedule, 2, 0);
	schedule_kernel(schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 30));
	schedule_record(schedule, EVENT_1, STREAM_1, SPAN(2, 3));
	schedule_wait(schedule, STREAM_2, EVENT_1, SPAN(3, 4));
	schedule_kernel(schedule, STREAM_2, "b", SPAN(4, 6), 5, SPAN(33, 53));
	schedule_kernel(schedule, STREAM_1, "c", SPAN(6, 8), 7, SPAN(30, 90));
	schedule_record(schedule, EVENT_1, STREAM_1, SPAN(8, 9));
	schedule_wait(schedule, STREAM_2, EVENT_1, SPAN(9, 10));
	schedule_kernel(schedule, STREAM_2, "d", SPAN(10, 12), 11, SPAN(92, 100));
	found = schedule_find_until(schedule, 100);
	expect_steps(found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				  {PATH_KERNEL, 10, 30, "a"}, {PATH_KERNEL, 30, 90, "c"},
				  {PATH_WAIT, 90, 92, "d"}, {PATH_KERNEL, 92, 100, "d"}));
	assert_int_equal(found->report.waits[0].total_ns, 37);
	assert_int_equal(found->deps.resolved_waits, 2);
	assert_int_equal(found->deps.contradicted[DEPENDENCY_EVENT], 0);
	expect_stream(found, STREAM_1, 80,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9, [IDLE_END] = 10));
	expect_stream(found, STREAM_2, 28,
		      CAUSES([IDLE_HOST] = 5, [IDLE_EVENT] = 25 + 37, [IDLE_LAUNCH] = 3 + 2));
}

/*
 * 12. The host waits for an event, not for the work that the stream got after it.
 *
 * host  [0 2)a!1 [2 3)record [3 5)b!4 [5 synchronize 45) [45 47)c!46
 * s1         [10   a   40)[40              b              90)
 * s2                                             [50 c 95)
 *
 * c after its launch 4, its call 1, the other call's 5 after a, a, launch 9, call 1: b is not on
 * the path.
 */
static void the_host_waits_for_an_event(void **state)
{
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_streams(schedule, 2, 0);
	schedule_kernel(schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 40));
	schedule_record(schedule, EVENT_3, STREAM_1, SPAN(2, 3));
	schedule_kernel(schedule, STREAM_1, "b", SPAN(3, 5), 4, SPAN(40, 90));
	schedule_event_sync(schedule, EVENT_3, SPAN(5, 45));
	schedule_kernel(schedule, STREAM_2, "c", SPAN(45, 47), 46, SPAN(50, 95));
	found = schedule_find_until(schedule, 95);
	expect_steps(found,
		     STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
			   {PATH_KERNEL, 10, 40, "a"}, {PATH_CALL, 40, 45, "hipEventSynchronize"},
			   {PATH_CALL, 45, 46, "hipLaunchKernel"}, {PATH_LAUNCH, 46, 50, "c"},
			   {PATH_KERNEL, 50, 95, "c"}));
	assert_int_equal(found->report.waits[0].cause, DEPENDENCY_HOST_EVENT);
	assert_int_equal(found->report.waits[0].total_ns, 35);
	expect_stream(found, STREAM_2, 45, CAUSES([IDLE_HOST] = 46, [IDLE_LAUNCH] = 4));
}

/*
 * 16. Events that a launch records itself, e1 at the kernel's begin and e2 at its end.
 *
 * host  [0 2)a!1 [2 4)k!3 [4 5)wait s2 e1 [5 7)b!6 [7 8)wait s3 e2 [8 10)c!9
 * s1         [10 a 30)[30    k    70)
 * s2                  ~[31 b 41)
 * s3                              ~[72 c 80)
 *
 * b follows a, c follows k. s2: host 6, event 24, launch 1; s3: host 9, event 61, launch 2.
 */
static void events_of_a_launch(void **state)
{
	struct dependency_list list;
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_streams(schedule, 3, 1);
	schedule_kernel(schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 30));
	schedule_ext_kernel(schedule, STREAM_1, "k", SPAN(2, 4), 3, SPAN(30, 70));
	schedule_wait(schedule, STREAM_2, EVENT_1, SPAN(4, 5));
	schedule_kernel(schedule, STREAM_2, "b", SPAN(5, 7), 6, SPAN(31, 41));
	schedule_wait(schedule, STREAM_3, EVENT_2, SPAN(7, 8));
	schedule_kernel(schedule, STREAM_3, "c", SPAN(8, 10), 9, SPAN(72, 80));
	found = schedule_find_until(schedule, 80);
	expect_steps(found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				  {PATH_KERNEL, 10, 30, "a"}, {PATH_KERNEL, 30, 70, "k"},
				  {PATH_WAIT, 70, 72, "c"}, {PATH_KERNEL, 72, 80, "c"}));
	list = dependencies_of_activity(&found->deps, found_activity(found, "b"));
	assert_int_equal(list.count, 1);
	assert_int_equal(list.rows[0].from, found_activity(found, "a"));
	assert_int_equal(found->deps.contradicted[DEPENDENCY_EVENT], 0);
	expect_stream(
		found, STREAM_2, 10,
		CAUSES([IDLE_HOST] = 6, [IDLE_EVENT] = 24, [IDLE_LAUNCH] = 1, [IDLE_END] = 39));
	expect_stream(found, STREAM_3, 8,
		      CAUSES([IDLE_HOST] = 9, [IDLE_EVENT] = 61, [IDLE_LAUNCH] = 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HIP_SCHEDULE(a_stream_waits_for_an_event),
		CUDA_SCHEDULE(two_producers_for_one_consumer),
		HIP_SCHEDULE(an_event_is_recorded_again),
		HIP_SCHEDULE(the_host_waits_for_an_event),
		HIP_SCHEDULE(events_of_a_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
