/*
 * Times that contradict a stream's order: on an H200 CUPTI gave a copy of 128 KiB a duration of 127
 * ms, during which its stream ran later work.
 */
#include "cuda_scene.h"

#include "analyze/summary.h"
#include "capture/capture_session.h"

enum { STEP_NS = 10000 };

static uint64_t base;

/* A call and its activity at position PLACE of the stream's time. */
static struct cupti_kernel kernel_at(uint32_t correlation, uint32_t place, const char *name)
{
	struct cupti_kernel kernel;

	play_call(correlation);
	kernel = play_kernel(correlation, name);
	kernel.start = base + (uint64_t)place * STEP_NS;
	kernel.end = kernel.start + STEP_NS / 2;
	return kernel;
}

static void put_kernel(uint32_t correlation, uint32_t place, const char *name)
{
	struct cupti_kernel kernel = kernel_at(correlation, place, name);

	PLAY_PUT(kernel);
}

static void begin(void)
{
	play_start();
	play_device(DEVICE, "NVIDIA H200");
	base = model_now() + 1000000;
}

static void put_copy(uint32_t correlation, uint32_t place, uint64_t length_ns)
{
	struct cupti_memcpy copy;

	play_call(correlation);
	copy = play_copy(correlation, 131072);
	copy.start = base + (uint64_t)place * STEP_NS;
	copy.end = copy.start + length_ns;
	PLAY_PUT(copy);
}

static void a_long_copy(void)
{
	begin();
	put_kernel(1, 0, "first");
	put_copy(2, 1, 20ull * STEP_NS);
	for (uint32_t i = 3; i < 23; i++)
		put_kernel(i, i - 1, "kernel");
	put_kernel(23, 50, "last");
	session_stop();
}

static uint32_t count_impossible(const struct trace *trace)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++)
		count += trace->activities[i].untimed == RECORD_UNTIMED_IMPOSSIBLE;
	return count;
}

static bool has_message(const struct trace *trace, const char *part)
{
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (strstr(trace_text(trace, trace->messages[i].text), part))
			return true;
	}
	return false;
}

static void what_holds_its_streams_later_work_has_no_times(void **state)
{
	struct trace *trace = play_scene(*state, a_long_copy);

	assert_int_equal(count_impossible(trace), 1);
	assert_int_equal(trace->activities[1].untimed, RECORD_UNTIMED_IMPOSSIBLE);
	assert_int_equal(trace->activities[1].start_ns, 0);
	assert_true(has_message(trace,
				"a copy of call 2 lasted 200000 ns by CUPTI, while its stream "
				"ran 19 others"));
	assert_int_equal(summary_count(trace).impossible, 1);
	play_assert_closed(trace);
}

/*
 * A copy that begins too early overlaps only one activity: the longer of the two is taken to be
 * wrong.
 */
static void a_copy_too_early(void)
{
	begin();
	put_kernel(1, 0, "first");
	put_kernel(2, 5, "second");
	put_copy(3, 1, 5ull * STEP_NS);
	put_kernel(4, 7, "third");
	session_stop();
}

static void of_two_that_overlap_the_longer_is_wrong(void **state)
{
	struct trace *trace = play_scene(*state, a_copy_too_early);

	assert_int_equal(count_impossible(trace), 1);
	assert_int_equal(trace->activities[2].untimed, RECORD_UNTIMED_IMPOSSIBLE);
}

/*
 * Overlaps that are allowed: another stream's work, nodes of one launch, a programmatic launch, and
 * kernels that touch.
 */
static void what_may_be(void)
{
	const struct cuda_launch_attribute attribute = {
		.id = CUDA_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
		.value = {.programmaticStreamSerializationAllowed = 1},
	};
	const struct cuda_launch_config config = {.attrs = &attribute, .numAttrs = 1};
	const struct cupti_launch_ex_params params = {.config = &config};
	struct cupti_kernel kernel;
	struct cupti_memcpy own;
	struct model_open call;

	begin();
	put_copy(1, 0, 4ull * STEP_NS);
	/* A copy within the host: CUPTI lets it begin when it is submitted. */
	play_call(6);
	own = play_copy(6, 8);
	own.copyKind = CUPTI_COPY_H2H;
	own.start = base + STEP_NS;
	own.end = base + 40ull * STEP_NS;
	PLAY_PUT(own);
	kernel = kernel_at(2, 1, "beside");
	kernel.streamId = OTHER_STREAM;
	PLAY_PUT(kernel);
	/* Begins when the copy has ended. */
	put_kernel(3, 4, "behind");
	model_enter(&call, CUPTI_DOMAIN_DRIVER, CUPTI_cuLaunchKernelEx, 4, "cuLaunchKernelEx",
		    &params);
	model_leave(&call, 0);
	kernel = play_kernel(4, "early");
	kernel.start = base + 4ull * STEP_NS + STEP_NS / 4;
	kernel.end = kernel.start + STEP_NS;
	PLAY_PUT(kernel);
	play_layers();
	play_instantiate();
	play_launch(5, EXEC);
	for (uint64_t i = 0; i < 3; i++) {
		kernel = play_kernel(5, "node");
		kernel.graphId = EXEC;
		kernel.graphNodeId = 101 + i;
		kernel.start = base + 10ull * STEP_NS + i;
		kernel.end = kernel.start + STEP_NS;
		PLAY_PUT(kernel);
	}
	session_stop();
}

static void what_may_be_keeps_its_times(void **state)
{
	struct trace *trace = play_scene(*state, what_may_be);

	assert_int_equal(trace->activities_count, 8);
	assert_int_equal(count_impossible(trace), 0);
}

/* A wrong copy may lie within another wrong copy. */
static void two_long_copies(void)
{
	begin();
	put_copy(1, 0, 30ull * STEP_NS);
	put_copy(2, 1, 20ull * STEP_NS);
	for (uint32_t i = 3; i < 13; i++)
		put_kernel(i, i, "kernel");
	session_stop();
}

static void one_may_hide_another(void **state)
{
	struct trace *trace = play_scene(*state, two_long_copies);

	assert_int_equal(count_impossible(trace), 2);
	assert_int_equal(trace->activities[0].untimed, RECORD_UNTIMED_IMPOSSIBLE);
	assert_int_equal(trace->activities[1].untimed, RECORD_UNTIMED_IMPOSSIBLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(what_holds_its_streams_later_work_has_no_times),
		PLAY_CASE(of_two_that_overlap_the_longer_is_wrong),
		PLAY_CASE(what_may_be_keeps_its_times),
		PLAY_CASE(one_may_hide_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
