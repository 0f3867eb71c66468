/* What is under way in CUPTI when a recording stops: a buffer that a thread of its own brings, calls of other threads,
 * a flush that a tick asked for. */
#include "cuda_scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "capture/session.h"
#include "trace/load.h"

int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __real_nanosleep(const struct timespec *pause, struct timespec *left);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);

/* Of a thread that another one may keep waiting for good; a thread that has lost its CPU comes by then. */
enum { PATIENCE_MS = 30000 };

static _Atomic int turn;
static _Thread_local bool is_held_at_lock;

/* Until it is turn N, or not for ever. */
static void await(int n)
{
	for (int i = 0; i < PATIENCE_MS && atomic_load(&turn) < n; i++)
		__real_nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Turn 1: a buffer was brought, and is not looked at before turn 2, when somebody waits, or has stopped. */
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
	if (is_held_at_lock) {
		is_held_at_lock = false;
		atomic_store(&turn, 1);
		await(2);
	}
	return __real_pthread_mutex_lock(lock);
}

int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
	int held = 1;

	if (session_state == SESSION_DRAINING)
		atomic_compare_exchange_strong(&turn, &held, 2);
	return __real_nanosleep(pause, left);
}

static void *bring_a_buffer(void *unused)
{
	is_held_at_lock = true;
	model_deliver(0);
	return unused;
}

static void stop_while_a_buffer_is_brought(void)
{
	pthread_t thread;

	play_start();
	play_graph(GRAPH);
	play_node(GRAPH, 11, CUDA_NODE_KERNEL);
	play_exec(EXEC, GRAPH);
	play_launch(1, EXEC);
	play_graph_kernel(1, EXEC, 11, "brought");
	expect(!pthread_create(&thread, NULL, bring_a_buffer, NULL));
	await(1);
	session_stop();
	atomic_store(&turn, 2);
	pthread_join(thread, NULL);
}

static void a_buffer_on_its_way_is_read(void **state)
{
	struct trace *trace = play_scene(*state, stop_while_a_buffer_is_brought);

	play_find_kernel(trace, "brought");
	play_assert_closed(trace);
	trace_close(trace);
}

/* Turn 1: a buffer's second record is asked for. Turn 3: its thread goes on, not when somebody waits. */
static void hold_the_second(void)
{
	static _Atomic int asked;

	if (atomic_fetch_add(&asked, 1) != 1)
		return;
	atomic_store(&turn, 1);
	while (atomic_load(&turn) < 3)
		__real_nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL);
}

static void *bring_and_be_held(void *unused)
{
	model_deliver(0);
	return unused;
}

static void stop_while_a_reader_is_held(void)
{
	struct cupti_kernel kernel;
	pthread_t thread;

	play_start();
	for (uint32_t i = 1; i <= 3; i++) {
		play_call(i);
		kernel = play_kernel(i, i == 1 ? "read" : "not read");
		PLAY_PUT(kernel);
	}
	model_at_record(hold_the_second);
	expect(!pthread_create(&thread, NULL, bring_and_be_held, NULL));
	await(1);
	/* The flush brings another one, which waits behind that. */
	play_call(5);
	kernel = play_kernel(5, "behind it");
	PLAY_PUT(kernel);
	session_stop();
	expect(session_state == SESSION_STOPPED && session_start_again());
	atomic_store(&turn, 3);
	pthread_join(thread, NULL);
	play_call(4);
	kernel = play_kernel(4, "of the second");
	PLAY_PUT(kernel);
}

/* Its thread has been stopped, or the signal handler that ended the program runs on it. */
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
	trace_close(trace);
}

/* Another thread's: its launch is not recorded any more, its kernel is. A tick may have flushed before. */
static void call_in_the_flush(void)
{
	struct cupti_kernel kernel = play_kernel(2, "late");

	if (session_state != SESSION_DRAINING)
		return;
	model_at_flush(NULL);
	play_call(2);
	PLAY_PUT(kernel);
}

static void stop_while_others_call(void)
{
	struct cupti_kernel kernel;

	play_start();
	play_call(1);
	kernel = play_kernel(1, "early");
	PLAY_PUT(kernel);
	model_at_flush(call_in_the_flush);
	session_stop();
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
	trace_close(trace);
}

/* Of the tick's thread, until the recording is over: turn 3. */
static void hold_the_flush(void)
{
	model_at_flush(NULL);
	atomic_store(&turn, 1);
	while (atomic_load(&turn) < 3)
		__real_nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL);
}

static void stop_while_a_tick_flushes(void)
{
	model_at_flush(hold_the_flush);
	play_start();
	play_call(1);
	await(1);
	session_stop();
	atomic_store(&turn, 3);
	for (int i = 0; i < PATIENCE_MS && !session_start_again(); i++)
		__real_nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL);
	expect(model_is_subscribed());
	play_call(2);
	session_stop();
	expect(!model_is_subscribed() && !model_is_enabled());
}

static void a_long_flush_does_not_cost_the_next_recording(void **state)
{
	struct trace *trace = play_scene(*state, stop_while_a_tick_flushes);
	uint32_t recorded = 0;

	for (uint32_t i = 0; i < trace->sources_count; i++) {
		const char *name = trace_text(trace, trace->sources[i].name);

		recorded += !strcmp(name, "cuda") &&
			    !strcmp(trace_text(trace, trace->sources[i].state), "on");
	}
	assert_int_equal(recorded, 2);
	assert_int_equal(trace->calls_count, 2);
	play_assert_closed(trace);
	trace_close(trace);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_buffer_on_its_way_is_read),
		CASE(a_reader_that_does_not_come_on_is_left),
		CASE(calls_that_come_while_it_stops_are_counted),
		CASE(a_long_flush_does_not_cost_the_next_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
