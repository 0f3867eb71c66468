/* What a follower (src/live) cannot compare with what CUPTI delivered, which is never missing. */
#include "capture/capture_session.h"
#include "nested_scene.h"
#include "played_deliveries.h"

static void switch_off(uint32_t correlation, uint32_t exec, uint64_t node)
{
	const struct cupti_set_enabled_params params = {.graphExec = (void *)(uintptr_t)exec,
							.node = (void *)(uintptr_t)node};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphNodeSetEnabled, correlation,
		    "cudaGraphNodeSetEnabled", &params);
	model_leave(&call, 0);
}

static void play_uncomparable(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	play_exec(EXEC + 1, GRAPH);
	play_exec(EXEC + 2, GRAPH);
	deliveries_replay(1, REPLAYS);
	/* One node is off, and is not missed. */
	switch_off(500, EXEC + 1, 103);
	play_launch(1000, EXEC + 1);
	play_graph_kernel(1000, EXEC + 1, 101, "kernel");
	play_graph_kernel(1000, EXEC + 1, 102, "kernel");
	/* A conditional body's kernels name no call. */
	for (uint32_t i = 0; i < ENDED; i++)
		play_graph_kernel(0, EXEC, 777, "body");
	/* Copies alone: how many a call causes is not known. */
	struct cupti_memcpy copy = play_copy(2000, 4096);
	play_call_with(41, 2000, "cudaMemcpyAsync", 0, 0);
	PLAY_PUT(copy);
	session_stop();
}

static void what_cannot_be_compared_is_told(void **state)
{
	struct deliveries found = deliveries_compare(*state, play_uncomparable);

	assert_int_equal(found.graph_launches, REPLAYS);
	assert_int_equal(found.uncompared_launches, 1);
	assert_int_equal(found.uncompared_activities, 2 + ENDED + 1);
	deliveries_assert_kernels(&found, REPLAYS * NODES, REPLAYS * NODES);
	assert_int_equal(found.absent, 0);
}

/* A graph that was made before the recording. Its conditional body runs in some launches. */
static void play_unseen_bodies(void)
{
	play_start();
	play_device(DEVICE, "NVIDIA H100");
	for (uint32_t i = 1; i <= REPLAYS; i++) {
		play_launch(i, EXEC);
		play_graph_kernel(i, EXEC, 101, "kernel");
		if (i % 2)
			play_graph_kernel(0, EXEC, 777, "body");
	}
	play_device_wait(2000);
	session_stop();
}

static void bodies_of_unseen_graphs_need_not_run(void **state)
{
	struct deliveries found = deliveries_compare(*state, play_unseen_bodies);

	assert_int_equal(found.graph_launches, REPLAYS);
	deliveries_assert_kernels(&found, REPLAYS, REPLAYS);
	assert_int_equal(found.absent, 0);
	assert_int_equal(found.uncompared_activities, REPLAYS / 2);
}

/* Some activities name no call, and one names no graph either. */
static void play_unnamed(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	deliveries_replay(1, ENDED);
	play_launch(100, EXEC);
	play_graph_kernel(100, EXEC, 101, "kernel");
	play_graph_kernel(0, EXEC, 102, "kernel");
	play_graph_kernel(0, 0, 103, "kernel");
	deliveries_alone(1000, ALONE);
	struct cupti_kernel kernel = play_kernel(0, "alone");
	play_call(2000);
	PLAY_PUT(kernel);
	model_lose(1);
	deliveries_alone(3000, 1);
	play_device_wait(4000);
	session_stop();
}

static void what_came_without_its_call_is_not_missing(void **state)
{
	struct deliveries found = deliveries_compare(*state, play_unnamed);

	deliveries_assert_kernels(&found, (ENDED + 1) * NODES + ALONE + 2,
				  (ENDED + 1) * NODES + ALONE - 2);
	assert_int_equal(found.absent, 4);
	assert_int_equal(found.unended, 3);
	assert_int_equal(found.uncompared_activities, 3);
}

/* A kernel, a body that runs in some launches, and a kernel. */
static void play_bodies_of_launches(void)
{
	const uint32_t body = BODY;

	play_start();
	play_device(DEVICE, "NVIDIA H100");
	play_graph(TOP);
	play_add_kernel(TOP, NODE(TOP, 0), 0);
	play_add_conditional(TOP, NODE(TOP, 1), &body, 1, NODE(TOP, 0));
	play_add_kernel(TOP, NODE(TOP, 2), NODE(TOP, 1));
	play_add_kernel(BODY, NODE(BODY, 0), 0);
	nested_instantiate(3);
	for (uint32_t i = 1; i <= REPLAYS; i++) {
		play_launch(i, EXEC);
		nested_put_kernel(i, NODE(EXEC, 0), "first");
		if (i % 2)
			nested_put_kernel(i, NODE(EXEC, 3), "body");
		nested_put_kernel(i, NODE(EXEC, 2), "last");
	}
	nested_await();
	play_device_wait(1000);
	session_stop();
}

/* As a CUPTI that gives activities of bodies the correlation id of the launch. */
static void bodies_that_name_their_launch_need_not_run(void **state)
{
	struct deliveries found = deliveries_compare(*state, play_bodies_of_launches);

	assert_int_equal(found.graph_launches, REPLAYS);
	deliveries_assert_kernels(&found, 2 * REPLAYS, 2 * REPLAYS);
	assert_int_equal(found.absent, 0);
	assert_int_equal(found.uncompared_activities, REPLAYS / 2);
}

/* Before CUDA 12.3 CUPTI has no function for the ids of executable graphs. */
static void play_other_ids(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	for (uint32_t i = 1; i <= REPLAYS; i++) {
		play_launch(i, EXEC);
		play_replay(i, EXEC_GRAPH, 101, "kernel");
	}
	play_device_wait(1000);
	session_stop();
}

static void launches_whose_activities_name_another_graph_are_told(void **state)
{
	struct deliveries found = deliveries_compare(*state, play_other_ids);

	assert_int_equal(found.graph_launches, 0);
	assert_int_equal(found.uncompared_launches, REPLAYS);
	assert_int_equal(found.uncompared_activities, REPLAYS * NODES);
	assert_int_equal(found.absent, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(what_cannot_be_compared_is_told),
		PLAY_CASE(bodies_of_unseen_graphs_need_not_run),
		PLAY_CASE(what_came_without_its_call_is_not_missing),
		PLAY_CASE(bodies_that_name_their_launch_need_not_run),
		PLAY_CASE(launches_whose_activities_name_another_graph_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
