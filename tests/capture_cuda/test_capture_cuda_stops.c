/*
 * Work in progress in CUPTI when a recording stops: a buffer that a thread of CUPTI's delivers,
 * calls of other threads, a tick inside CUPTI.
 */
#include "cuda_scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/timer.h"
#include "capture/capture_session.h"

int __real_nanosleep(const struct timespec *pause, struct timespec *left);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);

static _Atomic bool is_released_at_pause;

/*
 * The thread that stops a recording calls this while it waits for the reader, which is held until
 * then.
 */
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
	if (session_state == SESSION_DRAINING && atomic_exchange(&is_released_at_pause, false))
		model_release(MODEL_AT_RECORD);
	return __real_nanosleep(pause, left);
}

static void stop_while_a_buffer_is_brought(void)
{
	play_start();
	play_graph(GRAPH);
	play_node(GRAPH, 11, CUDA_NODE_KERNEL);
	play_exec(EXEC, GRAPH);
	play_launch(1, EXEC);
	play_graph_kernel(1, EXEC, 11, "brought");
	model_hold(MODEL_AT_RECORD, 0);
	model_worker_deliver();
	model_await_held(MODEL_AT_RECORD);
	atomic_store(&is_released_at_pause, true);
	session_stop();
	model_release(MODEL_AT_RECORD);
	model_worker_await();
}

static void a_buffer_on_its_way_is_read(void **state)
{
	struct trace *trace = play_scene(*state, stop_while_a_buffer_is_brought);

	play_find_kernel(trace, "brought");
	play_assert_closed(trace);
}

static void stop_while_a_reader_is_held(void)
{
	struct cupti_kernel kernel;

	setenv("DAGTAP_TIMERS", "limits=never,cuda_buffers=0", 1);
	play_start();
	for (uint32_t i = 1; i <= 3; i++) {
		play_call(i);
		kernel = play_kernel(i, i == 1 ? "read" : "not read");
		PLAY_PUT(kernel);
	}
	model_hold(MODEL_AT_RECORD, 1);
	model_worker_deliver();
	model_await_held(MODEL_AT_RECORD);
	/* The flush delivers another buffer, which waits behind that one. */
	play_call(5);
	kernel = play_kernel(5, "behind it");
	PLAY_PUT(kernel);
	session_stop();
	expect(session_state == SESSION_STOPPED && session_start_again());
	model_release(MODEL_AT_RECORD);
	model_worker_await();
	play_call(4);
	kernel = play_kernel(4, "of the second");
	PLAY_PUT(kernel);
}

/* The reader's thread is stopped, or the signal handler that ended the program runs on it. */
static void a_reader_that_does_not_come_on_is_left(void **state)
{
	struct trace *trace = play_scene(*state, stop_while_a_reader_is_held);
	uint64_t unexplained = 0;

	assert_int_equal(trace->calls_count, 5);
	assert_int_equal(trace->activities_count, 2);
	play_find_kernel(trace, "read");
	assert_int_not_equal(play_find_kernel(trace, "of the second")->call, TRACE_NONE);
	for (uint32_t i = 0; i < trace->sources_count; i++)
		if (!strcmp(trace_text(trace, trace->sources[i].name), "cuda"))
			unexplained += trace->sources[i].unexplained;
	assert_int_equal(unexplained, 2);
}

/* The launch is no longer recorded, its kernel is. */
static void *call_in_the_flush(void *unused)
{
	struct cupti_kernel kernel = play_kernel(2, "late");

	model_await_held(MODEL_AT_FLUSH);
	expect(session_state == SESSION_DRAINING);
	play_call(2);
	PLAY_PUT(kernel);
	model_release(MODEL_AT_FLUSH);
	return unused;
}

static void stop_while_others_call(void)
{
	struct cupti_kernel kernel;
	pthread_t other;

	play_start();
	play_call(1);
	kernel = play_kernel(1, "early");
	PLAY_PUT(kernel);
	model_hold(MODEL_AT_FLUSH, 0);
	expect(!pthread_create(&other, NULL, call_in_the_flush, NULL));
	session_stop();
	pthread_join(other, NULL);
	expect(session_start_again());
	play_call(3);
}

static void calls_that_come_while_it_stops_are_counted(void **state)
{
	struct trace *trace = play_scene(*state, stop_while_others_call);

	assert_int_equal(trace->calls_count, 2);
	assert_int_equal(play_find_kernel(trace, "late")->call, TRACE_NONE);
	assert_int_not_equal(play_find_kernel(trace, "early")->call, TRACE_NONE);
	play_assert_closed(trace);
}

static void stop_while_a_tick_asks(void)
{
	setenv("DAGTAP_TIMERS", "limits=never,part_hook=0,thread_end=0", 1);
	model_hold(MODEL_AT_DROPPED, 0);
	play_start();
	play_call(1);
	model_await_held(MODEL_AT_DROPPED);
	session_stop();
	/* The next recording waits for the tick. Only this thread reads these two. */
	timer_configure("part_hook=never,thread_end=never");
	model_release(MODEL_AT_DROPPED);
	expect(session_start_again());
	expect(model_is_subscribed());
	play_call(2);
	session_stop();
	expect(!model_is_subscribed() && !model_is_enabled());
}

static void a_long_tick_does_not_cost_the_next_recording(void **state)
{
	struct trace *trace = play_scene(*state, stop_while_a_tick_asks);
	uint32_t recorded = 0;

	for (uint32_t i = 0; i < trace->sources_count; i++) {
		const char *name = trace_text(trace, trace->sources[i].name);

		recorded += !strcmp(name, "cuda") &&
			    !strcmp(trace_text(trace, trace->sources[i].state), "on");
	}
	assert_int_equal(recorded, 2);
	assert_int_equal(trace->calls_count, 2);
	play_assert_closed(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(a_buffer_on_its_way_is_read),
		PLAY_CASE(a_reader_that_does_not_come_on_is_left),
		PLAY_CASE(calls_that_come_while_it_stops_are_counted),
		PLAY_CASE(a_long_tick_does_not_cost_the_next_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
