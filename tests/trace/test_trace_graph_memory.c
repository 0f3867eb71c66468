/* What launches of graphs allocate and free (src/trace/load/graph_memory.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene.h"

enum { GRAPH = 7, EXEC = 31, KEPT = 0x20000, FREED = 0x10000 };

/* KEPT is allocated last, although its node was added first: it depends on the release of
 * FREED. */
static const struct record_graph_node nodes[] = {
	{.type = RECORD_NODE_MEM_ALLOC, .dst = KEPT, .bytes = 200, .agent = SCENE_AGENT_GPU},
	{.type = RECORD_NODE_MEM_ALLOC, .dst = FREED, .bytes = 100, .agent = SCENE_AGENT_GPU},
	{.type = RECORD_NODE_MEM_FREE, .dst = FREED},
};

static void put_graph(struct scene *scene, uint32_t flags)
{
	static const uint32_t edges[][2] = {{1, 2}, {2, 0}};
	struct record_graph graph = {.graph_id = GRAPH, .node_count = 3, .edge_count = 2};
	struct record_graph_exec exec = {.exec_id = EXEC, .graph_id = GRAPH};

	scene_put(scene, 0, RECORD_GRAPH, 0, &graph, sizeof(graph));
	for (uint32_t i = 0; i < 3; i++) {
		struct record_graph_node node = nodes[i];

		node.graph_id = GRAPH;
		node.handle = SCENE_NODE_HANDLE(GRAPH, i);
		node.ns = scene->ns;
		scene_put(scene, 0, RECORD_GRAPH_NODE, i, &node, sizeof(node));
	}
	for (uint32_t i = 0; i < 2; i++) {
		struct record_graph_edge edge = {
			.graph_id = GRAPH, .from = edges[i][0], .to = edges[i][1]};

		scene_put(scene, 0, RECORD_GRAPH_EDGE, 0, &edge, sizeof(edge));
	}
	scene_put(scene, 0, RECORD_GRAPH_EXEC, flags, &exec, sizeof(exec));
}

static uint64_t launch(struct scene *scene, uint64_t replay)
{
	uint64_t cid = scene_reserve_cid(scene);

	scene_graph_launch(scene, EXEC, replay, cid);
	scene_put_call(scene, 0, cid, SCENE_GRAPH_LAUNCH, 0, (uint64_t[]){1, 0}, 2);
	return cid;
}

static void assert_operation(const struct trace *trace, uint32_t at, uint64_t cid, uint64_t address,
			     uint64_t bytes)
{
	const struct trace_memory_operation *row = &trace->memory_operations[at];

	assert_int_equal(row->cid, cid);
	assert_int_equal(row->address, address);
	assert_int_equal(row->bytes, bytes);
	assert_int_equal(row->is_release, bytes == 0);
	assert_int_equal(row->ns, trace->calls[row->call].begin_ns);
	if (bytes) {
		assert_int_equal(row->kind, RECORD_MEMORY_KIND_DEVICE);
		assert_true(trace->agents[row->agent].is_gpu);
	} else {
		assert_int_equal(row->agent, TRACE_NONE);
	}
}

/* A launch's operations stand in HIP's order of its nodes. */
static void launches_allocate_in_the_order_of_nodes(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	put_graph(scene, 0);
	cid = launch(scene, 0);
	trace = scene_finish(scene);
	assert_int_equal(trace->memory_operations_count, 3);
	assert_operation(trace, 0, cid, FREED, 100);
	assert_operation(trace, 1, cid, FREED, 0);
	assert_operation(trace, 2, cid, KEPT, 200);
}

static void a_launch_that_failed_allocates_nothing(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	put_graph(scene, 0);
	scene_graph_launch(scene, EXEC, 0, scene_failed_call(scene, SCENE_GRAPH_LAUNCH));
	trace = scene_finish(scene);
	assert_int_equal(trace->launches_count, 1);
	assert_int_equal(trace->memory_operations_count, 0);
}

/* What a launch has left is released first by the next one, unless the program has done so. */
static void frees_on_launch(void **state)
{
	struct record_memory release = {.address = KEPT};
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cids[3];

	put_graph(scene, RECORD_GRAPH_EXEC_FREES_ON_LAUNCH);
	cids[0] = launch(scene, 0);
	cids[1] = launch(scene, 1);
	release.ns = scene->ns;
	release.cid = scene_reserve_cid(scene);
	scene_put(scene, 0, RECORD_MEMORY, RECORD_MEMORY_RELEASE, &release, sizeof(release));
	scene->ns += 10;
	cids[2] = launch(scene, 2);
	trace = scene_finish(scene);
	assert_int_equal(trace->memory_operations_count, 11);
	assert_operation(trace, 2, cids[0], KEPT, 200);
	assert_operation(trace, 3, cids[1], KEPT, 0);
	assert_operation(trace, 4, cids[1], FREED, 100);
	assert_operation(trace, 8, cids[2], FREED, 100);
}

/* Without the flag a launch releases nothing by itself. */
static void leaves_what_it_left(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	put_graph(scene, 0);
	launch(scene, 0);
	launch(scene, 1);
	trace = scene_finish(scene);
	assert_int_equal(trace->memory_operations_count, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_CASE(launches_allocate_in_the_order_of_nodes),
		SCENE_CASE(a_launch_that_failed_allocates_nothing),
		SCENE_CASE(frees_on_launch),
		SCENE_CASE(leaves_what_it_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
