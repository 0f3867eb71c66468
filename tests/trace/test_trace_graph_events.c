/* Events that nodes of graphs record: which record a wait after a replay is for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event_scene.h"
#include "trace/load.h"

enum { EVENT = 0xe100, OTHER_EVENT = 0xe200, STREAM = 0x5100, OTHER_STREAM = 0x5200 };
enum { GRAPH = 7, CHILD = 8, EXEC = 31 };

/*
 * ---- a graph with a kernel and a node that records an event, or with that node's graph as a child
 * ----
 */

static void put_graph(struct scene *scene, uint64_t graph, uint32_t nodes, uint64_t parent)
{
	struct record_graph record = {
		.graph_id = graph,
		.node_count = nodes,
		.parent_graph_id = parent,
	};

	scene_put(scene, 0, RECORD_GRAPH, 0, &record, sizeof(record));
}

static void put_kernel(struct scene *scene, uint64_t graph)
{
	struct record_graph_node node = {
		.graph_id = graph,
		.type = RECORD_NODE_KERNEL,
		.function = 0x101,
		.grid = {1, 1, 1},
		.block = {1, 1, 1},
		.ns = scene->ns,
	};

	scene_put(scene, 0, RECORD_GRAPH_NODE, 0, &node, sizeof(node));
}

static void put_recorder(struct scene *scene, uint64_t graph, uint32_t index, uint64_t event)
{
	struct record_graph_node node = {
		.graph_id = graph,
		.type = RECORD_NODE_EVENT_RECORD,
		.event = event,
		.ns = scene->ns,
	};

	scene_put(scene, 0, RECORD_GRAPH_NODE, index, &node, sizeof(node));
}

static void put_exec(struct scene *scene)
{
	struct record_graph_exec exec = {.exec_id = EXEC, .graph_id = GRAPH};

	scene_put(scene, 0, RECORD_GRAPH_EXEC, 0, &exec, sizeof(exec));
}

static void put_plain(struct scene *scene, uint64_t event)
{
	put_graph(scene, GRAPH, 2, 0);
	put_kernel(scene, GRAPH);
	put_recorder(scene, GRAPH, 1, event);
	put_exec(scene);
}

static void set_event(struct scene *scene, uint64_t child, uint32_t index, uint64_t event)
{
	struct record_graph_node node = {
		.graph_id = EXEC,
		.child_graph_id = child,
		.type = RECORD_NODE_EVENT_RECORD,
		.event = event,
		.cid = scene_reserve_cid(scene),
	};

	scene_put(scene, 0, RECORD_GRAPH_EXEC_UPDATE, index, &node, sizeof(node));
}

/* Returns the launch's cid. */
static uint64_t launch(struct scene *scene, uint64_t exec, uint64_t replay, int32_t result)
{
	struct event_call call = {
		.function = (enum event_function)SCENE_GRAPH_LAUNCH,
		.args = {0xf00, STREAM},
		.result = result,
	};
	uint64_t cid = event_scene_call(scene, &call);

	scene_graph_launch(scene, exec, replay, cid);
	return cid;
}

static void expect_wait(const struct trace *trace, uint32_t wait, uint64_t cid,
			enum trace_known known)
{
	assert_true(wait < trace->waits_count);
	assert_int_equal(event_scene_producer(trace, wait), cid);
	assert_int_equal(trace->waits[wait].known, known);
}

/* ---- cases ---- */

static void the_node_of_the_replay_is_the_producer(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t eager, first, second, last;
	const struct trace_event_record *record;

	put_plain(scene, EVENT);
	eager = CALL(scene, RECORD, EVENT, OTHER_STREAM);
	CALL(scene, STREAM_WAIT, STREAM, EVENT, 0);
	first = launch(scene, EXEC, 0, 0);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	second = launch(scene, EXEC, 1, 0);
	CALL(scene, EVENT_WAIT, EVENT);
	launch(scene, EXEC, 2, 1);
	CALL(scene, EVENT_WAIT, EVENT);
	last = CALL(scene, RECORD, EVENT, OTHER_STREAM);
	CALL(scene, EVENT_WAIT, EVENT);
	trace = event_scene_load(scene);
	assert_int_equal(trace->event_records_count, 4);
	expect_wait(trace, 0, eager, TRACE_KNOWN_ORDER);
	expect_wait(trace, 1, first, TRACE_KNOWN_ORDER);
	expect_wait(trace, 2, second, TRACE_KNOWN_ORDER);
	/* The third launch failed. */
	expect_wait(trace, 3, second, TRACE_KNOWN_ORDER);
	expect_wait(trace, 4, last, TRACE_KNOWN_ORDER);
	record = &trace->event_records[trace->waits[2].producer];
	assert_int_equal(record->node, 1);
	assert_int_equal(trace->nodes[record->node].event, EVENT);
	assert_int_equal(trace->launches[trace->calls[record->call].launch].replay, 1);
	assert_int_equal(trace->streams[record->stream].handle, STREAM);
	assert_int_equal(trace->event_records[0].node, TRACE_NONE);
}

static void a_child_graph_is_entered_and_followed(void **state)
{
	struct record_graph_node child = {
		.graph_id = GRAPH,
		.type = RECORD_NODE_CHILD,
		.child_graph_id = CHILD,
	};
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t first, second;

	put_graph(scene, GRAPH, 1, 0);
	scene_put(scene, 0, RECORD_GRAPH_NODE, 0, &child, sizeof(child));
	put_graph(scene, CHILD, 2, GRAPH);
	put_kernel(scene, CHILD);
	put_recorder(scene, CHILD, 1, EVENT);
	put_exec(scene);
	CALL(scene, CREATE, EVENT);
	CALL(scene, CREATE, OTHER_EVENT);
	CALL(scene, EVENT_WAIT, EVENT);
	first = launch(scene, EXEC, 0, 0);
	CALL(scene, EVENT_WAIT, EVENT);
	CALL(scene, EVENT_WAIT, OTHER_EVENT);
	set_event(scene, CHILD, 1, OTHER_EVENT);
	second = launch(scene, EXEC, 1, 0);
	CALL(scene, EVENT_WAIT, EVENT);
	CALL(scene, EVENT_WAIT, OTHER_EVENT);
	trace = event_scene_load(scene);
	expect_wait(trace, 0, 0, TRACE_KNOWN_ORDER);
	expect_wait(trace, 1, first, TRACE_KNOWN_ORDER);
	expect_wait(trace, 2, 0, TRACE_KNOWN_ORDER);
	expect_wait(trace, 3, first, TRACE_KNOWN_ORDER);
	expect_wait(trace, 4, second, TRACE_KNOWN_ORDER);
}

/* The recording does not say what EXEC's graph records. */
static void expect_doubts(struct scene *scene)
{
	struct trace *trace;
	uint64_t before, after;

	CALL(scene, CREATE, OTHER_EVENT);
	before = CALL(scene, RECORD, EVENT, OTHER_STREAM);
	CALL(scene, STREAM_WAIT, STREAM, EVENT, 0);
	launch(scene, EXEC, 0, 0);
	CALL(scene, STREAM_WAIT, STREAM, EVENT, 0);
	CALL(scene, EVENT_WAIT, OTHER_EVENT);
	after = CALL(scene, RECORD, EVENT, OTHER_STREAM);
	CALL(scene, STREAM_WAIT, STREAM, EVENT, 0);
	trace = event_scene_load(scene);
	expect_wait(trace, 0, before, TRACE_KNOWN_ORDER);
	expect_wait(trace, 1, before, TRACE_KNOWN_LIKELY);
	expect_wait(trace, 2, 0, TRACE_KNOWN_NOT);
	expect_wait(trace, 3, after, TRACE_KNOWN_ORDER);
	trace_close(trace);
}

static void an_unknown_graph_leaves_a_doubt(void **state)
{
	struct scene scene;

	event_scene_init(&scene);
	expect_doubts(&scene);
}

/* An older recording, in which nodes have no events. */
static void a_node_without_its_event_leaves_a_doubt(void **state)
{
	struct scene scene;

	event_scene_init(&scene);
	put_plain(&scene, 0);
	expect_doubts(&scene);
}

static void a_graph_that_lacks_a_node_leaves_a_doubt(void **state)
{
	struct scene scene;

	event_scene_init(&scene);
	put_graph(&scene, GRAPH, 2, 0);
	put_kernel(&scene, GRAPH);
	put_exec(&scene);
	expect_doubts(&scene);
}

static void a_child_that_is_missing_leaves_a_doubt(void **state)
{
	struct record_graph_node child = {
		.graph_id = GRAPH,
		.type = RECORD_NODE_CHILD,
		.child_graph_id = CHILD,
	};
	struct scene scene;

	event_scene_init(&scene);
	put_graph(&scene, GRAPH, 1, 0);
	scene_put(&scene, 0, RECORD_GRAPH_NODE, 0, &child, sizeof(child));
	put_exec(&scene);
	expect_doubts(&scene);
}

/*
 * Only damaged files have these: two nodes with the same graph, and a graph that is its own child.
 */
static void graphs_in_a_ring_are_left(void **state)
{
	struct record_graph_node child = {.graph_id = GRAPH, .type = RECORD_NODE_CHILD};
	struct scene *scene = *state;
	struct trace *trace;

	put_graph(scene, GRAPH, 3, GRAPH);
	for (uint32_t i = 0; i < 2; i++) {
		child.child_graph_id = GRAPH;
		scene_put(scene, 0, RECORD_GRAPH_NODE, i, &child, sizeof(child));
	}
	put_recorder(scene, GRAPH, 2, EVENT);
	put_exec(scene);
	launch(scene, EXEC, 0, 0);
	CALL(scene, EVENT_WAIT, EVENT);
	trace = event_scene_load(scene);
	assert_int_equal(trace->waits_count, 1);
	assert_int_not_equal(trace->waits[0].producer, TRACE_NONE);
}

/*
 * With hipEventRecordExternal and hipEventWaitExternal the calls make nodes, and the event keeps
 * its state.
 */
static void captured_external_records_are_nodes(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t before;

	before = CALL(scene, RECORD, EVENT, OTHER_STREAM);
	CALL(scene, CAPTURE_BEGIN, STREAM, 0);
	CALL(scene, RECORD_FLAGS, EVENT, STREAM, 1);
	/* This stream is not part of the capture. */
	CALL(scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	CALL(scene, STREAM_WAIT, STREAM, EVENT, 1);
	CALL(scene, CAPTURE_END, STREAM);
	CALL(scene, STREAM_WAIT, STREAM, EVENT, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->event_records_count, 1);
	assert_int_equal(trace->waits_count, 2);
	expect_wait(trace, 0, before, TRACE_KNOWN_ORDER);
	expect_wait(trace, 1, before, TRACE_KNOWN_ORDER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT_CASE(the_node_of_the_replay_is_the_producer),
		EVENT_CASE(a_child_graph_is_entered_and_followed),
		cmocka_unit_test(an_unknown_graph_leaves_a_doubt),
		cmocka_unit_test(a_node_without_its_event_leaves_a_doubt),
		cmocka_unit_test(a_graph_that_lacks_a_node_leaves_a_doubt),
		cmocka_unit_test(a_child_that_is_missing_leaves_a_doubt),
		EVENT_CASE(graphs_in_a_ring_are_left),
		EVENT_CASE(captured_external_records_are_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
