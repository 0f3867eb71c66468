/* hipGraphExecChildGraphNodeSetParams, against a model of the runtime: the nodes of an executable
 * graph's child get the parameters of a graph of the same shape, and of no other graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../capture/in_child.h"
#include "capture/capture_session.h"
#include "capture/hip/graph_exec.h"
#include "capture/hip/hip_runtime.h"
#include "vendor/hip_types.h"

/* Graph G of the model has the handle G; its node I has the handle NODES * G + I. */
enum { OUTER = 1, INNER, SAME, SHORTER, LONGER, OTHER_TYPE, GRAPHS, NODES = 16 };

/* Numbers of HIP 6's node types. */
enum { MEMSET = 2, CHILD = 4, EMPTY = 5 };

enum { EXEC = 77 };

static const struct {
	size_t count;
	int types[3];
	size_t width; /* of its memsets */
} graphs[GRAPHS] = {
	[OUTER] = {1, {CHILD}, 0},
	[INNER] = {2, {MEMSET, MEMSET}, 1},
	[SAME] = {2, {MEMSET, MEMSET}, 2},
	[SHORTER] = {1, {MEMSET}, 2},
	[LONGER] = {3, {MEMSET, MEMSET, MEMSET}, 2},
	[OTHER_TYPE] = {2, {MEMSET, EMPTY}, 2},
};

static int get_version(int *ret_version)
{
	*ret_version = 70200000;
	return 0;
}

static int get_nodes(uintptr_t graph, uint64_t *nodes, size_t *count)
{
	*count = graphs[graph].count;
	for (size_t i = 0; nodes && i < *count; i++)
		nodes[i] = NODES * graph + i;
	return 0;
}

static int get_edges(uintptr_t graph, uint64_t *from, uint64_t *to, size_t *count)
{
	*count = 0;
	return 0;
}

static int get_type(uintptr_t node, int *ret_type)
{
	*ret_type = graphs[node / NODES].types[node % NODES];
	return 0;
}

static int get_child(uintptr_t node, uintptr_t *ret_graph)
{
	*ret_graph = INNER;
	return 0;
}

static int get_memset(uintptr_t node, struct hip_memset_params *ret_params)
{
	*ret_params = (struct hip_memset_params){
		.element_bytes = 4, .height = 1, .width = graphs[node / NODES].width};
	return 0;
}

static void set_runtime(void)
{
	hip_nexts[DOOR_SYMBOL][HIP_hipRuntimeGetVersion] = (void *)get_version;
	hip_nexts[DOOR_SYMBOL][HIP_hipGraphGetNodes] = (void *)get_nodes;
	hip_nexts[DOOR_SYMBOL][HIP_hipGraphGetEdges] = (void *)get_edges;
	hip_nexts[DOOR_SYMBOL][HIP_hipGraphNodeGetType] = (void *)get_type;
	hip_nexts[DOOR_SYMBOL][HIP_hipGraphChildGraphNodeGetGraph] = (void *)get_child;
	hip_nexts[DOOR_SYMBOL][HIP_hipGraphMemsetNodeGetParams] = (void *)get_memset;
}

static uint64_t given; /* the graph that the child is given */

static void set_child(void)
{
	struct hip_call call = {.door = DOOR_SYMBOL};

	set_runtime();
	expect(session_start());
	graph_exec_instantiated(&call, 0, (uint64_t[]){EXEC, OUTER, 0, 0, 0});
	graph_exec_child_set(&call, 0, (uint64_t[]){EXEC, NODES * OUTER, given});
	session_stop();
}

/* Sets the child to GRAPH. Asserts how many updates of nodes and how many notes the spool has. */
static void expect_updates(uint64_t graph, uint64_t updates, uint64_t notes)
{
	struct fixture *fixture;
	struct spool_reader *reader;
	void *state;

	assert_int_equal(fixture_setup(&state), 0);
	fixture = state;
	given = graph;
	assert_int_equal(in_child(fixture->folder, set_child), 0);
	reader = fixture_read(fixture);
	assert_int_equal(fixture_count(reader, RECORD_GRAPH_EXEC), 1);
	assert_int_equal(fixture_count(reader, RECORD_GRAPH_EXEC_UPDATE), updates);
	assert_int_equal(fixture_count(reader, RECORD_NOTE), notes);
	spool_reader_close(reader);
	fixture_teardown(&state);
}

static void a_child_of_the_same_shape_is_recorded(void **state)
{
	expect_updates(SAME, 2, 0);
}

static void a_child_of_another_shape_changes_no_node(void **state)
{
	expect_updates(SHORTER, 0, 1);
	expect_updates(LONGER, 0, 1);
	expect_updates(OTHER_TYPE, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_of_the_same_shape_is_recorded),
		cmocka_unit_test(a_child_of_another_shape_changes_no_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
