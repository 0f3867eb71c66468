/* Which calls of CUDA are asked for, and what a recording says of those that are not. */
#include "cuda_scene.h"

#include <stdio.h>

#include "capture/capture_session.h"

#define GET_DEVICE	 17  /* cudaGetDevice: not in the list */
#define GET_ERROR	 10  /* cudaGetLastError: not in the list */
#define RETAIN		 386 /* cuDevicePrimaryCtxRetain: in the list */
#define ALLOCATE	 243 /* cuMemAlloc: in the list */
#define STREAM_ATTRIBUTE 21  /* of resources: CUPTI brings one for each launch of a kernel */

static const struct {
	uint32_t domain, cbid;
	const char *name;
} listed[] = {
#define X(domain, cbid, name) {CUPTI_DOMAIN_##domain, cbid, #name},
#include "vendor/cuda_selected.list"
#undef X
};

#define LISTED (sizeof(listed) / sizeof(*listed))

static uint32_t count_rows(const struct trace *trace, const char *name)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->calls_count; i++)
		count += !strcmp(trace_text(trace, trace->apis[trace->calls[i].api].name), name);
	return count;
}

/* ---- the list, and all ---- */

static void an_eager_step(void)
{
	struct cupti_kernel kernel;

	play_start();
	for (uint32_t i = 0; i < 3; i++) {
		model_call(CUPTI_DOMAIN_RUNTIME, GET_DEVICE, 10 * i + 1, "cudaGetDevice");
		play_call(10 * i + 2);
		model_call(CUPTI_DOMAIN_RUNTIME, GET_ERROR, 10 * i + 3, "cudaGetLastError");
		kernel = play_kernel(10 * i + 2, "step");
		PLAY_PUT(kernel);
	}
	session_stop();
	expect(!model_is_subscribed() && !model_is_enabled());
}

static void an_eager_step_with_all(void)
{
	setenv("DAGTAP_CALLS", "all", 1);
	an_eager_step();
}

static void calls_outside_the_list_have_no_row(void **state)
{
	struct trace *trace = play_scene(*state, an_eager_step);

	assert_int_equal(count_rows(trace, "cudaLaunchKernel"), 3);
	assert_int_equal(trace->calls_count, 3);
	assert_int_equal(play_source(trace, "cuda.call")->expected, 3);
	assert_true(play_line_says(trace, "cuda.call", "not subscribed"));
	assert_int_equal(play_source(trace, "cuda")->joined, 3);
	play_assert_closed(trace);
}

static void all_calls_have_one(void **state)
{
	struct trace *trace = play_scene(*state, an_eager_step_with_all);

	assert_int_equal(count_rows(trace, "cudaGetDevice"), 3);
	assert_int_equal(count_rows(trace, "cudaGetLastError"), 3);
	assert_int_equal(trace->calls_count, 9);
	assert_int_equal(play_source(trace, "cuda.call")->expected, 9);
	assert_false(play_line_says(trace, "cuda.call", "not subscribed"));
	play_assert_closed(trace);
}

/* ---- what CUPTI is asked for ---- */

static void look_at_what_is_asked(void)
{
	play_start();
	for (size_t i = 0; i < LISTED; i++)
		expect(model_is_asked(listed[i].domain, listed[i].cbid));
	expect(!model_is_asked(CUPTI_DOMAIN_RUNTIME, GET_DEVICE));
	expect(!model_is_asked(CUPTI_DOMAIN_DRIVER, CUPTI_cuKernelGetName));
	expect(!model_is_asked(CUPTI_DOMAIN_DRIVER, CUPTI_cuFuncGetName));
	expect(model_is_asked(CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_UNLOAD_STARTING));
	expect(model_is_asked(CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPHNODE_CREATED));
	expect(!model_is_asked(CUPTI_DOMAIN_RESOURCE, STREAM_ATTRIBUTE));
	session_stop();
}

static void look_at_what_all_asks(void)
{
	play_start_with_all_calls();
	expect(model_is_asked(CUPTI_DOMAIN_RUNTIME, GET_DEVICE));
	expect(!model_is_asked(CUPTI_DOMAIN_RESOURCE, STREAM_ATTRIBUTE));
	session_stop();
}

static void of_resources_graphs_alone_are_asked_for(void **state)
{
	play_scene(*state, look_at_what_is_asked);
}

static void all_calls_are_not_all_resources(void **state)
{
	play_scene(*state, look_at_what_all_asks);
}

static void no_call_is_listed_twice(void **state)
{
	for (size_t i = 0; i < LISTED; i++)
		for (size_t j = 0; j < i; j++)
			assert_false(listed[i].domain == listed[j].domain &&
				     listed[i].cbid == listed[j].cbid);
}

/* ---- a CUPTI that does not know, or fails ---- */

/* The launch is among the first calls; the last ones are unknown to this CUPTI. */
static void on_an_older_cupti(void)
{
	model_fail(MODEL_ENABLE_CALLBACK, LISTED, CUPTI_INVALID_PARAMETER);
	an_eager_step();
}

static void a_call_that_cupti_does_not_know_is_left_out(void **state)
{
	struct trace *trace = play_scene(*state, on_an_older_cupti);

	assert_int_equal(trace->calls_count, 3);
	play_assert_closed(trace);
}

/* ---- runtime calls that are not asked for, and the driver calls inside them ---- */

static void a_context_is_created_by_the_way(void)
{
	struct model_open runtime;
	struct cupti_kernel kernel;

	play_start();
	for (uint32_t number = 1; number <= 2; number++) {
		model_enter(&runtime, CUPTI_DOMAIN_RUNTIME, GET_DEVICE, number, "cudaGetDevice",
			    NULL);
		model_call(CUPTI_DOMAIN_DRIVER, RETAIN, number, "cuDevicePrimaryCtxRetain");
		model_call(CUPTI_DOMAIN_DRIVER, ALLOCATE, number, "cuMemAlloc_v2");
		model_leave(&runtime, 0);
	}
	play_call(3);
	model_call(CUPTI_DOMAIN_DRIVER, DRIVER_LAUNCH, 4, "cuLaunchKernel");
	kernel = play_kernel(2, "inside");
	PLAY_PUT(kernel);
	session_stop();
}

static void the_first_driver_call_stands_for_it(void **state)
{
	struct trace *trace = play_scene(*state, a_context_is_created_by_the_way);
	const struct trace_activity *inside = play_find_kernel(trace, "inside");

	assert_int_equal(count_rows(trace, "cuDevicePrimaryCtxRetain"), 2);
	assert_int_equal(count_rows(trace, "cuMemAlloc_v2"), 0);
	assert_int_equal(trace->calls_count, 4);
	assert_int_equal(trace->calls[inside->call].cid, 2);
	play_assert_closed(trace);
}

/* With all calls, a number that comes twice is an error of CUPTI's, also of a thread's later
 * calls. */
static void a_number_comes_twice(void)
{
	play_start_with_all_calls();
	play_call(1);
	model_call(CUPTI_DOMAIN_DRIVER, RETAIN, 2, "cuDevicePrimaryCtxRetain");
	model_call(CUPTI_DOMAIN_DRIVER, ALLOCATE, 2, "cuMemAlloc_v2");
	session_stop();
}

static void with_all_calls_a_repeated_number_is_unexplained(void **state)
{
	struct trace *trace = play_scene(*state, a_number_comes_twice);

	assert_int_equal(play_source(trace, "cuda.call")->unexplained, 1);
}

/* ---- work of a call that is not in the list ---- */

static void a_newer_launch(void)
{
	struct cupti_kernel kernel;

	play_start();
	play_call(1);
	model_call(CUPTI_DOMAIN_RUNTIME, 1000, 2, "cudaLaunchNewer");
	kernel = play_kernel(2, "newer");
	PLAY_PUT(kernel);
	session_stop();
}

static void a_newer_launch_with_all(void)
{
	setenv("DAGTAP_CALLS", "all", 1);
	a_newer_launch();
}

/* CUPTI brings a kernel of a call that it never reported. */
static void a_lost_launch(void)
{
	struct cupti_kernel kernel;

	play_start_with_all_calls();
	play_call(1);
	kernel = play_kernel(2, "lost");
	PLAY_PUT(kernel);
	session_stop();
}

static void work_of_another_call_is_counted(void **state)
{
	struct trace *trace = play_scene(*state, a_newer_launch);

	assert_int_equal(play_find_kernel(trace, "newer")->call, TRACE_NONE);
	assert_int_equal(play_source(trace, "cuda")->orphan_activities, 1);
	assert_true(play_line_says(trace, "cuda", "the calls of 1 activities were not subscribed"));
	play_assert_closed(trace);
}

static void with_all_calls_it_has_its_row(void **state)
{
	struct trace *trace = play_scene(*state, a_newer_launch_with_all);

	assert_int_not_equal(play_find_kernel(trace, "newer")->call, TRACE_NONE);
	play_assert_closed(trace);
}

static void with_all_calls_a_lost_call_is_unexplained(void **state)
{
	struct trace *trace = play_scene(*state, a_lost_launch);

	assert_int_equal(play_source(trace, "cuda")->unexplained, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(calls_outside_the_list_have_no_row),
		PLAY_CASE(all_calls_have_one),
		PLAY_CASE(of_resources_graphs_alone_are_asked_for),
		PLAY_CASE(all_calls_are_not_all_resources),
		cmocka_unit_test(no_call_is_listed_twice),
		PLAY_CASE(a_call_that_cupti_does_not_know_is_left_out),
		PLAY_CASE(the_first_driver_call_stands_for_it),
		PLAY_CASE(with_all_calls_a_repeated_number_is_unexplained),
		PLAY_CASE(work_of_another_call_is_counted),
		PLAY_CASE(with_all_calls_it_has_its_row),
		PLAY_CASE(with_all_calls_a_lost_call_is_unexplained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
