/* Bodies of conditional nodes, whose kernels come without a correlation id (H200, CUDA 13.0), or
 * with that of the launch (H100, CUPTI of CUDA 13.4 and 13.5). */
#include "nested_scene.h"

#include "analyze/dependencies.h"
#include "capture/capture_session.h"

static uint64_t rows_of(const struct trace *trace, uint32_t launch,
			enum trace_confidence confidence)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++)
		count += trace->activities[i].launch == launch &&
			 trace->activities[i].confidence == confidence;
	return count;
}

/*
 * A kernel, a loop with an inner graph in its body, a kernel: the executable graph has 3 nodes,
 * then the body's 3, then the inner graph's.
 */
static void make_loop(void)
{
	const uint32_t body = BODY;

	play_graph(TOP);
	play_add_kernel(TOP, NODE(TOP, 0), 0);
	play_add_conditional(TOP, NODE(TOP, 1), &body, 1, NODE(TOP, 0));
	play_add_kernel(TOP, NODE(TOP, 2), NODE(TOP, 1));
	play_graph(INNER);
	play_add_copy(INNER, NODE(INNER, 0), 0);
	play_add_kernel(BODY, NODE(BODY, 0), 0);
	play_move_child(BODY, NODE(BODY, 1), INNER, NODE(BODY, 0));
	play_add_kernel(BODY, NODE(BODY, 2), NODE(BODY, 1));
	nested_instantiate(3);
}

static void put_turn(uint32_t correlation)
{
	nested_put_kernel(correlation, NODE(EXEC, 3), "work");
	nested_put_copy(correlation, NODE(EXEC, 6));
	nested_put_kernel(correlation, NODE(EXEC, 5), "condition");
}

static bool names_launches; /* the activities of bodies name their launch */

/*
 * All launches are submitted before the first runs, so only the times of the kernels around a loop
 * tell which launch the loop's kernels belong to.
 */
static void loops(void)
{
	play_start();
	make_loop();
	for (uint32_t launch = 1; launch <= 3; launch++)
		play_launch(launch, EXEC);
	for (uint32_t launch = 1; launch <= 3; launch++) {
		nested_put_kernel(launch, NODE(EXEC, 0), "first");
		for (uint32_t turn = 0; turn < launch; turn++)
			put_turn(names_launches ? launch : 0);
		nested_put_kernel(launch, NODE(EXEC, 2), "last");
	}
	nested_await();
	play_device_wait(4);
	session_stop();
}

/* The launch's own activities come first, then those of bodies in the order of their starts. */
static void assert_order(const struct trace *trace, const struct trace_launch *launch)
{
	const struct trace_call *call = &trace->calls[launch->call];
	const struct trace_activity *rows = &trace->activities[call->activity_first];
	uint32_t own = call->activity_count - launch->body_count;

	for (uint32_t i = 0; i < call->activity_count; i++) {
		bool is_own = trace->nodes[rows[i].node].graph == trace->execs[launch->exec].graph;

		assert_int_equal(rows[i].ordinal, i);
		assert_int_equal(is_own, i < own);
		if (i > own)
			assert_true(rows[i].start_ns > rows[i - 1].start_ns);
	}
}

static void assert_of_its_replay(struct trace *trace, enum trace_confidence confidence)
{
	const struct trace_source *source = play_source(trace, "graph");
	const struct trace_activity *work = play_find_kernel(trace, "work");

	assert_int_equal(trace->launches_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(rows_of(trace, i, confidence), 3 * (i + 1));
		assert_int_equal(trace->launches[i].body_count, 3 * (i + 1));
		assert_int_equal(trace->launches[i].activity_count, 2 + 3 * (i + 1));
		assert_int_equal(trace->calls[trace->launches[i].call].activity_count,
				 2 + 3 * (i + 1));
		assert_order(trace, &trace->launches[i]);
	}
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		assert_int_not_equal(row->node, TRACE_NONE);
		assert_int_equal(row->call, trace->launches[row->launch].call);
		assert_int_equal(row->cid, trace->calls[row->call].cid);
	}
	assert_int_equal(trace->nodes[work->node].type, RECORD_NODE_KERNEL);
	assert_int_equal(trace->nodes[trace->graphs[trace->nodes[work->node].graph].parent_node +
				      trace->graphs[trace->execs[0].graph].node_first]
				 .type,
			 RECORD_NODE_CONDITIONAL);
	/*
	 * The nodes around the loop are expected activities; only the device knows how often a body
	 * runs.
	 */
	assert_int_equal(source->expected, 6);
	assert_int_equal(source->received, 6);
	assert_non_null(
		strstr(trace_text(trace, source->text), "18 activities of conditional bodies"));
	assert_null(strstr(trace_text(trace, source->text), "launches not judged"));
	play_assert_closed(trace);
}

static void a_body_is_of_its_replay(void **state)
{
	assert_of_its_replay(play_scene(*state, loops), TRACE_CONFIDENCE_TIME);
}

static void a_body_that_names_its_launch_is_of_it(void **state)
{
	names_launches = true;
	assert_of_its_replay(play_scene(*state, loops), TRACE_CONFIDENCE_ORDER);
	names_launches = false;
}

/*
 * What waits for a loop waits for the last activity that ran in it, and that one for what ran
 * before.
 */
static void assert_path(struct trace *trace)
{
	struct dependencies deps;
	uint32_t at = (uint32_t)(play_find_kernel(trace, "last") - trace->activities);
	uint32_t steps = 0;

	assert_int_equal(dependencies_make(trace, &deps), 0);
	for (int kind = 0; kind < DEPENDENCY_KIND_COUNT; kind++)
		assert_int_equal(deps.contradicted[kind], 0);
	assert_int_equal(deps.nodes_unknown, 0);
	while (steps < 100) {
		struct dependency_list list = dependencies_of_activity(&deps, at);
		struct dependency_choice choice =
			dependencies_choose(&deps, list, trace->activities[at].start_ns);

		if (choice.source.kind == DEPENDENCY_NONE)
			break;
		at = choice.source.activity;
		steps++;
	}
	/* last, three in the body, first */
	assert_int_equal(steps, 4);
	assert_string_equal(trace_text(trace, trace_work_of(trace, &trace->activities[at])->name),
			    "first");
	dependencies_release(&deps);
}

static void a_path_leads_through_the_bodies(void **state)
{
	assert_path(play_scene(*state, loops));
}

static void a_path_leads_through_bodies_that_name_their_launch(void **state)
{
	names_launches = true;
	assert_path(play_scene(*state, loops));
	names_launches = false;
}

static void a_kernel_beside_a_loop_is_lost(void)
{
	play_start();
	make_loop();
	play_launch(1, EXEC);
	nested_put_kernel(1, NODE(EXEC, 0), "first");
	put_turn(names_launches ? 1 : 0);
	play_device_wait(2);
	session_stop();
}

static void a_body_does_not_stand_in_for_what_is_lost(void **state)
{
	struct trace *trace = play_scene(*state, a_kernel_beside_a_loop_is_lost);

	assert_int_equal(play_source(trace, "graph")->expected, 2);
	assert_int_equal(play_source(trace, "graph")->unexplained, 1);
}

static void nor_does_a_body_that_names_its_launch(void **state)
{
	names_launches = true;
	a_body_does_not_stand_in_for_what_is_lost(state);
	names_launches = false;
}

/* The loop is the first node: activities between two replays belong to the later one. */
static void loops_that_come_first(void)
{
	const uint32_t body = BODY;

	play_start();
	play_graph(TOP);
	play_add_conditional(TOP, NODE(TOP, 0), &body, 1, 0);
	play_add_kernel(BODY, NODE(BODY, 0), 0);
	play_add_kernel(TOP, NODE(TOP, 1), NODE(TOP, 0));
	nested_instantiate(2);
	play_launch(1, EXEC);
	play_launch(2, EXEC);
	for (uint32_t launch = 1; launch <= 2; launch++) {
		for (uint32_t turn = 0; turn < launch; turn++)
			nested_put_kernel(0, NODE(EXEC, 2), "work");
		nested_put_kernel(launch, NODE(EXEC, 1), "last");
	}
	session_stop();
}

static void a_body_before_its_replays_kernels_is_of_it(void **state)
{
	struct trace *trace = play_scene(*state, loops_that_come_first);

	assert_int_equal(trace->launches[0].body_count, 1);
	assert_int_equal(trace->launches[1].body_count, 2);
}

/*
 * The graph has only a loop and is launched twice before the first replay ends: nothing tells which
 * replay an activity belongs to.
 */
static bool waits_between;

static void loops_alone(void)
{
	const uint32_t body = BODY;

	play_start();
	play_graph(TOP);
	play_add_conditional(TOP, NODE(TOP, 0), &body, 1, 0);
	play_add_kernel(BODY, NODE(BODY, 0), 0);
	nested_instantiate(1);
	play_launch(1, EXEC);
	if (waits_between)
		nested_put_kernel(0, NODE(EXEC, 1), "work");
	play_launch(2, EXEC);
	nested_put_kernel(0, NODE(EXEC, 1), "work");
	session_stop();
}

static void what_no_time_tells_has_no_replay(void **state)
{
	struct trace *trace = play_scene(*state, loops_alone);
	const struct trace_activity *row = play_find_kernel(trace, "work");

	assert_int_equal(row->launch, TRACE_NONE);
	assert_int_not_equal(row->node, TRACE_NONE);
	assert_non_null(strstr(trace_text(trace, play_source(trace, "graph")->text),
			       "1 activity of a conditional body"));
	play_assert_closed(trace);
}

static void before_the_next_call_it_is_the_last_launchs(void **state)
{
	struct trace *trace;

	waits_between = true;
	trace = play_scene(*state, loops_alone);
	assert_int_equal(trace->launches[0].body_count, 1);
}

/*
 * With two bodies, the second one's nodes are numbered after the first one's, and what these nodes
 * contain after both.
 */
static void two_bodies(void)
{
	const uint32_t bodies[] = {BODY, OTHER_BODY};

	play_start();
	play_graph(TOP);
	play_add_kernel(TOP, NODE(TOP, 0), 0);
	play_add_conditional(TOP, NODE(TOP, 1), bodies, 2, NODE(TOP, 0));
	play_graph(INNER);
	play_add_kernel(INNER, NODE(INNER, 0), 0);
	play_move_child(BODY, NODE(BODY, 0), INNER, 0);
	play_add_kernel(OTHER_BODY, NODE(OTHER_BODY, 0), 0);
	nested_instantiate(2);
	play_launch(1, EXEC);
	nested_put_kernel(1, NODE(EXEC, 0), "choose");
	nested_put_kernel(0, NODE(EXEC, 3), "second");
	nested_put_kernel(0, NODE(EXEC, 4), "inner");
	session_stop();
}

static void each_body_is_a_graph_of_its_node(void **state)
{
	struct trace *trace = play_scene(*state, two_bodies);
	const struct trace_activity *row = play_find_kernel(trace, "second");
	uint32_t top = trace->execs[0].graph, held = 0;

	for (uint32_t i = 0; i < trace->graphs_count; i++)
		held += trace->graphs[i].parent == top && trace->graphs[i].parent_node == 1;
	assert_int_equal(held, 2);
	assert_int_equal(trace->nodes[row->node].index, 0);
	assert_int_equal(trace->graphs[trace->nodes[row->node].graph].parent_node, 1);
	assert_int_not_equal(trace->nodes[row->node].graph,
			     trace->nodes[trace->graphs[top].node_first + 1].child);
	assert_int_equal(row->launch, 0);
	row = play_find_kernel(trace, "inner");
	assert_int_equal(trace->graphs[trace->nodes[row->node].graph].parent,
			 trace->nodes[trace->graphs[top].node_first + 1].child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(a_body_is_of_its_replay),
		PLAY_CASE(a_path_leads_through_the_bodies),
		PLAY_CASE(a_body_does_not_stand_in_for_what_is_lost),
		PLAY_CASE(a_body_before_its_replays_kernels_is_of_it),
		PLAY_CASE(what_no_time_tells_has_no_replay),
		PLAY_CASE(before_the_next_call_it_is_the_last_launchs),
		PLAY_CASE(each_body_is_a_graph_of_its_node),
		PLAY_CASE(a_body_that_names_its_launch_is_of_it),
		PLAY_CASE(a_path_leads_through_bodies_that_name_their_launch),
		PLAY_CASE(nor_does_a_body_that_names_its_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
