/*
 * Critical paths and idle times through replays of graphs, worked out by hand. The numbers, and the
 * signs of the diagrams, go with those of test_analyze_path_schedules.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "path_schedule.h"

static const char *const fork_join[] = {"r", "p", "q", "j", NULL};
static const uint32_t fork_join_edges[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};

static void put_replay(struct schedule *schedule)
{
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
	struct schedule *schedule = *state;
	const struct found *found;

	put_replay(schedule);
	found = schedule_find_until(schedule, 100);
	expect_steps(found, STEPS({PATH_CALL, 0, 1, "hipLaunchKernel"}, {PATH_LAUNCH, 1, 10, "x"},
				  {PATH_KERNEL, 10, 30, "x"}, {PATH_DISPATCH, 30, 34, "r"},
				  {PATH_KERNEL, 34, 44, "r"}, {PATH_DISPATCH, 44, 46, "p"},
				  {PATH_KERNEL, 46, 76, "p"}, {PATH_DISPATCH, 76, 79, "j"},
				  {PATH_KERNEL, 79, 89, "j"}, {PATH_DISPATCH, 89, 93, "y"},
				  {PATH_KERNEL, 93, 100, "y"}));
	assert_int_equal(found->deps.counts[DEPENDENCY_GRAPH], 4);
	assert_int_equal(found->deps.nodes_unknown, 0);
	assert_int_equal(found->path.steps[8].lead_ns, 20);
	expect_stream(found, STREAM_1, 77,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9 + 4 + 2 + 3 + 4));
}

/* The replay alone, from r's begin to j's end, 34 to 89: kernels 10+30+10, dispatch 2+3. */
static void the_replay_alone(void **state)
{
	const struct path_query query = {.by = PATH_WINDOW_REPLAY, .graph = 7};
	struct schedule *schedule = *state;
	const struct found *found;

	put_replay(schedule);
	found = schedule_find(schedule, &query);
	assert_int_equal(found->report.total_ns, 55);
	expect_steps(found, STEPS({PATH_KERNEL, 34, 44, "r"}, {PATH_DISPATCH, 44, 46, "p"},
				  {PATH_KERNEL, 46, 76, "p"}, {PATH_DISPATCH, 76, 79, "j"},
				  {PATH_KERNEL, 79, 89, "j"}));
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
	struct schedule *schedule = *state;
	const struct found *found;
	uint32_t odd;

	schedule_stream(schedule, STREAM_1, 1);
	schedule_graph(schedule, fork_join, fork_join_edges, 4);
	schedule_launch(schedule, STREAM_1, 3, SPAN(0, 10));
	schedule_node(schedule, "r", 1, SPAN(10, 20));
	schedule_node(schedule, "odd", 2, SPAN(22, 60));
	schedule_node(schedule, "j", 3, SPAN(70, 80));
	found = schedule_find_until(schedule, 80);
	odd = found_activity(found, "odd");
	assert_int_equal(found->trace->activities[odd].node, TRACE_NONE);
	assert_true(found->deps.nodes_unknown > 0);
	list = dependencies_of_activity(&found->deps, odd);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.rows[0].kind, DEPENDENCY_REPLAY);
	assert_int_equal(list.rows[0].from, found_activity(found, "r"));
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
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_streams(schedule, 3, 1);
	schedule_graph(schedule, names, edges, 3);
	schedule_kernel(schedule, STREAM_1, "x", SPAN(0, 2), 1, SPAN(10, 20));
	schedule_record(schedule, EVENT_1, STREAM_1, SPAN(2, 3));
	schedule_launch(schedule, STREAM_1, 3, SPAN(3, 13));
	schedule_node(schedule, "r", 4, SPAN(24, 30));
	schedule_node(schedule, "p", 5, SPAN(32, 50));
	schedule_node(schedule, "q", 6, SPAN(32, 90));
	schedule_wait(schedule, STREAM_2, EVENT_1, SPAN(13, 14));
	schedule_kernel(schedule, STREAM_2, "b", SPAN(14, 16), 15, SPAN(53, 60));
	schedule_wait(schedule, STREAM_3, EVENT_2, SPAN(16, 17));
	schedule_kernel(schedule, STREAM_3, "c", SPAN(17, 19), 18, SPAN(22, 28));
	found = schedule_find_until(schedule, 90);
	expect_event_edge(found, "b", "p");
	expect_event_edge(found, "c", "x");
	assert_int_equal(found->deps.contradicted[DEPENDENCY_EVENT], 0);
	assert_int_equal(found->deps.unresolved_count, 0);
	expect_stream(
		found, STREAM_2, 7,
		CAUSES([IDLE_HOST] = 15, [IDLE_EVENT] = 35, [IDLE_LAUNCH] = 3, [IDLE_END] = 30));
	expect_stream(
		found, STREAM_3, 6,
		CAUSES([IDLE_HOST] = 18, [IDLE_EVENT] = 2, [IDLE_LAUNCH] = 2, [IDLE_END] = 62));
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
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_streams(schedule, 2, 1);
	schedule_graph(schedule, names, edges, 2);
	schedule_launch(schedule, STREAM_1, 2, SPAN(0, 10));
	schedule_node(schedule, "r", 1, SPAN(10, 20));
	schedule_node(schedule, "odd", 2, SPAN(22, 60));
	schedule_wait(schedule, STREAM_2, EVENT_1, SPAN(10, 11));
	schedule_kernel(schedule, STREAM_2, "b", SPAN(11, 13), 12, SPAN(70, 80));
	found = schedule_find_until(schedule, 80);
	assert_int_equal(found->trace->waits[0].known, TRACE_KNOWN_ORDER);
	assert_int_equal(found->deps.unresolved_count, 1);
	assert_int_equal(found->deps.unresolved[0].doubt, DEPENDENCY_DOUBT_NO_NODE);
	assert_int_equal(dependencies_of_activity(&found->deps, found_activity(found, "b")).count,
			 0);
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
	struct schedule *schedule = *state;
	const struct found *found;

	schedule_stream(schedule, STREAM_1, 1);
	schedule_graph(schedule, names, edges, 4);
	schedule_launch(schedule, STREAM_1, 4, SPAN(0, 10));
	schedule_node(schedule, "r", 1, SPAN(10, 20));
	schedule_node(schedule, "q", 2, SPAN(22, 30));
	schedule_node(schedule, "p", 3, SPAN(60, 70));
	schedule_node(schedule, "j", 4, SPAN(72, 80));
	found = schedule_find_until(schedule, 80);
	assert_false(is_blind(found, "r"));
	assert_false(is_blind(found, "q"));
	assert_true(is_blind(found, "p"));
	assert_false(is_blind(found, "j"));
	expect_stream(found, STREAM_1, 10 + 8 + 10 + 8,
		      CAUSES([IDLE_HOST] = 1, [IDLE_LAUNCH] = 9 + 2 + 2, [IDLE_UNKNOWN] = 30));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HIP_SCHEDULE(inside_a_replay),
		HIP_SCHEDULE(the_replay_alone),
		HIP_SCHEDULE(a_node_that_is_not_known),
		HIP_SCHEDULE(events_of_nodes),
		HIP_SCHEDULE(an_event_of_a_replay_that_is_not_known),
		HIP_SCHEDULE(a_node_that_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
