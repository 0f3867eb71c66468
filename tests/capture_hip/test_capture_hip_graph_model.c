/* The graph code against a model of the runtime: graphs of any shape and any runtime version,
 * without HIP. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/hip/graph_template.h"
#include "capture/hip/hip_runtime.h"
#include "capture/hip/runtime_graph.h"

/* Node i of the model has the handle FIRST_NODE + i and a type. */
enum { FIRST_NODE = 1000, NODES_MOST = 16, GRAPH = 1, CHILD_TYPE = 5 };

static struct model {
	int version;
	size_t node_count, edge_count;
	int types[NODES_MOST];
	uint32_t edges[NODES_MOST * 2][2];
	void *child;
} model;

static int get_version(int *ret_version)
{
	*ret_version = model.version;
	return 0;
}

static int get_nodes(void *graph, uint64_t *nodes, size_t *count)
{
	*count = model.node_count;
	for (size_t i = 0; nodes && i < model.node_count; i++)
		nodes[i] = FIRST_NODE + i;
	return 0;
}

static int get_edges(void *graph, uint64_t *from, uint64_t *to, size_t *count)
{
	*count = model.edge_count;
	for (size_t i = 0; from && i < model.edge_count; i++) {
		from[i] = FIRST_NODE + model.edges[i][0];
		to[i] = FIRST_NODE + model.edges[i][1];
	}
	return 0;
}

static int get_type(void *node, int *ret_type)
{
	*ret_type = model.types[(uintptr_t)node - FIRST_NODE];
	return 0;
}

static int get_child(void *node, void **ret_graph)
{
	*ret_graph = model.child;
	return 0;
}

static void set_model(size_t nodes, const uint32_t (*edges)[2], size_t edge_count)
{
	model = (struct model){.version = 50221153, .node_count = nodes, .edge_count = edge_count};
	if (edge_count)
		memcpy(model.edges, edges, edge_count * sizeof(*edges));
	for (size_t i = 0; i < nodes; i++)
		model.types[i] = 1;
	hip_nexts[DOOR_SYMBOL][HIP_hipRuntimeGetVersion] = (void *)get_version;
	hip_nexts[DOOR_SYMBOL][HIP_hipGraphGetNodes] = (void *)get_nodes;
	hip_nexts[DOOR_SYMBOL][HIP_hipGraphGetEdges] = (void *)get_edges;
	hip_nexts[DOOR_SYMBOL][HIP_hipGraphNodeGetType] = (void *)get_type;
	hip_nexts[DOOR_SYMBOL][HIP_hipGraphChildGraphNodeGetGraph] = (void *)get_child;
}

static void assert_order(const uint32_t *want, size_t count)
{
	uint32_t order[NODES_MOST] = {0};
	struct graph_template *template;

	assert_int_equal(graph_template_read(GRAPH, &template), 0);
	assert_int_equal(template->node_count, count);
	assert_int_equal(graph_template_level_order(template, order), 0);
	assert_memory_equal(order, want, count * sizeof(*want));
	graph_template_destroy(template);
}

/* graph_template_level_order must give the order in which HIP walks a graph of any shape. */
static void level_order_of_shapes(void **state)
{
	static const uint32_t chain[][2] = {{0, 1}, {1, 2}};
	/* Added in reverse order: root nodes come in the order of adding, the others follow the
	 * edges. */
	static const uint32_t backwards[][2] = {{2, 1}, {1, 0}};
	static const uint32_t crossed[][2] = {{0, 2}, {0, 1}, {1, 3}, {2, 3}};
	/* A direct edge from the root does not move a node forward past its longest path. */
	static const uint32_t short_cut[][2] = {{0, 2}, {0, 1}, {1, 2}};

	set_model(3, chain, 2);
	assert_order((const uint32_t[]){0, 1, 2}, 3);
	set_model(3, backwards, 2);
	assert_order((const uint32_t[]){2, 1, 0}, 3);
	set_model(4, crossed, 4);
	assert_order((const uint32_t[]){0, 2, 1, 3}, 4);
	set_model(3, short_cut, 3);
	assert_order((const uint32_t[]){0, 1, 2}, 3);
	set_model(3, NULL, 0);
	assert_order((const uint32_t[]){0, 1, 2}, 3);
	set_model(0, NULL, 0);
	assert_order(NULL, 0);
}

/* A graph with a cycle has no order; the walk must end with -ELOOP. */
static void a_circle_has_no_order(void **state)
{
	static const uint32_t circle[][2] = {{0, 1}, {1, 2}, {2, 1}};
	uint32_t order[NODES_MOST];
	struct graph_template *template;

	set_model(3, circle, 3);
	assert_int_equal(graph_template_read(GRAPH, &template), 0);
	assert_int_equal(graph_template_level_order(template, order), -ELOOP);
	graph_template_destroy(template);
}

static void nodes_are_found(void **state)
{
	struct graph_template *template;

	set_model(16, NULL, 0);
	assert_int_equal(graph_template_read(GRAPH, &template), 0);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(graph_template_find(template, FIRST_NODE + i), i);
	assert_int_equal(graph_template_find(template, FIRST_NODE + 16), GRAPH_TEMPLATE_NONE);
	assert_null(graph_template_child(template, 3));
	graph_template_destroy(template);
}

/* An edge to a node that is not in the graph must be refused. */
static void a_foreign_edge_is_refused(void **state)
{
	static const uint32_t foreign[][2] = {{0, 9}};
	struct graph_template *template;

	set_model(2, foreign, 1);
	assert_int_equal(graph_template_read(GRAPH, &template), -EINVAL);
}

/* Child graphs that contain each other must not cause endless recursion. */
static void graphs_in_circles_end(void **state)
{
	struct graph_template *template;

	set_model(1, NULL, 0);
	model.types[0] = CHILD_TYPE;
	model.child = (void *)GRAPH;
	assert_int_equal(graph_template_read(GRAPH, &template), -ELOOP);
}

/* The code asks for the runtime's version once per process, so each version needs its own
 * process. */
static enum record_node_type type_in(int version, int number)
{
	enum record_node_type type = RECORD_NODE_OTHER;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		set_model(1, NULL, 0);
		model.version = version;
		model.types[0] = number;
		_exit(runtime_graph_type(FIRST_NODE, &type) ? 255 : (int)type);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return (enum record_node_type)WEXITSTATUS(status);
}

/* The numbers of node types differ between HIP versions. */
static void type_numbers_of_versions(void **state)
{
	enum { HIP_5_2 = 50221153, HIP_5_4 = 50422804, HIP_6_0 = 60032831 };

	assert_int_equal(type_in(HIP_5_2, 1), RECORD_NODE_KERNEL);
	assert_int_equal(type_in(HIP_5_2, 9), RECORD_NODE_MEMCPY);
	assert_int_equal(type_in(HIP_5_2, 0), RECORD_NODE_OTHER);
	assert_int_equal(type_in(HIP_5_4, 0), RECORD_NODE_KERNEL);
	assert_int_equal(type_in(HIP_5_4, 10), RECORD_NODE_MEMCPY);
	assert_int_equal(type_in(HIP_6_0, 4), RECORD_NODE_CHILD);
	assert_int_equal(type_in(HIP_6_0, 10), RECORD_NODE_MEM_ALLOC);
	assert_int_equal(type_in(HIP_6_0, 13), RECORD_NODE_MEMCPY);
	assert_int_equal(type_in(HIP_6_0, 99), RECORD_NODE_OTHER);
}

enum { HIP_7_2 = 70253211, ALLOC_TYPE = 10, FREE_TYPE = 11, ADDRESS = 0x7000 };

static int get_allocation(void *node, struct hip_alloc_params *ret_params)
{
	*ret_params = (struct hip_alloc_params){.bytes = 500, .address = (void *)ADDRESS};
	return 0;
}

static int get_freed(void *node, void **ret_address)
{
	*ret_address = (void *)ADDRESS;
	return 0;
}

/* Whether a node of TYPE is described with the address and BYTES. */
static bool is_described(int type, uint64_t bytes)
{
	struct graph_template *template;
	const struct record_graph_node *node;

	set_model(1, NULL, 0);
	model.version = HIP_7_2;
	model.types[0] = type;
	hip_nexts[DOOR_SYMBOL][HIP_hipGraphMemAllocNodeGetParams] = (void *)get_allocation;
	hip_nexts[DOOR_SYMBOL][HIP_hipGraphMemFreeNodeGetParams] = (void *)get_freed;
	if (graph_template_read(GRAPH, &template))
		return false;
	node = &template->records[0];
	return node->dst == ADDRESS && node->bytes == bytes && !node->agent;
}

/* The runtime says what nodes allocate and free. In a process of its own, for the version. */
static void nodes_of_memory(void **state)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(!is_described(ALLOC_TYPE, 500) || !is_described(FREE_TYPE, 0));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* With a runtime that lacks the graph functions, reading a graph fails with -ENOSYS. */
static void a_runtime_without_graphs(void **state)
{
	struct graph_template *template;

	memset((void *)hip_nexts, 0, sizeof(hip_nexts));
	assert_int_equal(graph_template_read(GRAPH, &template), -ENOSYS);
	assert_int_equal(hip_version(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_runtime_without_graphs),
		cmocka_unit_test(type_numbers_of_versions),
		cmocka_unit_test(nodes_of_memory),
		cmocka_unit_test(level_order_of_shapes),
		cmocka_unit_test(a_circle_has_no_order),
		cmocka_unit_test(nodes_are_found),
		cmocka_unit_test(a_foreign_edge_is_refused),
		cmocka_unit_test(graphs_in_circles_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
