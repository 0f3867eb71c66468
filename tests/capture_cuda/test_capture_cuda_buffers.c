/* What CUPTI's buffers lack or hold beside whole records of what was asked for, and how many
 * buffers there are. */
#include "cuda_scene.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/capture_session.h"
#include "capture/cuda/cuda_buffers.h"

static void cupti_drops(void)
{
	struct cupti_kernel kernel;

	play_start();
	play_call(1);
	kernel = play_kernel(1, "kept");
	PLAY_PUT(kernel);
	model_drop(42);
	session_stop();
}

static void ring_full_counts_drops(void **state)
{
	struct trace *trace = play_scene(*state, cupti_drops);
	const struct trace_source *source = play_source(trace, "cuda");

	assert_int_equal(source->expected, 43);
	assert_int_equal(source->received, 1);
	assert_int_equal(source->drop_count, 1);
	assert_int_equal(trace->drops[source->drop_first].count, 42);
	assert_string_equal(trace_text(trace, source->state), "partial");
	play_assert_closed(trace);
}

static void a_torn_buffer(void)
{
	struct cupti_kernel kernel;

	play_start();
	play_call(1);
	kernel = play_kernel(1, "whole");
	PLAY_PUT(kernel);
	PLAY_PUT(kernel);
	model_deliver(100);
	kernel = play_kernel(1, "behind");
	PLAY_PUT(kernel);
	session_stop();
}

static void a_torn_buffer_is_reported(void **state)
{
	struct trace *trace = play_scene(*state, a_torn_buffer);

	assert_int_equal(trace->activities_count, 2);
	play_find_kernel(trace, "behind");
	assert_int_equal(play_source(trace, "cuda")->unexplained, 1);
}

static void other_kinds_come_too(void)
{
	struct cupti_activity unasked = {.kind = 52};
	struct cupti_kernel kernel;

	play_start();
	PLAY_PUT(unasked);
	play_call(1);
	kernel = play_kernel(1, "known");
	PLAY_PUT(kernel);
	session_stop();
}

static void kinds_that_nobody_asked_for_are_passed_over(void **state)
{
	struct trace *trace = play_scene(*state, other_kinds_come_too);

	play_find_kernel(trace, "known");
	play_assert_closed(trace);
}

static void unfinished(void)
{
	struct cupti_kernel kernel;

	play_start();
	play_call(1);
	kernel = play_kernel(1, "running");
	kernel.end = 0;
	PLAY_PUT(kernel);
	session_stop();
}

static void what_has_no_times_says_so(void **state)
{
	struct trace *trace = play_scene(*state, unfinished);
	const struct trace_activity *kernel = play_find_kernel(trace, "running");

	assert_int_equal(kernel->untimed, RECORD_UNTIMED_SHUTDOWN);
	assert_int_equal(kernel->start_ns, 0);
	assert_int_equal(play_source(trace, "cuda")->untimed, 1);
	play_assert_closed(trace);
}

static void end_in_unfinished_work(void)
{
	struct cupti_kernel kernel;

	play_start();
	play_call(1);
	kernel = play_kernel(1, "finished");
	PLAY_PUT(kernel);
	model_fail(MODEL_NEXT_RECORD, 1, CUPTI_INVALID_KIND);
	session_stop();
}

/*
 * CUPTI gives the same answer for a record that it has not finished as for one that is invalid. A
 * forced flush returns the unfinished one.
 */
static void what_is_not_finished_is_not_torn(void **state)
{
	struct trace *trace = play_scene(*state, end_in_unfinished_work);
	const struct trace_source *source = play_source(trace, "cuda");

	play_find_kernel(trace, "finished");
	assert_non_null(strstr(trace_text(trace, source->text),
			       "1 buffers ended in work that had not finished"));
	play_assert_closed(trace);
}

/* One buffer more than the numbers of cuda_buffers.h for the thread that asks. */
enum { KEPT_OF_ONE_THREAD = CUDA_BUFFERS_KEPT + 1, MOST_OF_ONE_THREAD = CUDA_BUFFERS_MOST + 1 };

static void lending(void)
{
	uint8_t *buffer = NULL, *kept = NULL;
	size_t size, most;

	play_start();
	for (int i = 0; i < MOST_OF_ONE_THREAD; i++) {
		cuda_buffers_lend(&buffer, &size, &most);
		expect(buffer && size == CUDA_BUFFER_BYTES);
		kept = buffer;
	}
	cuda_buffers_lend(&buffer, &size, &most);
	expect(!buffer && !size);
	cuda_buffers_take(NULL, 0, kept, CUDA_BUFFER_BYTES, 0);
	cuda_buffers_lend(&buffer, &size, &most);
	expect(buffer && size == CUDA_BUFFER_BYTES);
}

static void buffers_are_bounded(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, lending), 0);
}

/* msync fails with ENOMEM where nothing is mapped. */
static int count_mapped(uint8_t *const *given)
{
	int count = 0;

	for (int i = 0; i < MOST_OF_ONE_THREAD; i++)
		count += msync(given[i], CUDA_BUFFER_BYTES, MS_ASYNC) == 0;
	return count;
}

static void lend_and_return(void)
{
	static uint8_t foreign[64], *given[MOST_OF_ONE_THREAD];
	uint8_t *buffer, *kept;
	size_t size, most;

	play_start();
	for (int i = 0; i < MOST_OF_ONE_THREAD; i++)
		cuda_buffers_lend(&given[i], &size, &most);
	expect(count_mapped(given) == MOST_OF_ONE_THREAD);
	for (int i = 0; i < MOST_OF_ONE_THREAD; i++)
		cuda_buffers_take(NULL, 0, given[i], CUDA_BUFFER_BYTES, 0);
	expect(count_mapped(given) == KEPT_OF_ONE_THREAD);
	cuda_buffers_lend(&kept, &size, &most);
	expect(kept == given[MOST_OF_ONE_THREAD - 1]);
	/* The buffer of another tool, which enabled records between two recordings. */
	cuda_buffers_take(NULL, 0, kept, CUDA_BUFFER_BYTES, 0);
	cuda_buffers_take(NULL, 0, foreign, sizeof(foreign), 0);
	cuda_buffers_lend(&buffer, &size, &most);
	expect(buffer == kept);
}

static void the_reserve_is_unmapped(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, lend_and_return), 0);
}

/* The reader of the first buffer is held until CUPTI has no buffer. */
enum { REFUSED = 10, LATER = 20 };

static void put_kernels(uint32_t first, uint32_t count, const char *name)
{
	struct cupti_kernel kernel;

	for (uint32_t i = 0; i < count; i++) {
		play_call(first + i);
		kernel = play_kernel(first + i, name);
		PLAY_PUT(kernel);
	}
}

static void stall(void)
{
	play_start();
	model_queue_buffers(1);
	put_kernels(1, 2, "early");
	model_hold(MODEL_AT_RECORD, 0);
	model_worker_deliver_queue();
	model_await_held(MODEL_AT_RECORD);
	put_kernels(3, MOST_OF_ONE_THREAD - 2, "held");
	put_kernels(MOST_OF_ONE_THREAD + 1, REFUSED, "refused");
	model_release(MODEL_AT_RECORD);
	model_worker_await();
	put_kernels(MOST_OF_ONE_THREAD + REFUSED + 1, LATER, "later");
	session_stop();
}

static uint32_t count_kernels(const struct trace *trace, const char *name)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_work *work = trace_work_of(trace, &trace->activities[i]);

		count += !strcmp(trace_text(trace, work->name), name);
	}
	return count;
}

/*
 * The first buffer is read. Of those that CUPTI returns while it has more than are kept, one is
 * read after each CUDA_BUFFERS_SKIPPED.
 */
static void recording_goes_on_after_a_stall(void **state)
{
	struct trace *trace = play_scene(*state, stall);
	const struct trace_source *source = play_source(trace, "cuda");
	uint32_t behind = MOST_OF_ONE_THREAD - 1 - KEPT_OF_ONE_THREAD;
	uint32_t read = behind / (CUDA_BUFFERS_SKIPPED + 1);

	assert_int_equal(count_kernels(trace, "later"), LATER);
	assert_int_equal(count_kernels(trace, "refused"), 0);
	assert_int_equal(source->expected, MOST_OF_ONE_THREAD + REFUSED + LATER);
	assert_int_equal(source->received, 1 + read + KEPT_OF_ONE_THREAD + LATER);
	assert_int_equal(source->drop_count, 1);
	assert_int_equal(trace->drops[source->drop_first].count, behind - read + REFUSED);
	assert_string_equal(trace_text(trace, source->state), "partial");
	assert_non_null(strstr(trace_text(trace, source->text), "it was given no buffer 10 times"));
	play_assert_closed(trace);
}

enum { THREADS = CUDA_BUFFERS_KEPT + 50 };

static void *ask(void *unused)
{
	uint8_t *buffer;
	size_t size, most;

	(void)unused;
	cuda_buffers_lend(&buffer, &size, &most);
	expect(buffer);
	return NULL;
}

static void many_threads(void)
{
	pthread_t thread;

	play_start();
	for (int i = 0; i < THREADS; i++) {
		expect(!pthread_create(&thread, NULL, ask, NULL));
		expect(!pthread_join(thread, NULL));
	}
	put_kernels(1, 5, "of one of many threads");
	model_deliver(0);
	session_stop();
}

/* Each thread has a buffer of its own (CUDA 13.0), so many buffers alone do not tell that CUPTI is
 * behind. */
static void a_buffer_for_each_thread_is_no_backlog(void **state)
{
	struct trace *trace = play_scene(*state, many_threads);

	assert_int_equal(count_kernels(trace, "of one of many threads"), 5);
	assert_string_equal(trace_text(trace, play_source(trace, "cuda")->state), "on");
	play_assert_closed(trace);
}

static void stop_while_behind(void)
{
	play_start();
	for (int i = 0; i < KEPT_OF_ONE_THREAD; i++)
		ask(NULL);
	put_kernels(1, 5, "before the stop");
	session_stop();
}

static void the_stop_reads_everything(void **state)
{
	struct trace *trace = play_scene(*state, stop_while_behind);

	assert_int_equal(count_kernels(trace, "before the stop"), 5);
	assert_string_equal(trace_text(trace, play_source(trace, "cuda")->state), "on");
	play_assert_closed(trace);
}

static void lend_all_to_an_old_cupti(void)
{
	uint8_t *buffer, *last;
	size_t size, most;

	model_set_version(CUPTI_WITH_REFUSALS - 1);
	play_start();
	for (int i = 0; i < MOST_OF_ONE_THREAD; i++)
		ask(NULL);
	cuda_buffers_lend(&last, &size, &most);
	expect(last && size && size < CUDA_BUFFER_BYTES);
	cuda_buffers_lend(&buffer, &size, &most);
	expect(buffer == last);
	memset(last, 0xff, size);
	cuda_buffers_take(NULL, 0, last, size, size);
	session_stop();
}

/* CUPTI before CUDA 12.9 crashes when it is given no buffer. */
static void an_old_cupti_is_never_refused(void **state)
{
	struct trace *trace = play_scene(*state, lend_all_to_an_old_cupti);
	const struct trace_source *source = play_source(trace, "cuda");

	assert_string_equal(trace_text(trace, source->state), "partial");
	assert_non_null(strstr(trace_text(trace, source->text), "it was given no buffer 2 times"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(ring_full_counts_drops),
		PLAY_CASE(a_torn_buffer_is_reported),
		PLAY_CASE(kinds_that_nobody_asked_for_are_passed_over),
		PLAY_CASE(what_has_no_times_says_so),
		PLAY_CASE(what_is_not_finished_is_not_torn),
		PLAY_CASE(buffers_are_bounded),
		PLAY_CASE(the_reserve_is_unmapped),
		PLAY_CASE(recording_goes_on_after_a_stall),
		PLAY_CASE(a_buffer_for_each_thread_is_no_backlog),
		PLAY_CASE(the_stop_reads_everything),
		PLAY_CASE(an_old_cupti_is_never_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
