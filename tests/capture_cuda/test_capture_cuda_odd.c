/*
 * Records of CUPTI versions older and newer than the present one, and invalid records: the tool
 * must not fault, drop a record without counting it, or give a record a wrong name.
 */
#include "cuda_scene.h"

#include "capture/capture_session.h"
#include "capture/cuda/cuda_buffers.h"
#include "record/record.h"

/* ---- overhead records, in each CUPTI version ---- */

/* The linker redirects every free() of the tool to this file (CMakeLists.txt). */
void __real_free(void *block);
void __wrap_free(void *block);

static void *watched;
static _Atomic int watched_freed; /* the trace's reader frees on several threads */

void __wrap_free(void *block)
{
	if (block && block == watched)
		watched_freed++;
	__real_free(block);
}

static struct cupti_overhead overhead_of_call(uint32_t correlation, uint32_t kind)
{
	return (struct cupti_overhead){
		.kind = CUPTI_KIND_OVERHEAD,
		.overheadKind = kind,
		.objectKind = 2,
		.objectId = {0, session_tid()},
		.start = model_now(),
		.end = model_now(),
		.correlationId = correlation,
	};
}

static void overhead_with_data(void)
{
	struct cupti_overhead overhead;

	play_start();
	play_call(1);
	overhead = overhead_of_call(1, CUPTI_OVERHEAD_COMMAND_BUFFER_FULL);
	overhead.overheadData = watched = malloc(12);
	PLAY_PUT(overhead);
	/* For another kind the field may hold anything. */
	overhead = overhead_of_call(1, 3u << 16);
	overhead.overheadData = &overhead;
	PLAY_PUT(overhead);
	session_stop();
	expect(watched_freed == 1);
}

static void what_cupti_allocates_for_us_is_freed(void **state)
{
	struct trace *trace = play_scene(*state, overhead_with_data);

	assert_int_equal(trace->overheads_count, 2);
	play_assert_closed(trace);
}

/* The records of the buffer are counted and not read. */
static void overhead_while_cupti_is_behind(void)
{
	struct cupti_overhead overhead;
	uint8_t *buffer;
	size_t size, most;

	play_start();
	for (int i = 0; i < CUDA_BUFFERS_KEPT + 1; i++)
		cuda_buffers_lend(&buffer, &size, &most);
	overhead = overhead_of_call(0, CUPTI_OVERHEAD_COMMAND_BUFFER_FULL);
	overhead.overheadData = watched = malloc(12);
	PLAY_PUT(overhead);
	model_deliver(0);
	expect(watched_freed == 1);
	session_stop();
}

static void it_is_freed_too_where_records_are_passed_over(void **state)
{
	struct trace *trace = play_scene(*state, overhead_while_cupti_is_behind);

	assert_int_equal(trace->overheads_count, 1);
	play_assert_closed(trace);
}

static uint32_t version;

static void overhead_of_a_version(void)
{
	struct cupti_overhead overhead;
	struct cupti_kernel kernel;

	model_set_version(version);
	play_start();
	play_call(1);
	for (int i = 0; i < 3; i++) {
		overhead = overhead_of_call(1, CUPTI_OVERHEAD_COMMAND_BUFFER_FULL);
		PLAY_PUT(overhead);
	}
	kernel = play_kernel(1, "behind");
	PLAY_PUT(kernel);
	overhead = overhead_of_call(1, CUPTI_OVERHEAD_COMMAND_BUFFER_FULL);
	PLAY_PUT(overhead);
	session_stop();
}

static void older_overhead_has_less(void **state)
{
	static const uint32_t versions[] = {CUPTI_LEAST_VERSION, CUPTI_WITH_OVERHEAD_CALL,
					    CUPTI_WITH_OVERHEAD_DATA, 280000};

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		struct trace *trace;

		version = versions[i];
		trace = play_scene(*state, overhead_of_a_version);
		assert_int_equal(trace->overheads_count, 4);
		play_find_kernel(trace, "behind");
		play_assert_closed(trace);
	}
}

/* Behind each overhead record is the kind of the next record, a larger number first. */
static void overhead_of_cuda_12_2(void)
{
	struct cupti_overhead overhead;
	struct cupti_kernel kernel;

	model_set_version(20);
	play_start();
	play_call(1);
	for (int i = 0; i < 2; i++) {
		overhead = overhead_of_call(1, 3u << 16);
		PLAY_PUT(overhead);
	}
	kernel = play_kernel(1, "behind");
	PLAY_PUT(kernel);
	session_stop();
}

/* The loader sorts them by their calls. */
static void nothing_is_read_behind_an_overhead_record(void **state)
{
	struct trace *trace = play_scene(*state, overhead_of_cuda_12_2);

	assert_int_equal(trace->overheads_count, 2);
	assert_true(trace->overheads[0].begin_ns < trace->overheads[1].begin_ns);
	play_assert_closed(trace);
}

/* ---- times and sizes ---- */

static void odd_times(void)
{
	struct cupti_kernel kernel;

	play_start();
	for (uint32_t call = 1; call <= 3; call++)
		play_call(call);
	kernel = play_kernel(1, "backwards");
	kernel.end = kernel.start - 50;
	PLAY_PUT(kernel);
	kernel = play_kernel(2, "never");
	kernel.start = kernel.end = 0;
	PLAY_PUT(kernel);
	kernel = play_kernel(3, "instant");
	kernel.end = kernel.start;
	PLAY_PUT(kernel);
	session_stop();
}

static void times_that_cannot_be_are_none(void **state)
{
	struct trace *trace = play_scene(*state, odd_times);
	const struct trace_activity *backwards = play_find_kernel(trace, "backwards");

	assert_int_equal(backwards->untimed, RECORD_UNTIMED_BACKWARDS);
	assert_int_equal(backwards->start_ns, 0);
	assert_int_equal(backwards->end_ns, 0);
	assert_int_equal(play_find_kernel(trace, "never")->untimed, RECORD_UNTIMED_SHUTDOWN);
	assert_int_equal(play_find_kernel(trace, "instant")->untimed, RECORD_UNTIMED_NO);
	assert_int_equal(play_source(trace, "cuda")->untimed, 2);
	play_assert_closed(trace);
}

static void many_blocks(void)
{
	struct cupti_kernel kernel;

	play_start();
	play_call(1);
	kernel = play_kernel(1, "huge");
	kernel.gridX = INT32_MAX;
	kernel.blockX = 1024;
	PLAY_PUT(kernel);
	session_stop();
}

static void a_huge_grid_is_whole(void **state)
{
	struct trace *trace = play_scene(*state, many_blocks);
	const struct trace_work *work = trace_work_of(trace, play_find_kernel(trace, "huge"));

	assert_true(work->grid[0] == (uint64_t)INT32_MAX * 1024);
	assert_int_equal(work->workgroup[0], 1024);
}

/* ---- kinds ---- */

static void other_kinds(void)
{
	struct cupti_activity unasked = {.kind = 52};
	struct cupti_kernel kernel;

	play_start();
	play_call(1);
	PLAY_PUT(unasked);
	PLAY_PUT(unasked);
	kernel = play_kernel(1, "known");
	PLAY_PUT(kernel);
	session_stop();
}

static void records_that_are_passed_over_are_counted(void **state)
{
	struct trace *trace = play_scene(*state, other_kinds);

	play_find_kernel(trace, "known");
	assert_true(play_line_says(trace, "cuda", "2 records of kinds that were not asked for"));
	play_assert_closed(trace);
}

/* ---- devices ---- */

/* Kernels of two devices, of which CUPTI describes the second. */
static void silent(void)
{
	play_start();
	play_device(1, "described");
	for (uint32_t device = 0; device < 2; device++) {
		struct cupti_kernel kernel = play_kernel(1 + device, "kernel");

		play_call(1 + device);
		kernel.deviceId = device;
		PLAY_PUT(kernel);
	}
	session_stop();
}

static void a_device_that_is_not_described_is_a_gpu(void **state)
{
	struct trace *trace = play_scene(*state, silent);

	assert_int_equal(trace->agents_count, 2);
	assert_int_equal(trace->activities_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(trace->agents[i].is_gpu);
		assert_int_equal(trace->agents[i].gpu_ordinal, i);
		assert_int_equal(trace->agents[i].index, RECORD_CUDA_AGENT_FIRST + i);
		assert_int_equal(trace->activities[i].agent, i);
	}
	assert_string_equal(trace_text(trace, trace->agents[0].product), "");
	assert_string_equal(trace_text(trace, trace->agents[1].product), "described");
	play_assert_closed(trace);
}

static void mig(void)
{
	struct cupti_device device = {
		.kind = CUPTI_KIND_DEVICE,
		.globalMemorySize = 1ull << 34,
		.numMultiprocessors = 16,
		.computeCapabilityMajor = 9,
		.uuid = {0x11},
		.name = "NVIDIA H200 MIG 1g.18gb",
		.isMigEnabled = 1,
		.gpuInstanceId = 3,
		.migUuid = {0x22, 0x33},
	};

	play_start();
	PLAY_PUT(device);
	device.id = 1;
	device.isMigEnabled = 0;
	PLAY_PUT(device);
	session_stop();
}

static void a_part_of_a_gpu_has_an_id_of_its_own(void **state)
{
	struct trace *trace = play_scene(*state, mig);

	assert_int_equal(trace->agents_count, 2);
	assert_string_equal(trace_text(trace, trace->agents[0].uuid),
			    "22330000000000000000000000000000");
	assert_string_equal(trace_text(trace, trace->agents[1].uuid),
			    "11000000000000000000000000000000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(what_cupti_allocates_for_us_is_freed),
		PLAY_CASE(it_is_freed_too_where_records_are_passed_over),
		PLAY_CASE(older_overhead_has_less),
		PLAY_CASE(nothing_is_read_behind_an_overhead_record),
		PLAY_CASE(times_that_cannot_be_are_none),
		PLAY_CASE(a_huge_grid_is_whole),
		PLAY_CASE(records_that_are_passed_over_are_counted),
		PLAY_CASE(a_device_that_is_not_described_is_a_gpu),
		PLAY_CASE(a_part_of_a_gpu_has_an_id_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
