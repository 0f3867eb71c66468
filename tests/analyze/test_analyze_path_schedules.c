/*
 * Schedules whose critical paths and idle times were worked out by hand, from records to the last
 * ns.
 *
 * In the diagrams a line is the host or a stream and time goes to the right. [n m) is what runs
 * from n to m, !n the time at which a call submitted work. A stream's gap is divided in this order:
 * until its next work was submitted (host), until what that work waited for had ended (its wait),
 * until the work began (launch).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "path_schedule.h"

/*
 * 1. One stream that always has work.
 *
 * host  [0 2)a!1 [2 4)b!3 [4 6)c!5 [6 8)d!7
 * s1         [10 a 50)[50 b 90)   [93 c 120)[120 d 160)
 *
 * d <- c <- b <- a by stream order, with 3 ns between b and c; a was submitted at 1 and began at
 * 10. kernels 40+40+27+40 = 147, dispatch 3, launch 10-1 = 9, host 1: 160.
 */
static void one_stream_in_a_row(void **state)
{
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_stream(schedule, STREAM_1, 0);
	schedule_kernel(schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 50));
	schedule_kernel(schedule, STREAM_1, "b", SPAN(2, 4), 3, SPAN(50, 90));
	schedule_kernel(schedule, STREAM_1, "c", SPAN(4, 6), 5, SPAN(93, 120));
	schedule_kernel(schedule, STREAM_1, "d", SPAN(6, 8), 7, SPAN(120, 160));
	found = schedule_find_until(schedule, 160);
	expect_steps(found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				  {PATH_KERNEL, 10, 50, "a"}, {PATH_KERNEL, 50, 90, "b"},
				  {PATH_DISPATCH, 90, 93, "c"}, {PATH_KERNEL, 93, 120, "c"},
				  {PATH_KERNEL, 120, 160, "d"}));
	assert_int_equal(found->report.kind_ns[PATH_KERNEL], 147);
	expect_stream(found, STREAM_1, 147, CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9 + 3));
}

/*
 * 2. The host is too slow.
 *
 * host  [0 5)a!4            [40 45)b!44            [80 85)c!84
 * s1        [10 a 20)             [50 b 60)              [90 c 100)
 *
 * Each kernel was submitted long after the previous one had ended, so the path runs along the host:
 * c 10, launch 6, its call until the submission 4, between calls 35, b's call 5, between calls 35,
 * a's call 5: 100. s1 is idle for the host until 4, from 20 to 44 and from 60 to 84, and each time
 * 6 ns more for the launch.
 */
static void the_host_is_too_slow(void **state)
{
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_stream(schedule, STREAM_1, 0);
	schedule_kernel(schedule, STREAM_1, "a", SPAN(0, 5), 4, SPAN(10, 20));
	schedule_kernel(schedule, STREAM_1, "b", SPAN(40, 45), 44, SPAN(50, 60));
	schedule_kernel(schedule, STREAM_1, "c", SPAN(80, 85), 84, SPAN(90, 100));
	found = schedule_find_until(schedule, 100);
	expect_steps(found, STEPS({PATH_CALL, 0, 5, "hipLaunchKernel"},
				  {PATH_HOST, 5, 40, "hipLaunchKernel"},
				  {PATH_CALL, 40, 45, "hipLaunchKernel"},
				  {PATH_HOST, 45, 80, "hipLaunchKernel"},
				  {PATH_CALL, 80, 84, "hipLaunchKernel"},
				  {PATH_LAUNCH, 84, 90, "c"}, {PATH_KERNEL, 90, 100, "c"}));
	assert_int_equal(found->report.kind_ns[PATH_HOST], 70);
	assert_int_equal(found->report.kind_ns[PATH_CALL], 14);
	expect_stream(found, STREAM_1, 30,
		      CAUSES([IDLE_HOST] = 4 + 24 + 24, [IDLE_LAUNCH] = 6 + 6 + 6));
}

/*
 * 7. The legacy default stream between two kernels of a blocking stream; the non-blocking s2 is
 * independent of it.
 *
 * host  [0 2)a!1 [2 4)u!3 [4 6)n!5 [6 8)b!7
 * s1         [10  a  50)              ~~[72 b 100)
 * null                  ~~~~[54 n 70)
 * s2 (non-blocking) [12            u           95)
 *
 * b waits for n, which ended 70-50 = 20 after s1 was free, n for a. kernels 28+16+40 = 84, waits
 * 2+4, launch 9, host 1. null: until 54: host 5, legacy 45, launch 4. s1: 50 to 72: legacy 20,
 * launch 2.
 */
static void the_legacy_default_stream(void **state)
{
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_stream(schedule, STREAM_1, 0);
	schedule_stream(schedule, STREAM_2, 1);
	schedule_kernel(schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 50));
	schedule_kernel(schedule, STREAM_2, "u", SPAN(2, 4), 3, SPAN(12, 95));
	schedule_kernel(schedule, NULL_STREAM, "n", SPAN(4, 6), 5, SPAN(54, 70));
	schedule_kernel(schedule, STREAM_1, "b", SPAN(6, 8), 7, SPAN(72, 100));
	found = schedule_find_until(schedule, 100);
	expect_steps(found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				  {PATH_KERNEL, 10, 50, "a"}, {PATH_WAIT, 50, 54, "n"},
				  {PATH_KERNEL, 54, 70, "n"}, {PATH_WAIT, 70, 72, "b"},
				  {PATH_KERNEL, 72, 100, "b"}));
	assert_int_equal(found->deps.counts[DEPENDENCY_LEGACY], 2);
	expect_stream(found, STREAM_1, 68,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9 + 2, [IDLE_LEGACY] = 20));
	expect_stream(
		found, NULL_STREAM, 16,
		CAUSES([IDLE_HOST] = 5, [IDLE_LEGACY] = 45, [IDLE_LAUNCH] = 4, [IDLE_END] = 30));
	expect_stream(found, STREAM_2, 83,
		      CAUSES([IDLE_HOST] = 3, [IDLE_LAUNCH] = 9, [IDLE_END] = 5));
}

/*
 * 8. The host waits for its copy, and continues late.
 *
 * host  [0 2)a!1        [20 hipMemcpy!22                 65)     [70 74)b!73
 * null       [10 a 28)  [30       copy       60)                      [80 b 100)
 *
 * b after its launch, 7; the call until the submission, 3; 5 between calls; the copy's call after
 * the copy 5; the copy 30; 2 after a; a 18; launch 9; call 1: 20+7+3+5+5+30+2+18+9+1 = 100. null:
 * 60 to 80: host until 73.
 */
static void the_host_waits_for_a_copy(void **state)
{
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_kernel(schedule, NULL_STREAM, "a", SPAN(0, 2), 1, SPAN(10, 28));
	schedule_copy(schedule, NULL_STREAM, true, SPAN(20, 65), 22, SPAN(30, 60));
	schedule_kernel(schedule, NULL_STREAM, "b", SPAN(70, 74), 73, SPAN(80, 100));
	found = schedule_find_until(schedule, 100);
	expect_steps(found,
		     STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
			   {PATH_KERNEL, 10, 28, "a"}, {PATH_DISPATCH, 28, 30, "copy"},
			   {PATH_COPY, 30, 60, "copy"}, {PATH_CALL, 60, 65, "hipMemcpy"},
			   {PATH_HOST, 65, 70, "hipMemcpy"}, {PATH_CALL, 70, 73, "hipLaunchKernel"},
			   {PATH_LAUNCH, 73, 80, "b"}, {PATH_KERNEL, 80, 100, "b"}));
	assert_int_equal(found->deps.counts[DEPENDENCY_BLOCKING], 1);
	expect_stream(found, NULL_STREAM, 68,
		      CAUSES([IDLE_HOST] = 1 + 13, [IDLE_LAUNCH] = 9 + 2 + 7));
}

/*
 * 9. A collective, hidden in part behind another kernel.
 *
 * host  [0 2)a!1 [2 4)all-reduce!3 [4 5)record s2 [5 6)wait s1 [6 8)b!7
 * s1        [10   a    40)                 ~~~[75 b 100)
 * s2             [20     all-reduce     70)
 *
 * b waits for the collective, which ended 70-40 = 30 after a: 25+5+50, launch 17 (a ran in the last
 * 10 of them), calls 1+2. Of the collective's 50 ns 20 are hidden behind a, 30 (40 to 70) are not.
 */
static void a_collective_half_hidden(void **state)
{
	static const char all_reduce[] = "ncclDevKernel_AllReduce_Sum_f32";
	struct schedule *schedule = *state;
	const struct found *found;
	const struct idle_resource *gpu;

	schedule_streams(schedule, 2, 0);
	schedule_kernel(schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 40));
	schedule_kernel(schedule, STREAM_2, all_reduce, SPAN(2, 4), 3, SPAN(20, 70));
	schedule_record(schedule, EVENT_1, STREAM_2, SPAN(4, 5));
	schedule_wait(schedule, STREAM_1, EVENT_1, SPAN(5, 6));
	schedule_kernel(schedule, STREAM_1, "b", SPAN(6, 8), 7, SPAN(75, 100));
	found = schedule_find_until(schedule, 100);
	expect_steps(found,
		     STEPS({PATH_CALL, 0, 2, "hipLaunchKernel"},
			   {PATH_CALL, 2, 3, "hipLaunchKernel"}, {PATH_LAUNCH, 3, 20, all_reduce},
			   {PATH_KERNEL, 20, 70, all_reduce}, {PATH_WAIT, 70, 75, "b"},
			   {PATH_KERNEL, 75, 100, "b"}));
	assert_int_equal(found->report.collective_ns, 50);
	assert_int_equal(found->report.busy_ns[PATH_LAUNCH], 20 - 10);
	assert_int_equal(found->report.busy_ns[PATH_WAIT], 0);
	expect_stream(found, STREAM_1, 55,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9 + 5, [IDLE_EVENT] = 30));
	expect_stream(found, STREAM_2, 50,
		      CAUSES([IDLE_HOST] = 3, [IDLE_LAUNCH] = 17, [IDLE_END] = 30));
	gpu = idle_agent(&found->idle, found->trace->activities[0].agent);
	assert_int_equal(gpu->communication_ns, 50);
	assert_int_equal(gpu->exposed_ns, 30);
	assert_int_equal(gpu->busy_ns, 60 + 25);
	assert_int_equal(gpu->cause_ns[IDLE_HOST], 1);
	assert_int_equal(gpu->cause_ns[IDLE_LAUNCH], 9 + 5);
}

#define LAYERS 7

static void put_pipeline(struct schedule *schedule)
{
	for (int64_t i = 0; i < LAYERS; i++) {
		int64_t at = 10 * i;
		char name[] = {'k', (char)('0' + i), '\0'}, post[] = {'p', (char)('0' + i), '\0'};

		schedule_copy(schedule, STREAM_2, false, SPAN(at, at + 2), at + 1,
			      SPAN(20 + 8 * i, 28 + 8 * i));
		schedule_record(schedule, EVENT_1, STREAM_2, SPAN(at + 2, at + 3));
		schedule_wait(schedule, STREAM_1, EVENT_1, SPAN(at + 3, at + 4));
		schedule_kernel(schedule, STREAM_1, name, SPAN(at + 4, at + 6), at + 5,
				SPAN(29 + 10 * i, 39 + 10 * i));
		schedule_record(schedule, EVENT_2, STREAM_1, SPAN(at + 6, at + 7));
		schedule_wait(schedule, STREAM_3, EVENT_2, SPAN(at + 7, at + 8));
		schedule_kernel(schedule, STREAM_3, post, SPAN(at + 8, at + 10), at + 9,
				SPAN(40 + 10 * i, 46 + 10 * i));
	}
	schedule_device_sync(schedule, SPAN(70, 110));
}

/*
 * 10. Seven layers on three streams, 21 activities: a copy c, a kernel k that waits for it, another
 * kernel p that waits for k; all are submitted in the first 70 ns, 10 ns a layer. c takes 8, k 10,
 * p 6.
 *
 * host  [0 2)c0!1 [2 3)rec [3 4)wait [4 6)k0!5 [6 7)rec [7 8)wait [8 10)p0!9 ... [70 sync 110)
 * s2          [20 c0 28)[28 c1 36) ...                    [68 c6 76)
 * s1                   ~[29 k0 39)[39 k1 49) ...                   [89 k6 99)
 * s3                             ~[40 p0 46) ~[50 p1 56) ...               ~[100 p6 106)
 *
 * After the first copy the kernels k determine the path: c0 8, k 70, p6 6, waits 1+1, launch 19,
 * calls 1+4: 110. s1 is idle for the host for 5, for the copy 23, launch 1; s3 for the host 9, then
 * 30 for k0 and 3 for each other k, with 1 of launch each.
 */
static void three_streams_in_a_pipeline(void **state)
{
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_streams(schedule, 3, 1);
	put_pipeline(schedule);
	found = schedule_find_until(schedule, 110);
	expect_steps(found, STEPS({PATH_CALL, 0, 1, "hipMemcpyAsync"}, {PATH_LAUNCH, 1, 20, "copy"},
				  {PATH_COPY, 20, 28, "copy"}, {PATH_WAIT, 28, 29, "k0"},
				  {PATH_KERNEL, 29, 39, "k0"}, {PATH_KERNEL, 39, 49, "k1"},
				  {PATH_KERNEL, 49, 59, "k2"}, {PATH_KERNEL, 59, 69, "k3"},
				  {PATH_KERNEL, 69, 79, "k4"}, {PATH_KERNEL, 79, 89, "k5"},
				  {PATH_KERNEL, 89, 99, "k6"}, {PATH_WAIT, 99, 100, "p6"},
				  {PATH_KERNEL, 100, 106, "p6"},
				  {PATH_CALL, 106, 110, "hipDeviceSynchronize"}));
	assert_int_equal(found->path.steps[13].cause, DEPENDENCY_HOST_DEVICE);
	assert_int_equal(found->deps.resolved_waits, 2 * LAYERS + 1);
	expect_stream(
		found, STREAM_1, 70,
		CAUSES([IDLE_HOST] = 5, [IDLE_COPY] = 23, [IDLE_LAUNCH] = 1, [IDLE_END] = 11));
	expect_stream(found, STREAM_2, 56,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 19, [IDLE_END] = 34));
	expect_stream(found, STREAM_3, 42,
		      CAUSES([IDLE_HOST] = 9, [IDLE_EVENT] = 30 + 6 * 3, [IDLE_LAUNCH] = 1 + 6,
			     [IDLE_END] = 4));
}

/*
 * 11. A scope's instances, and a wait whose producer is unknown.
 *
 * host  [0          step 0          48)    [50     step 1     ...
 *       [0 2)a!1 [2 synchronize s1 45)     [52 wait e3][54 56)b!55
 * s1         [10      a      40)                        [70 b 100)
 *
 * Step 0 ends with its scope: host 3 after the call that waited for a; 5 after a; a 30; launch 9;
 * call 1. Step 1 ends with b; the trace cannot tell that b waited only for its launch.
 */
static void scopes_and_what_is_not_known(void **state)
{
	struct schedule *schedule = *state;
	const struct path_query queries[] = {
		{.by = PATH_WINDOW_STEP, .number = 0, .nth = PATH_WINDOW_EACH},
		{.by = PATH_WINDOW_SCOPE, .text = "ProfilerStep#1", .nth = 0},
	};

	for (int i = 0; i < 2; i++) {
		const struct found *found;

		schedule_again(schedule);
		schedule_stream(schedule, STREAM_1, 0);
		schedule_scope(schedule, 1, "ProfilerStep#0", SPAN(0, 48));
		schedule_scope(schedule, 2, "ProfilerStep#1", SPAN(50, 60));
		schedule->scope = 1;
		schedule_kernel(schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 40));
		schedule_stream_sync(schedule, STREAM_1, SPAN(2, 45));
		schedule->scope = 2;
		schedule_wait(schedule, STREAM_1, 0xdead, SPAN(52, 54));
		schedule_kernel(schedule, STREAM_1, "b", SPAN(54, 56), 55, SPAN(70, 100));
		found = schedule_find(schedule, &queries[i]);
		assert_int_equal(found->windows.count, 1);
		assert_int_equal(found->deps.unresolved_count, 1);
		assert_int_equal(found->deps.unresolved[0].doubt, DEPENDENCY_DOUBT_NO_RECORD);
		if (i == 0)
			expect_steps(found,
				     STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"},
					   {PATH_LAUNCH, 1, 10, "a"}, {PATH_KERNEL, 10, 40, "a"},
					   {PATH_CALL, 40, 45, "hipStreamSynchronize"},
					   {PATH_HOST, 45, 48, "hipStreamSynchronize"}));
		else
			expect_steps(found, STEPS({PATH_HOST, 50, 52, "hipStreamSynchronize"},
						  {PATH_CALL, 52, 54, "hipStreamWaitEvent"},
						  {PATH_CALL, 54, 55, "hipLaunchKernel"},
						  {PATH_UNKNOWN, 55, 70, "b"},
						  {PATH_KERNEL, 70, 100, "b"}));
	}
}

/*
 * 13. Two streams that HIP mapped to one hardware queue, whose packets run in sequence.
 *
 * host  [0 2)a!1 [2 4)b!3
 * s1         [10 a 50)
 * s2                  ~[52 b 90)
 *
 * b depends on a only through the queue: a ended 50-3 = 47 after b's submission. s2: host 3, queue
 * 47, launch 2.
 */
static void two_streams_in_one_hardware_queue(void **state)
{
	struct schedule *schedule = *state;
	const struct found *found;

	schedule->is_in_order = true;
	schedule_streams(schedule, 2, 1);
	schedule_kernel(schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 50));
	schedule_kernel(schedule, STREAM_2, "b", SPAN(2, 4), 3, SPAN(52, 90));
	found = schedule_find_until(schedule, 90);
	expect_steps(found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				  {PATH_KERNEL, 10, 50, "a"}, {PATH_DISPATCH, 50, 52, "b"},
				  {PATH_KERNEL, 52, 90, "b"}));
	assert_int_equal(found->report.waits_count, 1);
	assert_int_equal(found->report.waits[0].cause, DEPENDENCY_QUEUE);
	assert_int_equal(found->report.waits[0].total_ns, 47);
	expect_stream(found, STREAM_2, 38,
		      CAUSES([IDLE_HOST] = 3, [IDLE_QUEUE] = 47, [IDLE_LAUNCH] = 2));
}

/*
 * 14. Times that contradict an edge are not changed, and are counted: b began before a had ended.
 *
 * host  [0 2)a!1 [2 4)b!3
 * s1         [10 a 50)
 *                  [45 b 90)
 *
 * a is on the path until b began: 90-45, 45-10, 9, 1.
 */
static void times_that_contradict_an_edge(void **state)
{
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_stream(schedule, STREAM_1, 1);
	schedule_kernel(schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 50));
	schedule_kernel(schedule, STREAM_1, "b", SPAN(2, 4), 3, SPAN(45, 90));
	found = schedule_find_until(schedule, 90);
	expect_steps(found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				  {PATH_KERNEL, 10, 45, "a"}, {PATH_KERNEL, 45, 90, "b"}));
	assert_int_equal(found->deps.contradicted[DEPENDENCY_STREAM], 1);
	assert_int_equal(found->trace->activities[1].start_ns, BASE_NS + 45);
	expect_stream(found, STREAM_1, 80, CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HIP_SCHEDULE(one_stream_in_a_row),
		HIP_SCHEDULE(the_host_is_too_slow),
		HIP_SCHEDULE(the_legacy_default_stream),
		HIP_SCHEDULE(the_host_waits_for_a_copy),
		HIP_SCHEDULE(a_collective_half_hidden),
		HIP_SCHEDULE(three_streams_in_a_pipeline),
		HIP_SCHEDULE(scopes_and_what_is_not_known),
		HIP_SCHEDULE(two_streams_in_one_hardware_queue),
		HIP_SCHEDULE(times_that_contradict_an_edge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
