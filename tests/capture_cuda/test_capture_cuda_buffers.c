/* What CUPTI's buffers lack or hold beside whole records of what was asked for, and how many
 * buffers there are. */
#include "cuda_scene.h"

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

static void lending(void)
{
	uint8_t *buffer = NULL, *kept = NULL;
	size_t size, most;

	play_start();
	for (int i = 0; i < CUDA_BUFFERS_MOST; i++) {
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

	for (int i = 0; i < CUDA_BUFFERS_MOST; i++)
		count += msync(given[i], CUDA_BUFFER_BYTES, MS_ASYNC) == 0;
	return count;
}

static void lend_and_return(void)
{
	static uint8_t foreign[64], *given[CUDA_BUFFERS_MOST];
	uint8_t *buffer, *kept;
	size_t size, most;

	play_start();
	for (int i = 0; i < CUDA_BUFFERS_MOST; i++)
		cuda_buffers_lend(&given[i], &size, &most);
	expect(count_mapped(given) == CUDA_BUFFERS_MOST);
	for (int i = 0; i < CUDA_BUFFERS_MOST; i++)
		cuda_buffers_take(NULL, 0, given[i], CUDA_BUFFER_BYTES, 0);
	expect(count_mapped(given) == CUDA_BUFFERS_KEPT);
	cuda_buffers_lend(&kept, &size, &most);
	expect(kept == given[CUDA_BUFFERS_MOST - 1]);
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
	put_kernels(3, CUDA_BUFFERS_MOST - 2, "held");
	put_kernels(CUDA_BUFFERS_MOST + 1, REFUSED, "refused");
	model_release(MODEL_AT_RECORD);
	model_worker_await();
	put_kernels(CUDA_BUFFERS_MOST + REFUSED + 1, LATER, "later");
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
 * The first buffer is read. Of the others those are passed over that CUPTI has returned while it
 * had more than CUDA_BUFFERS_KEPT.
 */
static void recording_goes_on_after_a_stall(void **state)
{
	struct trace *trace = play_scene(*state, stall);
	const struct trace_source *source = play_source(trace, "cuda");
	uint32_t passed_over = CUDA_BUFFERS_MOST - 1 - CUDA_BUFFERS_KEPT;

	assert_int_equal(count_kernels(trace, "later"), LATER);
	assert_int_equal(count_kernels(trace, "refused"), 0);
	assert_int_equal(source->expected, CUDA_BUFFERS_MOST + REFUSED + LATER);
	assert_int_equal(source->received, 1 + CUDA_BUFFERS_KEPT + LATER);
	assert_int_equal(source->drop_count, 1);
	assert_int_equal(trace->drops[source->drop_first].count, passed_over + REFUSED);
	assert_string_equal(trace_text(trace, source->state), "partial");
	assert_non_null(strstr(trace_text(trace, source->text), "it was given no buffer 10 times"));
	play_assert_closed(trace);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
