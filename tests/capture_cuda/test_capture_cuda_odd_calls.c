/*
 * Calls that CUPTI reports in unusual ways: without names, twice, together with HIP's, before or
 * during the start of a recording, and in a forked child.
 */
#include "cuda_scene.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture_session.h"
#include "record/record.h"

static const struct trace_call *call_of(const struct trace *trace,
					const struct trace_activity *activity)
{
	assert_int_not_equal(activity->call, TRACE_NONE);
	return &trace->calls[activity->call];
}

/* ---- calls ---- */

/*
 * A function that this CUPTI has a number for but no name, and one beyond the numbers that we know.
 */
static void nameless(void)
{
	struct cupti_kernel kernel;

	play_start_with_all_calls();
	model_call(CUPTI_DOMAIN_RUNTIME, 1999, 1, NULL);
	model_call(CUPTI_DOMAIN_DRIVER, 99999, 2, "cuFromTheFuture");
	for (uint32_t call = 1; call <= 2; call++) {
		kernel = play_kernel(call, call == 1 ? "first" : "second");
		PLAY_PUT(kernel);
	}
	session_stop();
}

static void a_call_without_a_name_is_cudas(void **state)
{
	struct trace *trace = play_scene(*state, nameless);
	static const char *const kernels[] = {"first", "second"};

	assert_int_equal(trace->calls_count, 2);
	for (int i = 0; i < 2; i++) {
		const struct trace_activity *row = play_find_kernel(trace, kernels[i]);

		assert_int_equal(trace->apis[call_of(trace, row)->api].domain, RECORD_DOMAIN_CUDA);
		assert_int_equal(trace->streams[row->stream].handle, STREAM);
	}
	play_assert_closed(trace);
}

/*
 * One more name is stored while the others' names are read, at whatever time the table of texts
 * grows.
 */
static uint32_t named_count;

static void nameless_among_many(void)
{
	char name[32];

	play_start_with_all_calls();
	model_call(CUPTI_DOMAIN_RUNTIME, 1999, 1, NULL);
	for (uint32_t i = 0; i < named_count; i++) {
		snprintf(name, sizeof(name), "cuda%u", i);
		model_call(CUPTI_DOMAIN_RUNTIME, i, 2 + i, name);
	}
	session_stop();
}

static void a_name_more_disturbs_no_other(void **state)
{
	for (named_count = 1; named_count <= 64; named_count++) {
		struct trace *trace = play_scene(*state, nameless_among_many);
		const struct trace_api *last;

		assert_int_equal(trace->calls_count, named_count + 1);
		last = &trace->apis[trace->calls[named_count].api];
		assert_int_equal(strncmp(trace_text(trace, last->name), "cuda", 4), 0);
	}
}

static void one_number_twice(void)
{
	struct cupti_kernel kernel;

	play_start();
	play_call(1);
	play_call(1);
	kernel = play_kernel(1, "whose");
	PLAY_PUT(kernel);
	session_stop();
}

static void a_number_that_two_calls_have_is_reported(void **state)
{
	struct trace *trace = play_scene(*state, one_number_twice);

	assert_int_equal(trace->calls_count, 1);
	assert_int_equal(play_source(trace, "cuda.call")->unexplained, 1);
}

/*
 * Of five calls one launches a kernel, one fails, one is captured, one is not a launch, and one is
 * a launch that has no activity.
 */
static void untimed(void)
{
	struct cupti_graph_data node = {.graph = (void *)GRAPH, .node = (void *)11};
	struct cupti_kernel kernel = play_kernel(1, "kernel");
	struct model_open call;

	play_start_with_all_calls();
	play_call(1);
	PLAY_PUT(kernel);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, 2, "cudaLaunchKernel", NULL);
	model_leave(&call, 1);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, 3, "cudaLaunchKernel", NULL);
	model_resource(CUPTI_GRAPHNODE_CREATED, &node);
	model_leave(&call, 0);
	model_call(CUPTI_DOMAIN_RUNTIME, 10, 4, "cudaGetLastError");
	model_call(CUPTI_DOMAIN_DRIVER, DRIVER_LAUNCH, 5, "cuLaunchKernelEx");
	session_stop();
}

static void launches_without_their_kernel_are_reported(void **state)
{
	struct trace *trace = play_scene(*state, untimed);

	assert_int_equal(trace->calls_count, 5);
	assert_int_equal(play_source(trace, "cuda.call")->orphan_calls, 1);
	assert_int_equal(play_source(trace, "cuda.call")->joined, 4);
	assert_true(play_line_says(trace, "cuda.call", "of 1 launches CUPTI brought no kernel"));
	play_assert_closed(trace);
}

/* ---- together with HIP ---- */

static void hip_call(void)
{
	struct record_api record = {.cid = session_next_cid(),
				    .begin_ns = session_now_ns(),
				    .end_ns = session_now_ns()};
	struct record_api_name name = {.domain = RECORD_DOMAIN_HIP, .text_bytes = 7};

	writer_put_text(session_writer(), RECORD_API_NAME, 1, &name, sizeof(name), "hipInit", 7);
	writer_put(session_writer(), RECORD_API, 1, &record, sizeof(record));
	session_witness(WITNESS_HIP_CALLS, 1);
}

static void both_vendors(void)
{
	struct cupti_kernel kernel;
	struct cupti_memcpy copy;

	play_start();
	hip_call();
	play_call(1);
	play_call(2);
	kernel = play_kernel(1, "cuda's");
	PLAY_PUT(kernel);
	copy = play_copy(2, 64);
	PLAY_PUT(copy);
	model_drop(3);
	session_stop();
}

static void hip_and_cuda_may_be_in_one_process(void **state)
{
	struct trace *trace = play_scene(*state, both_vendors);
	const struct trace_source *source = play_source(trace, "cuda");

	assert_int_equal(trace->calls_count, 3);
	assert_int_equal(play_source(trace, "hip")->expected, 3);
	assert_int_equal(play_source(trace, "hip")->received, 3);
	assert_string_equal(
		trace_text(
			trace,
			trace->apis[call_of(trace, play_find_kernel(trace, "cuda's"))->api].name),
		"cudaLaunchKernel");
	assert_int_equal(source->drop_count, 1);
	assert_int_equal(trace->drops[source->drop_first].count, 3);
	play_assert_closed(trace);
}

/* ---- calls and kernels ---- */

/* A kernel is delivered while its call is still open. */
static void before_its_call(void)
{
	struct cupti_kernel kernel = play_kernel(1, "early");
	struct model_open open;

	play_start();
	model_enter(&open, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, 1, "cudaLaunchKernel", NULL);
	PLAY_PUT(kernel);
	model_deliver(0);
	model_leave(&open, 0);
	session_stop();
}

static void a_kernel_may_come_before_its_call_returns(void **state)
{
	struct trace *trace = play_scene(*state, before_its_call);

	assert_int_equal(call_of(trace, play_find_kernel(trace, "early"))->cid, 1);
	play_assert_closed(trace);
}

/* ---- work from before the recording ---- */

static struct model_open early;

static void call_while_it_starts(void)
{
	if (session_current_number() > 1)
		model_enter(&early, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, 10, "cudaLaunchKernel",
			    NULL);
}

static const struct capture_source caller = {.name = "caller", .start = call_while_it_starts};

/* A call that has no row; the driver call inside it has none either. */
static void work_of_a_call_from_before(void)
{
	struct model_open inner;
	struct cupti_kernel kernel;

	play_start();
	session_add_source(&caller);
	session_stop();
	expect(session_start_again());
	model_enter(&inner, CUPTI_DOMAIN_DRIVER, DRIVER_LAUNCH, 11, "cuLaunchKernel", NULL);
	kernel = play_kernel(11, "from before");
	PLAY_PUT(kernel);
	model_leave(&inner, 0);
	model_leave(&early, 0);
	play_call(12);
	kernel = play_kernel(12, "of it");
	PLAY_PUT(kernel);
	session_stop();
}

static void a_call_that_came_during_the_start_is_of_before(void **state)
{
	struct trace *trace = play_scene(*state, work_of_a_call_from_before);

	assert_int_equal(play_find_kernel(trace, "from before")->call, TRACE_NONE);
	assert_int_not_equal(play_find_kernel(trace, "of it")->call, TRACE_NONE);
	play_assert_closed(trace);
}

/* What is recorded of a runtime call in the middle of which another thread first used CUDA. */
static void driver_calls_of_one_number(void)
{
	struct cupti_kernel kernel;

	play_start_with_all_calls();
	model_call(CUPTI_DOMAIN_DRIVER, DRIVER_LAUNCH - 1, 11, "cuCtxGetCurrent");
	model_call(CUPTI_DOMAIN_DRIVER, DRIVER_LAUNCH, 11, "cuLaunchKernel");
	kernel = play_kernel(11, "from before");
	PLAY_PUT(kernel);
	play_call(12);
	model_call(CUPTI_DOMAIN_DRIVER, DRIVER_LAUNCH, 13, "cuLaunchKernel");
	session_stop();
}

static void a_call_that_was_under_way_is_one_row(void **state)
{
	struct trace *trace = play_scene(*state, driver_calls_of_one_number);

	assert_int_equal(trace->calls_count, 3);
	assert_int_equal(trace->calls[play_find_kernel(trace, "from before")->call].cid, 11);
	play_assert_closed(trace);
}

/* No record of CUPTI's replaces it, but it is not ignored. */
static void one_number_for_all(void)
{
	play_start();
	play_call(11);
	play_call(12);
	play_call(12);
	session_stop();
}

static void calls_of_one_number_are_reported(void **state)
{
	struct trace *trace = play_scene(*state, one_number_for_all);

	assert_int_equal(play_source(trace, "cuda.call")->unexplained, 1);
}

/* The node before it was made when nothing was recorded. */
static void half_a_graph(void)
{
	play_start();
	session_stop();
	expect(session_start_again());
	play_graph(GRAPH);
	play_node(GRAPH, 12, CUDA_NODE_KERNEL);
	play_edge(GRAPH, 11, 12);
	play_exec(EXEC, GRAPH);
	play_launch(1, EXEC);
	play_graph_kernel(1, EXEC, 11, "unknown");
	play_graph_kernel(1, EXEC, 12, "known");
	session_stop();
}

static void a_graph_that_is_known_in_part_is_not_judged(void **state)
{
	struct trace *trace = play_scene(*state, half_a_graph);

	assert_true(play_line_says(trace, "graph", "of a graph that is not known in full"));
	play_assert_closed(trace);
}

static void fork_and_start(void)
{
	int status;
	pid_t pid;

	play_start();
	pid = fork();
	if (!pid) {
		session_start();
		session_stop();
		_exit(model_count(MODEL_SUBSCRIBE) != 1);
	}
	waitpid(pid, &status, 0);
	expect(status == 0);
	session_stop();
}

/*
 * The child's CUPTI is a copy of the parent's, with its locks in the state in which the parent had
 * them.
 */
static void a_child_has_no_cuda(void **state)
{
	struct trace *trace;
	uint32_t told = 0;

#ifdef __SANITIZE_THREAD__
	skip(); /* it ends a child that starts a thread */
#endif
	trace = play_scene(*state, fork_and_start);
	for (uint32_t i = 0; i < trace->sources_count; i++)
		told += !strcmp(trace_text(trace, trace->sources[i].text),
				"CUDA does not survive a fork");
	assert_int_equal(told, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(a_call_without_a_name_is_cudas),
		PLAY_CASE(a_name_more_disturbs_no_other),
		PLAY_CASE(a_number_that_two_calls_have_is_reported),
		PLAY_CASE(launches_without_their_kernel_are_reported),
		PLAY_CASE(hip_and_cuda_may_be_in_one_process),
		PLAY_CASE(a_kernel_may_come_before_its_call_returns),
		PLAY_CASE(a_call_that_came_during_the_start_is_of_before),
		PLAY_CASE(a_call_that_was_under_way_is_one_row),
		PLAY_CASE(calls_of_one_number_are_reported),
		PLAY_CASE(a_graph_that_is_known_in_part_is_not_judged),
		PLAY_CASE(a_child_has_no_cuda),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
