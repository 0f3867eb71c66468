/*
 * The ledger's line of launches: the expected activities of a call, without another witness than
 * the call itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene.h"
#include "trace/ledger/ledger.h"

#define STREAM_A 0xa000
#define STREAM_B 0xb000

static const struct trace_source *line(const struct trace *trace)
{
	return scene_source(trace, "hip.launch");
}

/* Records a launch into STREAM that reserved RESERVED slots. */
static uint64_t launch(struct scene *scene, uint64_t stream, uint32_t reserved)
{
	return scene_call(scene, SCENE_LAUNCH_KERNEL, reserved, (uint64_t[]){0x101, stream}, 2);
}

static void launch_and_run(struct scene *scene, uint64_t stream)
{
	scene_run(scene, launch(scene, stream, 1), 0, 1, 1);
}

static uint64_t drop_of(const struct trace *trace, const char *cause)
{
	const struct trace_source *source = line(trace);

	for (uint32_t i = 0; i < source->drop_count; i++) {
		const struct trace_drop *drop = &trace->drops[source->drop_first + i];

		if (!strcmp(trace_text(trace, drop->cause), cause))
			return drop->count;
	}
	return 0;
}

static void launches_that_brought_their_kernel_close_it(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	for (int i = 0; i < 5; i++)
		launch_and_run(scene, 0);
	trace = scene_finish(scene);
	assert_int_equal(line(trace)->expected, 5);
	assert_int_equal(line(trace)->received, 5);
	assert_int_equal(line(trace)->joined, 5);
	assert_true(ledger_is_closed(trace));
}

static void launches_without_a_kernel_are_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_say(scene, "hsa", RECORD_SOURCE_ON, "packets");
	launch_and_run(scene, 0);
	for (int i = 0; i < 3; i++)
		launch(scene, 0, 0);
	trace = scene_finish(scene);
	assert_int_equal(line(trace)->expected, 4);
	assert_int_equal(line(trace)->received, 1);
	assert_int_equal(line(trace)->unexplained, 3);
	assert_false(ledger_is_closed(trace));
}

static void reason_is_the_source_that_is_absent(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_say(scene, "hsa", RECORD_SOURCE_ON, "packets");
	scene_say(scene, "hsa", RECORD_SOURCE_ABSENT, "the core table lacks a function");
	launch(scene, 0, 0);
	trace = scene_finish(scene);
	assert_int_equal(line(trace)->unexplained, 1);
	assert_string_equal(trace_text(trace, line(trace)->text),
			    "HSA is not recorded: the core table lacks a function");
}

static void reason_is_that_no_runtime_came(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	launch(scene, 0, 0);
	trace = scene_finish(scene);
	assert_int_equal(line(trace)->unexplained, 1);
	assert_non_null(strstr(trace_text(trace, line(trace)->text), "HSA_TOOLS_LIB"));
}

/*
 * For a graph with unknown nodes the number of expected activities is unknown; when the source is
 * absent that is still a loss.
 */
static void graph_launches_need_the_source_too(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	for (int absent = 0; absent <= 1; absent++) {
		scene_again(scene);
		scene_say(scene, "hsa", absent ? RECORD_SOURCE_ABSENT : RECORD_SOURCE_ON, "why");
		for (int i = 0; i < 2; i++)
			scene_call(scene, SCENE_GRAPH_LAUNCH, 0, (uint64_t[]){1, 0}, 2);
		trace = scene_finish(scene);
		if (absent)
			assert_int_equal(line(trace)->unexplained, 2);
		assert_int_equal(ledger_is_closed(trace), !absent);
	}
}

static void failed_launches_expect_nothing(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	launch_and_run(scene, 0);
	scene_failed_call(scene, SCENE_LAUNCH_KERNEL);
	trace = scene_finish(scene);
	assert_int_equal(line(trace)->expected, 1);
	assert_true(ledger_is_closed(trace));
}

static void captured_launches_expect_nothing(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	launch_and_run(scene, 0);
	scene_node_recorded(scene, 0x7000, launch(scene, STREAM_A, 0));
	scene_node_recorded(scene, 0, launch(scene, STREAM_A, 0)); /* of an unknown node */
	trace = scene_finish(scene);
	assert_int_equal(line(trace)->expected, 1);
	assert_true(ledger_is_closed(trace));
}

static void launches_of_nothing_expect_nothing(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	for (int empty = 1; empty <= 7; empty++) {
		uint64_t args[8] = {0x101, 1, 1, 1, 1, 1, 1, 0};

		args[empty] = 0; /* argument 7 is the stream */
		scene_again(scene);
		scene_say(scene, "hsa", RECORD_SOURCE_ON, "packets");
		scene_call(scene, SCENE_MODULE_LAUNCH, 0, args, 8);
		trace = scene_finish(scene);
		assert_int_equal(ledger_is_closed(trace), empty < 7);
	}
}

static void launches_on_many_devices_expect_one_each(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	scene_say(scene, "hsa", RECORD_SOURCE_ON, "packets");
	cid = scene_call(scene, SCENE_LAUNCH_MULTI, 2, (uint64_t[]){0x5000, 3, 0}, 3);
	scene_run(scene, cid, 0, 1, 1);
	scene_run(scene, cid, 1, 1, 1);
	trace = scene_finish(scene);
	assert_int_equal(line(trace)->expected, 3);
	assert_int_equal(line(trace)->received, 2);
	assert_int_equal(line(trace)->unexplained, 1);
}

/* A launch that calls another launch's function has one expected activity. */
static void launch_within_a_launch_owes_once(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t outer, inner;
	struct record_api api;
	uint64_t args[3];

	outer = scene_reserve_cid(scene);
	inner = scene_reserve_cid(scene);
	api = (struct record_api){.cid = inner, .parent = outer, .activities = 1};
	memcpy(args, &(uint64_t[]){0x101, 0}, 2 * sizeof(uint64_t));
	{
		char record[sizeof(api) + 2 * sizeof(uint64_t)];

		memcpy(record, &api, sizeof(api));
		memcpy(record + sizeof(api), args, 2 * sizeof(uint64_t));
		scene_put(scene, 0, RECORD_API, SCENE_LAUNCH_KERNEL, record, sizeof(record));
	}
	scene_put_call(scene, 0, outer, SCENE_LAUNCH_BY_PTR, 0, (uint64_t[]){0x101}, 1);
	scene_run(scene, inner, 0, 1, 1);
	trace = scene_finish(scene);
	assert_int_equal(line(trace)->expected, 1);
	assert_true(ledger_is_closed(trace));
}

static void dispatches_without_a_call_explain_as_many(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	for (unsigned lost = 0; lost <= 1; lost++) {
		scene_again(scene);
		scene_say(scene, "hsa", RECORD_SOURCE_ON, "packets");
		for (unsigned i = 0; i < 4 + lost; i++)
			launch(scene, 0, 0);
		for (unsigned i = 0; i < 4; i++)
			scene_run(scene, 0, i, 1, 1);
		trace = scene_finish(scene);
		assert_int_equal(drop_of(trace, "came without a call: submitted by a thread of "
						"HIP's own"),
				 4);
		assert_int_equal(line(trace)->unexplained, lost);
	}
}

/* A dispatch without a call explains one launch, and not a graph's node as well. */
static void dispatches_without_a_call_explain_once(void **state)
{
	static const uint64_t functions[] = {0x101, 0x101};
	static const uint32_t grids[] = {1, 1};
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	scene_say(scene, "hsa", RECORD_SOURCE_ON, "packets");
	scene_graph(scene, 7, 31, 2, functions, grids);
	cid = scene_call(scene, SCENE_GRAPH_LAUNCH, 0, (uint64_t[]){1, 0}, 2);
	scene_graph_launch(scene, 31, 0, cid);
	launch(scene, 0, 0);
	launch(scene, 0, 0);
	for (unsigned i = 0; i < 3; i++)
		scene_run(scene, 0, i, 1, 1);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "graph")->unexplained, 0);
	assert_int_equal(line(trace)->unexplained, 1);
}

static void records_that_were_lost_explain_as_many(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	for (unsigned lost = 0; lost <= 1; lost++) {
		scene_again(scene);
		scene_say(scene, "hsa", RECORD_SOURCE_ON, "packets");
		for (unsigned i = 0; i < 3 + lost; i++)
			launch(scene, 0, 1);
		scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_FULL);
		scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_RING);
		/* it may have been a capture */
		scene_drop(scene, RECORD_CLASS_GRAPH, RECORD_DROP_FULL);
		trace = scene_finish(scene);
		assert_int_equal(ledger_dropped(trace, line(trace)), 3);
		assert_int_equal(line(trace)->unexplained, lost);
		/* The dispatch and the graph's record are each lost once. */
		assert_int_equal(ledger_lost(trace), 2);
	}
}

static void packets_that_were_cut_are_explained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_say(scene, "hsa", RECORD_SOURCE_ON, "packets");
	launch(scene, 0, 1);
	launch(scene, 0, 1);
	scene_witness(scene, "hsa", "packets_cut", 2);
	trace = scene_finish(scene);
	assert_int_equal(ledger_dropped(trace, line(trace)), 2);
	assert_true(ledger_is_closed(trace));
}

/*
 * After a kill, a launch that had a slot and has nothing after it in its stream was not submitted.
 */
static void kill_leaves_launches_not_submitted(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_say(scene, "hsa", RECORD_SOURCE_ON, "packets");
	launch_and_run(scene, STREAM_A);
	launch(scene, STREAM_A, 1);
	launch(scene, STREAM_A, 1);
	launch_and_run(scene, STREAM_B);
	trace = scene_take(scene);
	assert_true(trace->truncated);
	assert_int_equal(drop_of(trace, "not submitted at the end"), 2);
	assert_true(ledger_is_closed(trace));
}

static void kill_explains_nothing_before_the_end(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_say(scene, "hsa", RECORD_SOURCE_ON, "packets");
	launch(scene, STREAM_A, 1); /* the stream continued after it */
	launch_and_run(scene, STREAM_A);
	launch(scene, STREAM_A, 0); /* it was not seen to take a slot */
	trace = scene_take(scene);
	assert_int_equal(drop_of(trace, "not submitted at the end"), 0);
	assert_int_equal(line(trace)->unexplained, 2);
}

static void kill_leaves_graph_launches_not_submitted(void **state)
{
	struct scene *scene = *state;
	static const uint64_t functions[] = {0x101, 0x101};
	static const uint32_t grids[] = {1, 1};

	for (unsigned behind = 0; behind <= 1; behind++) {
		struct trace *trace;
		uint64_t cid;

		scene_again(scene);
		scene_graph(scene, 7, 31, 2, functions, grids);
		cid = scene_call(scene, SCENE_GRAPH_LAUNCH, 2, (uint64_t[]){1, STREAM_A}, 2);
		scene_graph_launch(scene, 31, 0, cid);
		scene_run(scene, cid, 0, 1, 1);
		if (behind)
			launch_and_run(scene, STREAM_A);
		trace = scene_take(scene);
		assert_int_equal(scene_source(trace, "graph")->unexplained, behind);
		assert_int_equal(ledger_is_closed(trace), !behind);
	}
}

/*
 * Of three nodes the second is disabled for launches 1 and 2; BROUGHT is the number of activities
 * of each launch.
 */
static struct trace *switched(struct scene *scene, const unsigned brought[4], bool is_known)
{
	static const uint64_t functions[] = {0x101, 0x101, 0x101};
	static const uint32_t grids[] = {1, 1, 1};
	uint64_t node = is_known ? SCENE_NODE_HANDLE(7, 1) : 0xbad;

	scene_again(scene);
	scene_graph(scene, 6, 30, 3, functions, grids);
	scene_graph(scene, 7, 31, 3, functions, grids);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t cid;

		if (i == 1 || i == 3)
			scene_call(scene, SCENE_SET_ENABLED, 0,
				   (uint64_t[]){SCENE_EXEC_HANDLE(31), node, i == 3}, 3);
		cid = scene_call(scene, SCENE_GRAPH_LAUNCH, brought[i],
				 (uint64_t[]){SCENE_EXEC_HANDLE(31), 0}, 2);
		scene_graph_launch(scene, 31, i, cid);
		for (unsigned k = 0; k < brought[i]; k++)
			scene_run(scene, cid, k, 1, 1);
		cid = scene_call(scene, SCENE_GRAPH_LAUNCH, 3,
				 (uint64_t[]){SCENE_EXEC_HANDLE(30), 0}, 2);
		scene_graph_launch(scene, 30, i, cid);
		for (unsigned k = 0; k < 3; k++)
			scene_run(scene, cid, k, 1, 1);
	}
	return scene_finish(scene);
}

static void nodes_that_are_off_expect_nothing(void **state)
{
	struct trace *trace = switched(*state, (unsigned[]){3, 2, 2, 3}, true);

	assert_int_equal(scene_source(trace, "graph")->expected, 4 * 3 + 3 + 2 + 2 + 3);
	assert_int_equal(trace->launches[4 + 1].activities_expected, 2);
	assert_int_equal(trace->launches[4 + 3].activities_expected, 3);
	assert_true(ledger_is_closed(trace));
	for (unsigned i = 0; i < 4; i++) {
		unsigned brought[] = {3, 2, 2, 3};

		brought[i]--;
		trace = switched(*state, brought, true);
		assert_int_equal(scene_source(trace, "graph")->unexplained, 1);
	}
}

static void unknown_node_that_is_off_is_not_judged(void **state)
{
	struct trace *trace = switched(*state, (unsigned[]){3, 2, 1, 3}, false);

	assert_int_equal(scene_source(trace, "graph")->expected, 4 * 3 + 3);
	assert_int_equal(trace->launches[4 + 1].activities_expected, TRACE_NONE);
	assert_true(ledger_is_closed(trace));
}

/* The recording began after the program had disabled nodes. */
static void nodes_switched_before_are_not_judged(void **state)
{
	static const uint64_t functions[] = {0x101, 0x101};
	static const uint32_t grids[] = {1, 1};
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	scene_witness(scene, "hip", "nodes_switched", 1);
	scene_graph(scene, 7, 31, 2, functions, grids);
	cid = scene_call(scene, SCENE_GRAPH_LAUNCH, 1, (uint64_t[]){1, 0}, 2);
	scene_graph_launch(scene, 31, 0, cid);
	scene_run(scene, cid, 0, 1, 1);
	trace = scene_finish(scene);
	assert_true(ledger_is_closed(trace));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_CASE(launches_that_brought_their_kernel_close_it),
		SCENE_CASE(launches_without_a_kernel_are_unexplained),
		SCENE_CASE(reason_is_the_source_that_is_absent),
		SCENE_CASE(reason_is_that_no_runtime_came),
		SCENE_CASE(graph_launches_need_the_source_too),
		SCENE_CASE(failed_launches_expect_nothing),
		SCENE_CASE(captured_launches_expect_nothing),
		SCENE_CASE(launches_of_nothing_expect_nothing),
		SCENE_CASE(launches_on_many_devices_expect_one_each),
		SCENE_CASE(launch_within_a_launch_owes_once),
		SCENE_CASE(dispatches_without_a_call_explain_as_many),
		SCENE_CASE(dispatches_without_a_call_explain_once),
		SCENE_CASE(records_that_were_lost_explain_as_many),
		SCENE_CASE(packets_that_were_cut_are_explained),
		SCENE_CASE(kill_leaves_launches_not_submitted),
		SCENE_CASE(kill_explains_nothing_before_the_end),
		SCENE_CASE(kill_leaves_graph_launches_not_submitted),
		SCENE_CASE(nodes_that_are_off_expect_nothing),
		SCENE_CASE(unknown_node_that_is_off_is_not_judged),
		SCENE_CASE(nodes_switched_before_are_not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
