/* What a follower (src/live) says of what was launched and what CUPTI delivered: what it loses
 * without counting it, and what cannot be compared. */
#include "cuda_scene.h"

#include <pthread.h>

#include "capture/capture_session.h"
#include "capture/cuda/cuda_calls.h"
#include "live/live.h"
#include "spool_fixture.h"

enum { REPLAYS = 100, ALONE = 50, NODES = 3, LOST = 7, ENDED = 4, GRAPHS = 3000 };

/* Follows the finished recording of SCENE. */
static struct deliveries compare(struct fixture *fixture, void (*scene)(void))
{
	const struct live_options options = {.most_graph_bytes = 1u << 20,
					     .compares_launches = true};
	struct deliveries found;
	char path[TEST_PATH_BYTES];
	struct trace *window;
	struct live *live;
	int more;

	assert_int_equal(in_child(fixture->folder, scene), 0);
	assert_int_equal(fixture_files(fixture, path, sizeof(path)), 1);
	assert_int_equal(live_open(path, &options, &live, NULL), 0);
	do {
		more = live_poll(live, &window);
		assert_true(more >= 0);
		trace_close(window);
	} while (more > 0);
	do {
		more = live_finish(live, &window);
		assert_true(more >= 0);
		trace_close(window);
	} while (more > 0);
	live_compare(live, true, &found);
	live_close(live);
	assert_true(found.is_known);
	return found;
}

static void assert_kernels(const struct deliveries *found, uint64_t launched, uint64_t delivered)
{
	assert_int_equal(found->launched[DELIVERY_KERNELS], launched);
	assert_int_equal(found->delivered[DELIVERY_KERNELS], delivered);
}

static void put_alone(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct cupti_kernel kernel = play_kernel(first + i, "alone");

		play_call(first + i);
		PLAY_PUT(kernel);
	}
}

static void replay(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		play_launch(first + i, EXEC);
		play_replay(first + i, EXEC, 101, "kernel");
	}
}

/* ---- losses ---- */

static void lose_silently(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	replay(1, REPLAYS / 2);
	model_lose(LOST);
	replay(1 + REPLAYS / 2, REPLAYS / 2);
	put_alone(1000, ALONE / 2);
	model_lose(LOST);
	put_alone(2000, ALONE / 2);
	play_device_wait(3000);
	session_stop();
}

static void what_is_lost_silently_is_missing(void **state)
{
	struct deliveries found = compare(*state, lose_silently);

	assert_int_equal(found.graph_launches, REPLAYS);
	assert_int_equal(found.kernel_launches, ALONE);
	assert_kernels(&found, REPLAYS * NODES + ALONE, REPLAYS * NODES + ALONE - 2 * LOST);
	assert_int_equal(found.absent, 2 * LOST);
	assert_int_equal(found.unended, 0);
	assert_int_equal(found.uncompared_launches, 0);
	assert_int_equal(found.uncompared_activities, 0);
}

static void lose_the_last_ones(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	replay(1, REPLAYS - 1);
	put_alone(1000, ALONE - 1);
	model_lose(NODES + 1);
	replay(REPLAYS, 1);
	put_alone(2000, 1);
	session_stop();
}

/* Nothing shows that the last launches have ended. */
static void what_need_not_have_ended_is_told_apart(void **state)
{
	struct deliveries found = compare(*state, lose_the_last_ones);

	assert_kernels(&found, REPLAYS * NODES + ALONE, REPLAYS * NODES + ALONE - NODES - 1);
	assert_int_equal(found.absent, NODES + 1);
	assert_int_equal(found.unended, NODES + 1);
}

static void lose_all_from_a_moment_on(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	replay(1, ENDED);
	model_lose(SIZE_MAX / 2);
	replay(1 + ENDED, REPLAYS - ENDED - 1);
	play_device_wait(1000);
	replay(2000, 1);
	session_stop();
}

/* As a CUPTI that does not recover: the host's wait shows that all launches but one have ended. */
static void a_wait_of_the_host_shows_that_launches_have_ended(void **state)
{
	struct deliveries found = compare(*state, lose_all_from_a_moment_on);

	assert_kernels(&found, REPLAYS * NODES, ENDED * NODES);
	assert_int_equal(found.absent, (REPLAYS - ENDED) * NODES);
	assert_int_equal(found.unended, NODES);
}

static void wait_for_one_of_two_streams(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	model_make_stream(OTHER_STREAM);
	replay(1, ENDED);
	model_lose(2 * NODES);
	replay(1 + ENDED, 1);
	play_call_with(CUPTI_cudaStreamSynchronize, 1000, "cudaStreamSynchronize", 0, 0);
	replay(2000, 1);
	play_call_with(CUPTI_cudaStreamSynchronize, 3000, "cudaStreamSynchronize", OTHER_STREAM, 0);
	session_stop();
}

/* The second wait is for a stream in which nothing was launched. */
static void a_wait_shows_nothing_of_other_streams(void **state)
{
	struct deliveries found = compare(*state, wait_for_one_of_two_streams);

	assert_kernels(&found, (ENDED + 2) * NODES, ENDED * NODES);
	assert_int_equal(found.absent, 2 * NODES);
	assert_int_equal(found.unended, NODES);
}

/* ---- nothing is lost ---- */

static void switch_off(uint32_t correlation, uint32_t exec, uint64_t node)
{
	const struct cupti_set_enabled_params params = {.graphExec = (void *)(uintptr_t)exec,
							.node = (void *)(uintptr_t)node};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphNodeSetEnabled, correlation,
		    "cudaGraphNodeSetEnabled", &params);
	model_leave(&call, 0);
}

static void play_odd_launches(void)
{
	struct cupti_graph_data updated = {.node = (void *)12, .graphExec = (void *)EXEC};
	struct model_open call;

	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	/* An update changes no count. */
	model_resource(CUPTI_GRAPH_NODE_UPDATED, &updated);
	replay(1, REPLAYS);
	/* These cause nothing: a failed launch, a captured one, and a launch alone that fails. */
	play_launch_with(1000, EXEC, 1);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, 1001, "cudaLaunchKernel", NULL);
	play_node(GRAPH, 14, CUDA_NODE_EMPTY);
	model_leave(&call, 0);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, 1002, "cudaLaunchKernel", NULL);
	model_leave(&call, 1);
	/* The driver's call inside the runtime's is not another launch. */
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, 1003, "cudaLaunchKernel", NULL);
	model_call(CUPTI_DOMAIN_DRIVER, DRIVER_LAUNCH, 1003, "cuLaunchKernel");
	model_leave(&call, 0);
	struct cupti_kernel kernel = play_kernel(1003, "alone");
	PLAY_PUT(kernel);
	session_stop();
}

static void launches_that_cause_nothing_are_not_missed(void **state)
{
	struct deliveries found = compare(*state, play_odd_launches);

	assert_int_equal(found.graph_launches, REPLAYS);
	assert_int_equal(found.kernel_launches, 1);
	assert_kernels(&found, REPLAYS * NODES + 1, REPLAYS * NODES + 1);
	assert_int_equal(found.absent, 0);
}

static void capture_a_launch(void)
{
	const struct cupti_graph_launch_params params = {.graphExec = (void *)EXEC};
	struct model_open call;

	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	replay(1, REPLAYS / 2);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphLaunch, 1000, "cudaGraphLaunch",
		    &params);
	play_node(GRAPH, 14, CUDA_NODE_GRAPH);
	model_leave(&call, 0);
	replay(2000, REPLAYS / 2);
	model_lose(1);
	replay(3000, 1);
	play_device_wait(4000);
	session_stop();
}

/* Which launch was captured is not known. */
static void a_captured_launch_of_a_graph_is_not_missing(void **state)
{
	struct deliveries found = compare(*state, capture_a_launch);

	assert_int_equal(found.graph_launches, REPLAYS + 2);
	assert_int_equal(found.absent, NODES + 1);
	assert_int_equal(found.unended, NODES);
}

static void put_copy(uint32_t correlation, uint64_t node)
{
	struct cupti_memcpy copy = play_copy(correlation, 4096);

	copy.graphId = EXEC;
	copy.graphNodeId = node;
	PLAY_PUT(copy);
}

static void split_copies(void)
{
	play_start();
	play_device(DEVICE, "NVIDIA H100");
	play_graph(GRAPH);
	play_add_copy(GRAPH, 11, 0);
	play_exec(EXEC, GRAPH);
	for (uint32_t i = 1; i <= REPLAYS; i++) {
		play_launch(i, EXEC);
		put_copy(i, 11);
		put_copy(i, 11);
	}
	model_lose(2);
	play_launch(1000, EXEC);
	put_copy(1000, 11);
	put_copy(1000, 11);
	play_device_wait(2000);
	session_stop();
}

static void the_pieces_of_a_copy_count_once(void **state)
{
	struct deliveries found = compare(*state, split_copies);

	assert_int_equal(found.launched[DELIVERY_COPIES], REPLAYS + 1);
	assert_int_equal(found.delivered[DELIVERY_COPIES], REPLAYS);
	assert_int_equal(found.absent, 1);
	assert_int_equal(found.unended, 0);
}

static void *put_on_a_thread(void *first)
{
	put_alone((uint32_t)(uintptr_t)first, ALONE);
	replay((uint32_t)(uintptr_t)first + ALONE, REPLAYS);
	return NULL;
}

static void several_threads(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	for (uintptr_t i = 1; i <= 4; i++) {
		pthread_t thread;

		model_lose(i);
		expect(!pthread_create(&thread, NULL, put_on_a_thread, (void *)(i * 1000)));
		expect(!pthread_join(thread, NULL));
	}
	play_device_wait(9000);
	/* Also those that fail. */
	play_launch_with(9001, EXEC, 1);
	expect(cuda_calls_count().replayed == 4 * REPLAYS + 1);
	session_stop();
}

static void all_threads_count(void **state)
{
	struct deliveries found = compare(*state, several_threads);

	assert_int_equal(found.graph_launches, 4 * REPLAYS);
	assert_int_equal(found.kernel_launches, 4 * ALONE);
	assert_kernels(&found, 4 * (REPLAYS * NODES + ALONE), 4 * (REPLAYS * NODES + ALONE) - 10);
	assert_int_equal(found.absent, 10);
	assert_int_equal(found.unended, 0);
}

static void tear_a_buffer(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	replay(1, ENDED);
	model_deliver(100);
	replay(1 + ENDED, ENDED);
	play_device_wait(1000);
	session_stop();
}

/* CUPTI delivered what the tool could not read. */
static void what_a_torn_buffer_had_is_not_missing(void **state)
{
	struct deliveries found = compare(*state, tear_a_buffer);

	assert_int_equal(found.graph_launches, 2 * ENDED);
	assert_int_equal(found.absent, 1);
	assert_int_equal(found.unended, 1);
}

/* ---- what cannot be compared ---- */

static void play_uncomparable(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	play_exec(EXEC + 1, GRAPH);
	play_exec(EXEC + 2, GRAPH);
	replay(1, REPLAYS);
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
	struct deliveries found = compare(*state, play_uncomparable);

	assert_int_equal(found.graph_launches, REPLAYS);
	assert_int_equal(found.uncompared_launches, 1);
	assert_int_equal(found.uncompared_activities, 2 + ENDED + 1);
	assert_kernels(&found, REPLAYS * NODES, REPLAYS * NODES);
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
	struct deliveries found = compare(*state, play_unseen_bodies);

	assert_int_equal(found.graph_launches, REPLAYS);
	assert_kernels(&found, REPLAYS, REPLAYS);
	assert_int_equal(found.absent, 0);
	assert_int_equal(found.uncompared_activities, REPLAYS / 2);
}

/* Some activities name no call, and one names no graph either. */
static void play_unnamed(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	replay(1, ENDED);
	play_launch(100, EXEC);
	play_graph_kernel(100, EXEC, 101, "kernel");
	play_graph_kernel(0, EXEC, 102, "kernel");
	play_graph_kernel(0, 0, 103, "kernel");
	put_alone(1000, ALONE);
	struct cupti_kernel kernel = play_kernel(0, "alone");
	play_call(2000);
	PLAY_PUT(kernel);
	model_lose(1);
	put_alone(3000, 1);
	play_device_wait(4000);
	session_stop();
}

static void what_came_without_its_call_is_not_missing(void **state)
{
	struct deliveries found = compare(*state, play_unnamed);

	assert_kernels(&found, (ENDED + 1) * NODES + ALONE + 2, (ENDED + 1) * NODES + ALONE - 2);
	assert_int_equal(found.absent, 4);
	assert_int_equal(found.unended, 3);
	assert_int_equal(found.uncompared_activities, 3);
}

/* Makes, launches and destroys execs, of which every tenth loses a kernel. */
static void play_many_graphs(void)
{
	uint32_t correlation = 0;

	play_start();
	play_device(DEVICE, "NVIDIA H100");
	for (uint32_t i = 0; i < GRAPHS; i++) {
		uint32_t graph = 1000 + 2 * i, exec = 1000000 + i;
		struct cupti_graph_data gone = {.graphExec = (void *)(uintptr_t)exec};

		play_graph(graph);
		play_add_kernel(graph, (uint64_t)graph << 32 | 1, 0);
		play_exec(exec, graph);
		for (int k = 0; k < 3; k++) {
			if (k == 0 && i % 10 == 0)
				model_lose(1);
			play_launch(++correlation, exec);
			play_graph_kernel(correlation, exec, (uint64_t)graph << 32 | 1, "kernel");
		}
		model_resource(CUPTI_GRAPHEXEC_DESTROY_STARTING, &gone);
	}
	session_stop();
}

static void graphs_that_are_gone_stay_in_the_sums(void **state)
{
	struct deliveries found = compare(*state, play_many_graphs);

	assert_int_equal(found.graph_launches, GRAPHS * 3);
	assert_kernels(&found, GRAPHS * 3, GRAPHS * 3 - GRAPHS / 10);
	assert_int_equal(found.absent, GRAPHS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(what_is_lost_silently_is_missing),
		PLAY_CASE(what_need_not_have_ended_is_told_apart),
		PLAY_CASE(a_wait_of_the_host_shows_that_launches_have_ended),
		PLAY_CASE(a_wait_shows_nothing_of_other_streams),
		PLAY_CASE(launches_that_cause_nothing_are_not_missed),
		PLAY_CASE(a_captured_launch_of_a_graph_is_not_missing),
		PLAY_CASE(the_pieces_of_a_copy_count_once),
		PLAY_CASE(all_threads_count),
		PLAY_CASE(what_a_torn_buffer_had_is_not_missing),
		PLAY_CASE(what_cannot_be_compared_is_told),
		PLAY_CASE(bodies_of_unseen_graphs_need_not_run),
		PLAY_CASE(what_came_without_its_call_is_not_missing),
		PLAY_CASE(graphs_that_are_gone_stay_in_the_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
