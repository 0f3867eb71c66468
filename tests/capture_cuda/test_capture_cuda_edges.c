/*
 * Edges that let the second node begin before the first has ended: programmatic launches, in graphs
 * and outside of them. CUPTI reports an edge without its type; the type is in the parameters of the
 * call (H200, CUDA 13.0).
 */
#include "cuda_scene.h"

#include "analyze/dependencies.h"
#include "analyze/graph_stats.h"
#include "capture/capture_session.h"

enum { TOP = 1, OVERLAP_NS = 579 };

#define NODE(graph, index) ((uint64_t)(graph) << 32 | (index))

static const struct cuda_edge_data programmatic = {.from_port = CUDA_PORT_PROGRAMMATIC,
						   .type = CUDA_EDGE_PROGRAMMATIC};

/* Launches with attributes. A captured launch makes a node after DEPENDENCY. */
static void launch(uint32_t correlation, bool is_programmatic, uint64_t node, uint64_t dependency)
{
	const struct cuda_launch_attribute attributes[] = {
		{.id = 4},
		{.id = CUDA_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
		 .value = {.programmaticStreamSerializationAllowed = is_programmatic}},
	};
	const struct cuda_launch_config config = {.attrs = attributes, .numAttrs = 2};
	const struct cupti_launch_ex_params params = {.config = &config};
	struct cupti_graph_data data = {.graph = (void *)TOP, .node = (void *)node};
	struct model_open outer, inner;

	model_enter(&outer, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaLaunchKernelExC, correlation,
		    "cudaLaunchKernelExC", &params);
	model_enter(&inner, CUPTI_DOMAIN_DRIVER, CUPTI_cuLaunchKernelEx, correlation,
		    "cuLaunchKernelEx", &params);
	if (dependency)
		play_edge(TOP, dependency, node);
	if (node)
		model_resource(CUPTI_GRAPHNODE_CREATED, &data);
	model_leave(&inner, 0);
	model_leave(&outer, 0);
}

/* Each kernel in the row begins OVERLAP_NS before the previous one has ended. */
static void put_row(uint32_t correlation, uint32_t count, bool is_graph)
{
	uint64_t start = model_now() + 10000;

	for (uint32_t i = 0; i < count; i++) {
		struct cupti_kernel kernel =
			play_kernel(is_graph ? correlation : correlation + i, "kernel");

		kernel.start = start + i * (2000 - OVERLAP_NS);
		kernel.end = kernel.start + 2000;
		if (is_graph) {
			kernel.graphId = EXEC;
			kernel.graphNodeId = NODE(TOP, i);
		}
		PLAY_PUT(kernel);
	}
}

static void assert_edges(const struct trace *trace, const enum record_edge_type *types,
			 uint32_t count)
{
	assert_int_equal(trace->edges_count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(trace->edges[i].type, types[i]);
}

/* Asserts that no times contradict an edge, and that COUNT edges are programmatic. */
static void assert_explained(const struct trace *trace, uint64_t count)
{
	struct dependencies deps;

	assert_int_equal(dependencies_make(trace, &deps), 0);
	for (int kind = 0; kind < DEPENDENCY_KIND_COUNT; kind++)
		assert_int_equal(deps.contradicted[kind], 0);
	assert_int_equal(deps.counts[DEPENDENCY_PROGRAMMATIC], count);
	dependencies_release(&deps);
}

static void added_with_data(void)
{
	const struct cuda_node_params kernel = {.type = CUDA_NODE_KERNEL};

	play_start();
	play_graph(TOP);
	play_add_kernel(TOP, NODE(TOP, 0), 0);
	play_add_node(TOP, NODE(TOP, 1), &kernel, NODE(TOP, 0), programmatic);
	play_add_node(TOP, NODE(TOP, 2), &kernel, NODE(TOP, 1), programmatic);
	play_exec(EXEC, TOP);
	play_launch(1, EXEC);
	put_row(1, 3, true);
	session_stop();
}

static void a_gap_below_0_explains_itself(void **state)
{
	static const enum record_edge_type types[] = {RECORD_EDGE_PROGRAMMATIC,
						      RECORD_EDGE_PROGRAMMATIC};
	struct trace *trace = play_scene(*state, added_with_data);
	struct graph_analysis analysis;

	assert_edges(trace, types, 2);
	assert_explained(trace, 2);
	assert_int_equal(graph_analysis_make(trace, NULL, &analysis), 0);
	assert_int_equal(analysis.nodes[1].gap.min_ns, -OVERLAP_NS);
	assert_true(analysis.nodes[1].starts_early);
	assert_false(analysis.nodes[0].starts_early);
	graph_analysis_release(&analysis);
}

static void added_without_data(void)
{
	play_start();
	play_graph(TOP);
	play_add_kernel(TOP, NODE(TOP, 0), 0);
	play_add_kernel(TOP, NODE(TOP, 1), NODE(TOP, 0));
	play_exec(EXEC, TOP);
	play_launch(1, EXEC);
	put_row(1, 2, true);
	session_stop();
}

static void a_plain_edge_is_still_contradicted(void **state)
{
	static const enum record_edge_type types[] = {RECORD_EDGE_PLAIN};
	struct trace *trace = play_scene(*state, added_without_data);
	struct dependencies deps;

	assert_edges(trace, types, 1);
	assert_int_equal(dependencies_make(trace, &deps), 0);
	assert_int_equal(deps.contradicted[DEPENDENCY_GRAPH], 1);
	dependencies_release(&deps);
}

/*
 * The third kernel is launched without the attribute's value, the fourth by a call without
 * attributes.
 */
static void captured(void)
{
	struct model_open call;
	struct cupti_graph_data data = {.graph = (void *)TOP, .node = (void *)NODE(TOP, 3)};

	play_start();
	play_graph(TOP);
	launch(1, false, NODE(TOP, 0), 0);
	launch(2, true, NODE(TOP, 1), NODE(TOP, 0));
	launch(3, false, NODE(TOP, 2), NODE(TOP, 1));
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, 4, "cudaLaunchKernel", &data);
	play_edge(TOP, NODE(TOP, 2), NODE(TOP, 3));
	model_resource(CUPTI_GRAPHNODE_CREATED, &data);
	model_leave(&call, 0);
	play_exec(EXEC, TOP);
	session_stop();
}

static void a_captured_launch_keeps_its_attribute(void **state)
{
	static const enum record_edge_type types[] = {RECORD_EDGE_PROGRAMMATIC, RECORD_EDGE_PLAIN,
						      RECORD_EDGE_PLAIN};
	struct trace *trace = play_scene(*state, captured);

	assert_edges(trace, types, 3);
}

/*
 * Edges that are added by calls of their own. The last pair includes a copy, for which CUDA has no
 * programmatic edge.
 */
static void added_later(void)
{
	cuda_node from[] = {(void *)NODE(TOP, 0), (void *)NODE(TOP, 0), (void *)NODE(TOP, 2)};
	cuda_node to[] = {(void *)NODE(TOP, 1), (void *)NODE(TOP, 2), (void *)NODE(TOP, 3)};
	const struct cuda_edge_data data[] = {{0}, programmatic, programmatic};
	const struct cupti_add_dependencies_params params = {
		.graph = (void *)TOP, .from = from, .to = to, .data = data, .count = 3};
	struct model_open call;

	play_start();
	play_graph(TOP);
	for (uint32_t i = 0; i < 3; i++)
		play_add_kernel(TOP, NODE(TOP, i), 0);
	play_add_copy(TOP, NODE(TOP, 3), 0);
	model_enter(&call, CUPTI_DOMAIN_DRIVER, CUPTI_cuGraphAddDependencies_v2, 10,
		    "cuGraphAddDependencies_v2", &params);
	for (uint32_t i = 0; i < 3; i++)
		play_edge(TOP, (uint64_t)(uintptr_t)from[i], (uint64_t)(uintptr_t)to[i]);
	model_leave(&call, 0);
	play_exec(EXEC, TOP);
	session_stop();
}

static void each_edge_of_a_call_has_its_own_type(void **state)
{
	static const enum record_edge_type types[] = {RECORD_EDGE_PLAIN, RECORD_EDGE_PROGRAMMATIC,
						      RECORD_EDGE_PLAIN};
	struct trace *trace = play_scene(*state, added_later);

	assert_edges(trace, types, 3);
}

/* CUPTI reports the edges of a child graph's clone without any types. */
static void cloned(void)
{
	const struct cuda_node_params kernel = {.type = CUDA_NODE_KERNEL};

	enum { CHILD = 2, CLONE = 3 };

	play_start();
	play_graph(CHILD);
	play_add_kernel(CHILD, NODE(CHILD, 0), 0);
	play_add_node(CHILD, NODE(CHILD, 1), &kernel, NODE(CHILD, 0), programmatic);
	play_add_kernel(CHILD, NODE(CHILD, 2), NODE(CHILD, 1));
	play_graph(TOP);
	play_clone_child(TOP, NODE(TOP, 0), CHILD, CLONE, NODE(CLONE, 0), 3, 0);
	play_edge(CLONE, NODE(CLONE, 0), NODE(CLONE, 1));
	play_edge(CLONE, NODE(CLONE, 1), NODE(CLONE, 2));
	play_exec(EXEC, TOP);
	session_stop();
}

static void a_clones_edges_are_of_its_originals_types(void **state)
{
	static const enum record_edge_type types[] = {RECORD_EDGE_PROGRAMMATIC, RECORD_EDGE_PLAIN};
	struct trace *trace = play_scene(*state, cloned);

	assert_edges(trace, types, 2);
}

static void eager(void)
{
	play_start();
	launch(1, false, 0, 0);
	launch(2, true, 0, 0);
	launch(3, true, 0, 0);
	put_row(1, 3, false);
	session_stop();
}

static void a_launch_beside_graphs_explains_itself(void **state)
{
	struct trace *trace = play_scene(*state, eager);

	assert_int_equal(trace->activities_count, 3);
	assert_false(trace->activities[0].is_programmatic);
	assert_true(trace->activities[1].is_programmatic);
	assert_true(trace->activities[2].is_programmatic);
	assert_explained(trace, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(a_gap_below_0_explains_itself),
		PLAY_CASE(a_plain_edge_is_still_contradicted),
		PLAY_CASE(a_captured_launch_keeps_its_attribute),
		PLAY_CASE(each_edge_of_a_call_has_its_own_type),
		PLAY_CASE(a_clones_edges_are_of_its_originals_types),
		PLAY_CASE(a_launch_beside_graphs_explains_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
