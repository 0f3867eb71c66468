/*
 * Capture ranges of a program that uses CUDA: cuProfilerStart and cuProfilerStop, and scopes. CUPTI
 * is played; each recording must hold the kernels of its range and no others.
 */
#include "cuda_scene.h"

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/scope.h"
#include "trace/load.h"

/* Of a runtime call cudaProfilerStart too, only the driver's call is asked for. */
static void call_profiler(uint32_t cbid, uint32_t correlation)
{
	model_call(CUPTI_DOMAIN_DRIVER, cbid, correlation,
		   cbid == CUPTI_cuProfilerStart ? "cuProfilerStart" : "cuProfilerStop");
}

static uint32_t last_correlation;

/* Launches kernels as the program does; CUPTI has their records only while a recording is on. */
static void launch(uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t correlation = ++last_correlation;
		struct cupti_kernel kernel;

		play_call(correlation);
		if (!session_is_on())
			continue;
		kernel = play_kernel(correlation, name);
		PLAY_PUT(kernel);
	}
}

static void start_waiting(void)
{
	setenv("DAGTAP_WAIT", "1", 1);
	session_arm();
	switch_configure();
	play_start();
	expect(!session_is_on() && model_is_subscribed());
	expect(model_is_asked(CUPTI_DOMAIN_DRIVER, CUPTI_cuProfilerStart));
	expect(!model_is_asked(CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL));
}

static void profile_twice(void)
{
	start_waiting();
	launch(3, "outside");
	call_profiler(CUPTI_cuProfilerStop, ++last_correlation);
	call_profiler(CUPTI_cuProfilerStart, ++last_correlation);
	expect(session_is_on());
	launch(5, "first");
	call_profiler(CUPTI_cuProfilerStart, ++last_correlation);
	call_profiler(CUPTI_cuProfilerStop, ++last_correlation);
	expect(!session_is_on() && model_is_subscribed());
	launch(2, "outside");
	call_profiler(CUPTI_cuProfilerStart, ++last_correlation);
	launch(7, "second");
	call_profiler(CUPTI_cuProfilerStop, ++last_correlation);
	launch(1, "outside");
}

static uint32_t count_kernels(const struct trace *trace, const char *name)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		count += !strcmp(trace_text(trace, trace_work_of(trace, row)->name), name);
	}
	return count;
}

static void the_profilers_calls_begin_and_end_recordings(void **state)
{
	struct trace *trace = play_scene(*state, profile_twice);

	assert_int_equal(trace->processes_count, 2);
	assert_int_equal(trace->activities_count, 12);
	assert_int_equal(count_kernels(trace, "first"), 5);
	assert_int_equal(count_kernels(trace, "second"), 7);
	/* Their own calls are not among the selected ones. */
	assert_int_equal(trace->calls_count, 12);
	play_assert_closed(trace);
	trace_close(trace);
}

/* With all calls, those of the profiler have rows: one that ended no recording, and one that began
 * none. */
static void profile_with_all_calls(void)
{
	setenv("DAGTAP_CALLS", "all", 1);
	start_waiting();
	call_profiler(CUPTI_cuProfilerStart, ++last_correlation);
	launch(4, "inside");
	call_profiler(CUPTI_cuProfilerStart, ++last_correlation);
	call_profiler(CUPTI_cuProfilerStop, ++last_correlation);
	launch(2, "outside");
}

static void with_all_calls_they_have_rows(void **state)
{
	struct trace *trace = play_scene(*state, profile_with_all_calls);

	assert_int_equal(trace->activities_count, 4);
	assert_int_equal(trace->calls_count, 5);
	play_assert_closed(trace);
	trace_close(trace);
}

static void step_often(void)
{
	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	setenv("DAGTAP_SKIP", "1", 1);
	setenv("DAGTAP_COUNT", "1", 1);
	session_arm();
	switch_configure();
	play_start();
	expect(!session_is_on());
	expect(!model_is_asked(CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL));
	for (uint32_t i = 1; i <= 4; i++) {
		launch(1, "outside");
		scope_push_nvtx(0, "step", NULL, 0);
		launch(10 * i, "step");
		scope_pop_nvtx(0);
	}
	expect(!model_is_asked(CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL));
}

static void an_nvtx_range_begins_and_ends_a_recording(void **state)
{
	struct trace *trace = play_scene(*state, step_often);

	assert_int_equal(trace->processes_count, 1);
	assert_int_equal(count_kernels(trace, "step"), 20);
	assert_int_equal(trace->activities_count, 20);
	play_assert_closed(trace);
	trace_close(trace);
}

static void wait_beside_another(void)
{
	model_fail(MODEL_SUBSCRIBE, 0, 39 /* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */);
	setenv("DAGTAP_WAIT", "1", 1);
	session_arm();
	switch_configure();
	play_start();
	expect(!session_is_on());
	expect(switch_start("test"));
}

static void without_a_subscription_the_notes_say_so(void **state)
{
	struct trace *trace = play_scene(*state, wait_beside_another);
	bool is_told = false;

	for (uint32_t i = 0; i < trace->messages_count; i++)
		is_told |= strstr(trace_text(trace, trace->messages[i].text),
				  "not followed: cudaProfilerStart") != NULL;
	assert_true(is_told);
	trace_close(trace);
}

/* ---- another profiler in the process ---- */

/* The model's functions, as the other profiler calls them. */
uint32_t cuptiSubscribe(void **subscriber, cupti_callback *callback, void *userdata);
uint32_t cuptiUnsubscribe(void *subscriber);

static void hear_nothing(void *userdata, uint32_t domain, uint32_t cbid, const void *told)
{
}

/* First the other one has CUPTI while a range begins; then a range has it while the other one
 * asks. */
static void share_cupti(void)
{
	void *theirs;

	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	session_arm();
	switch_configure();
	play_start();
	expect(cuptiSubscribe(&theirs, hear_nothing, NULL) == CUPTI_OK);
	scope_push_nvtx(0, "step", NULL, 0);
	expect(session_is_on());
	scope_pop_nvtx(0);
	expect(model_is_subscribed()); /* the other one still is */
	expect(cuptiUnsubscribe(theirs) == CUPTI_OK);
	scope_push_nvtx(0, "step", NULL, 0);
	launch(4, "ours");
	expect(cuptiSubscribe(&theirs, hear_nothing, NULL) == CUPTI_MULTIPLE_SUBSCRIBERS);
	launch(2, "ours");
	scope_pop_nvtx(0);
	expect(cuptiSubscribe(&theirs, hear_nothing, NULL) == CUPTI_OK);
	expect(cuptiUnsubscribe(theirs) == CUPTI_OK);
}

static void the_first_subscriber_has_cupti_in_both_orders(void **state)
{
	struct trace *trace = play_scene(*state, share_cupti);
	unsigned absent = 0;

	assert_int_equal(trace->processes_count, 2);
	assert_int_equal(count_kernels(trace, "ours"), 6);
	for (uint32_t i = 0; i < trace->sources_count; i++)
		absent += strstr(trace_text(trace, trace->sources[i].text),
				 "another profiler is active") != NULL;
	assert_int_equal(absent, 1);
	trace_close(trace);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_profilers_calls_begin_and_end_recordings),
		CASE(with_all_calls_they_have_rows),
		CASE(an_nvtx_range_begins_and_ends_a_recording),
		CASE(without_a_subscription_the_notes_say_so),
		CASE(the_first_subscriber_has_cupti_in_both_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
