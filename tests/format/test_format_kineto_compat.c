/* Kineto files: waits and their producers, and other rows that HTA needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/read.h"
#include "kineto_rows.h"
#include "read_case.h"
#include "sample.h"
#include "trace/load.h"

/* Handles with more than 32 bits, as pointers have. */
#define EVENT  0x7f0000001000
#define STREAM 0x1000

enum { RECORD_CALL, WAIT_CALL, SYNC_CALL, UNKNOWN_CALL, STREAM_CALL, DEVICE_CALL, SCENE_CALLS };

struct scene {
	struct trace_call calls[SAMPLE_CALLS + SCENE_CALLS];
	struct trace_api apis[SCENE_CALLS + 3];
	struct trace_event events[2];
	struct trace_event_record records[1];
	struct trace_wait waits[5];
	const char *strings[64];
};

static const char *const api_names[SCENE_CALLS] = {
	"hipEventRecordWithFlags", "hipStreamWaitEvent",   "hipEventSynchronize",
	"hipStreamWaitEvent",	   "hipStreamSynchronize", "hipDeviceSynchronize",
};

static struct trace_wait make_wait(uint32_t number, enum trace_wait_type type)
{
	return (struct trace_wait){
		.call = SAMPLE_CALLS + number,
		.cid = SAMPLE_CALLS + number + 1,
		.begin_ns = 1003000 + 100 * number,
		.end_ns = 1003050 + 100 * number,
		.type = type,
		.stream = TRACE_NONE,
		.event = TRACE_NONE,
		.producer = TRACE_NONE,
	};
}

/* STRINGS: the number of the first string that is free. */
static void make_calls(struct scene *scene, uint32_t strings)
{
	for (uint32_t i = 0; i < SCENE_CALLS; i++) {
		scene->strings[strings + i] = api_names[i];
		scene->apis[3 + i] = (struct trace_api){
			.function = 10 + i, .name = strings + i, .domain = RECORD_DOMAIN_HIP};
		scene->calls[SAMPLE_CALLS + i] = (struct trace_call){
			.cid = SAMPLE_CALLS + i + 1,
			.begin_ns = 1003000 + 100 * i,
			.end_ns = 1003050 + 100 * i,
			.parent = TRACE_NONE,
			.scope = TRACE_NONE,
			.stream = TRACE_NONE,
			.launch = TRACE_NONE,
			.api = 3 + i,
			.arg_first = TRACE_NONE,
		};
	}
}

static void make_waits(struct scene *scene)
{
	scene->records[0] = (struct trace_event_record){.call = SAMPLE_CALLS,
							.cid = SAMPLE_CALLS + 1,
							.stream = 1,
							.event = 0,
							.node = TRACE_NONE};
	scene->waits[0] = make_wait(WAIT_CALL, TRACE_WAIT_STREAM_EVENT);
	scene->waits[0].stream = 0;
	scene->waits[0].event = 0;
	scene->waits[0].producer = 0;
	scene->waits[0].known = TRACE_KNOWN_ORDER;
	scene->waits[1] = make_wait(SYNC_CALL, TRACE_WAIT_EVENT);
	scene->waits[1].event = 0;
	scene->waits[1].producer = 0;
	scene->waits[2] = make_wait(UNKNOWN_CALL, TRACE_WAIT_STREAM_EVENT);
	scene->waits[2].stream = 1;
	scene->waits[2].event = 1;
	scene->waits[3] = make_wait(STREAM_CALL, TRACE_WAIT_STREAM);
	scene->waits[3].stream = 1;
	scene->waits[4] = make_wait(DEVICE_CALL, TRACE_WAIT_DEVICE);
}

/*
 * The sample, followed by: stream 1 records an event, stream 0 waits for it, the host waits for it;
 * a wait for what was recorded before the recording began; waits for a stream and for the device.
 */
static struct trace *make_scene(struct scene *scene)
{
	struct trace *trace = sample_trace();
	uint32_t strings = trace->strings_count;

	*scene = (struct scene){.events = {{.handle = EVENT}, {.handle = EVENT + 64}}};
	memcpy(scene->calls, trace->calls, SAMPLE_CALLS * sizeof(*scene->calls));
	memcpy(scene->apis, trace->apis, 3 * sizeof(*scene->apis));
	memcpy(scene->strings, trace->strings, strings * sizeof(*scene->strings));
	make_calls(scene, strings);
	make_waits(scene);
	trace->calls = scene->calls;
	trace->calls_count += SCENE_CALLS;
	trace->apis = scene->apis;
	trace->apis_count += SCENE_CALLS;
	trace->strings = scene->strings;
	trace->strings_count += SCENE_CALLS;
	trace->events = scene->events;
	trace->events_count = 2;
	trace->event_records = scene->records;
	trace->event_records_count = 1;
	trace->waits = scene->waits;
	trace->waits_count = 5;
	return trace;
}

static void expect_wait(const struct kineto_file *file, const char *name, size_t index,
			const long long wanted[6])
{
	static const char *const keys[] = {
		"wait_on_stream",	 "wait_on_cuda_event_record_corr_id",
		"wait_on_cuda_event_id", "stream",
		"correlation",		 "device"};
	struct json_object *row = kineto_find(file, "cuda_sync", name, index);
	struct json_object *args = kineto_get(row, "args");

	assert_string_equal(kineto_text(args, "cuda_sync_kind"), name);
	assert_int_equal(kineto_number(row, "pid"), 0);
	for (size_t i = 0; i < 6; i++) {
		if (wanted[i] == INT64_MIN)
			assert_null(kineto_get(args, keys[i]));
		else
			assert_int_equal(kineto_number(args, keys[i]), wanted[i]);
	}
}

/* In the file a stream's number is HIP's + 1. */
static void waits_name_their_producer(void **state)
{
	struct scene scene;
	struct kineto_file file = kineto_write(make_scene(&scene), NULL);
	const long long none = INT64_MIN;

	expect_wait(&file, "Stream Wait Event", 0, (const long long[]){2, 6, EVENT, 1, 7, 0});
	expect_wait(&file, "Event Sync", 0, (const long long[]){2, 6, EVENT, -1, 8, 0});
	expect_wait(&file, "Stream Sync", 0, (const long long[]){none, none, none, 2, 10, 0});
	expect_wait(&file, "Context Sync", 0, (const long long[]){none, none, none, -1, 11, 0});
}

static void unresolved_wait_still_emits_event_id(void **state)
{
	struct scene scene;
	struct kineto_file file = kineto_write(make_scene(&scene), NULL);
	struct json_object *call = kineto_find(&file, "cuda_runtime", "hipStreamWaitEvent", 1);

	expect_wait(&file, "Stream Wait Event", 1,
		    (const long long[]){-1, -1, EVENT + 64, 2, 9, 0});
	assert_string_equal(kineto_text(kineto_get(call, "args"), "wait_on_hip_event_id"),
			    "0x7f0000001040");
	assert_null(kineto_arg(call, "wait_on_stream"));
	assert_null(kineto_arg(call, "wait_on_hip_event_record_corr_id"));
}

/* PAIRS: key, text, ..., NULL. */
static void expect_texts(struct json_object *row, const char *const *pairs)
{
	for (; pairs[0]; pairs += 2)
		assert_string_equal(kineto_text(kineto_get(row, "args"), pairs[0]), pairs[1]);
}

static void hip_calls_carry_the_keys_of_kineto_2(void **state)
{
	struct scene scene;
	struct kineto_file file = kineto_write(make_scene(&scene), NULL);
	struct json_object *record =
		kineto_find(&file, "cuda_runtime", "hipEventRecordWithFlags", 0);
	struct json_object *wait = kineto_find(&file, "cuda_runtime", "hipStreamWaitEvent", 0);
	struct json_object *args = kineto_get(wait, "args");

	expect_texts(record,
		     (const char *[]){"hip_event", "0x7f0000001000", "hip_stream", "0x1000", NULL});
	/* The null stream is a stream although its handle is 0. */
	expect_texts(wait, (const char *[]){"sync_type", "stream_wait_event", "hip_stream", "0x0",
					    "hip_event", "0x7f0000001000", "wait_on_stream",
					    "0x1000", "wait_on_hip_event_id", "0x7f0000001000",
					    "known by", "order", NULL});
	assert_int_equal(kineto_number(args, "wait_on_hip_event_record_corr_id"), 6);
	expect_texts(kineto_find(&file, "cuda_runtime", "hipEventSynchronize", 0),
		     (const char *[]){"sync_type", "event_synchronize", "hip_stream", "0x0",
				      "hip_event", "0x7f0000001000", "wait_on_stream", "0x1000",
				      NULL});
	expect_texts(
		kineto_find(&file, "cuda_runtime", "hipStreamSynchronize", 0),
		(const char *[]){"sync_type", "stream_synchronize", "hip_stream", "0x1000", NULL});
	expect_texts(
		kineto_find(&file, "cuda_runtime", "hipDeviceSynchronize", 0),
		(const char *[]){"sync_type", "device_synchronize", "hip_stream", "0x0", NULL});
}

/* A node of the graph that the sample's second launch replays records the event. */
static void waits_name_the_node_that_recorded(void **state)
{
	struct scene scene;
	struct trace *trace = make_scene(&scene);
	struct kineto_file file;
	struct json_object *rows[2], *row;

	scene.records[0].call = 1;
	scene.records[0].cid = 2;
	scene.records[0].node = 1;
	file = kineto_write(trace, NULL);
	rows[0] = kineto_get(kineto_find(&file, "cuda_sync", "Stream Wait Event", 0), "args");
	rows[1] = kineto_get(kineto_find(&file, "cuda_runtime", "hipStreamWaitEvent", 0), "args");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(kineto_number(rows[i], "wait_on_graph_id"), 9);
		assert_int_equal(kineto_number(rows[i], "wait_on_graph_node_id"), (7ll << 32) + 2);
		assert_int_equal(kineto_number(rows[i], "wait_on_replay"), 1);
	}
	assert_int_equal(kineto_number(rows[0], "wait_on_cuda_event_record_corr_id"), 2);
	/* The launch itself records no event. */
	row = kineto_find(&file, "cuda_runtime", "hipGraphLaunch", 1);
	assert_null(kineto_arg(row, "hip_event"));
	row = kineto_get(kineto_find(&file, "cuda_event", "cudaEvent", 0), "args");
	assert_int_equal(kineto_number(row, "graph id"), 9);
	assert_int_equal(kineto_number(row, "graph node id"), (7ll << 32) + 2);
	assert_int_equal(kineto_number(row, "replay"), 1);
}

/* ---- records of events, written and read back ---- */

static struct trace *read_back(const struct kineto_file *file)
{
	const struct read_file text = {"file", file->text, file->bytes};
	const struct read_format *format = NULL;
	struct dagtap_error error;
	struct trace *trace;

	for (size_t i = 0; (format = read_format_at(i)) && !format->is_likely(&text); i++)
		;
	assert_non_null(format);
	if (format->open(&text, NULL, &trace, &error) < 0)
		fail_msg("%s", error.message);
	return read_keep(trace);
}

/* A record whose time is the device's has no time of its own. */
static void records_of_events_have_rows(void **state)
{
	struct scene scene;
	struct trace *trace = make_scene(&scene);
	struct kineto_file file;
	struct json_object *row, *args;

	file = kineto_write(trace, NULL);
	row = kineto_find(&file, "cuda_event", "cudaEvent", 0);
	args = kineto_get(row, "args");
	assert_int_equal(kineto_number(row, "pid"), 0);
	assert_int_equal(kineto_number(row, "tid"), 1000002);
	assert_string_equal(kineto_digits(row, "dur"), "0.000");
	assert_int_equal(kineto_number(args, "event_id"), EVENT);
	assert_int_equal(kineto_number(args, "stream"), 2);
	assert_int_equal(kineto_number(args, "correlation"), 6);
	assert_int_equal(kineto_number(args, "device"), 0);
	assert_null(kineto_get(args, "context"));
	assert_string_equal(kineto_text(args, "untimed"), "host");
	scene.records[0].device_ns = 1003020;
	file = kineto_write(trace, NULL);
	row = kineto_find(&file, "cuda_event", "cudaEvent", 0);
	assert_null(kineto_arg(row, "untimed"));
	assert_null(kineto_find(&file, "cuda_event", "cudaEvent", 1));
	/* HTA takes every row with a stream for work. */
	file = kineto_write(trace, "hta");
	assert_null(kineto_find(&file, "cuda_event", NULL, 0));
}

static void expect_same_rows(const struct kineto_file *a, const struct kineto_file *b,
			     const char *cat)
{
	struct json_object *row;
	size_t count = 0;

	for (; (row = kineto_find(a, cat, NULL, count)); count++) {
		struct json_object *other = kineto_find(b, cat, NULL, count);

		assert_non_null(other);
		json_object_object_foreach(row, key, value) if (strcmp(key, "ts") != 0)
			assert_string_equal(json_object_to_json_string(value),
					    json_object_to_json_string(kineto_get(other, key)));
	}
	assert_true(count > 0);
	assert_null(kineto_find(b, cat, NULL, count));
}

static size_t count_text(const struct kineto_file *file, const char *text)
{
	size_t count = 0;

	for (const char *at = file->text; (at = strstr(at, text)); at++)
		count++;
	return count;
}

static void events_and_contexts_survive_reading_and_writing(void **state)
{
	struct scene scene;
	struct trace *trace = make_scene(&scene), *again;
	struct kineto_file first, second;

	scene.records[0].context = 3;
	scene.records[0].device_ns = 1003020;
	scene.waits[1].known = TRACE_KNOWN_LIKELY;
	for (int i = 0; i < 5; i++)
		scene.waits[i].context = i == 2 ? 4 : 3;
	for (uint32_t i = 0; i < trace->streams_count; i++)
		trace->streams[i].context = 3;
	first = kineto_write(trace, NULL);
	assert_int_equal(kineto_number(kineto_get(kineto_find(&first, "kernel", NULL, 0), "args"),
				       "context"),
			 3);
	again = read_back(&first);
	assert_int_equal(again->event_records_count, 1);
	assert_int_equal(again->event_records[0].context, 3);
	assert_int_equal(again->waits_count, 5);
	assert_int_equal(again->waits[2].context, 4);
	assert_int_equal(again->waits[0].known, TRACE_KNOWN_ORDER);
	second = kineto_write(again, NULL);
	expect_same_rows(&first, &second, "cuda_event");
	expect_same_rows(&first, &second, "cuda_sync");
	assert_int_equal(kineto_number(kineto_get(kineto_find(&second, "kernel", NULL, 0), "args"),
				       "context"),
			 3);
	/* Each fact is in the file only once. */
	assert_int_equal(count_text(&first, "\"hip_stream\""), SCENE_CALLS);
	assert_int_equal(count_text(&second, "\"hip_stream\""), SCENE_CALLS);
	assert_int_equal(count_text(&second, "\"sync_type\""), SCENE_CALLS - 1);
}

/* A HIP launch with two events: both records belong to one call. */
static void records_of_one_call_stay_apart(void **state)
{
	struct scene scene;
	struct trace *trace = make_scene(&scene), *again;
	struct trace_event_record records[2] = {scene.records[0], scene.records[0]};
	struct kineto_file file;

	records[1].event = 1;
	trace->event_records = records;
	trace->event_records_count = 2;
	scene.waits[2].producer = 1;
	scene.waits[2].known = TRACE_KNOWN_LIKELY;
	file = kineto_write(trace, NULL);
	again = read_back(&file);
	assert_int_equal(again->event_records_count, 2);
	assert_int_equal(again->waits_count, 5);
	for (uint32_t i = 0; i < 3; i++) {
		const struct trace_wait *wait = &again->waits[i];

		assert_int_not_equal(wait->producer, TRACE_NONE);
		assert_int_equal(again->event_records[wait->producer].event, wait->event);
		assert_int_equal(again->events[wait->event].handle,
				 trace->events[scene.waits[i].event].handle);
	}
	assert_int_equal(again->waits[2].known, TRACE_KNOWN_LIKELY);
}

static void waits_have_tids_of_their_own(void **state)
{
	struct scene scene;
	struct kineto_file file = kineto_write(make_scene(&scene), NULL);
	long long tid = kineto_number(kineto_find(&file, "cuda_sync", "Stream Sync", 0), "tid");
	bool is_named = false;
	struct json_object *row;

	/* Kineto's offset between thread numbers. */
	assert_int_equal(tid, 1000002);
	for (size_t i = 0; (row = kineto_find(&file, NULL, "thread_name", i)); i++)
		if (kineto_number(row, "tid") == tid)
			is_named = strcmp(kineto_text(kineto_get(row, "args"), "name"),
					  "stream 2 (sync)") == 0;
	assert_true(is_named);
}

/* ---- HTA ---- */

static void hta_finds_cuda_names(void **state)
{
	struct scene scene;
	struct kineto_file file = kineto_write(make_scene(&scene), "hta");
	static const char *const wanted[] = {"cudaEventRecord",	      "cudaStreamWaitEvent",
					     "cudaEventSynchronize",  "cudaStreamSynchronize",
					     "cudaDeviceSynchronize", "cudaGraphLaunch",
					     "cudaMemcpyAsync"};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		assert_non_null(kineto_find(&file, "cuda_runtime", wanted[i], 0));
	for (size_t i = 0; i < file.count; i++) {
		if (kineto_find(&file, "cuda_runtime", NULL, i))
			assert_null(strstr(
				kineto_text(kineto_find(&file, "cuda_runtime", NULL, i), "name"),
				"hip"));
	}
	/* HTA takes every row with wait_on_stream for the wait itself. */
	assert_null(kineto_arg(kineto_find(&file, "cuda_runtime", "cudaStreamWaitEvent", 0),
			       "wait_on_stream"));
}

/* HTA joins a correlation id's one call to its one kernel. */
static void hta_has_a_launch_for_each_graph_kernel(void **state)
{
	struct kineto_file file = kineto_write(sample_trace(), "hta");
	struct json_object *kernel;
	size_t kernels = 0;

	for (; (kernel = kineto_find(&file, "kernel", NULL, kernels)); kernels++) {
		long long id = kineto_number(kineto_get(kernel, "args"), "correlation");
		size_t launches = 0, same = 0;
		struct json_object *row;

		for (size_t i = 0; (row = kineto_find(&file, "kernel", NULL, i)); i++)
			same += kineto_number(kineto_get(row, "args"), "correlation") == id;
		for (size_t i = 0; (row = kineto_find(&file, "cuda_runtime", NULL, i)); i++) {
			if (kineto_number(kineto_get(row, "args"), "correlation") != id)
				continue;
			assert_string_equal(kineto_text(row, "name"), "cudaLaunchKernel");
			/* a third of 100 ns */
			assert_string_equal(kineto_digits(row, "dur"), "0.033");
			launches++;
		}
		assert_int_equal(same, 1);
		assert_int_equal(launches, 1);
	}
	assert_int_equal(kernels, SAMPLE_KERNELS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(waits_name_their_producer),
		KEPT_CASE(unresolved_wait_still_emits_event_id),
		KEPT_CASE(waits_name_the_node_that_recorded),
		KEPT_CASE(records_of_events_have_rows),
		KEPT_CASE(events_and_contexts_survive_reading_and_writing),
		KEPT_CASE(records_of_one_call_stay_apart),
		KEPT_CASE(hip_calls_carry_the_keys_of_kineto_2),
		KEPT_CASE(waits_have_tids_of_their_own),
		KEPT_CASE(hta_finds_cuda_names),
		KEPT_CASE(hta_has_a_launch_for_each_graph_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
