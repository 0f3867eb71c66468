/*
 * The life of the cuda capture source: every way in which CUPTI may fail, another profiler,
 * recordings one after the other, a fork, threads.
 */
#include "cuda_scene.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>

#include "capture/capture_session.h"

/* ---- failures ---- */

static enum model_call failing;
static bool is_with_all; /* CUPTI is asked for all kinds */
static uint32_t failing_nth, failing_result;

static void with_a_failure(void)
{
	struct cupti_kernel kernel;

	model_fail(failing, failing_nth, failing_result);
	if (is_with_all)
		play_start_with_all_calls();
	else
		play_start();
	play_call(1);
	play_graph(5);
	kernel = play_kernel(1, "kernel");
	PLAY_PUT(kernel);
	/* CUPTI delivers full buffers without a request. */
	if (failing != MODEL_FLUSH_ALL)
		model_deliver(0);
	session_stop();
	expect(!model_is_subscribed() && !model_is_enabled());
}

static struct trace *play_failure(void **state, enum model_call call, uint32_t nth, uint32_t result)
{
	failing = call;
	failing_nth = nth;
	failing_result = result;
	return play_scene(*state, with_a_failure);
}

static void another_profiler_is_reported(void **state)
{
	struct trace *trace = play_failure(state, MODEL_SUBSCRIBE, 0, CUPTI_MULTIPLE_SUBSCRIBERS);
	const struct trace_source *source = play_source(trace, "cuda");

	assert_string_equal(trace_text(trace, source->state), "absent");
	assert_non_null(strstr(trace_text(trace, source->text), "cuptiSubscribe"));
	assert_non_null(strstr(trace_text(trace, source->text), "another profiler is active"));
	assert_int_equal(trace->activities_count, 0);
}

static void what_is_needed_turns_the_source_off(void **state)
{
	static const struct {
		enum model_call call;
		uint32_t nth;
		const char *text;
	} failures[] = {
		{MODEL_REGISTER_BUFFERS, 0, "cuptiActivityRegisterCallbacks"},
		{MODEL_ENABLE, 1, "cuptiActivityEnable"},
		{MODEL_ENABLE_CALLBACK, 0, "cuptiEnableCallback"},
		{MODEL_ENABLE_CALLBACK, 100, "cuptiEnableCallback"},
		{MODEL_GET_VERSION, 0, "cuptiGetVersion"},
	};

	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		struct trace *trace = play_failure(state, failures[i].call, failures[i].nth, 999);
		const struct trace_source *source = play_source(trace, "cuda");

		assert_string_equal(trace_text(trace, source->state), "absent");
		assert_non_null(strstr(trace_text(trace, source->text), failures[i].text));
		assert_non_null(strstr(trace_text(trace, source->text), "999"));
		assert_int_equal(trace->activities_count, 0);
	}
}

static void what_is_not_needed_is_named(void **state)
{
	const struct trace_source *source;
	struct trace *trace;

	/* From the sixth kind on: events, synchronisation, streams, memory operations, overhead. */
	is_with_all = true;
	trace = play_failure(state, MODEL_ENABLE, 5, CUPTI_NOT_SUPPORTED);
	is_with_all = false;
	source = play_source(trace, "cuda");
	assert_string_equal(trace_text(trace, source->state), "partial");
	assert_non_null(strstr(trace_text(trace, source->text), "without events"));
	assert_non_null(strstr(trace_text(trace, source->text), "overhead"));
	play_find_kernel(trace, "kernel");
	play_assert_closed(trace);
}

/* The recording continues and reports what it lacks. */
static void what_fails_on_the_way_is_reported(void **state)
{
	static const struct {
		enum model_call call;
		const char *text;
	} failures[] = {
		{MODEL_GET_TIMESTAMP, "cuptiGetTimestamp: CUPTI error 999 (MODEL_ERROR): times"},
		{MODEL_FLUSH_ALL, "cuptiActivityFlushAll: CUPTI error 999 (MODEL_ERROR): what"},
		{MODEL_GET_DROPPED, "cuptiActivityGetNumDroppedRecords: CUPTI error 999"},
		{MODEL_NEXT_RECORD, "cuptiActivityGetNextRecord: CUPTI error 999"},
		{MODEL_GET_ID, "cuptiGetGraphId: CUPTI error 999"},
		{MODEL_EVENT_TIMES, "without the times of events"},
	};

	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		const struct trace_source *source;
		struct trace *trace;

		is_with_all = failures[i].call == MODEL_EVENT_TIMES;
		trace = play_failure(state, failures[i].call, 0, 999);
		source = play_source(trace, "cuda");
		assert_string_equal(trace_text(trace, source->state), "partial");
		assert_non_null(strstr(trace_text(trace, source->text), failures[i].text));
		assert_int_equal(trace->calls_count, 1);
	}
}

/*
 * Fails until a tick that has failed has ended: the next tick asks for the time, too, and also
 * fails.
 */
static void fail_for_a_tick(void)
{
	model_fail(MODEL_GET_TIMESTAMP, 0, 998);
	model_await(MODEL_GET_TIMESTAMP, model_count(MODEL_GET_TIMESTAMP) + 2);
}

/*
 * The report is in the spool even if the process is killed afterwards. The last report counts,
 * whichever thread makes it.
 */
static void fail_and_stop(void)
{
	play_start();
	fail_for_a_tick();
	model_fail(MODEL_FLUSH_ALL, 0, 997);
	session_stop();
}

static void fail_and_die(void)
{
	play_start();
	fail_for_a_tick();
	_exit(0);
}

static void what_fails_is_told_at_the_next_tick(void **state)
{
	struct trace *trace = play_scene(*state, fail_and_stop);
	const char *text = trace_text(trace, play_source(trace, "cuda")->text);

	assert_non_null(strstr(text, "998"));
	assert_non_null(strstr(text, "997"));
	trace = play_scene(*state, fail_and_die);
	assert_non_null(strstr(trace_text(trace, play_source(trace, "cuda")->text), "998"));
}

static void without_a_clock_nothing_is_timed(void **state)
{
	struct trace *trace = play_failure(state, MODEL_GET_TIMESTAMP, 0, 999);

	assert_int_equal(play_find_kernel(trace, "kernel")->untimed, RECORD_UNTIMED_NO_CLOCK);
}

static void a_failing_flush_loses_what_was_not_delivered(void **state)
{
	struct trace *trace = play_failure(state, MODEL_FLUSH_ALL, 0, 999);

	assert_int_equal(trace->activities_count, 0);
	assert_int_equal(trace->calls_count, 1);
}

/* CUPTI has delivered everything before. */
static void end_after_cuda(void)
{
	struct cupti_kernel kernel;

	play_start();
	play_call(1);
	kernel = play_kernel(1, "kernel");
	PLAY_PUT(kernel);
	model_deliver(0);
	model_fail(MODEL_FLUSH_ALL, 0, 999);
}

static void a_failing_flush_at_the_end_is_no_failure(void **state)
{
	struct trace *trace = play_scene(*state, end_after_cuda);

	play_find_kernel(trace, "kernel");
	assert_string_equal(trace_text(trace, play_source(trace, "cuda")->state), "on");
	assert_true(play_line_says(trace, "cuda", "1 flushes at the end failed"));
	play_assert_closed(trace);
}

static uint32_t version;

static void of_a_version(void)
{
	struct cupti_kernel kernel;

	model_set_version(version);
	play_start();
	play_call(1);
	kernel = play_kernel(1, "kernel");
	PLAY_PUT(kernel);
	session_stop();
}

static void an_old_cupti_is_reported(void **state)
{
	struct trace *trace;

	version = 17;
	trace = play_scene(*state, of_a_version);
	assert_non_null(strstr(trace_text(trace, play_source(trace, "cuda")->text),
			       "older than CUDA 11.8's (18)"));
	assert_int_equal(trace->activities_count, 0);
}

/* The libraries of CUDA 11.8, 12.0 and 12.1 say 18. */
static void cuda_11_8_is_recorded(void **state)
{
	struct trace *trace;

	version = 18;
	trace = play_scene(*state, of_a_version);
	assert_int_equal(trace->calls_count, 1);
	play_find_kernel(trace, "kernel");
	play_assert_closed(trace);
}

/* CUPTI of CUDA 13.4 says so where no driver is. */
static void without_a_driver(void)
{
	struct cupti_kernel kernel;

	model_fail(MODEL_GET_VERSION, 0, CUPTI_UNKNOWN);
	play_start();
	play_call(1);
	session_stop();
	/* A later recording asks again. */
	model_fail(MODEL_GET_VERSION, 0, CUPTI_OK);
	expect(session_start_again());
	play_call(2);
	kernel = play_kernel(2, "with a driver");
	PLAY_PUT(kernel);
	session_stop();
}

static void a_missing_driver_is_reported(void **state)
{
	struct trace *trace = play_scene(*state, without_a_driver);
	const char *text = trace_text(trace, play_source(trace, "cuda")->text);

	assert_non_null(strstr(text, "cuptiGetVersion: CUPTI error 999"));
	assert_non_null(strstr(text, "no driver that it can use (libcuda.so.1)"));
	assert_int_equal(trace->processes_count, 2);
	play_find_kernel(trace, "with a driver");
}

static void without_cupti(void)
{
	setenv("DAGTAP_CUPTI", "/nowhere/libcupti.so", 1);
	session_arm();
	expect(InitializeInjection() == 1);
	session_stop();
}

static void a_missing_cupti_is_reported(void **state)
{
	struct trace *trace = play_scene(*state, without_cupti);
	const char *text = trace_text(trace, play_source(trace, "cuda")->text);

	assert_non_null(strstr(text, "/nowhere/libcupti.so"));
	assert_non_null(strstr(text, "DAGTAP_CUPTI"));
}

static void without_a_folder(void)
{
	play_start();
	play_call(1);
	expect(!model_is_subscribed());
}

static void nothing_is_touched_when_nothing_is_recorded(void **state)
{
	assert_int_equal(in_child(NULL, without_a_folder), 0);
}

/* ---- recordings ---- */

static void twice(void)
{
	struct cupti_kernel kernel;
	struct model_open open;

	play_start();
	play_device(DEVICE, "told once");
	play_call(1);
	kernel = play_kernel(1, "same");
	PLAY_PUT(kernel);
	/* Entered in one recording, left in the other. */
	model_enter(&open, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, 2, "cudaLaunchKernel", NULL);
	session_stop();
	expect(!model_is_subscribed());
	play_call(3);
	expect(session_start_again());
	expect(model_is_subscribed());
	model_leave(&open, 0);
	play_call(4);
	kernel = play_kernel(4, "same");
	PLAY_PUT(kernel);
	session_stop();
}

static void each_recording_stands_alone(void **state)
{
	struct trace *trace = play_scene(*state, twice);

	assert_int_equal(trace->processes_count, 2);
	assert_int_equal(trace->calls_count, 2);
	assert_int_equal(trace->activities_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct trace_activity *row = &trace->activities[i];

		assert_int_equal(row->process, i);
		assert_int_not_equal(row->call, TRACE_NONE);
		assert_int_not_equal(row->agent, TRACE_NONE);
		assert_string_equal(trace_text(trace, trace->agents[row->agent].product),
				    "told once");
		assert_string_equal(trace_text(trace, trace_work_of(trace, row)->name), "same");
		assert_string_equal(trace_text(trace, trace->apis[trace->calls[i].api].name),
				    "cudaLaunchKernel");
	}
	play_assert_closed(trace);
}

static void await(sem_t *fact)
{
	while (sem_wait(fact) && errno == EINTR)
		;
}

enum { TICKS_QUIET = 12 };

static sem_t are_ticks_over;

/* Runs before the tool's own part of each tick. */
static void count_ticks(void)
{
	static uint32_t ticks_seen; /* only one thread ticks */

	if (ticks_seen++ == TICKS_QUIET)
		sem_post(&are_ticks_over);
}

/* A program that fills no buffer. */
static void stay_quiet(void)
{
	static const struct capture_source program = {.name = "program", .tick = count_ticks};
	struct cupti_kernel kernel = play_kernel(1, "quiet");

	expect(!sem_init(&are_ticks_over, 0, 0));
	session_add_source(&program);
	play_start();
	play_call(1);
	PLAY_PUT(kernel);
	await(&are_ticks_over);
	expect(model_count(MODEL_FLUSH_ALL) == 0);
	session_stop();
	expect(model_count(MODEL_FLUSH_ALL) == 2);
}

/* While it launches graphs, a flush makes the device fail. */
static void a_running_program_is_not_flushed(void **state)
{
	struct trace *trace = play_scene(*state, stay_quiet);

	assert_int_equal(trace->activities_count, 1);
	play_assert_closed(trace);
}

static void forking(void)
{
	struct cupti_kernel kernel;
	int status;
	pid_t pid;

	play_start();
	play_call(1);
	kernel = play_kernel(1, "parent");
	PLAY_PUT(kernel);
	pid = fork();
	if (!pid) {
		/*
		 * The model continues to call back, as a CUDA that does not know of the fork might.
		 */
		play_call(2);
		model_deliver(0);
		exit(0);
	}
	expect(waitpid(pid, &status, 0) == pid && status == 0);
	session_stop();
}

static void a_fork_child_writes_nothing_of_its_parent(void **state)
{
	struct trace *trace = play_scene(*state, forking);

	assert_int_equal(trace->processes_count, 1);
	assert_int_equal(trace->activities_count, 1);
	assert_int_equal(trace->calls_count, 1);
	play_assert_closed(trace);
}

static void killed(void)
{
	struct cupti_kernel kernel;

	play_start();
	play_call(1);
	play_call(2);
	kernel = play_kernel(1, "delivered");
	PLAY_PUT(kernel);
	model_deliver(0);
	kernel = play_kernel(2, "not delivered");
	PLAY_PUT(kernel);
	_exit(0);
}

static void what_was_delivered_survives_a_kill(void **state)
{
	struct trace *trace = play_scene(*state, killed);

	assert_true(trace->truncated);
	assert_int_equal(trace->calls_count, 2);
	assert_int_equal(trace->activities_count, 1);
	assert_int_equal(play_find_kernel(trace, "delivered")->untimed, RECORD_UNTIMED_NO);
	assert_non_null(strstr(trace_text(trace, play_source(trace, "cuda.call")->text),
			       "of 1 launches CUPTI brought no kernel: not delivered when the "
			       "recording was cut off"));
	play_assert_closed(trace);
}

/* ---- threads ---- */

enum { THREADS = 8, CALLS = 2000, ALL_CALLS = THREADS * CALLS + 1 };

static void *launch_many(void *first)
{
	uint32_t correlation = (uint32_t)(uintptr_t)first;

	for (uint32_t i = 0; i < CALLS; i++)
		play_call(correlation + i);
	return NULL;
}

static void many_threads(void)
{
	pthread_t threads[THREADS];

	play_start();
	/* A record that names a call before the first one belongs to an earlier recording. */
	play_call(1);
	for (uintptr_t i = 0; i < THREADS; i++)
		expect(!pthread_create(&threads[i], NULL, launch_many, (void *)(2 + i * CALLS)));
	for (uint32_t i = 0; i < ALL_CALLS; i++) {
		struct cupti_kernel kernel = play_kernel(1 + i, "kernel");

		PLAY_PUT(kernel);
	}
	model_deliver(0);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	session_stop();
}

static void threads_do_not_disturb_each_other(void **state)
{
	struct trace *trace = play_scene(*state, many_threads);

	assert_int_equal(trace->calls_count, ALL_CALLS);
	assert_int_equal(play_source(trace, "cuda")->joined, ALL_CALLS);
	assert_int_equal(play_source(trace, "cuda.call")->expected, ALL_CALLS);
	play_assert_closed(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(another_profiler_is_reported),
		PLAY_CASE(what_is_needed_turns_the_source_off),
		PLAY_CASE(what_is_not_needed_is_named),
		PLAY_CASE(what_fails_on_the_way_is_reported),
		PLAY_CASE(what_fails_is_told_at_the_next_tick),
		PLAY_CASE(without_a_clock_nothing_is_timed),
		PLAY_CASE(a_failing_flush_loses_what_was_not_delivered),
		PLAY_CASE(a_failing_flush_at_the_end_is_no_failure),
		PLAY_CASE(an_old_cupti_is_reported),
		PLAY_CASE(cuda_11_8_is_recorded),
		PLAY_CASE(a_missing_driver_is_reported),
		PLAY_CASE(a_missing_cupti_is_reported),
		PLAY_CASE(nothing_is_touched_when_nothing_is_recorded),
		PLAY_CASE(each_recording_stands_alone),
		PLAY_CASE(a_running_program_is_not_flushed),
		PLAY_CASE(a_fork_child_writes_nothing_of_its_parent),
		PLAY_CASE(what_was_delivered_survives_a_kill),
		PLAY_CASE(threads_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
