/*
 * RCCL's calls in the model: their arguments, the HIP calls inside them, and their line of the
 * ledger.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scene.h"
#include "trace/args.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"

enum { ALL_REDUCE = 2049, ARGUMENTS = 7, STREAM = 0x5000 };

static void put_name(struct scene *scene)
{
	static const char text[] =
		"ncclAllReduce count:s datatype:e op:e comm:h stream:h rank:i seq:u";
	struct {
		struct record_api_name name;
		char text[(sizeof(text) + 7) / 8 * 8];
	} record = {.name = {.domain = RECORD_DOMAIN_RCCL, .text_bytes = strlen(text)}};

	memcpy(record.text, text, strlen(text));
	scene_put(scene, 0, RECORD_API_NAME, ALL_REDUCE, &record, sizeof(record));
}

static void put_call(struct scene *scene, uint64_t cid, uint64_t parent, uint32_t function,
		     uint32_t activities, const uint64_t *args)
{
	struct {
		struct record_api api;
		uint64_t args[ARGUMENTS];
	} record = {.api = {.cid = cid,
			    .parent = parent,
			    .begin_ns = 1000 + cid * 10,
			    .end_ns = 1005 + cid * 10,
			    .activities = activities}};

	memcpy(record.args, args, sizeof(record.args));
	scene_put(scene, 0, RECORD_API, function, &record, sizeof(record));
}

/*
 * Records an operation on STREAM that launches a kernel there, and clears memory with a call that
 * names no stream.
 */
static void put_all_reduce(struct scene *scene, uint64_t sequence)
{
	const uint64_t reduce[ARGUMENTS] = {1000, 7, 0, 0xc0, STREAM, 1, sequence};
	const uint64_t launch[ARGUMENTS] = {0x101, STREAM}, clear[ARGUMENTS] = {0x9000, 0, 64};
	uint64_t outer = scene_reserve_cid(scene), inner = scene_reserve_cid(scene);
	uint64_t cleared = scene_reserve_cid(scene);

	put_call(scene, inner, outer, SCENE_LAUNCH_KERNEL, 1, launch);
	scene_run(scene, inner, 0, 1, 1);
	put_call(scene, cleared, outer, SCENE_MEMSET, 1, clear);
	scene_run(scene, cleared, 0, 3, 64);
	put_call(scene, outer, 0, ALL_REDUCE, 0, reduce);
}

static struct trace *load(struct scene *scene)
{
	struct trace *trace;

	scene_close(scene);
	trace = scene_load(scene);
	scene_release(scene);
	return trace;
}

static void begin(struct scene *scene)
{
	scene_init(scene, 1);
	put_name(scene);
	put_all_reduce(scene, 1);
	put_all_reduce(scene, 2);
}

static const struct trace_call *find_call(const struct trace *trace, const char *name, uint32_t n)
{
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		const struct trace_api *api = &trace->apis[trace->calls[i].api];

		if (!strcmp(trace_text(trace, api->name), name) && n-- == 0)
			return &trace->calls[i];
	}
	fail_msg("no %s", name);
	return NULL;
}

static uint64_t argument(const struct trace *trace, const struct trace_call *call, const char *name)
{
	uint64_t value = 0;

	assert_true(args_get(trace, call, name, &value));
	return value;
}

static void operations_have_their_communicator(void **state)
{
	struct scene scene;
	struct trace *trace;
	const struct trace_call *call;

	begin(&scene);
	trace = load(&scene);
	call = find_call(trace, "ncclAllReduce", 1);
	assert_int_equal(trace->apis[call->api].domain, RECORD_DOMAIN_RCCL);
	assert_int_equal(argument(trace, call, "comm"), 0xc0);
	assert_int_equal(argument(trace, call, "count"), 1000);
	assert_int_equal(argument(trace, call, "datatype"), 7);
	assert_int_equal(argument(trace, call, "rank"), 1);
	assert_int_equal(argument(trace, call, "seq"), 2);
	trace_close(trace);
}

static void kernels_belong_to_the_launch_inside(void **state)
{
	struct scene scene;
	struct trace *trace;
	const struct trace_call *launch, *reduce;
	const struct trace_activity *kernel;

	begin(&scene);
	trace = load(&scene);
	launch = find_call(trace, "hipLaunchKernel", 0);
	reduce = find_call(trace, "ncclAllReduce", 0);
	assert_int_equal(launch->activity_count, 1);
	kernel = &trace->activities[launch->activity_first];
	assert_ptr_equal(&trace->calls[kernel->call], launch);
	assert_ptr_equal(&trace->calls[launch->parent], reduce);
	assert_int_equal(kernel->stream, reduce->stream);
	trace_close(trace);
}

/*
 * The library was given a stream; the HIP call inside it that names none works on the null stream.
 */
static void the_stream_of_an_operation_is_not_its_inner_calls(void **state)
{
	struct scene scene;
	struct trace *trace;
	const struct trace_call *clear;
	const struct trace_activity *fill;

	begin(&scene);
	trace = load(&scene);
	clear = find_call(trace, "hipMemset", 0);
	assert_int_equal(clear->activity_count, 1);
	fill = &trace->activities[clear->activity_first];
	assert_int_not_equal(fill->stream, find_call(trace, "ncclAllReduce", 0)->stream);
	assert_int_equal(trace->streams[fill->stream].ordinal, 0);
	assert_int_equal(trace->streams[fill->stream].handle, 0);
	trace_close(trace);
}

static void the_ledger_has_a_line_for_each(void **state)
{
	struct scene scene;
	struct trace *trace;

	begin(&scene);
	scene_witness(&scene, "hip", "calls", 4);
	scene_witness(&scene, "rccl", "calls", 2);
	trace = load(&scene);
	assert_true(ledger_is_closed(trace));
	assert_int_equal(scene_source(trace, "hip")->expected, 4);
	assert_int_equal(scene_source(trace, "hip")->received, 4);
	assert_int_equal(scene_source(trace, "hip")->joined, 4);
	assert_int_equal(scene_source(trace, "rccl")->expected, 2);
	assert_int_equal(scene_source(trace, "rccl")->received, 2);
	trace_close(trace);
}

static void an_operation_without_row_is_unexplained(void **state)
{
	struct scene scene;
	struct trace *trace;

	begin(&scene);
	scene_witness(&scene, "hip", "calls", 4);
	scene_witness(&scene, "rccl", "calls", 3);
	trace = load(&scene);
	assert_false(ledger_is_closed(trace));
	assert_int_equal(scene_source(trace, "rccl")->unexplained, 1);
	trace_close(trace);
}

static void an_operation_that_never_returned_is_explained(void **state)
{
	struct scene scene;
	struct trace *trace;

	begin(&scene);
	scene_witness(&scene, "hip", "calls", 4);
	scene_witness(&scene, "rccl", "calls", 3);
	scene_witness(&scene, "rccl", "open", 1);
	trace = load(&scene);
	assert_true(ledger_is_closed(trace));
	trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_have_their_communicator),
		cmocka_unit_test(kernels_belong_to_the_launch_inside),
		cmocka_unit_test(the_stream_of_an_operation_is_not_its_inner_calls),
		cmocka_unit_test(the_ledger_has_a_line_for_each),
		cmocka_unit_test(an_operation_without_row_is_unexplained),
		cmocka_unit_test(an_operation_that_never_returned_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
