/*
 * Replays of CUDA graphs: which node of which launch an activity is of, and which activities are
 * missing. test_capture_cuda_shapes.c tests what graphs consist of.
 */
#include "cuda_scene.h"

#include <semaphore.h>

#include "capture/capture_session.h"
#include "capture/process_recordings.h"
#include "record/spooler.h"

static void three_replays(void)
{
	static const char *const names[] = {"gather", "softmax", "gemm"};

	play_start_with_graph();
	for (uint32_t launch = 1; launch <= 3; launch++)
		play_launch(launch, EXEC);
	/* The later replay is delivered first, its nodes in any order. */
	for (uint32_t launch = 3; launch >= 1; launch--) {
		for (uint32_t i = 3; i-- > 0;)
			play_graph_kernel(launch, EXEC, 101 + (i + launch) % 3,
					  names[(i + launch) % 3]);
	}
	session_stop();
}

static void assert_three_replays(const struct trace *trace)
{
	assert_int_equal(trace->execs_count, 1);
	assert_int_equal(trace->execs[0].id, EXEC);
	assert_int_equal(trace->execs[0].launch_count, 3);
	assert_int_equal(trace->launches_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(trace->launches[i].replay, i);
		assert_int_equal(trace->launches[i].activity_count, 3);
		assert_true(trace->launches[i].exact);
	}
	assert_int_equal(trace->activities_count, 9);
	for (uint32_t i = 0; i < 9; i++) {
		const struct trace_activity *row = &trace->activities[i];

		assert_int_equal(row->confidence, TRACE_CONFIDENCE_EXACT);
		assert_int_equal(row->launch, i / 3);
		assert_int_equal(row->queue, TRACE_NONE);
		assert_int_equal(trace->nodes[row->node].index, i % 3);
	}
}

static void replay_node_ordinal_stable(void **state)
{
	static const char *const names[] = {"gather", "softmax", "gemm"};
	static const char *const layers[] = {"embed", "attend", "project"};
	struct trace *trace = play_scene(*state, three_replays);
	const struct trace_source *source = play_source(trace, "graph");

	assert_int_equal(trace->graphs_count, 1);
	assert_int_equal(trace->nodes_count, 3);
	assert_int_equal(trace->edges_count, 2);
	assert_three_replays(trace);
	for (uint32_t i = 0; i < 3; i++) {
		const struct trace_node *node = &trace->nodes[i];

		assert_string_equal(trace_text(trace, node->name), names[i]);
		assert_string_equal(trace_text(trace, trace->scopes[node->scope].text), layers[i]);
		assert_int_equal(node->grid[0], 640);
	}
	assert_int_equal(source->expected, 9);
	assert_int_equal(source->received, 9);
	play_assert_closed(trace);
}

static void graph_launch_one_to_n(void **state)
{
	struct trace *trace = play_scene(*state, three_replays);

	assert_int_equal(trace->activities_count, 9);
	for (uint32_t i = 0; i < 9; i++) {
		const struct trace_activity *row = &trace->activities[i];
		const struct trace_call *call = &trace->calls[trace->launches[i / 3].call];

		assert_ptr_equal(&trace->calls[row->call], call);
		assert_int_equal(row->cid, call->cid);
		assert_int_equal(row->launch, i / 3);
		assert_int_equal(call->activity_count, 3);
		assert_int_equal(call->activities_expected, 3);
	}
}

/* ---- a lost kernel ---- */

static void one_is_missing(void)
{
	play_start_with_graph();
	play_launch(1, EXEC);
	play_graph_kernel(1, EXEC, 101, "gather");
	play_graph_kernel(1, EXEC, 103, "gemm");
	play_device_wait(2);
	session_stop();
}

static void partial_replay_reported(void **state)
{
	struct trace *trace = play_scene(*state, one_is_missing);

	assert_int_equal(play_source(trace, "graph")->expected, 3);
	assert_int_equal(play_source(trace, "graph")->received, 2);
	assert_int_equal(play_source(trace, "graph")->unexplained, 1);
	assert_int_equal(trace->calls[trace->launches[0].call].activities_expected, 3);
}

/*
 * Two of three launches are still on the GPU when the recording stops; part of the first one has
 * ended.
 */
static void some_have_not_ended(void)
{
	play_start_with_graph();
	play_launch(1, EXEC);
	play_replay(1, EXEC, 101, "kernel");
	play_device_wait(2);
	play_launch(3, EXEC);
	play_graph_kernel(3, EXEC, 101, "gather");
	play_launch(4, EXEC);
	session_stop();
}

static void what_has_not_ended_is_not_missed(void **state)
{
	struct trace *trace = play_scene(*state, some_have_not_ended);
	const struct trace_source *source = play_source(trace, "graph");

	assert_int_equal(source->expected, 9);
	assert_int_equal(source->received, 4);
	assert_int_equal(source->drop_count, 1);
	assert_int_equal(trace->drops[source->drop_first].count, 5);
	assert_string_equal(trace_text(trace, trace->drops[source->drop_first].cause),
			    "not finished when tracing ended");
	play_assert_closed(trace);
}

/* Eager work has run after it on the stream that the launch was submitted to. */
static void one_is_passed_by_its_stream(void)
{
	struct cupti_kernel kernel;

	play_start_with_graph();
	play_launch(1, EXEC);
	play_graph_kernel(1, EXEC, 101, "gather");
	play_call(2);
	kernel = play_kernel(2, "eager");
	PLAY_PUT(kernel);
	session_stop();
}

static void what_its_stream_has_passed_is_missed(void **state)
{
	struct trace *trace = play_scene(*state, one_is_passed_by_its_stream);

	assert_int_equal(play_source(trace, "graph")->unexplained, 2);
}

/*
 * Nothing comes of the first launch; a conditional's body brings kernels without a correlation id.
 */
static void a_replay_is_missing(void)
{
	play_start_with_graph();
	play_launch(1, EXEC);
	play_launch(2, EXEC);
	for (uint64_t i = 0; i < 3; i++) {
		play_graph_kernel(2, EXEC, 101 + i, "kernel");
		play_graph_kernel(0, EXEC + 1, 301 + i, "body");
	}
	session_stop();
}

static void what_has_no_call_does_not_stand_in_for_what_is_lost(void **state)
{
	struct trace *trace = play_scene(*state, a_replay_is_missing);

	assert_int_equal(play_source(trace, "graph")->unexplained, 3);
}

static void killed_before_delivery(void)
{
	play_start_with_graph();
	play_launch(1, EXEC);
	play_launch(2, EXEC);
	play_replay(1, EXEC, 101, "kernel");
	model_deliver(0);
	_exit(0);
}

static void what_was_not_delivered_is_put_down(void **state)
{
	struct trace *trace = play_scene(*state, killed_before_delivery);
	const struct trace_source *source = play_source(trace, "graph");

	assert_true(trace->truncated);
	assert_int_equal(source->expected, 6);
	assert_int_equal(source->received, 3);
	assert_int_equal(source->drop_count, 1);
	assert_int_equal(trace->drops[source->drop_first].count, 3);
	play_assert_closed(trace);
}

static sem_t is_ticking, never;

/* Never returns: the process ends first. */
static void tick_for_long(void)
{
	sem_post(&is_ticking);
	for (;;)
		sem_wait(&never);
}

static const struct capture_source slow_part = {.name = "slow", .tick = tick_for_long};

/* The tool does not ask for what CUPTI still has. */
static void stopped_during_a_tick(void)
{
	setenv("DAGTAP_TIMERS", "limits=never,part_hook=0,thread_end=0", 1);
	expect(!sem_init(&is_ticking, 0, 0) && !sem_init(&never, 0, 0));
	session_add_source(&slow_part);
	play_start_with_graph();
	while (sem_wait(&is_ticking))
		;
	play_launch(1, EXEC);
	play_launch(2, EXEC);
	play_replay(1, EXEC, 101, "kernel");
	model_deliver(0);
	play_replay(2, EXEC, 101, "kernel");
	session_stop();
	_exit(0);
}

static void what_was_not_asked_for_is_put_down(void **state)
{
	struct trace *trace = play_scene(*state, stopped_during_a_tick);
	const struct trace_source *source = play_source(trace, "graph");

	assert_false(trace->truncated);
	assert_int_equal(source->expected, 6);
	assert_int_equal(source->received, 3);
	assert_int_equal(source->drop_count, 1);
	assert_int_equal(trace->drops[source->drop_first].count, 3);
	play_assert_closed(trace);
}

/* ---- nodes that are disabled ---- */

static void play_switch(uint32_t correlation, uint64_t exec, uint64_t node, int result)
{
	const struct cupti_set_enabled_params params = {.graphExec = (void *)exec,
							.node = (void *)node};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphNodeSetEnabled, correlation,
		    "cudaGraphNodeSetEnabled", &params);
	model_leave(&call, result);
}

/* A node of one executable graph is disabled; the same call fails for the other one. */
static void without_a_node(void)
{
	play_start_with_graph();
	for (uint64_t i = 0; i < 3; i++)
		play_node_clone(EXEC_GRAPH + 1, 201 + i, 11 + i, CUDA_NODE_KERNEL);
	play_exec(EXEC + 1, GRAPH);
	play_switch(1, EXEC, 12, 0);
	play_switch(2, EXEC + 1, 12, 1);
	play_launch(3, EXEC);
	play_graph_kernel(3, EXEC, 101, "gather");
	play_graph_kernel(3, EXEC, 103, "gemm");
	play_launch(4, EXEC + 1);
	play_replay(4, EXEC + 1, 201, "kernel");
}

static void a_node_that_is_switched_off(void)
{
	without_a_node();
	session_stop();
}

static void a_node_that_is_switched_off_is_not_missed(void **state)
{
	struct trace *trace = play_scene(*state, a_node_that_is_switched_off);
	const struct trace_source *source = play_source(trace, "graph");

	assert_int_equal(source->expected, 3);
	assert_int_equal(source->received, 3);
	assert_non_null(strstr(trace_text(trace, source->text),
			       "1 launches not judged: the program switches nodes"));
	play_assert_closed(trace);
}

static void one_of_the_others_is_lost(void)
{
	without_a_node();
	play_launch(5, EXEC + 1);
	play_graph_kernel(5, EXEC + 1, 201, "kernel");
	play_device_wait(6);
	session_stop();
}

/*
 * Expected activities are not judged for the executable graph whose nodes are disabled, and are for
 * others.
 */
static void other_execs_are_judged_beside_it(void **state)
{
	struct trace *trace = play_scene(*state, one_of_the_others_is_lost);

	assert_int_equal(play_source(trace, "graph")->unexplained, 2);
}

static void switched_without_ids(void)
{
	play_start_with_graph();
	model_fail(MODEL_GET_ID, 0, CUPTI_NOT_SUPPORTED);
	play_switch(1, EXEC + 7, 12, 0);
	model_fail(MODEL_GET_ID, UINT32_MAX, CUPTI_OK);
	play_launch(2, EXEC);
	play_graph_kernel(2, EXEC, 101, "gather");
	session_stop();
}

static void of_an_unknown_exec_it_may_be_any(void **state)
{
	struct trace *trace = play_scene(*state, switched_without_ids);

	play_assert_closed(trace);
}

/* ---- made before the recording ---- */

static void only_activities(void)
{
	static const char *const names[] = {"gather", "softmax", "gemm"};

	play_start();
	for (uint32_t launch = 1; launch <= 3; launch++)
		play_launch(launch, EXEC);
	for (uint32_t launch = 1; launch <= 3; launch++) {
		for (uint32_t i = 0; i < 3; i++)
			play_graph_kernel(launch, EXEC, 101 + i, names[i]);
	}
	session_stop();
}

static void a_graph_shows_in_its_activities(void **state)
{
	struct trace *trace = play_scene(*state, only_activities);

	assert_int_equal(trace->graphs_count, 1);
	assert_int_equal(trace->nodes_count, 3);
	assert_int_equal(trace->edges_count, 0);
	assert_string_equal(trace_text(trace, trace->nodes[1].name), "softmax");
	assert_three_replays(trace);
	play_assert_closed(trace);
}

/* ---- a ring (DAGTAP_RING) ---- */

enum { RINGED_LAUNCHES = 100000, LOST_FIRST = 5000, LOST_LAUNCHES = 1000 };
/*
 * Chunks: half of what is kept ready, more than the launches in between and one CUPTI buffer fill.
 */
enum { PACE_READY = 128, PACE_LAUNCHES = 1000 };

static enum story { ALL_COME, CUPTI_LOSES, LAUNCHES_FAIL, ONE_IS_OPEN } story;

static void stop_within_a_launch(uint32_t correlation)
{
	const struct cupti_graph_launch_params params = {.graphExec = (void *)EXEC};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphLaunch, correlation,
		    "cudaGraphLaunch", &params);
	session_stop();
	model_leave(&call, 0);
}

/*
 * More launches than the ring holds. For some early launches CUPTI brings nothing without reporting
 * a drop, or there is nothing to bring.
 */
static void launches_beyond_a_ring(void)
{
	/* No more is kept ready than the launches fill, however busy the machine is. */
	setenv("DAGTAP_RING", "4M", 1);
	setenv("DAGTAP_READY", "16M", 1);
	play_start();
	play_graph(GRAPH);
	for (uint64_t i = 0; i < 3; i++)
		play_node(GRAPH, 11 + i, CUDA_NODE_KERNEL);
	play_exec(EXEC, GRAPH);
	for (uint32_t launch = 1; launch <= RINGED_LAUNCHES; launch++) {
		bool comes = story == ALL_COME || story == ONE_IS_OPEN || launch < LOST_FIRST ||
			     launch >= LOST_FIRST + LOST_LAUNCHES;

		play_launch_with(launch, EXEC, !comes && story == LAUNCHES_FAIL ? 1 : 0);
		for (uint64_t i = 0; i < 3 && comes; i++)
			play_graph_kernel(launch, EXEC, 11 + i, "kernel");
		if (launch % PACE_LAUNCHES == 0)
			fixture_await_ready(recording_spooler(), PACE_READY);
	}
	if (story == ONE_IS_OPEN)
		stop_within_a_launch(RINGED_LAUNCHES + 1);
	session_stop();
}

static void what_cupti_loses_beside_a_ring_is_missed(void **state)
{
	for (story = ALL_COME; story <= ONE_IS_OPEN; story++) {
		bool loses = story == CUPTI_LOSES;
		struct trace *trace = play_scene(*state, launches_beyond_a_ring);
		const struct trace_source *source = play_source(trace, "graph");

		assert_true(trace->launches_count < RINGED_LAUNCHES - LOST_FIRST - LOST_LAUNCHES);
		assert_int_equal(source->unexplained, loses ? 3 * LOST_LAUNCHES : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(replay_node_ordinal_stable),
		PLAY_CASE(graph_launch_one_to_n),
		PLAY_CASE(partial_replay_reported),
		PLAY_CASE(what_has_not_ended_is_not_missed),
		PLAY_CASE(what_its_stream_has_passed_is_missed),
		PLAY_CASE(what_has_no_call_does_not_stand_in_for_what_is_lost),
		PLAY_CASE(what_was_not_delivered_is_put_down),
		PLAY_CASE(what_was_not_asked_for_is_put_down),
		PLAY_CASE(a_node_that_is_switched_off_is_not_missed),
		PLAY_CASE(other_execs_are_judged_beside_it),
		PLAY_CASE(of_an_unknown_exec_it_may_be_any),
		PLAY_CASE(a_graph_shows_in_its_activities),
		PLAY_CASE(what_cupti_loses_beside_a_ring_is_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
