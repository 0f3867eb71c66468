/* What a follower (src/live) says of what was launched and what CUPTI delivered: what it loses
 * without counting it. */
#include <pthread.h>
#include <stdlib.h>

#include "capture/capture_session.h"
#include "capture/cuda/cuda_calls.h"
#include "played_deliveries.h"

enum { LOST = 7, GRAPHS = 3000 };

/* ---- losses ---- */

static void lose_silently(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	deliveries_replay(1, REPLAYS / 2);
	model_lose(LOST);
	deliveries_replay(1 + REPLAYS / 2, REPLAYS / 2);
	deliveries_alone(1000, ALONE / 2);
	model_lose(LOST);
	deliveries_alone(2000, ALONE / 2);
	play_device_wait(3000);
	session_stop();
}

static void what_is_lost_silently_is_missing(void **state)
{
	struct deliveries found = deliveries_compare(*state, lose_silently);

	assert_int_equal(found.graph_launches, REPLAYS);
	assert_int_equal(found.kernel_launches, ALONE);
	deliveries_assert_kernels(&found, REPLAYS * NODES + ALONE,
				  REPLAYS * NODES + ALONE - 2 * LOST);
	assert_int_equal(found.absent, 2 * LOST);
	assert_int_equal(found.unended, 0);
	assert_int_equal(found.uncompared_launches, 0);
	assert_int_equal(found.uncompared_activities, 0);
}

static void lose_the_last_ones(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	deliveries_replay(1, REPLAYS - 1);
	deliveries_alone(1000, ALONE - 1);
	model_lose(NODES + 1);
	deliveries_replay(REPLAYS, 1);
	deliveries_alone(2000, 1);
	session_stop();
}

/* Nothing shows that the last launches have ended. */
static void what_need_not_have_ended_is_told_apart(void **state)
{
	struct deliveries found = deliveries_compare(*state, lose_the_last_ones);

	deliveries_assert_kernels(&found, REPLAYS * NODES + ALONE,
				  REPLAYS * NODES + ALONE - NODES - 1);
	assert_int_equal(found.absent, NODES + 1);
	assert_int_equal(found.unended, NODES + 1);
}

static void lose_all_from_a_moment_on(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	deliveries_replay(1, ENDED);
	model_lose(SIZE_MAX / 2);
	deliveries_replay(1 + ENDED, REPLAYS - ENDED - 1);
	play_device_wait(1000);
	deliveries_replay(2000, 1);
	session_stop();
}

/* As a CUPTI that does not recover: the host's wait shows that all launches but one have ended. */
static void a_wait_of_the_host_shows_that_launches_have_ended(void **state)
{
	struct deliveries found = deliveries_compare(*state, lose_all_from_a_moment_on);

	deliveries_assert_kernels(&found, REPLAYS * NODES, ENDED * NODES);
	assert_int_equal(found.absent, (REPLAYS - ENDED) * NODES);
	assert_int_equal(found.unended, NODES);
}

static void wait_for_one_of_two_streams(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	model_make_stream(OTHER_STREAM);
	deliveries_replay(1, ENDED);
	model_lose(2 * NODES);
	deliveries_replay(1 + ENDED, 1);
	play_call_with(CUPTI_cudaStreamSynchronize, 1000, "cudaStreamSynchronize", 0, 0);
	deliveries_replay(2000, 1);
	play_call_with(CUPTI_cudaStreamSynchronize, 3000, "cudaStreamSynchronize", OTHER_STREAM, 0);
	session_stop();
}

/* The second wait is for a stream in which nothing was launched. */
static void a_wait_shows_nothing_of_other_streams(void **state)
{
	struct deliveries found = deliveries_compare(*state, wait_for_one_of_two_streams);

	deliveries_assert_kernels(&found, (ENDED + 2) * NODES, ENDED * NODES);
	assert_int_equal(found.absent, 2 * NODES);
	assert_int_equal(found.unended, NODES);
}

/* ---- nothing is lost ---- */

static void play_odd_launches(void)
{
	struct cupti_graph_data updated = {.node = (void *)12, .graphExec = (void *)EXEC};
	struct model_open call;

	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	/* An update changes no count. */
	model_resource(CUPTI_GRAPH_NODE_UPDATED, &updated);
	deliveries_replay(1, REPLAYS);
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
	struct deliveries found = deliveries_compare(*state, play_odd_launches);

	assert_int_equal(found.graph_launches, REPLAYS);
	assert_int_equal(found.kernel_launches, 1);
	deliveries_assert_kernels(&found, REPLAYS * NODES + 1, REPLAYS * NODES + 1);
	assert_int_equal(found.absent, 0);
}

static void capture_a_launch(void)
{
	const struct cupti_graph_launch_params params = {.graphExec = (void *)EXEC};
	struct model_open call;

	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	deliveries_replay(1, REPLAYS / 2);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphLaunch, 1000, "cudaGraphLaunch",
		    &params);
	play_node(GRAPH, 14, CUDA_NODE_GRAPH);
	model_leave(&call, 0);
	deliveries_replay(2000, REPLAYS / 2);
	model_lose(1);
	deliveries_replay(3000, 1);
	play_device_wait(4000);
	session_stop();
}

/* Which launch was captured is not known. */
static void a_captured_launch_of_a_graph_is_not_missing(void **state)
{
	struct deliveries found = deliveries_compare(*state, capture_a_launch);

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
	struct deliveries found = deliveries_compare(*state, split_copies);

	assert_int_equal(found.launched[DELIVERY_COPIES], REPLAYS + 1);
	assert_int_equal(found.delivered[DELIVERY_COPIES], REPLAYS);
	assert_int_equal(found.absent, 1);
	assert_int_equal(found.unended, 0);
}

static void *put_on_a_thread(void *first)
{
	deliveries_alone((uint32_t)(uintptr_t)first, ALONE);
	deliveries_replay((uint32_t)(uintptr_t)first + ALONE, REPLAYS);
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
	struct deliveries found = deliveries_compare(*state, several_threads);

	assert_int_equal(found.graph_launches, 4 * REPLAYS);
	assert_int_equal(found.kernel_launches, 4 * ALONE);
	deliveries_assert_kernels(&found, 4 * (REPLAYS * NODES + ALONE),
				  4 * (REPLAYS * NODES + ALONE) - 10);
	assert_int_equal(found.absent, 10);
	assert_int_equal(found.unended, 0);
}

static void *enter_a_launch(void *unused)
{
	const struct cupti_graph_launch_params params = {.graphExec = (void *)EXEC};
	struct model_open call;

	(void)unused;
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphLaunch, 500, "cudaGraphLaunch",
		    &params);
	return NULL;
}

static void stop_inside_a_launch(void)
{
	pthread_t thread;

	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	deliveries_replay(1, ENDED);
	expect(!pthread_create(&thread, NULL, enter_a_launch, NULL));
	expect(!pthread_join(thread, NULL));
	deliveries_replay(1000, 1);
	play_device_wait(2000);
	session_stop();
}

static void a_launch_under_way_is_not_missing(void **state)
{
	struct deliveries found = deliveries_compare(*state, stop_inside_a_launch);

	assert_int_equal(found.graph_launches, ENDED + 2);
	assert_int_equal(found.absent, NODES);
	assert_int_equal(found.unended, NODES);
	assert_int_equal(found.uncompared_launches, 0);
}

static void tear_a_buffer(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	deliveries_replay(1, ENDED);
	model_deliver(100);
	deliveries_replay(1 + ENDED, ENDED);
	play_device_wait(1000);
	session_stop();
}

/* CUPTI delivered what the tool could not read. */
static void what_a_torn_buffer_had_is_not_missing(void **state)
{
	struct deliveries found = deliveries_compare(*state, tear_a_buffer);

	assert_int_equal(found.graph_launches, 2 * ENDED);
	assert_int_equal(found.absent, 1);
	assert_int_equal(found.unended, 1);
}

/* ---- deliveries that need not reach the tool ---- */

static void lose_the_last_buffer(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	deliveries_replay(1, ENDED);
	model_deliver(0);
	deliveries_replay(1 + ENDED, ENDED);
	deliveries_alone(1000, ALONE);
	play_device_wait(2000);
	model_fail(MODEL_FLUSH_ALL, 0, 999);
}

static void lose_the_last_buffer_at_a_stop(void)
{
	lose_the_last_buffer();
	session_stop();
}

static void assert_half_is_pending(struct deliveries found)
{
	deliveries_assert_kernels(&found, 2 * ENDED * NODES + ALONE, ENDED * NODES);
	assert_int_equal(found.absent, ENDED * NODES + ALONE);
	assert_int_equal(found.unended, ENDED * NODES + ALONE);
}

/* A process may end after CUDA has ended, and then CUPTI need not bring its last buffers. */
static void what_a_failed_flush_left_at_the_end_is_not_missing(void **state)
{
	assert_half_is_pending(deliveries_compare(*state, lose_the_last_buffer));
}

static void what_a_failed_flush_left_at_a_stop_is_not_missing(void **state)
{
	assert_half_is_pending(deliveries_compare(*state, lose_the_last_buffer_at_a_stop));
}

static void stop_while_a_tick_asks(void)
{
	setenv("DAGTAP_TIMERS", "limits=never,part_hook=0,thread_end=0", 1);
	model_hold(MODEL_AT_DROPPED, 0);
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	deliveries_replay(1, ENDED);
	model_deliver(0);
	deliveries_replay(1 + ENDED, ENDED);
	play_device_wait(2000);
	model_await_held(MODEL_AT_DROPPED);
	session_stop();
	model_release(MODEL_AT_DROPPED);
}

/* The capture source could not ask CUPTI for its last buffers. */
static void what_a_source_that_did_not_stop_left_is_not_missing(void **state)
{
	struct deliveries found = deliveries_compare(*state, stop_while_a_tick_asks);

	deliveries_assert_kernels(&found, 2 * ENDED * NODES, ENDED * NODES);
	assert_int_equal(found.absent, ENDED * NODES);
	assert_int_equal(found.unended, ENDED * NODES);
}

static void lose_all(void)
{
	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	model_lose(SIZE_MAX / 2);
	deliveries_replay(1, ENDED);
	deliveries_alone(1000, ALONE);
	play_device_wait(2000);
	session_stop();
}

/* Another user of CUPTI may have replaced the functions that take its buffers. */
static void nothing_is_missing_if_no_activity_came(void **state)
{
	struct deliveries found = deliveries_compare(*state, lose_all);

	deliveries_assert_kernels(&found, ALONE, 0);
	assert_int_equal(found.absent, ALONE);
	assert_int_equal(found.unended, ALONE);
	assert_int_equal(found.uncompared_launches, ENDED);
}

static void trace_whole_graphs(void)
{
	const struct {
		struct cupti_activity activity;
		uint8_t rest[44];
	} whole = {.activity.kind = 51};

	play_start_with_graph();
	play_device(DEVICE, "NVIDIA H100");
	deliveries_replay(1, 1);
	deliveries_alone(1000, ALONE);
	for (uint32_t i = 1; i <= ENDED; i++) {
		play_launch(1 + i, EXEC);
		PLAY_PUT(whole);
	}
	play_device_wait(2000);
	session_stop();
}

/* Another user of CUPTI may have enabled CUPTI_ACTIVITY_KIND_GRAPH_TRACE. */
static void what_comes_as_another_kind_is_not_missing(void **state)
{
	struct deliveries found = deliveries_compare(*state, trace_whole_graphs);

	deliveries_assert_kernels(&found, (1 + ENDED) * NODES + ALONE, NODES + ALONE);
	assert_int_equal(found.absent, ENDED * NODES);
	assert_int_equal(found.unended, ENDED * NODES);
}

/* ---- many graphs ---- */

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
	struct deliveries found = deliveries_compare(*state, play_many_graphs);

	assert_int_equal(found.graph_launches, GRAPHS * 3);
	deliveries_assert_kernels(&found, GRAPHS * 3, GRAPHS * 3 - GRAPHS / 10);
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
		PLAY_CASE(a_launch_under_way_is_not_missing),
		PLAY_CASE(what_a_torn_buffer_had_is_not_missing),
		PLAY_CASE(what_a_failed_flush_left_at_the_end_is_not_missing),
		PLAY_CASE(what_a_failed_flush_left_at_a_stop_is_not_missing),
		PLAY_CASE(what_a_source_that_did_not_stop_left_is_not_missing),
		PLAY_CASE(nothing_is_missing_if_no_activity_came),
		PLAY_CASE(what_comes_as_another_kind_is_not_missing),
		PLAY_CASE(graphs_that_are_gone_stay_in_the_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
