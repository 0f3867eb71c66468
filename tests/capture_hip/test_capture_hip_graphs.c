/* The real HIP runtime on the software GPU under the tool: compares what the recording holds of
 * graphs with what the program did (hip_scenes.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hip_recording.h"

static const struct record_graph *find_graph(const struct recording *r, uint64_t handle)
{
	const struct record_graph *graph;

	for (size_t i = 0; (graph = recording_find(r, RECORD_GRAPH, i)); i++)
		if (graph->handle == handle)
			return graph;
	fail_msg("graph %llx is not in the recording", (unsigned long long)handle);
	return NULL;
}

static const struct record_graph_node *find_node(const struct recording *r, uint64_t graph_id,
						 uint32_t index)
{
	const struct record_graph_node *node;

	for (size_t i = 0; (node = recording_find(r, RECORD_GRAPH_NODE, i)); i++)
		if (node->graph_id == graph_id && node->header.tag == index)
			return node;
	fail_msg("graph %u has no node %u", (unsigned)graph_id, index);
	return NULL;
}

static bool has_edge(const struct recording *r, uint64_t graph_id, uint32_t from, uint32_t to)
{
	const struct record_graph_edge *edge;

	for (size_t i = 0; (edge = recording_find(r, RECORD_GRAPH_EDGE, i)); i++)
		if (edge->graph_id == graph_id && edge->from == from && edge->to == to)
			return true;
	return false;
}

static const struct record_node_recorded *find_recorded(const struct recording *r, uint64_t node)
{
	const struct record_node_recorded *recorded;

	for (size_t i = 0; (recorded = recording_find(r, RECORD_NODE_RECORDED, i)); i++)
		if (recorded->node == node)
			return recorded;
	fail_msg("nothing is said of where node %llx comes from", (unsigned long long)node);
	return NULL;
}

static const char *maker_of(const struct recording *r, uint64_t node)
{
	uint64_t cid = find_recorded(r, node)->cid;
	const struct record_api *api;

	for (size_t i = 0; (api = recording_find(r, RECORD_API, i)); i++)
		if (api->cid == cid)
			return recording_call_name(r, api->header.tag);
	fail_msg("no call %u", (unsigned)cid);
	return NULL;
}

static void assert_function_named(const struct recording *r, uint64_t handle, const char *name)
{
	const struct record_function *function;

	for (size_t i = 0; (function = recording_find(r, RECORD_FUNCTION, i)); i++) {
		if (function->handle != handle)
			continue;
		assert_int_equal(function->header.tag, strlen(name));
		assert_memory_equal(function->name, name, strlen(name));
		return;
	}
	fail_msg("function %llx has no name", (unsigned long long)handle);
}

/* Every kind of node is recorded with its type, its edges and its place in the graph. */
static void nodes_of_every_kind(void **state)
{
	static const uint32_t types[] = {
		RECORD_NODE_MEMSET, RECORD_NODE_MEMCPY,	      RECORD_NODE_MEMCPY,
		RECORD_NODE_CHILD,  RECORD_NODE_KERNEL,	      RECORD_NODE_EMPTY,
		RECORD_NODE_HOST,   RECORD_NODE_EVENT_RECORD, RECORD_NODE_EVENT_WAIT,
		RECORD_NODE_MEMCPY,
	};
	static const char *const makers[] = {
		"hipGraphAddMemsetNode",    "hipGraphAddMemcpyNode1D",
		"hipGraphAddMemcpyNode",    "hipGraphAddChildGraphNode",
		"hipGraphAddKernelNode",    "hipGraphAddEmptyNode",
		"hipGraphAddHostNode",	    "hipGraphAddEventRecordNode",
		"hipGraphAddEventWaitNode", "hipGraphAddMemcpyNode1D",
	};
	struct recording *r = recording_of_scene("nodes");
	const struct record_graph *graph = find_graph(r, recording_said(r, "graph", 0));

	assert_int_equal(graph->node_count, 10);
	assert_int_equal(graph->edge_count, 9);
	assert_int_equal(graph->parent_graph_id, 0);
	for (uint32_t i = 0; i < graph->node_count; i++) {
		const struct record_graph_node *node = find_node(r, graph->graph_id, i);

		assert_int_equal(node->handle, recording_said(r, "node", i));
		assert_int_equal(node->type, types[i]);
		assert_string_equal(maker_of(r, node->handle), makers[i]);
		if (i > 0)
			assert_true(has_edge(r, graph->graph_id, i - 1, i));
	}
	recording_assert_complete(r);
	recording_free(r);
}

/* The parameters of nodes are recorded as they were when the graph was instantiated. */
static void parameters_of_nodes(void **state)
{
	struct recording *r = recording_of_scene("nodes");
	uint64_t id = find_graph(r, recording_said(r, "graph", 0))->graph_id;
	uint64_t data = recording_said(r, "data", 0), other = recording_said(r, "other", 0);
	const struct record_graph_node *fill = find_node(r, id, 0), *copy = find_node(r, id, 1);
	const struct record_graph_node *rect = find_node(r, id, 2), *kernel = find_node(r, id, 4);
	const struct record_graph_node *read = find_node(r, id, 9);

	assert_int_equal(fill->dst, data);
	assert_int_equal(fill->bytes, 1024);
	assert_int_equal(fill->width, 256);
	assert_int_equal(fill->element_bytes, 4);
	/* HIP 5.2 does not return the parameters of a one-dimensional copy; they come from the
	 * call. */
	assert_int_equal(copy->dst, other);
	assert_int_equal(copy->src, data);
	assert_int_equal(copy->bytes, 1024);
	assert_int_equal(copy->copy_kind, 3);
	assert_int_equal(rect->dst, data);
	assert_int_equal(rect->bytes, 256);
	assert_int_equal(rect->height, 4);
	/* hipGraphMemcpyNodeSetParams1D halved the size before the graph was instantiated. */
	assert_int_equal(read->bytes, 512);
	assert_int_equal(read->copy_kind, 2);
	assert_int_equal(read->dst, recording_said(r, "host", 0));
	assert_int_equal(kernel->grid[0], 4);
	assert_int_equal(kernel->block[0], 64);
	assert_function_named(r, kernel->function, "mix");
	recording_free(r);
}

/* The nodes of child graphs and clones are traced back to the calls that made the originals. */
static void child_and_clone(void **state)
{
	struct recording *r = recording_of_scene("nodes");
	const struct record_graph *graph = find_graph(r, recording_said(r, "graph", 0));
	const struct record_graph *clone = find_graph(r, recording_said(r, "clone", 0));
	const struct record_graph_node *holder = find_node(r, graph->graph_id, 3);
	const struct record_graph_node *inner = find_node(r, holder->child_graph_id, 1);
	const struct record_graph *child = recording_find(r, RECORD_GRAPH, 1);

	assert_int_equal(child->graph_id, holder->child_graph_id);
	assert_int_equal(child->parent_graph_id, graph->graph_id);
	assert_int_equal(child->parent_node, 3);
	assert_int_equal(child->node_count, 2);
	assert_true(has_edge(r, child->graph_id, 0, 1));
	assert_function_named(r, inner->function, "rotate");
	assert_int_equal(inner->grid[0], 3);
	/* The nodes of the child and of the clone are copies; their makers are the original's
	 * calls. */
	assert_string_equal(maker_of(r, inner->handle), "hipGraphAddKernelNode");
	assert_int_equal(clone->node_count, 10);
	assert_int_equal(find_node(r, clone->graph_id, 0)->handle,
			 recording_said(r, "clone_memset", 0));
	assert_string_equal(maker_of(r, find_node(r, clone->graph_id, 1)->handle),
			    "hipGraphAddMemcpyNode1D");
	assert_int_equal(find_node(r, clone->graph_id, 1)->bytes, 1024);
	recording_free(r);
}

/* A node keeps the scope in which the program made it. */
static void scope_of_a_node(void **state)
{
	struct recording *r = recording_of_scene("nodes");
	const struct record_scope *scope = recording_find(r, RECORD_SCOPE, 0);
	uint64_t kernel = recording_said(r, "node", 4), fill = recording_said(r, "node", 0);
	uint64_t id = find_graph(r, recording_said(r, "clone", 0))->graph_id;

	assert_non_null(scope);
	assert_int_equal(find_recorded(r, kernel)->scope, scope->id);
	assert_int_equal(find_recorded(r, find_node(r, id, 4)->handle)->scope, scope->id);
	assert_int_equal(find_recorded(r, fill)->scope, 0);
	recording_free(r);
}

/* Executable graphs and their replays are recorded with their graph and stream. */
static void execs_and_replays(void **state)
{
	struct recording *r = recording_of_scene("nodes");
	const struct record_graph_exec *first = recording_find(r, RECORD_GRAPH_EXEC, 0);
	const struct record_graph_exec *second = recording_find(r, RECORD_GRAPH_EXEC, 1);

	assert_int_equal(first->handle, recording_said(r, "exec", 0));
	assert_int_equal(first->graph_id, find_graph(r, recording_said(r, "graph", 0))->graph_id);
	assert_int_equal(second->graph_id, find_graph(r, recording_said(r, "clone", 0))->graph_id);
	assert_true(second->exec_id > first->exec_id);
	assert_int_equal(recording_count(r, RECORD_GRAPH_EXEC_GONE), 2);
	assert_int_equal(recording_count(r, RECORD_GRAPH_LAUNCH), 4);
	for (size_t i = 0; i < 4; i++) {
		const struct record_graph_launch *launch =
			recording_find(r, RECORD_GRAPH_LAUNCH, i);
		const struct record_api *call = recording_find_call(r, "hipGraphLaunch", i);

		assert_int_equal(launch->exec_id, i < 3 ? first->exec_id : second->exec_id);
		assert_int_equal(launch->replay, i < 3 ? i : 0);
		assert_int_equal(launch->cid, call->cid);
		assert_int_equal(launch->stream, recording_argument(r, call, "stream"));
	}
	recording_free(r);
}

/* Captured calls become nodes; captured waits and event records become edges. */
static void captured_nodes(void **state)
{
	static const char *const makers[] = {
		"hipMemcpyAsync",  "hipLaunchKernel",	 "hipMemsetAsync",
		"hipLaunchKernel", "hipMemcpyDtoDAsync", "hipMemcpy2DAsync",
	};
	static const uint32_t edges[][2] = {{0, 1}, {0, 2}, {1, 4}, {2, 3}, {3, 4}, {4, 5}};
	struct recording *r = recording_of_scene("capture");
	const struct record_graph *graph = find_graph(r, recording_said(r, "graph", 0));

	assert_int_equal(graph->node_count, 6);
	assert_int_equal(recording_count(r, RECORD_NODE_RECORDED), 6);
	for (uint32_t i = 0; i < 6; i++) {
		uint64_t node = find_node(r, graph->graph_id, i)->handle;

		assert_string_equal(maker_of(r, node), makers[i]);
		assert_int_equal(find_recorded(r, node)->graph, graph->handle);
	}
	assert_int_equal(graph->edge_count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_true(has_edge(r, graph->graph_id, edges[i][0], edges[i][1]));
	assert_int_equal(find_node(r, graph->graph_id, 0)->copy_kind, 1);
	assert_int_equal(find_node(r, graph->graph_id, 4)->copy_kind, 3);
	assert_int_equal(find_node(r, graph->graph_id, 4)->bytes, 1024);
	recording_assert_complete(r);
	recording_free(r);
}

/* A program that changes the capture's dependencies makes no node. */
static void a_steered_capture(void **state)
{
	struct recording *r = recording_of_scene("steered");
	const struct record_graph *graph = find_graph(r, recording_said(r, "graph", 0));

	assert_int_equal(graph->node_count, 3);
	assert_int_equal(recording_count(r, RECORD_NODE_RECORDED), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(maker_of(r, find_node(r, graph->graph_id, i)->handle),
				    "hipLaunchKernel");
	assert_true(has_edge(r, graph->graph_id, 0, 1));
	assert_true(has_edge(r, graph->graph_id, 0, 2));
	recording_free(r);
}

static const struct record_graph_node *update(const struct recording *r, size_t n)
{
	const struct record_graph_node *node = recording_find(r, RECORD_GRAPH_EXEC_UPDATE, n);

	assert_non_null(node);
	return node;
}

/* Each change of an executable graph is recorded with the new parameters. */
static void updates_of_an_exec(void **state)
{
	struct recording *r = recording_of_scene("updates");
	const struct record_graph_exec *exec = recording_find(r, RECORD_GRAPH_EXEC, 0);
	const struct record_graph_exec *copies = recording_find(r, RECORD_GRAPH_EXEC, 1);

	/* First SetParams of the first node, then all four nodes by hipGraphExecUpdate, then two
	 * more changes. A second update with the same graph changes nothing. */
	assert_int_equal(recording_count(r, RECORD_GRAPH_EXEC_UPDATE), 7);
	assert_int_equal(update(r, 0)->graph_id, exec->exec_id);
	assert_int_equal(update(r, 0)->handle, recording_said(r, "node", 0));
	assert_int_equal(update(r, 0)->grid[0], 4);
	assert_int_equal(update(r, 0)->cid,
			 recording_find_call(r, "hipGraphExecKernelNodeSetParams", 0)->cid);
	for (size_t i = 1; i <= 4; i++) {
		assert_int_equal(update(r, i)->header.tag, i - 1);
		assert_int_equal(update(r, i)->handle, recording_said(r, "node", i - 1));
		assert_int_equal(update(r, i)->grid[0], 2);
	}
	assert_int_equal(update(r, 5)->graph_id, copies->exec_id);
	assert_int_equal(update(r, 5)->handle, recording_said(r, "copy", 0));
	assert_int_equal(update(r, 5)->bytes, 256);
	assert_int_equal(update(r, 6)->handle, recording_said(r, "fill", 0));
	assert_int_equal(update(r, 6)->width, 128);
	/* The update that failed leaves a note in the recording, and its error reaches the
	 * program. */
	assert_int_equal(recording_count(r, RECORD_NOTE), 1);
	assert_int_equal(recording_said(r, "last_error", 0), 910);
	recording_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_of_every_kind), cmocka_unit_test(parameters_of_nodes),
		cmocka_unit_test(child_and_clone),     cmocka_unit_test(scope_of_a_node),
		cmocka_unit_test(execs_and_replays),   cmocka_unit_test(captured_nodes),
		cmocka_unit_test(a_steered_capture),   cmocka_unit_test(updates_of_an_exec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
