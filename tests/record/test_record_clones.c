/* Which graph a node holds, from steps of several threads in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "record/cuda_clones.h"

enum { AROUND = 1, CLONE = 2, INNER = 3, OTHER = 100 };

static uint32_t take(struct cuda_clones *clones, enum record_cuda_graph_step step, uint64_t cid,
		     uint32_t graph)
{
	struct record_cuda_graph record = {.header.tag = step, .cid = cid, .graph = graph};

	return cuda_clones_take(clones, &record);
}

static void clone_nodes(struct cuda_clones *clones, uint64_t cid, uint32_t graph, int count)
{
	for (int i = 0; i < count; i++) {
		assert_int_equal(take(clones, RECORD_CUDA_NODE_CREATED, cid, graph), 0);
		assert_int_equal(take(clones, RECORD_CUDA_NODE_CLONED, cid, graph), 0);
	}
}

static void a_node_holds_what_its_call_has_cloned(void **state)
{
	struct cuda_clones clones = {0};

	take(&clones, RECORD_CUDA_GRAPH_CREATED, 7, CLONE);
	clone_nodes(&clones, 7, CLONE, 2);
	take(&clones, RECORD_CUDA_GRAPH_CREATED, 7, INNER);
	clone_nodes(&clones, 7, INNER, 2);
	assert_int_equal(take(&clones, RECORD_CUDA_NODE_CREATED, 7, CLONE), INNER);
	assert_int_equal(take(&clones, RECORD_CUDA_NODE_CLONED, 7, CLONE), 0);
	clone_nodes(&clones, 7, CLONE, 1);
	assert_int_equal(take(&clones, RECORD_CUDA_NODE_CREATED, 7, AROUND), CLONE);
	assert_int_equal(cuda_clones_find(&clones, 7, 0), 0);
}

static void other_calls_take_nothing_away(void **state)
{
	struct cuda_clones clones = {0};

	take(&clones, RECORD_CUDA_GRAPH_CREATED, 7, CLONE);
	for (uint32_t i = 0; i < 100; i++) {
		clone_nodes(&clones, 7, CLONE, 1);
		/* Another thread makes a graph and adds a node, by calls of their own. */
		take(&clones, RECORD_CUDA_GRAPH_CREATED, 1000 + 2 * i, OTHER + i);
		assert_int_equal(take(&clones, RECORD_CUDA_NODE_CREATED, 1001 + 2 * i, OTHER + i),
				 0);
	}
	assert_int_equal(cuda_clones_find(&clones, 7, 0), CLONE);
	assert_int_equal(take(&clones, RECORD_CUDA_NODE_CREATED, 7, AROUND), CLONE);
}

static void the_drivers_own_graphs_are_held_by_none(void **state)
{
	struct cuda_clones clones = {0};

	take(&clones, RECORD_CUDA_GRAPH_CREATED, 7, CLONE);
	clone_nodes(&clones, 7, CLONE, 1);
	take(&clones, RECORD_CUDA_GRAPH_CREATED, 7, OTHER);
	take(&clones, RECORD_CUDA_GRAPH_CREATED, 7, OTHER + 1);
	assert_int_equal(take(&clones, RECORD_CUDA_NODE_CREATED, 7, OTHER), 0);
	assert_int_equal(take(&clones, RECORD_CUDA_NODE_CREATED, 7, CLONE), 0);
	assert_int_equal(cuda_clones_find(&clones, 7, 0), CLONE);
	assert_int_equal(cuda_clones_find(&clones, 7, 1), 0);
}

static void steps_of_no_call_tell_nothing(void **state)
{
	struct cuda_clones clones = {0};

	take(&clones, RECORD_CUDA_GRAPH_CREATED, 0, CLONE);
	clone_nodes(&clones, 0, CLONE, 1);
	assert_int_equal(take(&clones, RECORD_CUDA_NODE_CREATED, 0, AROUND), 0);
}

static void too_many_graphs_within_each_other_are_forgotten(void **state)
{
	struct cuda_clones clones = {0};

	for (uint32_t i = 0; i < 3 * CUDA_CLONES_DEPTH; i++) {
		take(&clones, RECORD_CUDA_GRAPH_CREATED, 7, 1 + i);
		clone_nodes(&clones, 7, 1 + i, 1);
	}
	for (uint32_t i = 3 * CUDA_CLONES_DEPTH; i > 2 * CUDA_CLONES_DEPTH + 1; i--)
		assert_int_equal(take(&clones, RECORD_CUDA_NODE_CREATED, 7, i - 1), i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_holds_what_its_call_has_cloned),
		cmocka_unit_test(other_calls_take_nothing_away),
		cmocka_unit_test(the_drivers_own_graphs_are_held_by_none),
		cmocka_unit_test(steps_of_no_call_tell_nothing),
		cmocka_unit_test(too_many_graphs_within_each_other_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
