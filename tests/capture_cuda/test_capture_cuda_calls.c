/* Calls, kernels, copies and names of CUDA, from CUPTI's callbacks and buffers to the trace. */
#include "cuda_scene.h"

#include <stdio.h>

#include "capture/capture_session.h"
#include "capture/scope.h"

static const struct trace_call *call_of(const struct trace *trace,
					const struct trace_activity *activity)
{
	assert_int_not_equal(activity->call, TRACE_NONE);
	return &trace->calls[activity->call];
}

/* ---- what becomes of a kernel, a copy, a memset ---- */

static _Thread_local bool is_starting;

static uint64_t time_of_the_start(void)
{
	return is_starting ? model_now() : 0;
}

/*
 * Reads CUPTI's clock only at the start: a rate that is measured between two readings is some ppm
 * off, which can make 101 ns of 100.
 */
static void start_with_one_reading(void)
{
	model_set_clock(time_of_the_start);
	is_starting = true;
	play_start();
	is_starting = false;
}

static void one_of_each(void)
{
	struct cupti_kernel kernel;
	struct cupti_memcpy copy;
	struct cupti_memset fill;

	start_with_one_reading();
	play_device(DEVICE, "NVIDIA H200");
	scope_push(RECORD_SCOPE_DAGTAP, "layer");
	play_call(1);
	scope_pop(RECORD_SCOPE_DAGTAP);
	play_call(2);
	play_call(3);
	kernel = play_kernel(1, "matmul");
	copy = play_copy(2, 4096);
	fill = play_fill(3, 128);
	/* Buffers bring records in any order. */
	PLAY_PUT(fill);
	PLAY_PUT(kernel);
	PLAY_PUT(copy);
	session_stop();
	expect(!model_is_subscribed() && !model_is_enabled());
}

static void each_belongs_to_its_call(void **state)
{
	struct trace *trace = play_scene(*state, one_of_each);
	const struct trace_activity *kernel = play_find_kernel(trace, "matmul");
	const struct trace_work *work = trace_work_of(trace, kernel);
	const struct trace_agent *agent = &trace->agents[kernel->agent];
	const struct trace_process *process = &trace->processes[0];

	assert_int_equal(trace->calls_count, 3);
	assert_int_equal(trace->activities_count, 3);
	assert_string_equal(trace_text(trace, trace->apis[call_of(trace, kernel)->api].name),
			    "cudaLaunchKernel");
	assert_int_equal(kernel->cid, 1);
	assert_int_equal(call_of(trace, kernel)->activities_expected, 1);
	assert_int_equal(work->grid[0], 640);
	assert_int_equal(work->grid[1], 2);
	assert_int_equal(work->workgroup[0], 64);
	assert_int_equal(work->group_bytes, 1536);
	assert_int_equal(work->private_bytes, 16);
	assert_int_equal(work->registers, 32);
	assert_int_equal(kernel->end_ns - kernel->start_ns, 100);
	assert_true(kernel->start_ns >= process->start_ns && kernel->end_ns <= process->end_ns);
	assert_string_equal(trace_text(trace, trace->scopes[kernel->scope].text), "layer");
	assert_int_equal(trace->streams[kernel->stream].handle, STREAM);
	assert_string_equal(trace_text(trace, agent->product), "NVIDIA H200");
	assert_string_equal(trace_text(trace, agent->name), "sm_90");
	assert_int_equal(agent->clock_khz, 1980000);
	assert_int_equal(agent->memory_bytes_per_s, UINT64_C(4800000000000));
	assert_int_equal(trace_work_of(trace, &trace->activities[1])->direction, TRACE_H2D);
	assert_int_equal(trace_work_of(trace, &trace->activities[1])->bytes, 4096);
	assert_int_equal(trace_work_of(trace, &trace->activities[2])->kind, TRACE_MEMSET);
	assert_int_equal(play_source(trace, "cuda")->received, 3);
	assert_int_equal(play_source(trace, "cuda.call")->expected, 3);
	play_assert_closed(trace);
}

/* ---- calls within calls ---- */

static void runtime_over_driver(void)
{
	struct model_open runtime;
	struct cupti_kernel kernel;

	play_start();
	/* CUPTI makes this call itself, to learn what will be launched. */
	model_call(CUPTI_DOMAIN_DRIVER, CUPTI_cuKernelGetName, 9, "cuKernelGetName");
	model_enter(&runtime, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, 10, "cudaLaunchKernel", NULL);
	model_call(CUPTI_DOMAIN_DRIVER, DRIVER_LAUNCH, 11, "cuLaunchKernel");
	model_leave(&runtime, 0);
	model_enter(&runtime, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, 12, "cudaLaunchKernel", NULL);
	model_call(CUPTI_DOMAIN_DRIVER, DRIVER_LAUNCH, 12, "cuLaunchKernel");
	model_leave(&runtime, 700);
	model_call(CUPTI_DOMAIN_DRIVER, DRIVER_LAUNCH, 13, "cuLaunchKernel");
	kernel = play_kernel(11, "by_inner");
	PLAY_PUT(kernel);
	kernel = play_kernel(12, "by_both");
	PLAY_PUT(kernel);
	kernel = play_kernel(13, "by_driver");
	PLAY_PUT(kernel);
	session_stop();
}

static void a_call_is_one_row(void **state)
{
	struct trace *trace = play_scene(*state, runtime_over_driver);

	assert_int_equal(trace->calls_count, 3);
	assert_int_equal(call_of(trace, play_find_kernel(trace, "by_inner"))->cid, 10);
	assert_int_equal(call_of(trace, play_find_kernel(trace, "by_both"))->cid, 12);
	assert_int_equal(call_of(trace, play_find_kernel(trace, "by_both"))->result, 700);
	assert_int_equal(call_of(trace, play_find_kernel(trace, "by_driver"))->cid, 13);
	play_assert_closed(trace);
}

/* ---- together with other interfaces ---- */

static uint64_t id_before, id_after;

/* Writes a HIP or NCCL call; those interfaces have correlation ids of their own. */
static void write_other_call(uint64_t cid, const char *name, uint32_t work)
{
	struct record_api record = {
		.cid = cid, .begin_ns = session_now_ns(), .end_ns = session_now_ns()};
	struct record_api_name text = {.domain = RECORD_DOMAIN_RCCL,
				       .text_bytes = writer_text_bytes(strlen(name))};

	writer_put_text(session_writer(), RECORD_API_NAME, work, &text, sizeof(text), name,
			strlen(name));
	writer_put(session_writer(), RECORD_API, work, &record, sizeof(record));
}

static void calls_of_others(void)
{
	struct cupti_kernel kernel;

	id_before = session_next_cid();
	play_start();
	write_other_call(id_before, "ncclGetVersion", 3000);
	id_after = session_next_cid();
	write_other_call(id_after, "ncclAllReduce", 3001);
	play_call(1);
	play_call(2);
	kernel = play_kernel(1, "kernel");
	PLAY_PUT(kernel);
	session_stop();
}

static void calls_of_other_interfaces_keep_their_rows(void **state)
{
	struct trace *trace = play_scene(*state, calls_of_others);
	uint32_t others = 0;

	assert_int_equal(trace->calls_count, 4);
	for (uint32_t i = 0; i < trace->calls_count; i++)
		others += trace->apis[trace->calls[i].api].domain == RECORD_DOMAIN_RCCL;
	assert_int_equal(others, 2);
	assert_string_equal(
		trace_text(
			trace,
			trace->apis[call_of(trace, play_find_kernel(trace, "kernel"))->api].name),
		"cudaLaunchKernel");
}

/* ---- correlation ids of 32 bits ---- */

static void numbers_start_again(void)
{
	struct cupti_kernel early, late;

	play_start();
	play_call(0xfffffff0);
	play_call(5);
	early = play_kernel(0xfffffff0, "early");
	late = play_kernel(5, "late");
	PLAY_PUT(late);
	PLAY_PUT(early);
	session_stop();
}

static void ids_go_on_beyond_32_bits(void **state)
{
	struct trace *trace = play_scene(*state, numbers_start_again);

	assert_int_equal(call_of(trace, play_find_kernel(trace, "early"))->cid, 0xfffffff0);
	assert_int_equal(call_of(trace, play_find_kernel(trace, "late"))->cid, 0x100000005);
	play_assert_closed(trace);
}

/* ---- names ---- */

static void a_module_goes(void)
{
	char place[16] = "first";
	struct cupti_kernel kernel;

	play_start();
	for (uint32_t call = 1; call <= 4; call++)
		play_call(call);
	kernel = play_kernel(1, place);
	PLAY_PUT(kernel);
	kernel = play_kernel(2, place);
	PLAY_PUT(kernel);
	model_deliver(0);
	model_resource(CUPTI_MODULE_UNLOAD_STARTING, NULL);
	strcpy(place, "second");
	kernel = play_kernel(3, place);
	PLAY_PUT(kernel);
	kernel = play_kernel(4, NULL);
	PLAY_PUT(kernel);
	session_stop();
}

static void a_name_is_not_its_place(void **state)
{
	struct trace *trace = play_scene(*state, a_module_goes);

	assert_int_equal(trace->activities_count, 4);
	assert_int_equal(play_find_kernel(trace, "first")->cid, 1);
	assert_string_equal(trace_text(trace, trace_work_of(trace, &trace->activities[1])->name),
			    "first");
	assert_int_equal(play_find_kernel(trace, "second")->cid, 3);
	assert_int_equal(trace_work_of(trace, &trace->activities[3])->name, 0);
}

static void many_names(void)
{
	enum { NAMES = 5000, NAME_BYTES = 16 };
	static char names[NAMES][NAME_BYTES];

	play_start();
	for (uint32_t i = 0; i < NAMES; i++) {
		struct cupti_kernel kernel;

		snprintf(names[i], NAME_BYTES, "kernel_%u", i);
		kernel = play_kernel(0, names[i]);
		PLAY_PUT(kernel);
	}
	session_stop();
}

static void thousands_of_names_are_kept_apart(void **state)
{
	struct trace *trace = play_scene(*state, many_names);

	assert_int_equal(trace->activities_count, 5000);
	assert_int_equal(trace->works_count, 5000);
	play_find_kernel(trace, "kernel_4999");
	play_assert_closed(trace);
}

/* ---- two contexts ---- */

static void two_contexts(void)
{
	struct cupti_kernel kernel;
	struct cupti_memcpy_peer peer = {
		.kind = CUPTI_KIND_MEMCPY2,
		.copyKind = CUPTI_COPY_P2P,
		.bytes = 77,
		.deviceId = 1,
		.contextId = 2,
		.streamId = STREAM,
		.srcDeviceId = 0,
		.dstDeviceId = 1,
		.correlationId = 3,
	};

	play_start();
	play_device(0, "first");
	play_device(1, "second");
	for (uint32_t call = 1; call <= 3; call++)
		play_call(call);
	kernel = play_kernel(1, "here");
	PLAY_PUT(kernel);
	kernel = play_kernel(2, "there");
	kernel.contextId = 2;
	kernel.deviceId = 1;
	PLAY_PUT(kernel);
	peer.start = model_now();
	peer.end = peer.start + 5;
	PLAY_PUT(peer);
	session_stop();
}

static void streams_of_contexts_are_not_mixed_up(void **state)
{
	struct trace *trace = play_scene(*state, two_contexts);
	const struct trace_activity *here = play_find_kernel(trace, "here");
	const struct trace_activity *there = play_find_kernel(trace, "there");
	const struct trace_work *peer = trace_work_of(trace, &trace->activities[2]);

	assert_int_equal(trace->streams_count, 2);
	assert_int_not_equal(here->stream, there->stream);
	assert_string_equal(trace_text(trace, trace->agents[there->agent].product), "second");
	assert_int_equal(trace->streams[there->stream].agent, there->agent);
	assert_int_equal(peer->direction, TRACE_P2P);
	assert_int_equal(peer->src_agent, here->agent);
	assert_int_equal(peer->dst_agent, there->agent);
}

/* ---- at the edges of a recording ---- */

static void calls_alone(void)
{
	play_start();
	play_call(1);
	play_call(2);
	session_stop();
}

static void runtime_only_capture_not_empty(void **state)
{
	struct trace *trace = play_scene(*state, calls_alone);

	assert_int_equal(trace->calls_count, 2);
	assert_int_equal(trace->activities_count, 0);
	play_assert_closed(trace);
}

static void begun_before(void)
{
	struct cupti_kernel kernel = play_kernel(1, "early");

	kernel.start -= 1000000;
	play_start();
	PLAY_PUT(kernel);
	kernel = play_kernel(2, "late");
	kernel.end += 3600000000000;
	PLAY_PUT(kernel);
	session_stop();
}

static void window_boundary_kernel_kept(void **state)
{
	struct trace *trace = play_scene(*state, begun_before);
	const struct trace_activity *early = play_find_kernel(trace, "early");
	const struct trace_activity *late = play_find_kernel(trace, "late");

	assert_true(early->start_ns < trace->processes[0].start_ns);
	assert_true(late->end_ns > trace->processes[0].end_ns);
	assert_int_equal(early->untimed, RECORD_UNTIMED_NO);
	assert_int_equal(late->untimed, RECORD_UNTIMED_NO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(each_belongs_to_its_call),
		PLAY_CASE(a_call_is_one_row),
		PLAY_CASE(calls_of_other_interfaces_keep_their_rows),
		PLAY_CASE(ids_go_on_beyond_32_bits),
		PLAY_CASE(a_name_is_not_its_place),
		PLAY_CASE(thousands_of_names_are_kept_apart),
		PLAY_CASE(streams_of_contexts_are_not_mixed_up),
		PLAY_CASE(runtime_only_capture_not_empty),
		PLAY_CASE(window_boundary_kernel_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
