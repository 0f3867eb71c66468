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

#define STEPS(...)                                                                                 \
	(const struct expected_step[]){__VA_ARGS__},                                               \
		sizeof((const struct expected_step[]){__VA_ARGS__}) / sizeof(struct expected_step)
#define SPAN(begin, end) ((struct span){begin, end})
#define CAUSES(...)	 ((const int64_t[IDLE_CAUSE_COUNT]){__VA_ARGS__})

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
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 0);
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 50));
	schedule_kernel(&schedule, STREAM_1, "b", SPAN(2, 4), 3, SPAN(50, 90));
	schedule_kernel(&schedule, STREAM_1, "c", SPAN(4, 6), 5, SPAN(93, 120));
	schedule_kernel(&schedule, STREAM_1, "d", SPAN(6, 8), 7, SPAN(120, 160));
	schedule_find_until(&schedule, 160, &found);
	expect_steps(&found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				   {PATH_KERNEL, 10, 50, "a"}, {PATH_KERNEL, 50, 90, "b"},
				   {PATH_DISPATCH, 90, 93, "c"}, {PATH_KERNEL, 93, 120, "c"},
				   {PATH_KERNEL, 120, 160, "d"}));
	assert_int_equal(found.report.kind_ns[PATH_KERNEL], 147);
	expect_stream(&found, STREAM_1, 147, CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9 + 3));
	found_release(&found);
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
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 0);
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(0, 5), 4, SPAN(10, 20));
	schedule_kernel(&schedule, STREAM_1, "b", SPAN(40, 45), 44, SPAN(50, 60));
	schedule_kernel(&schedule, STREAM_1, "c", SPAN(80, 85), 84, SPAN(90, 100));
	schedule_find_until(&schedule, 100, &found);
	expect_steps(&found, STEPS({PATH_CALL, 0, 5, "hipLaunchKernel"},
				   {PATH_HOST, 5, 40, "hipLaunchKernel"},
				   {PATH_CALL, 40, 45, "hipLaunchKernel"},
				   {PATH_HOST, 45, 80, "hipLaunchKernel"},
				   {PATH_CALL, 80, 84, "hipLaunchKernel"},
				   {PATH_LAUNCH, 84, 90, "c"}, {PATH_KERNEL, 90, 100, "c"}));
	assert_int_equal(found.report.kind_ns[PATH_HOST], 70);
	assert_int_equal(found.report.kind_ns[PATH_CALL], 14);
	expect_stream(&found, STREAM_1, 30,
		      CAUSES([IDLE_HOST] = 4 + 24 + 24, [IDLE_LAUNCH] = 6 + 6 + 6));
	found_release(&found);
}

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
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 0);
	schedule_stream(&schedule, STREAM_2, 0);
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 60));
	schedule_record(&schedule, EVENT_1, STREAM_1, SPAN(2, 3));
	schedule_kernel(&schedule, STREAM_2, "x", SPAN(3, 5), 4, SPAN(12, 30));
	schedule_wait(&schedule, STREAM_2, EVENT_1, SPAN(5, 6));
	schedule_kernel(&schedule, STREAM_2, "b", SPAN(6, 8), 7, SPAN(65, 95));
	schedule_find_until(&schedule, 95, &found);
	expect_steps(&found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				   {PATH_KERNEL, 10, 60, "a"}, {PATH_WAIT, 60, 65, "b"},
				   {PATH_KERNEL, 65, 95, "b"}));
	list = dependencies_of_activity(&found.deps, found_activity(&found, "b"));
	assert_int_equal(list.count, 2);
	assert_int_equal(list.rows[0].kind, DEPENDENCY_STREAM);
	assert_int_equal(list.rows[1].kind, DEPENDENCY_EVENT);
	assert_int_equal(list.rows[1].via, 0);
	assert_int_equal(found.report.waits_count, 1);
	assert_int_equal(found.report.waits[0].from, found_activity(&found, "a"));
	assert_int_equal(found.report.waits[0].total_ns, 30);
	expect_stream(&found, STREAM_1, 50,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9, [IDLE_END] = 35));
	expect_stream(&found, STREAM_2, 18 + 30,
		      CAUSES([IDLE_HOST] = 4, [IDLE_LAUNCH] = 8 + 5, [IDLE_EVENT] = 30));
	assert_int_equal(found.idle.waits_count, 1);
	assert_int_equal(found.idle.waits[0].from, found_activity(&found, "a"));
	found_release(&found);
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
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, true);
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(0, 3), 0, SPAN(10, 40));
	schedule_kernel(&schedule, STREAM_2, "b", SPAN(3, 6), 0, SPAN(12, 70));
	schedule_record(&schedule, EVENT_1, STREAM_1, SPAN(6, 7));
	schedule_record(&schedule, EVENT_2, STREAM_2, SPAN(7, 8));
	schedule_wait(&schedule, STREAM_3, EVENT_1, SPAN(8, 9));
	schedule_wait(&schedule, STREAM_3, EVENT_2, SPAN(9, 10));
	schedule_kernel(&schedule, STREAM_3, "c", SPAN(10, 13), 0, SPAN(75, 100));
	schedule_find_until(&schedule, 100, &found);
	expect_steps(&found, STEPS({PATH_CALL, 0, 3, "cudaCall"}, {PATH_CALL, 3, 6, "cudaCall"},
				   {PATH_LAUNCH, 6, 12, "b"}, {PATH_KERNEL, 12, 70, "b"},
				   {PATH_WAIT, 70, 75, "c"}, {PATH_KERNEL, 75, 100, "c"}));
	list = dependencies_of_activity(&found.deps, found_activity(&found, "c"));
	assert_int_equal(list.count, 2);
	assert_int_equal(found.report.waits[0].total_ns, 30);
	expect_stream(&found, STREAM_1, 30,
		      CAUSES([IDLE_HOST] = 3, [IDLE_LAUNCH] = 7, [IDLE_END] = 60));
	expect_stream(&found, STREAM_2, 58,
		      CAUSES([IDLE_HOST] = 6, [IDLE_LAUNCH] = 6, [IDLE_END] = 30));
	expect_stream(&found, STREAM_3, 25,
		      CAUSES([IDLE_HOST] = 13, [IDLE_EVENT] = 57, [IDLE_LAUNCH] = 5));
	found_release(&found);
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
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 0);
	schedule_stream(&schedule, STREAM_2, 0);
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 30));
	schedule_record(&schedule, EVENT_1, STREAM_1, SPAN(2, 3));
	schedule_wait(&schedule, STREAM_2, EVENT_1, SPAN(3, 4));
	schedule_kernel(&schedule, STREAM_2, "b", SPAN(4, 6), 5, SPAN(33, 53));
	schedule_kernel(&schedule, STREAM_1, "c", SPAN(6, 8), 7, SPAN(30, 90));
	schedule_record(&schedule, EVENT_1, STREAM_1, SPAN(8, 9));
	schedule_wait(&schedule, STREAM_2, EVENT_1, SPAN(9, 10));
	schedule_kernel(&schedule, STREAM_2, "d", SPAN(10, 12), 11, SPAN(92, 100));
	schedule_find_until(&schedule, 100, &found);
	expect_steps(&found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				   {PATH_KERNEL, 10, 30, "a"}, {PATH_KERNEL, 30, 90, "c"},
				   {PATH_WAIT, 90, 92, "d"}, {PATH_KERNEL, 92, 100, "d"}));
	assert_int_equal(found.report.waits[0].total_ns, 37);
	assert_int_equal(found.deps.resolved_waits, 2);
	assert_int_equal(found.deps.contradicted[DEPENDENCY_EVENT], 0);
	expect_stream(&found, STREAM_1, 80,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9, [IDLE_END] = 10));
	expect_stream(&found, STREAM_2, 28,
		      CAUSES([IDLE_HOST] = 5, [IDLE_EVENT] = 25 + 37, [IDLE_LAUNCH] = 3 + 2));
	found_release(&found);
}

static const char *const fork_join[] = {"r", "p", "q", "j", NULL};
static const uint32_t fork_join_edges[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};

static void put_replay(struct schedule *schedule)
{
	schedule_init(schedule, false);
	schedule_stream(schedule, STREAM_1, 0);
	schedule_graph(schedule, fork_join, fork_join_edges, 4);
	schedule_kernel(schedule, STREAM_1, "x", SPAN(0, 2), 1, SPAN(10, 30));
	schedule_launch(schedule, STREAM_1, 4, SPAN(2, 12));
	schedule_node(schedule, "r", 5, SPAN(34, 44));
	schedule_node(schedule, "p", 6, SPAN(46, 76));
	schedule_node(schedule, "q", 7, SPAN(46, 56));
	schedule_node(schedule, "j", 8, SPAN(79, 89));
	schedule_kernel(schedule, STREAM_1, "y", SPAN(12, 14), 13, SPAN(93, 100));
}

/*
 * 6. A graph between two kernels: r before p and q, both before j.
 *
 * host  [0 2)x!1 [2 12)launch r!5 p!6 q!7 j!8 [12 14)y!13
 * s1         [10 x 30)  [34 r 44) [46    p    76)  [79 j 89)  [93 y 100)
 *                                 [46 q 56)
 *
 * y waits for the replay's last node j, j for p (76-56 = 20 longer than for q), p for r, r for x.
 * kernels 7+10+30+10+20 = 77, dispatch 4+3+2+4 = 13, launch 9, host 1: 100. s1 was busy
 * 20+10+30+10+7 = 77.
 */
static void inside_a_replay(void **state)
{
	struct schedule schedule;
	struct found found;

	put_replay(&schedule);
	schedule_find_until(&schedule, 100, &found);
	expect_steps(&found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "x"},
				   {PATH_KERNEL, 10, 30, "x"}, {PATH_DISPATCH, 30, 34, "r"},
				   {PATH_KERNEL, 34, 44, "r"}, {PATH_DISPATCH, 44, 46, "p"},
				   {PATH_KERNEL, 46, 76, "p"}, {PATH_DISPATCH, 76, 79, "j"},
				   {PATH_KERNEL, 79, 89, "j"}, {PATH_DISPATCH, 89, 93, "y"},
				   {PATH_KERNEL, 93, 100, "y"}));
	assert_int_equal(found.deps.counts[DEPENDENCY_GRAPH], 4);
	assert_int_equal(found.deps.nodes_unknown, 0);
	assert_int_equal(found.path.steps[8].lead_ns, 20);
	expect_stream(&found, STREAM_1, 77,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9 + 4 + 2 + 3 + 4));
	found_release(&found);
}

/* The replay alone, from r's begin to j's end, 34 to 89: kernels 10+30+10, dispatch 2+3. */
static void the_replay_alone(void **state)
{
	const struct path_query query = {.by = PATH_WINDOW_REPLAY, .graph = 7};
	struct schedule schedule;
	struct found found;

	put_replay(&schedule);
	schedule_find(&schedule, &query, &found);
	assert_int_equal(found.report.total_ns, 55);
	expect_steps(&found, STEPS({PATH_KERNEL, 34, 44, "r"}, {PATH_DISPATCH, 44, 46, "p"},
				   {PATH_KERNEL, 46, 76, "p"}, {PATH_DISPATCH, 76, 79, "j"},
				   {PATH_KERNEL, 79, 89, "j"}));
	found_release(&found);
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
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 0);
	schedule_stream(&schedule, STREAM_2, 1);
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 50));
	schedule_kernel(&schedule, STREAM_2, "u", SPAN(2, 4), 3, SPAN(12, 95));
	schedule_kernel(&schedule, NULL_STREAM, "n", SPAN(4, 6), 5, SPAN(54, 70));
	schedule_kernel(&schedule, STREAM_1, "b", SPAN(6, 8), 7, SPAN(72, 100));
	schedule_find_until(&schedule, 100, &found);
	expect_steps(&found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				   {PATH_KERNEL, 10, 50, "a"}, {PATH_WAIT, 50, 54, "n"},
				   {PATH_KERNEL, 54, 70, "n"}, {PATH_WAIT, 70, 72, "b"},
				   {PATH_KERNEL, 72, 100, "b"}));
	assert_int_equal(found.deps.counts[DEPENDENCY_LEGACY], 2);
	expect_stream(&found, STREAM_1, 68,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9 + 2, [IDLE_LEGACY] = 20));
	expect_stream(
		&found, NULL_STREAM, 16,
		CAUSES([IDLE_HOST] = 5, [IDLE_LEGACY] = 45, [IDLE_LAUNCH] = 4, [IDLE_END] = 30));
	expect_stream(&found, STREAM_2, 83,
		      CAUSES([IDLE_HOST] = 3, [IDLE_LAUNCH] = 9, [IDLE_END] = 5));
	found_release(&found);
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
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	schedule_kernel(&schedule, NULL_STREAM, "a", SPAN(0, 2), 1, SPAN(10, 28));
	schedule_copy(&schedule, NULL_STREAM, true, SPAN(20, 65), 22, SPAN(30, 60));
	schedule_kernel(&schedule, NULL_STREAM, "b", SPAN(70, 74), 73, SPAN(80, 100));
	schedule_find_until(&schedule, 100, &found);
	expect_steps(&found,
		     STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
			   {PATH_KERNEL, 10, 28, "a"}, {PATH_DISPATCH, 28, 30, "copy"},
			   {PATH_COPY, 30, 60, "copy"}, {PATH_CALL, 60, 65, "hipMemcpy"},
			   {PATH_HOST, 65, 70, "hipMemcpy"}, {PATH_CALL, 70, 73, "hipLaunchKernel"},
			   {PATH_LAUNCH, 73, 80, "b"}, {PATH_KERNEL, 80, 100, "b"}));
	assert_int_equal(found.deps.counts[DEPENDENCY_BLOCKING], 1);
	expect_stream(&found, NULL_STREAM, 68,
		      CAUSES([IDLE_HOST] = 1 + 13, [IDLE_LAUNCH] = 9 + 2 + 7));
	found_release(&found);
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
	struct schedule schedule;
	struct found found;
	const struct idle_resource *gpu;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 0);
	schedule_stream(&schedule, STREAM_2, 0);
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 40));
	schedule_kernel(&schedule, STREAM_2, all_reduce, SPAN(2, 4), 3, SPAN(20, 70));
	schedule_record(&schedule, EVENT_1, STREAM_2, SPAN(4, 5));
	schedule_wait(&schedule, STREAM_1, EVENT_1, SPAN(5, 6));
	schedule_kernel(&schedule, STREAM_1, "b", SPAN(6, 8), 7, SPAN(75, 100));
	schedule_find_until(&schedule, 100, &found);
	expect_steps(&found,
		     STEPS({PATH_CALL, 0, 2, "hipLaunchKernel"},
			   {PATH_CALL, 2, 3, "hipLaunchKernel"}, {PATH_LAUNCH, 3, 20, all_reduce},
			   {PATH_KERNEL, 20, 70, all_reduce}, {PATH_WAIT, 70, 75, "b"},
			   {PATH_KERNEL, 75, 100, "b"}));
	assert_int_equal(found.report.collective_ns, 50);
	assert_int_equal(found.report.busy_ns[PATH_LAUNCH], 20 - 10);
	assert_int_equal(found.report.busy_ns[PATH_WAIT], 0);
	expect_stream(&found, STREAM_1, 55,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9 + 5, [IDLE_EVENT] = 30));
	expect_stream(&found, STREAM_2, 50,
		      CAUSES([IDLE_HOST] = 3, [IDLE_LAUNCH] = 17, [IDLE_END] = 30));
	gpu = idle_agent(&found.idle, found.trace->activities[0].agent);
	assert_int_equal(gpu->communication_ns, 50);
	assert_int_equal(gpu->exposed_ns, 30);
	assert_int_equal(gpu->busy_ns, 60 + 25);
	assert_int_equal(gpu->cause_ns[IDLE_HOST], 1);
	assert_int_equal(gpu->cause_ns[IDLE_LAUNCH], 9 + 5);
	found_release(&found);
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
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	for (uint64_t stream = STREAM_1; stream <= STREAM_3; stream++)
		schedule_stream(&schedule, stream, 1);
	put_pipeline(&schedule);
	schedule_find_until(&schedule, 110, &found);
	expect_steps(&found, STEPS({PATH_CALL, 0, 1, "hipMemcpyAsync"},
				   {PATH_LAUNCH, 1, 20, "copy"}, {PATH_COPY, 20, 28, "copy"},
				   {PATH_WAIT, 28, 29, "k0"}, {PATH_KERNEL, 29, 39, "k0"},
				   {PATH_KERNEL, 39, 49, "k1"}, {PATH_KERNEL, 49, 59, "k2"},
				   {PATH_KERNEL, 59, 69, "k3"}, {PATH_KERNEL, 69, 79, "k4"},
				   {PATH_KERNEL, 79, 89, "k5"}, {PATH_KERNEL, 89, 99, "k6"},
				   {PATH_WAIT, 99, 100, "p6"}, {PATH_KERNEL, 100, 106, "p6"},
				   {PATH_CALL, 106, 110, "hipDeviceSynchronize"}));
	assert_int_equal(found.path.steps[13].cause, DEPENDENCY_HOST_DEVICE);
	assert_int_equal(found.deps.resolved_waits, 2 * LAYERS + 1);
	expect_stream(
		&found, STREAM_1, 70,
		CAUSES([IDLE_HOST] = 5, [IDLE_COPY] = 23, [IDLE_LAUNCH] = 1, [IDLE_END] = 11));
	expect_stream(&found, STREAM_2, 56,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 19, [IDLE_END] = 34));
	expect_stream(&found, STREAM_3, 42,
		      CAUSES([IDLE_HOST] = 9, [IDLE_EVENT] = 30 + 6 * 3, [IDLE_LAUNCH] = 1 + 6,
			     [IDLE_END] = 4));
	found_release(&found);
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
	const struct path_query queries[] = {
		{.by = PATH_WINDOW_STEP, .number = 0, .nth = PATH_WINDOW_EACH},
		{.by = PATH_WINDOW_SCOPE, .text = "ProfilerStep#1", .nth = 0},
	};

	for (int i = 0; i < 2; i++) {
		struct schedule schedule;
		struct found found;

		schedule_init(&schedule, false);
		schedule_stream(&schedule, STREAM_1, 0);
		schedule_scope(&schedule, 1, "ProfilerStep#0", SPAN(0, 48));
		schedule_scope(&schedule, 2, "ProfilerStep#1", SPAN(50, 60));
		schedule.scope = 1;
		schedule_kernel(&schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 40));
		schedule_stream_sync(&schedule, STREAM_1, SPAN(2, 45));
		schedule.scope = 2;
		schedule_wait(&schedule, STREAM_1, 0xdead, SPAN(52, 54));
		schedule_kernel(&schedule, STREAM_1, "b", SPAN(54, 56), 55, SPAN(70, 100));
		schedule_find(&schedule, &queries[i], &found);
		assert_int_equal(found.windows.count, 1);
		assert_int_equal(found.deps.unresolved_count, 1);
		assert_int_equal(found.deps.unresolved[0].doubt, DEPENDENCY_DOUBT_NO_RECORD);
		if (i == 0)
			expect_steps(&found,
				     STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"},
					   {PATH_LAUNCH, 1, 10, "a"}, {PATH_KERNEL, 10, 40, "a"},
					   {PATH_CALL, 40, 45, "hipStreamSynchronize"},
					   {PATH_HOST, 45, 48, "hipStreamSynchronize"}));
		else
			expect_steps(&found, STEPS({PATH_HOST, 50, 52, "hipStreamSynchronize"},
						   {PATH_CALL, 52, 54, "hipStreamWaitEvent"},
						   {PATH_CALL, 54, 55, "hipLaunchKernel"},
						   {PATH_UNKNOWN, 55, 70, "b"},
						   {PATH_KERNEL, 70, 100, "b"}));
		found_release(&found);
	}
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
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 0);
	schedule_stream(&schedule, STREAM_2, 0);
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 40));
	schedule_record(&schedule, EVENT_3, STREAM_1, SPAN(2, 3));
	schedule_kernel(&schedule, STREAM_1, "b", SPAN(3, 5), 4, SPAN(40, 90));
	schedule_event_sync(&schedule, EVENT_3, SPAN(5, 45));
	schedule_kernel(&schedule, STREAM_2, "c", SPAN(45, 47), 46, SPAN(50, 95));
	schedule_find_until(&schedule, 95, &found);
	expect_steps(&found,
		     STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
			   {PATH_KERNEL, 10, 40, "a"}, {PATH_CALL, 40, 45, "hipEventSynchronize"},
			   {PATH_CALL, 45, 46, "hipLaunchKernel"}, {PATH_LAUNCH, 46, 50, "c"},
			   {PATH_KERNEL, 50, 95, "c"}));
	assert_int_equal(found.report.waits[0].cause, DEPENDENCY_HOST_EVENT);
	assert_int_equal(found.report.waits[0].total_ns, 35);
	expect_stream(&found, STREAM_2, 45, CAUSES([IDLE_HOST] = 46, [IDLE_LAUNCH] = 4));
	found_release(&found);
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
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	schedule.is_in_order = true;
	schedule_stream(&schedule, STREAM_1, 1);
	schedule_stream(&schedule, STREAM_2, 1);
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 50));
	schedule_kernel(&schedule, STREAM_2, "b", SPAN(2, 4), 3, SPAN(52, 90));
	schedule_find_until(&schedule, 90, &found);
	expect_steps(&found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				   {PATH_KERNEL, 10, 50, "a"}, {PATH_DISPATCH, 50, 52, "b"},
				   {PATH_KERNEL, 52, 90, "b"}));
	assert_int_equal(found.report.waits_count, 1);
	assert_int_equal(found.report.waits[0].cause, DEPENDENCY_QUEUE);
	assert_int_equal(found.report.waits[0].total_ns, 47);
	expect_stream(&found, STREAM_2, 38,
		      CAUSES([IDLE_HOST] = 3, [IDLE_QUEUE] = 47, [IDLE_LAUNCH] = 2));
	found_release(&found);
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
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 1);
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 50));
	schedule_kernel(&schedule, STREAM_1, "b", SPAN(2, 4), 3, SPAN(45, 90));
	schedule_find_until(&schedule, 90, &found);
	expect_steps(&found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				   {PATH_KERNEL, 10, 45, "a"}, {PATH_KERNEL, 45, 90, "b"}));
	assert_int_equal(found.deps.contradicted[DEPENDENCY_STREAM], 1);
	assert_int_equal(found.trace->activities[1].start_ns, BASE_NS + 45);
	expect_stream(&found, STREAM_1, 80, CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9));
	found_release(&found);
}

/*
 * 15. A kernel of a replay whose node is unknown keeps the order of the launch.
 *
 * host  [0 10)launch r!1 odd!2 j!3
 * s1          [10 r 20)[22 odd 60)[70 j 80)
 *
 * The graph has r, p, q and j; the second activity is none of them, so it follows r as in the
 * launch. j follows p and q, which have no activity, and so r.
 */
static void a_node_that_is_not_known(void **state)
{
	struct dependency_list list;
	struct schedule schedule;
	struct found found;
	uint32_t odd;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 1);
	schedule_graph(&schedule, fork_join, fork_join_edges, 4);
	schedule_launch(&schedule, STREAM_1, 3, SPAN(0, 10));
	schedule_node(&schedule, "r", 1, SPAN(10, 20));
	schedule_node(&schedule, "odd", 2, SPAN(22, 60));
	schedule_node(&schedule, "j", 3, SPAN(70, 80));
	schedule_find_until(&schedule, 80, &found);
	odd = found_activity(&found, "odd");
	assert_int_equal(found.trace->activities[odd].node, TRACE_NONE);
	assert_true(found.deps.nodes_unknown > 0);
	list = dependencies_of_activity(&found.deps, odd);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.rows[0].kind, DEPENDENCY_REPLAY);
	assert_int_equal(list.rows[0].from, found_activity(&found, "r"));
	found_release(&found);
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
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	for (uint64_t stream = STREAM_1; stream <= STREAM_3; stream++)
		schedule_stream(&schedule, stream, 1);
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(0, 2), 1, SPAN(10, 30));
	schedule_ext_kernel(&schedule, STREAM_1, "k", SPAN(2, 4), 3, SPAN(30, 70));
	schedule_wait(&schedule, STREAM_2, EVENT_1, SPAN(4, 5));
	schedule_kernel(&schedule, STREAM_2, "b", SPAN(5, 7), 6, SPAN(31, 41));
	schedule_wait(&schedule, STREAM_3, EVENT_2, SPAN(7, 8));
	schedule_kernel(&schedule, STREAM_3, "c", SPAN(8, 10), 9, SPAN(72, 80));
	schedule_find_until(&schedule, 80, &found);
	expect_steps(&found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "a"},
				   {PATH_KERNEL, 10, 30, "a"}, {PATH_KERNEL, 30, 70, "k"},
				   {PATH_WAIT, 70, 72, "c"}, {PATH_KERNEL, 72, 80, "c"}));
	list = dependencies_of_activity(&found.deps, found_activity(&found, "b"));
	assert_int_equal(list.count, 1);
	assert_int_equal(list.rows[0].from, found_activity(&found, "a"));
	assert_int_equal(found.deps.contradicted[DEPENDENCY_EVENT], 0);
	expect_stream(
		&found, STREAM_2, 10,
		CAUSES([IDLE_HOST] = 6, [IDLE_EVENT] = 24, [IDLE_LAUNCH] = 1, [IDLE_END] = 39));
	expect_stream(&found, STREAM_3, 8,
		      CAUSES([IDLE_HOST] = 9, [IDLE_EVENT] = 61, [IDLE_LAUNCH] = 2));
	found_release(&found);
}

/* Asserts that NAME waits only for the work FROM, through an event. */
static void expect_event_edge(const struct found *found, const char *name, const char *from)
{
	struct dependency_list list =
		dependencies_of_activity(&found->deps, found_activity(found, name));
	struct dependency_source source;

	assert_int_equal(list.count, 1);
	assert_int_equal(list.rows[0].kind, DEPENDENCY_EVENT);
	assert_true(dependencies_follow(&found->deps, &list.rows[0], INT64_MAX, &source));
	assert_int_equal(source.activity, found_activity(found, from));
}

/*
 * 17. A node of a graph records e1 after p, and another node, without dependencies, records e2.
 *
 * host  [0 2)x!1 [2 3)record s1 e1 [3 13)launch r!4 p!5 q!6 [13 14)wait s2 e1 [14 16)b!15
 *       [16 17)wait s3 e2 [17 19)c!18
 * s1         [10 x 20)[24 r 30)[32 p 50)
 *                              [32 q    90)
 * s2                                   ~[53 b 60)
 * s3                   ~[22 c 28)
 *
 * b follows p: neither x, as by the earlier record, nor q, as after the whole launch. c follows
 * what s1 had been given before the launch. s2: host 15, event 35, launch 3; s3: host 18, event 2,
 * launch 2.
 */
static void events_of_nodes(void **state)
{
	static const char *const names[] = {"r", "p", "q", "!1", "!2", NULL};
	static const uint32_t edges[][2] = {{0, 1}, {0, 2}, {1, 3}};
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	for (uint64_t stream = STREAM_1; stream <= STREAM_3; stream++)
		schedule_stream(&schedule, stream, 1);
	schedule_graph(&schedule, names, edges, 3);
	schedule_kernel(&schedule, STREAM_1, "x", SPAN(0, 2), 1, SPAN(10, 20));
	schedule_record(&schedule, EVENT_1, STREAM_1, SPAN(2, 3));
	schedule_launch(&schedule, STREAM_1, 3, SPAN(3, 13));
	schedule_node(&schedule, "r", 4, SPAN(24, 30));
	schedule_node(&schedule, "p", 5, SPAN(32, 50));
	schedule_node(&schedule, "q", 6, SPAN(32, 90));
	schedule_wait(&schedule, STREAM_2, EVENT_1, SPAN(13, 14));
	schedule_kernel(&schedule, STREAM_2, "b", SPAN(14, 16), 15, SPAN(53, 60));
	schedule_wait(&schedule, STREAM_3, EVENT_2, SPAN(16, 17));
	schedule_kernel(&schedule, STREAM_3, "c", SPAN(17, 19), 18, SPAN(22, 28));
	schedule_find_until(&schedule, 90, &found);
	expect_event_edge(&found, "b", "p");
	expect_event_edge(&found, "c", "x");
	assert_int_equal(found.deps.contradicted[DEPENDENCY_EVENT], 0);
	assert_int_equal(found.deps.unresolved_count, 0);
	expect_stream(
		&found, STREAM_2, 7,
		CAUSES([IDLE_HOST] = 15, [IDLE_EVENT] = 35, [IDLE_LAUNCH] = 3, [IDLE_END] = 30));
	expect_stream(
		&found, STREAM_3, 6,
		CAUSES([IDLE_HOST] = 18, [IDLE_EVENT] = 2, [IDLE_LAUNCH] = 2, [IDLE_END] = 62));
	found_release(&found);
}

/*
 * 18. The same event, of a replay with a kernel that is none of the nodes: the record's place is
 * unknown.
 *
 * host  [0 10)launch r!1 odd!2 [10 11)wait s2 e1 [11 13)b!12
 * s1    [10 r 20)[22 odd 60)
 */
static void an_event_of_a_replay_that_is_not_known(void **state)
{
	static const char *const names[] = {"r", "p", "!1", NULL};
	static const uint32_t edges[][2] = {{0, 1}, {1, 2}};
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 1);
	schedule_stream(&schedule, STREAM_2, 1);
	schedule_graph(&schedule, names, edges, 2);
	schedule_launch(&schedule, STREAM_1, 2, SPAN(0, 10));
	schedule_node(&schedule, "r", 1, SPAN(10, 20));
	schedule_node(&schedule, "odd", 2, SPAN(22, 60));
	schedule_wait(&schedule, STREAM_2, EVENT_1, SPAN(10, 11));
	schedule_kernel(&schedule, STREAM_2, "b", SPAN(11, 13), 12, SPAN(70, 80));
	schedule_find_until(&schedule, 80, &found);
	assert_int_equal(found.trace->waits[0].known, TRACE_KNOWN_ORDER);
	assert_int_equal(found.deps.unresolved_count, 1);
	assert_int_equal(found.deps.unresolved[0].doubt, DEPENDENCY_DOUBT_NO_NODE);
	assert_int_equal(dependencies_of_activity(&found.deps, found_activity(&found, "b")).count,
			 0);
	found_release(&found);
}

static bool is_blind(const struct found *found, const char *name)
{
	return dependencies_is_blind(&found->deps, found_activity(found, name));
}

/*
 * 19. A node of a graph waits for e1 before p and what follows p, and no row says for what.
 *
 * host  [0 10)launch r!1 q!2 p!3 j!4
 * s1    [10 r 20)[22 q 30)
 *                          [60 p 70)[72 j 80)
 *
 * Nothing is claimed of the gap before p, 30 to 60.
 */
static void a_node_that_waits(void **state)
{
	static const char *const names[] = {"r", "q", "?1", "p", "j", NULL};
	static const uint32_t edges[][2] = {{0, 1}, {0, 2}, {2, 3}, {3, 4}};
	struct schedule schedule;
	struct found found;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 1);
	schedule_graph(&schedule, names, edges, 4);
	schedule_launch(&schedule, STREAM_1, 4, SPAN(0, 10));
	schedule_node(&schedule, "r", 1, SPAN(10, 20));
	schedule_node(&schedule, "q", 2, SPAN(22, 30));
	schedule_node(&schedule, "p", 3, SPAN(60, 70));
	schedule_node(&schedule, "j", 4, SPAN(72, 80));
	schedule_find_until(&schedule, 80, &found);
	assert_false(is_blind(&found, "r"));
	assert_false(is_blind(&found, "q"));
	assert_true(is_blind(&found, "p"));
	assert_false(is_blind(&found, "j"));
	expect_stream(&found, STREAM_1, 10 + 8 + 10 + 8,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9 + 2 + 2, [IDLE_UNKNOWN] = 30));
	found_release(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stream_in_a_row),
		cmocka_unit_test(the_host_is_too_slow),
		cmocka_unit_test(a_stream_waits_for_an_event),
		cmocka_unit_test(two_producers_for_one_consumer),
		cmocka_unit_test(an_event_is_recorded_again),
		cmocka_unit_test(inside_a_replay),
		cmocka_unit_test(the_replay_alone),
		cmocka_unit_test(the_legacy_default_stream),
		cmocka_unit_test(the_host_waits_for_a_copy),
		cmocka_unit_test(a_collective_half_hidden),
		cmocka_unit_test(three_streams_in_a_pipeline),
		cmocka_unit_test(scopes_and_what_is_not_known),
		cmocka_unit_test(the_host_waits_for_an_event),
		cmocka_unit_test(two_streams_in_one_hardware_queue),
		cmocka_unit_test(times_that_contradict_an_edge),
		cmocka_unit_test(a_node_that_is_not_known),
		cmocka_unit_test(events_of_a_launch),
		cmocka_unit_test(events_of_nodes),
		cmocka_unit_test(an_event_of_a_replay_that_is_not_known),
		cmocka_unit_test(a_node_that_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
