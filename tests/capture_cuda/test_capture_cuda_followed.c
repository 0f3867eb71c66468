/*
 * What a follower (src/live) makes of recordings of CUDA: each activity once, with its kernel, its
 * times and its graph node, as in the whole recording, in any order of the records and at any cuts.
 */
#include "cuda_scene.h"

#include <stdlib.h>

#include "capture/capture_session.h"
#include "capture/scope.h"
#include "follow.h"
#include "spool_fixture.h"

enum { CHILD = 8, CHILD_CLONE = 9, SECOND_EXEC = 21, SECOND_GRAPH = 40, REPLAYS = 300 };

/* A graph of a kernel and a child graph, whose nodes the exec takes in. */
static void make_child_graph(void)
{
	struct model_open call;

	play_graph(CHILD);
	play_node(CHILD, 41, CUDA_NODE_KERNEL);
	play_graph(SECOND_GRAPH);
	play_node(SECOND_GRAPH, 51, CUDA_NODE_KERNEL);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, 300, 1, "cudaGraphAddChildGraphNode", NULL);
	play_graph_clone(CHILD_CLONE, CHILD);
	play_node_clone(CHILD_CLONE, 46, 41, CUDA_NODE_KERNEL);
	play_node(SECOND_GRAPH, 52, CUDA_NODE_GRAPH);
	model_leave(&call, 0);
	play_edge(SECOND_GRAPH, 51, 52);
	play_graph_clone(SECOND_GRAPH + 1, SECOND_GRAPH);
	play_node_clone(SECOND_GRAPH + 1, 201, 51, CUDA_NODE_KERNEL);
	play_node_clone(SECOND_GRAPH + 1, 202, 52, CUDA_NODE_GRAPH);
	play_node_clone(SECOND_GRAPH + 2, 203, 46, CUDA_NODE_KERNEL);
	play_exec(SECOND_EXEC, SECOND_GRAPH);
}

static void put_eager_work(uint32_t correlation)
{
	struct cupti_kernel kernel = play_kernel(correlation, correlation % 3 ? "eager" : "other");
	struct cupti_memcpy copy = play_copy(correlation, 4096 * correlation);
	struct cupti_memset fill = play_fill(correlation, 64);

	play_call(correlation);
	PLAY_PUT(kernel);
	PLAY_PUT(copy);
	PLAY_PUT(fill);
}

static void replays_and_eager_work(void)
{
	uint32_t correlation = 10;

	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H200");
	for (uint32_t i = 0; i < REPLAYS; i++) {
		scope_push(RECORD_SCOPE_DAGTAP, "step");
		put_eager_work(correlation++);
		play_launch(correlation, EXEC);
		play_replay(correlation++, EXEC, 101, "kernel");
		if (i == REPLAYS / 3)
			make_child_graph();
		if (i > REPLAYS / 3) {
			play_launch(correlation, SECOND_EXEC);
			play_graph_kernel(correlation, SECOND_EXEC, 201, "outer");
			play_graph_kernel(correlation++, SECOND_EXEC, 203, "inner");
		}
		scope_pop(RECORD_SCOPE_DAGTAP);
	}
	session_stop();
}

static void what_is_followed_is_the_whole(void **state)
{
	struct fixture *fixture = *state;
	struct trace *trace = play_scene(fixture, replays_and_eager_work);
	char path[TEST_PATH_BYTES];
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++)
		nodes += trace->activities[i].node != TRACE_NONE;
	assert_int_equal(nodes, 3 * REPLAYS + 2 * (REPLAYS - REPLAYS / 3 - 1));
	assert_int_equal(fixture_files(fixture, path, sizeof(path)), 1);
	follow_file(path, 1, 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {PLAY_CASE(what_is_followed_is_the_whole)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
