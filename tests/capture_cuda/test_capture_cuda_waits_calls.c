/*
 * Waits that are known from the calls. Each program is recorded twice: with the default, where
 * CUPTI is not asked for waits and event records, and with all calls, where it brings them. Both
 * recordings have the same waits, and the same dependencies follow.
 */
#include "cuda_twice.h"

#include <pthread.h>
#include <semaphore.h>

#include "capture/capture_session.h"
#include "played_driver.h"

enum { A = 0x5100, B = 0x5200, C = 0x5300 };	      /* streams */
enum { E = 0xe100, F = 0xe200, NEVER = 0xe300 };      /* events */
enum { NODE_KERNEL = 11, NODE_E, OTHER_CONTEXT = 2 }; /* graph nodes; a context */

static void make_streams(void)
{
	model_make_stream(A);
	model_make_stream(B);
}

static void wait_on(uint64_t stream, uint64_t event, const char *kernel)
{
	driver_stream_wait(stream, event, DRIVER_PLAIN);
	driver_kernel(stream, DRIVER_PLAIN, kernel);
}

static void record_after(uint64_t stream, uint64_t event, const char *kernel)
{
	driver_kernel(stream, DRIVER_PLAIN, kernel);
	driver_record(event, stream, DRIVER_PLAIN);
}

/* ---- events ---- */

static void event_is_recorded_again(void)
{
	make_streams();
	record_after(A, E, "first"); /* calls 1, 2 */
	driver_number_from(10);
	wait_on(B, E, "after first");
	driver_number_from(20);
	record_after(A, E, "second");
	record_after(B, F, "other");
	driver_number_from(30);
	wait_on(B, E, "after second");
	wait_on(A, F, "after other");
	driver_wait_for_event(F);
	driver_query_event(E);
	driver_query_stream(B);
	driver_number_from(40);
	wait_on(A, NEVER, "after nothing");
}

static void a_wait_is_for_the_last_record(void **state)
{
	struct trace *trace = play_twice(*state, event_is_recorded_again);

	assert_int_equal(play_producer_of(trace, 10), 2);
	assert_int_equal(play_producer_of(trace, 30), 21);
	assert_int_equal(play_find_wait(trace, 10)->known, TRACE_KNOWN_ORDER);
}

static void event_handle_is_reused(void)
{
	make_streams();
	for (uint32_t life = 1; life <= 3; life++) {
		driver_number_from(100 * life);
		driver_create_event(E);
		wait_on(B, E, "after nothing"); /* no record in this life */
		driver_number_from(100 * life + 10);
		if (life != 2)
			record_after(A, E, "kernel");
		driver_number_from(100 * life + 20);
		wait_on(B, E, "after kernel");
		driver_destroy_event(E);
	}
}

static void a_reused_handle_is_another_event(void **state)
{
	struct trace *trace = play_twice(*state, event_handle_is_reused);

	assert_int_equal(play_producer_of(trace, 301), 0);
	assert_int_equal(play_find_wait(trace, 301)->known, TRACE_KNOWN_ORDER);
	assert_int_equal(play_producer_of(trace, 220), 0);
	assert_int_equal(play_producer_of(trace, 320), 311);
	assert_int_equal(trace->events_count, 3);
	for (uint32_t i = 0; i < trace->events_count; i++)
		assert_int_equal(trace->events[i].handle, i + 1);
}

static void calls_fail(void)
{
	make_streams();
	record_after(A, E, "kernel"); /* calls 1, 2 */
	driver_fail(1);
	driver_record(E, B, DRIVER_PLAIN);
	driver_stream_wait(B, E, DRIVER_PLAIN);
	driver_wait_for_event(E);
	driver_wait_for_stream(A, DRIVER_PLAIN);
	driver_wait_for_device();
	driver_create_event(E);
	driver_fail(0);
	driver_number_from(10);
	wait_on(B, E, "after kernel");
}

static void a_call_that_fails_changes_nothing(void **state)
{
	struct trace *trace = play_twice(*state, calls_fail);

	assert_int_equal(play_producer_of(trace, 10), 2);
	assert_int_equal(trace->waits_count, 1);
	assert_int_equal(trace->event_records_count, 1);
}

/* ---- streams ---- */

/* The second stream has the handle of the first one, and another number. */
static void stream_handle_is_reused(void)
{
	model_make_stream(A);
	for (uint32_t life = 1; life <= 3; life++) {
		driver_number_from(100 * life);
		model_make_stream(B);
		record_after(B, E, "kernel");
		wait_on(A, E, "after kernel");
		driver_wait_for_stream(B, DRIVER_PLAIN);
		model_destroy_stream(B);
	}
}

static void a_reused_handle_is_another_stream(void **state)
{
	struct trace *trace = play_twice(*state, stream_handle_is_reused);

	assert_int_equal(trace->streams_count, 4);
}

/* B is a blocking stream: it and the legacy default stream wait for each other. */
static void on_the_legacy_stream(void)
{
	make_streams();
	play_stream(CONTEXT, model_find_stream(0).number, RECORD_CUDA_STREAM_NULL);
	play_stream(CONTEXT, model_find_stream(A).number, RECORD_CUDA_STREAM_NONBLOCKING);
	play_stream(CONTEXT, model_find_stream(B).number, RECORD_CUDA_STREAM_BLOCKING);
	driver_kernel(B, DRIVER_PLAIN, "blocking");
	record_after(0, E, "null");
	wait_on(A, E, "after null");
	driver_record(F, A, DRIVER_PLAIN);
	wait_on(CUDA_STREAM_LEGACY, F, "null again");
	driver_kernel(B, DRIVER_PLAIN, "blocking again");
	driver_wait_for_stream(0, DRIVER_PLAIN);
	driver_wait_for_device();
}

static void the_legacy_stream_is_waited_for(void **state)
{
	play_twice(*state, on_the_legacy_stream);
}

static void on_own_stream(void)
{
	driver_kernel(0, DRIVER_PTSZ, "own");
	driver_record(E, 0, DRIVER_PTSZ);
	wait_on(A, E, "after own");
	driver_record(F, A, DRIVER_PLAIN);
	driver_stream_wait(CUDA_STREAM_PER_THREAD, F, DRIVER_PLAIN);
	driver_kernel(0, DRIVER_PTSZ, "own again");
	driver_wait_for_stream(0, DRIVER_PTSZ);
}

static void *on_own_stream_of_a_thread(void *first)
{
	driver_number_from((uint32_t)(uintptr_t)first);
	on_own_stream();
	return NULL;
}

static void run_thread(void *(*body)(void *), uint32_t first)
{
	pthread_t thread;

	expect(!pthread_create(&thread, NULL, body, (void *)(uintptr_t)first));
	pthread_join(thread, NULL);
}

static void on_own_streams(void)
{
	make_streams();
	on_own_stream();
	run_thread(on_own_stream_of_a_thread, 100);
	driver_number_from(200);
	on_own_stream();
}

static void each_thread_has_its_own_default_stream(void **state)
{
	struct trace *trace = play_twice(*state, on_own_streams);

	assert_int_equal(trace->streams_count, 3); /* A, and one for each thread */
}

/* Streams and events of two contexts; default streams have the same number in both. */
static void in_two_contexts(void)
{
	make_streams();
	model_set_context(OTHER_CONTEXT);
	model_make_stream(C);
	record_after(C, E, "there");
	record_after(0, F, "null there");
	driver_wait_for_device();
	model_set_context(CONTEXT);
	wait_on(A, E, "after there");
	wait_on(0, F, "after null there");
	driver_wait_for_stream(0, DRIVER_PLAIN);
	driver_wait_for_stream(C, DRIVER_PLAIN); /* not a stream of the current context */
	driver_wait_for_device();
}

static void waits_cross_contexts(void **state)
{
	struct trace *trace = play_twice(*state, in_two_contexts);
	uint32_t contexts[3] = {0};

	for (uint32_t i = 0; i < trace->streams_count; i++)
		contexts[trace->streams[i].context]++;
	assert_int_equal(contexts[CONTEXT], 2);
	assert_int_equal(contexts[OTHER_CONTEXT], 2);
}

/* CUPTI reports no stream that was made before. The tool asks for the streams of the call's context
 * only: of others CUPTI does not say the context. */
static void made_before_the_recording(void)
{
	model_make_stream(A);
	model_make_stream(B);
	model_set_context(OTHER_CONTEXT);
	model_make_stream(C);
	model_set_context(CONTEXT);
	play_start();
	driver_number_from(1);
	record_after(A, E, "kernel");
	wait_on(B, E, "after kernel");
	driver_wait_for_stream(C, DRIVER_PLAIN);
	session_stop();
}

static void a_stream_from_before_is_asked_for(void **state)
{
	struct trace *trace = play_scene(*state, made_before_the_recording);

	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(play_producer_of(trace, 3), 2);
	assert_int_not_equal(play_find_wait(trace, 3)->stream, TRACE_NONE);
	assert_int_equal(play_find_wait(trace, 5)->stream, TRACE_NONE);
	assert_int_equal(play_find_wait(trace, 5)->context, 0);
	play_assert_closed(trace);
}

/* CUPTI reports nothing between two recordings. */
static void in_two_recordings(void)
{
	model_make_stream(A);
	play_start();
	model_make_stream(B);
	driver_number_from(1);
	record_after(A, E, "kernel");
	wait_on(B, E, "after kernel");
	session_stop();
	model_destroy_stream(B);
	model_make_stream(B);
	expect(session_start_again());
	driver_number_from(100);
	record_after(B, E, "later kernel");
	wait_on(A, E, "after later kernel");
	session_stop();
}

static void each_recording_learns_its_streams(void **state)
{
	struct trace *trace = play_scene(*state, in_two_recordings);
	const struct trace_activity *later = play_find_kernel(trace, "later kernel");
	const struct trace_wait *wait = play_find_wait(trace, 102);

	assert_int_equal(play_producer_of(trace, 3), 2);
	assert_int_equal(play_producer_of(trace, 102), 101);
	assert_int_equal(trace->event_records[wait->producer].stream, later->stream);
	assert_int_equal(trace->streams_count, 4);
	play_assert_closed(trace);
}

static void default_stream_is_refused(void)
{
	model_fail(MODEL_GET_STREAM_ID, 0, 999);
	play_start();
	driver_number_from(1);
	driver_wait_for_stream(0, DRIVER_PLAIN);
	session_stop();
}

static void a_stream_that_cupti_does_not_number_is_named(void **state)
{
	struct trace *trace = play_scene(*state, default_stream_is_refused);
	const struct trace_source *source = play_source(trace, "cuda");

	assert_int_equal(play_find_wait(trace, 1)->stream, TRACE_NONE);
	assert_string_equal(trace_text(trace, source->state), "partial");
	assert_non_null(strstr(trace_text(trace, source->text),
			       "cuptiGetStreamIdEx: CUPTI error 999 (MODEL_ERROR): waits"));
}

/* ---- captures and graphs ---- */

static void in_a_capture(void)
{
	make_streams();
	record_after(B, E, "before");
	driver_begin_capture(A);
	driver_record(E, A, DRIVER_PLAIN);
	driver_stream_wait(B, E, DRIVER_PLAIN);
	driver_record(F, B, DRIVER_PLAIN);
	driver_stream_wait(A, F, DRIVER_PLAIN);
	driver_end_capture(A);
	driver_number_from(20);
	wait_on(A, E, "after before");
	driver_number_from(30);
	record_after(A, E, "later");
	wait_on(B, E, "after later");
}

static void captured_calls_are_edges_of_a_graph(void **state)
{
	struct trace *trace = play_twice(*state, in_a_capture);

	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(play_producer_of(trace, 20), 2);
	assert_int_equal(play_producer_of(trace, 32), 31);
}

static void recorded_by_a_node(void)
{
	make_streams();
	record_after(B, E, "before");
	play_graph(GRAPH);
	driver_begin_capture(A);
	driver_record_node(E, A, GRAPH, NODE_E);
	driver_end_capture(A);
	play_exec(EXEC, GRAPH);
	driver_number_from(20);
	wait_on(A, E, "after before");
	for (uint32_t replay = 0; replay < 2; replay++) {
		driver_number_from(30 + 10 * replay);
		driver_launch_recorder(EXEC, E, A);
		wait_on(B, E, "after node");
	}
}

static void a_node_of_each_replay_records(void **state)
{
	struct trace *trace = play_twice(*state, recorded_by_a_node);

	assert_int_equal(play_producer_of(trace, 20), 2);
	assert_int_equal(play_producer_of(trace, 31), 30);
	assert_int_equal(play_producer_of(trace, 41), 40);
}

/* ---- threads ---- */

static sem_t has_recorded, may_return;

static void *record_slowly(void *first)
{
	driver_number_from((uint32_t)(uintptr_t)first);
	driver_record_enter(E, A);
	sem_post(&has_recorded);
	sem_wait(&may_return);
	driver_record_leave();
	return NULL;
}

/* The wait is called while the record's call has not returned. */
static void calls_overlap(void)
{
	pthread_t thread;

	make_streams();
	sem_init(&has_recorded, 0, 0);
	sem_init(&may_return, 0, 0);
	driver_kernel(A, DRIVER_PLAIN, "kernel");
	expect(!pthread_create(&thread, NULL, record_slowly, (void *)2));
	sem_wait(&has_recorded);
	driver_number_from(10);
	wait_on(B, E, "after kernel");
	sem_post(&may_return);
	pthread_join(thread, NULL);
}

static void an_overlapping_record_is_likely(void **state)
{
	struct trace *trace = play_twice(*state, calls_overlap);

	assert_int_equal(play_producer_of(trace, 10), 2);
	assert_int_equal(play_find_wait(trace, 10)->known, TRACE_KNOWN_LIKELY);
}

enum { THREADS = 6, TURNS = 40, CALLS_OF_A_THREAD = 1000 };

/* Streams and events of the thread's own; event handles are reused. */
static void *record_and_wait(void *number)
{
	uint64_t first = 0x10000 * (uintptr_t)number, second = first + 0x100, event = first + 0x200;

	driver_number_from(CALLS_OF_A_THREAD * (uint32_t)(uintptr_t)number);
	for (uint32_t i = 0; i < TURNS; i++) {
		if (i % 4 == 0)
			driver_create_event(event);
		driver_record(event, i % 2 ? first : second, DRIVER_PLAIN);
		driver_stream_wait(i % 3 ? second : first, event, DRIVER_PLAIN);
		if (i % 4 == 3)
			driver_destroy_event(event);
		if (i % 8 == 7)
			driver_wait_for_stream(first, DRIVER_PLAIN);
	}
	return NULL;
}

static void many_threads(void)
{
	pthread_t threads[THREADS];

	/* In this order, so that they have the same numbers each time. */
	for (uint64_t i = 1; i <= THREADS; i++) {
		model_make_stream(0x10000 * i);
		model_make_stream(0x10000 * i + 0x100);
	}
	for (uintptr_t i = 0; i < THREADS; i++)
		expect(!pthread_create(&threads[i], NULL, record_and_wait, (void *)(i + 1)));
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void threads_do_not_mix(void **state)
{
	play_twice(*state, many_threads);
}

/* ---- what the ledger says ---- */

static void a_wait_of_each_kind(void)
{
	make_streams();
	record_after(A, E, "kernel");
	wait_on(B, E, "after kernel");
	driver_wait_for_device();
}

static void the_ledger_says_what_was_not_asked_for(void **state)
{
	static const char text[] = "not subscribed: waits and event records";
	struct trace *trace;

	trace = play_program(*state, a_wait_of_each_kind, PLAY_CALLS_DEFAULT);
	assert_true(play_line_says(trace, "cuda", text));
	assert_int_equal(play_source(trace, "cuda")->received, 2);
	trace = play_program(*state, a_wait_of_each_kind, PLAY_CALLS_ALL);
	assert_false(play_line_says(trace, "cuda", text));
	assert_int_equal(play_source(trace, "cuda")->received, 5);
	/* With all calls, but a CUPTI that has no such kinds. */
	trace = play_program(*state, a_wait_of_each_kind, PLAY_CALLS_WITHOUT_WAITS);
	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(play_producer_of(trace, 3), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(a_wait_is_for_the_last_record),
		PLAY_CASE(a_reused_handle_is_another_event),
		PLAY_CASE(a_call_that_fails_changes_nothing),
		PLAY_CASE(a_reused_handle_is_another_stream),
		PLAY_CASE(the_legacy_stream_is_waited_for),
		PLAY_CASE(each_thread_has_its_own_default_stream),
		PLAY_CASE(waits_cross_contexts),
		PLAY_CASE(a_stream_from_before_is_asked_for),
		PLAY_CASE(each_recording_learns_its_streams),
		PLAY_CASE(a_stream_that_cupti_does_not_number_is_named),
		PLAY_CASE(captured_calls_are_edges_of_a_graph),
		PLAY_CASE(a_node_of_each_replay_records),
		PLAY_CASE(an_overlapping_record_is_likely),
		PLAY_CASE(threads_do_not_mix),
		PLAY_CASE(the_ledger_says_what_was_not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
