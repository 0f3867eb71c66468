/* Reads Kineto's JSON as PyTorch writes it, and invalid JSON. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "format/kineto/kineto_reader.h"

#define BASE UINT64_C(1790857026000000000)

static char message[1024];

static struct trace *open_bytes(const void *bytes, size_t size)
{
	const struct read_file file = {"made.json", bytes, size};
	struct dagtap_error error = {.message = ""};
	struct trace *trace;
	int result = kineto_open(&file, NULL, &trace, &error);

	snprintf(message, sizeof(message), "%s", error.message);
	if (result < 0) {
		assert_string_not_equal(message, "");
		return NULL;
	}
	return trace;
}

static struct trace *open_text(const char *text)
{
	return open_bytes(text, strlen(text));
}

/* Puts rows into an otherwise complete file. */
static struct trace *open_rows(const char *rows)
{
	size_t room = strlen(rows) + 256;
	char *text = malloc(room);
	struct trace *trace;

	snprintf(text, room, "{\"baseTimeNanoseconds\": %llu, \"traceEvents\": [%s]}",
		 (unsigned long long)BASE, rows);
	trace = open_text(text);
	free(text);
	if (!trace)
		fail_msg("%s", message);
	return trace;
}

static void expect_text(const struct trace *trace, trace_string string, const char *expected)
{
	assert_string_equal(trace_text(trace, string), expected);
}

static bool has_message(const struct trace *trace, const char *part, bool damage)
{
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (strstr(trace_text(trace, trace->messages[i].text), part) &&
		    trace->messages[i].damage == damage)
			return true;
	}
	return false;
}

static const struct trace_scope_attribute *find_attribute(const struct trace *trace, uint32_t first,
							  uint32_t count, const char *key)
{
	for (uint32_t i = first; i < first + count; i++) {
		if (!strcmp(trace_text(trace, trace->scope_attributes[i].key), key))
			return &trace->scope_attributes[i];
	}
	return NULL;
}

static const struct trace_scope_attribute *of_set(const struct trace *trace, uint32_t set,
						  const char *key)
{
	const struct trace_attribute_set *row = &trace->attribute_sets[set];

	return find_attribute(trace, row->first, row->count, key);
}

#define CALL(name, ts, cid, args)                                                                  \
	"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"" name                             \
	"\", \"pid\": 7, \"tid\": 8, \"ts\": " ts                                                  \
	", \"dur\": 1.5, \"args\": {\"correlation\": " cid args "}}"
#define WORK(cat, name, ts, cid, args)                                                             \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name                                  \
	"\", \"pid\": 0, \"tid\": 3, \"ts\": " ts                                                  \
	", \"dur\": 2, \"args\": {\"device\": 0, \"context\": 1, \"stream\": 3, "                  \
	"\"correlation\": " cid args "}}"
#define SCOPE(cat, name, ts, dur, id)                                                              \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name                                  \
	"\", \"pid\": 7, \"tid\": 8, \"ts\": " ts ", \"dur\": " dur                                \
	", \"args\": {\"External id\": " id "}}"

static void a_kernel_and_its_call(void **state)
{
	struct trace *trace = open_text(
		"{\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\", "
		"\"totalGlobalMem\": 150109880320, \"numSms\": 132, \"warpSize\": 32}],\n"
		"\"host_name\": \"node7\", \"traceEvents\": [\n" CALL(
			"cudaLaunchKernel", "10.250", "5",
			", \"cbid\": 211") ",\n" WORK("kernel", "gemm", "4293868439749.373", "5",
						      ", \"grid\": [8, 2, 1], \"block\": [64, 1, "
						      "1], \"shared memory\": 6528, "
						      "\"registers per thread\": 80, \"blocks per "
						      "SM\": 1.939394, "
						      "\"occupancy\": {\"a\": [1, \"x\\\"y\"], "
						      "\"b\": null}") ",\n"
								      "{\"ph\": \"M\", \"name\": "
								      "\"thread_name\", \"pid\": "
								      "7, \"tid\": 8, "
								      "\"args\": {\"name\": "
								      "\"thread 8 (worker)\"}},\n"
								      "{\"ph\": \"M\", \"name\": "
								      "\"process_name\", \"pid\": "
								      "7, \"tid\": 0, "
								      "\"args\": {\"name\": "
								      "\"python3\"}}], "
								      "\"baseTimeNanoseconds\": "
								      "1790857026000000000}");
	const struct trace_activity *kernel;
	const struct trace_work *work;
	uint32_t set;

	assert_non_null(trace);
	assert_int_equal(trace->processes_count, 1);
	assert_int_equal(trace->processes[0].pid, 7);
	expect_text(trace, trace->processes[0].exe, "python3");
	expect_text(trace, trace->processes[0].host, "node7");
	assert_true(trace->processes[0].start_realtime_ns == BASE + 10250);
	expect_text(trace, trace->threads[0].name, "worker");
	assert_int_equal(trace->agents_count, 1);
	expect_text(trace, trace->agents[0].name, "NVIDIA H200");
	assert_int_equal(trace->agents[0].compute_units, 132);
	assert_int_equal(trace->agents[0].wave_size, 32);
	assert_int_equal(trace->streams[0].ordinal, 3);
	assert_int_equal(trace->streams[0].agent, 0);

	kernel = &trace->activities[0];
	assert_int_equal(kernel->call, 0);
	/* The time is exact to the ns: 4293868439749.373 us need more digits than a double has. */
	assert_true(kernel->start_ns == (int64_t)BASE + 4293868439749373);
	assert_true(kernel->end_ns == kernel->start_ns + 2000);
	assert_int_equal(kernel->submit_ns, trace->calls[0].begin_ns);
	work = trace_work_of(trace, kernel);
	expect_text(trace, work->name, "gemm");
	assert_int_equal(work->grid[0], 8 * 64);
	assert_int_equal(work->grid[1], 2);
	assert_int_equal(work->workgroup[0], 64);
	assert_int_equal(work->group_bytes, 6528);
	assert_int_equal(work->registers, 80);
	set = trace->activity_attributes[0];
	assert_true(of_set(trace, set, "blocks per SM")->value.float64 == 1.939394);
	assert_int_equal(of_set(trace, set, "context")->value.int64, 1);
	expect_text(trace, of_set(trace, set, "occupancy")->value.text,
		    "{\"a\":[1, \"x\\\"y\"], \"b\":null}");
	assert_null(of_set(trace, set, "grid"));
	assert_null(of_set(trace, set, "correlation"));

	assert_int_equal(trace->calls[0].cid, 5);
	assert_true(trace->calls[0].end_ns == (int64_t)BASE + 11750);
	assert_int_equal(trace->calls[0].activity_count, 1);
	assert_int_equal(trace->apis[trace->calls[0].api].domain, RECORD_DOMAIN_CUDA);
	assert_int_equal(of_set(trace, trace->call_attributes[0], "cbid")->value.int64, 211);
	trace_close(trace);
}

/* Two launches with three activities each. */
static void graphs_and_replays(void **state)
{
	struct trace *trace = open_rows(
		CALL("cudaGraphLaunch", "20", "9", "") "," CALL("cudaGraphLaunch", "10", "6", "") "," WORK("kernel", "b", "31", "9", ", \"graph id\": 4, \"graph node id\": 12") "," WORK(
			"kernel", "a", "30", "9",
			", \"graph id\": 4, "
			"\"graph node id\": "
			"11") "," WORK("kerne"
				       "l",
				       "a", "15", "6",
				       ", "
				       "\"grap"
				       "h "
				       "id\": "
				       "4, "
				       "\"grap"
				       "h "
				       "node "
				       "id\": "
				       "11") "," WORK("gpu_"
						      "memse"
						      "t",
						      "Memset"
						      " ("
						      "Device"
						      ")",
						      "18", "6",
						      ", "
						      "\"grap"
						      "h "
						      "id\": "
						      "4, "
						      "\"grap"
						      "h "
						      "node "
						      "id\": "
						      "13, "
						      "\"byte"
						      "s\": "
						      "64") "," WORK("kernel", "b", "16", "6",
								     ", \"graph id\": 4, \"graph "
								     "node id\": 12"));
	const struct trace_node *nodes = trace->nodes;

	assert_int_equal(trace->graphs_count, 1);
	assert_int_equal(trace->graphs[0].id, 4);
	assert_int_equal(trace->graphs[0].node_count, 3);
	assert_int_equal(trace->nodes_count, 3);
	expect_text(trace, nodes[0].name, "a");
	expect_text(trace, nodes[1].name, "b");
	assert_int_equal(nodes[2].type, RECORD_NODE_MEMSET);
	assert_int_equal(nodes[2].handle, 13);
	assert_int_equal(trace->execs_count, 1);
	assert_int_equal(trace->execs[0].launch_count, 2);
	assert_int_equal(trace->launches_count, 2);
	assert_int_equal(trace->launches[0].replay, 0);
	assert_int_equal(trace->calls[trace->launches[0].call].cid, 6);
	assert_int_equal(trace->launches[0].activity_count, 3);
	assert_true(trace->launches[0].exact);
	assert_int_equal(trace->calls[trace->launches[1].call].cid, 9);
	assert_int_equal(trace->launches[1].activity_count, 2);
	assert_int_equal(trace->calls[1].launch, 1);
	assert_int_equal(trace->activities[trace->calls[1].activity_first].node, 0);
	trace_close(trace);
}

/*
 * ROCm before it wrote graph ids: the activities of a launch share its correlation id, and nothing
 * else identifies the graph.
 */
static void a_graph_nobody_names(void **state)
{
	struct trace *trace = open_rows(CALL("hipGraphLaunch", "10", "6", "") "," WORK(
		"kernel", "a", "15", "6",
		", \"kind\": \"Dispatch Task\"") "," WORK("kernel", "b", "16", "6",
							  ", \"kind\": \"Dispatch Task\""));

	assert_int_equal(trace->apis[0].domain, RECORD_DOMAIN_HIP);
	assert_int_equal(trace->graphs_count, 0);
	assert_int_equal(trace->launches_count, 1);
	assert_int_equal(trace->launches[0].activity_count, 2);
	assert_int_equal(trace->execs[0].graph, TRACE_NONE);
	assert_int_equal(trace->activities[0].node, TRACE_NONE);
	assert_int_equal(trace->activities[0].confidence, TRACE_CONFIDENCE_UNKNOWN);
	assert_true(has_message(trace, "1 of 1 graph launches", false));
	assert_true(has_message(trace, "2 of 2 kernels", false));
	trace_close(trace);
}

/* ROCm puts the facts of a launch on the call; handles have 64 bits. */
static void rocm_calls(void **state)
{
	struct trace *trace =
		open_rows(CALL("hipLaunchKernel", "1", "5",
			       ", \"cid\": 3, \"grid\": [8, 1, 1], \"block\": [64, 1, 1], \"shared "
			       "memory\": 0") ","
					      "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": "
					      "\"Memcpy DtoH (Device -> Host)\", \"pid\": 1, "
					      "\"tid\": 2, \"ts\": 3, \"dur\": 1, "
					      "\"args\": {\"device\": 1, \"stream\": "
					      "9223372036854775810, \"correlation\": 5, "
					      "\"kind\": \"DtoH\", \"bytes\": 4096, \"hsa_queue\": "
					      "18446744073709551615}}");
	const struct trace_work *work = trace_work_of(trace, &trace->activities[0]);
	uint32_t set = trace->activity_attributes[0];

	expect_text(trace, of_set(trace, trace->call_attributes[0], "grid")->value.text,
		    "[8, 1, 1]");
	assert_int_equal(of_set(trace, trace->call_attributes[0], "cid")->value.int64, 3);
	assert_int_equal(work->kind, TRACE_COPY);
	assert_int_equal(work->direction, TRACE_D2H);
	assert_int_equal(work->bytes, 4096);
	assert_int_equal(trace->agents[work->src_agent].gpu_ordinal, 1);
	assert_int_equal(work->dst_agent, TRACE_NONE);
	assert_true(trace->streams[0].handle == UINT64_C(9223372036854775810));
	assert_int_equal(of_set(trace, set, "hsa_queue")->kind, RECORD_ATTRIBUTE_UINT64);
	assert_true(of_set(trace, set, "hsa_queue")->value.uint64 == UINT64_MAX);
	expect_text(trace, of_set(trace, set, "kind")->value.text, "DtoH");
	trace_close(trace);
}

static void scopes_nest_by_time(void **state)
{
	struct trace *trace = open_rows(
		CALL("cudaLaunchKernel", "22", "5", "") "," SCOPE("cpu_op", "aten::mm", "21", "10", "2") "," SCOPE(
			"python_function",
			"m.py(3): f", "15", "50",
			"0") "," SCOPE("user_annotation", "ProfilerStep#12", "10", "100",
				       "1") "," SCOPE("cpu_op", "aten::add", "40", "5",
						      "3") "," WORK("kernel", "k", "30", "5",
								    ", \"External id\": "
								    "2") "," WORK("kerne"
										  "l",
										  "orpha"
										  "n",
										  "60", "77",
										  ", "
										  "\"Ext"
										  "ernal"
										  " id\""
										  ": 3") "," WORK("kernel",
												  "nobody's",
												  "70",
												  "78",
												  ", \"External id\": 99"));
	const struct trace_scope *rows = trace->scopes;

	assert_int_equal(trace->scopes_count, 4);
	expect_text(trace, rows[0].name, "ProfilerStep#12");
	assert_int_equal(rows[0].kind, RECORD_SCOPE_STEP);
	assert_int_equal(find_attribute(trace, rows[0].attribute_first, rows[0].attribute_count,
					RECORD_STEP_KEY)
				 ->value.int64,
			 12);
	assert_int_equal(rows[0].parent, TRACE_NONE);
	expect_text(trace, rows[1].name, "m.py(3): f");
	assert_int_equal(rows[1].parent, 0);
	expect_text(trace,
		    find_attribute(trace, rows[1].attribute_first, rows[1].attribute_count, "cat")
			    ->value.text,
		    "python_function");
	expect_text(trace, rows[2].name, "aten::mm");
	assert_int_equal(rows[2].parent, 1);
	assert_int_equal(rows[3].parent, 1);
	assert_int_equal(trace->calls[0].scope, 2);
	assert_int_equal(trace->activities[0].scope, 2);
	assert_int_equal(trace->activities[1].call, TRACE_NONE);
	assert_int_equal(trace->activities[1].scope, 3);
	assert_int_equal(trace->activities[2].scope, TRACE_NONE);
	assert_true(has_message(trace, "left out: 1 External ids", false));
	assert_int_equal(trace->sources[0].received, 3);
	assert_int_equal(trace->sources[0].joined, 1);
	assert_int_equal(trace->sources[0].orphan_activities, 2);
	assert_false(trace->sources[0].has_expected);
	trace_close(trace);
}

#define SYNC(name, ts, stream, args)                                                               \
	"{\"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"" name                                \
	"\", \"pid\": 0, \"tid\": 1, \"ts\": " ts                                                  \
	", \"dur\": 4, \"args\": {\"cuda_sync_kind\": \"" name "\", \"stream\": " stream           \
	", \"device\": 0, \"context\": 1" args "}}"
#define EVENT_ARGS(stream, record, event, cid)                                                     \
	", \"wait_on_stream\": " stream ", \"wait_on_cuda_event_record_corr_id\": " record         \
	", \"wait_on_cuda_event_id\": " event ", \"correlation\": " cid

static void waits_of_cuda(void **state)
{
	struct trace *trace = open_rows(CALL("cudaEventRecord", "1", "100", "") "," CALL(
		"cudaStreamWaitEvent", "3", "101",
		"") "," SYNC("Stream Wait Event", "3.5", "4",
			     EVENT_ARGS(
				     "7", "100", "42",
				     "101")) "," SYNC("Event Sync", "9", "-1",
						      EVENT_ARGS(
							      "-1", "-1", "42",
							      "102")) "," SYNC("Stream Sync", "20",
									       "7",
									       ", \"correlation\": "
									       "103") "," SYNC("Con"
											       "tex"
											       "t "
											       "Syn"
											       "c",
											       "30",
											       "-1",
											       ", "
											       "\"c"
											       "orr"
											       "ela"
											       "tio"
											       "n\""
											       ": "
											       "10"
											       "4"));
	const struct trace_wait *waits = trace->waits;
	const struct trace_event_record *record;

	assert_int_equal(trace->waits_count, 4);
	assert_int_equal(waits[0].type, TRACE_WAIT_STREAM_EVENT);
	assert_int_equal(waits[0].known, TRACE_KNOWN_FILE);
	assert_int_equal(trace->streams[waits[0].stream].ordinal, 4);
	assert_int_equal(trace->calls[waits[0].call].cid, 101);
	assert_int_equal(trace->events[waits[0].event].handle, 42);
	record = &trace->event_records[waits[0].producer];
	assert_int_equal(record->cid, 100);
	assert_int_equal(trace->calls[record->call].cid, 100);
	assert_int_equal(trace->streams[record->stream].ordinal, 7);
	assert_int_equal(record->event, waits[0].event);
	assert_int_equal(waits[1].type, TRACE_WAIT_EVENT);
	assert_int_equal(waits[1].known, TRACE_KNOWN_NOT);
	assert_int_equal(waits[1].producer, TRACE_NONE);
	assert_int_equal(waits[1].event, waits[0].event);
	assert_int_equal(waits[1].stream, TRACE_NONE);
	assert_int_equal(waits[1].call, TRACE_NONE);
	assert_int_equal(waits[2].type, TRACE_WAIT_STREAM);
	assert_int_equal(waits[2].stream, record->stream);
	assert_int_equal(waits[3].type, TRACE_WAIT_DEVICE);
	assert_true(waits[3].end_ns == (int64_t)BASE + 34000);
	assert_int_equal(trace->events_count, 1);
	assert_int_equal(trace->event_records_count, 1);
	assert_true(has_message(trace, "1 of 2 waits for events are unresolved", false));
	trace_close(trace);
}

/*
 * The keys that Kineto's pull request for ROCm puts on calls. A cuda_sync row of the same wait adds
 * no second wait.
 */
static void waits_of_hip(void **state)
{
	struct trace *trace = open_rows(WORK("kernel", "k", "1", "50", "") "," CALL(
		"hipEventRecord", "2", "7",
		", \"hip_event\": \"0x7f00\", \"hip_stream\": "
		"3") "," CALL("hipStreamWaitEvent", "4", "8",
			      ", \"hip_event\": \"0x7f00\", "
			      "\"wait_on_stream\": 3, "
			      "\"wait_on_hip_event_record_corr_"
			      "id\": 7, \"hip_stream\": "
			      "140700") "," CALL("hipEventSynch"
						 "ronize",
						 "6", "9",
						 ", "
						 "\"wait_on_"
						 "hip_event_"
						 "id\": "
						 "\"0x7f00\", "
						 "\"wait_on_"
						 "hip_event_"
						 "record_corr_"
						 "id\": "
						 "-1") "," SYNC("Event Sync", "6", "-1",
								EVENT_ARGS("-1", "-1", "-1", "9")));

	assert_int_equal(trace->event_records_count, 1);
	assert_int_equal(trace->event_records[0].cid, 7);
	assert_int_equal(trace->streams[trace->event_records[0].stream].ordinal, 3);
	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(trace->waits[0].type, TRACE_WAIT_STREAM_EVENT);
	assert_int_equal(trace->waits[0].producer, 0);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_FILE);
	/* a handle that no activity had */
	assert_int_equal(trace->waits[0].stream, TRACE_NONE);
	assert_int_equal(trace->waits[1].type, TRACE_WAIT_EVENT);
	assert_int_equal(trace->waits[1].known, TRACE_KNOWN_NOT);
	assert_int_equal(trace->events_count, 1);
	assert_true(trace->events[0].handle == 0x7f00);
	assert_int_equal(trace->waits[1].event, 0);
	trace_close(trace);
}

/*
 * Calls of two processes have the same stream numbers; correlation ids say whose the activities
 * are.
 */
static void two_processes(void **state)
{
	struct trace *trace = open_rows(CALL(
		"cudaLaunchKernel", "1", "5",
		"") ","
		    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
		    "\"pid\": 9, "
		    "\"tid\": 9, \"ts\": 1, \"dur\": 1, \"args\": {\"correlation\": 6}}," WORK(
			    "kernel", "k", "3", "6", "") "," WORK("kernel", "k", "3", "5", ""));

	assert_int_equal(trace->processes_count, 2);
	assert_int_equal(trace->streams_count, 2);
	assert_int_equal(trace->agents_count, 2);
	assert_int_equal(trace->activities[0].process, 0);
	assert_int_equal(trace->activities[0].cid, 5);
	assert_int_equal(trace->activities[1].process, 1);
	assert_int_equal(trace->streams[trace->activities[1].stream].process, 1);
	assert_int_equal(trace->agents[trace->activities[1].agent].process, 1);
	trace_close(trace);
}

/* 0 is not a correlation id: a call without one has no activities. */
static void no_correlation_is_nobodys(void **state)
{
	struct trace *trace = open_rows(
		CALL("cudaLaunchKernel", "1", "5",
		     "") ",{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaFree\", "
			 "\"pid\": 9, "
			 "\"tid\": 9, \"ts\": 1, \"dur\": 1, \"args\": {\"correlation\": 0}}," WORK(
				 "kernel", "k", "3", "0", ""));

	assert_int_equal(trace->processes_count, 2);
	assert_int_equal(trace->activities[0].process, 0);
	trace_close(trace);
}

#define SHAPED(name, id, grid, block)                                                              \
	WORK("kernel", name, id, id, ", \"grid\": " grid ", \"block\": " block)

/*
 * A grid that is not three numbers becomes an attribute; the row does not get the previous row's
 * grid.
 */
static void dimensions_of_another_form(void **state)
{
	struct trace *trace = open_rows(SHAPED("a", "1", "[8, 2, 1]", "[64, 1, 1]") "," SHAPED(
		"b", "2", "16", "[32, 1, 1]") "," SHAPED("c", "3", "[4, 4]", "[32, 1, 1]"));

	assert_int_equal(trace->activities_count, 3);
	for (uint32_t i = 1; i < 3; i++) {
		const struct trace_work *work = trace_work_of(trace, &trace->activities[i]);
		uint32_t set = trace->activity_attributes[i];

		assert_int_equal(work->grid[0], 0);
		assert_int_equal(work->workgroup[0], 0);
		assert_non_null(of_set(trace, set, "grid"));
		expect_text(trace, of_set(trace, set, "block")->value.text, "[32, 1, 1]");
	}
	assert_int_equal(of_set(trace, trace->activity_attributes[1], "grid")->value.int64, 16);
	trace_close(trace);
}

static void times_as_they_are_written(void **state)
{
	struct trace *trace = open_rows(
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"pid\":0,\"ts\":1.5e3,\"dur\":"
		"25e-2},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"pid\":0,\"ts\":2000,\"dur\":-1},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"c\",\"pid\":0,\"ts\":3000.0019999},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"d\",\"pid\":0,\"ts\":1e300,\"dur\":1},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"e\",\"pid\":0,\"dur\":1},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"f\",\"pid\":0,"
		"\"ts\":4000.00000000000000000000000000000000000001,\"dur\":0}");

	assert_int_equal(trace->activities_count, 4);
	assert_true(trace->activities[0].start_ns == (int64_t)BASE + 1500000);
	assert_true(trace->activities[0].end_ns == (int64_t)BASE + 1500250);
	assert_true(trace->activities[1].end_ns == (int64_t)BASE + 1999000);
	assert_true(trace->activities[2].start_ns == (int64_t)BASE + 3000001);
	assert_true(trace->activities[3].start_ns == (int64_t)BASE + 4000000);
	assert_true(has_message(trace, "1 rows end before they begin", false));
	assert_true(has_message(trace, "left out: 2 rows without a time", false));
	trace_close(trace);
}

/* Keys in any order, repeated, of any type; empty rows; values that are not rows. */
static void odd_rows(void **state)
{
	struct trace *trace = open_rows(
		"[], 1, null, \"x\", {}, {\"args\": 3}, {\"args\": {\"correlation\": [1]}, \"ts\": "
		"5, "
		"\"dur\": 1, \"tid\": 1, \"name\": \"k\", \"cat\": \"kernel\", \"ph\": \"X\", "
		"\"name\": \"k\\u0000z\\ud83d\\ude00\"},"
		"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"\xff\xfe\", \"ts\": 1, \"pid\": "
		"\"text\", "
		"\"tid\": \"Thread A\"},"
		"{\"ph\": \"i\", \"s\": \"t\", \"cat\": \"user_annotation\", \"name\": \"mark\", "
		"\"ts\": 1, \"pid\": \"text\", \"tid\": \"Thread A\"},"
		"{\"ph\": \"i\", \"s\": \"t\", \"cat\": \"cpu_instant_event\", \"name\": "
		"\"[memory]\", "
		"\"ts\": 1, \"pid\": 1, \"tid\": 1},"
		"{\"ph\": \"B\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 5},"
		"{\"ph\": \"s\", \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\", \"id\": 1, \"ts\": 5},"
		"{\"ph\": \"s\", \"cat\": \"ac2g\", \"name\": \"ac2g\", \"id\": 1, \"ts\": 5}");

	assert_int_equal(trace->activities_count, 1);
	expect_text(trace, trace_work_of(trace, &trace->activities[0])->name, "k");
	expect_text(trace, trace->threads[0].name, "Thread A");
	expect_text(trace, trace->scopes[0].name, "\xff\xfe");
	assert_int_equal(trace->scopes_count, 2);
	expect_text(trace, trace->scopes[1].name, "mark");
	assert_int_equal(trace->scopes[1].kind, RECORD_SCOPE_MARK);
	assert_true(has_message(trace, "left out: 4 counters", false));
	assert_true(has_message(trace, "left out: 1 arrows", false));
	trace_close(trace);
}

static void nothing_to_read(void **state)
{
	struct trace *trace = open_text("{\"traceEvents\": []}");

	assert_non_null(trace);
	assert_int_equal(trace->processes_count, 1);
	assert_int_equal(trace->activities_count, 0);
	assert_true(has_message(trace, "no baseTimeNanoseconds", false));
	trace_close(trace);
	trace = open_text("[" CALL("cudaMalloc", "1", "5", "") "]");
	assert_non_null(trace);
	assert_int_equal(trace->calls_count, 1);
	trace_close(trace);
}

static void expect_refusal(const char *text, const char *part)
{
	struct trace *trace = open_text(text);

	assert_null(trace);
	if (!strstr(message, part) || !strstr(message, "made.json") || strchr(message, '\n'))
		fail_msg("\"%s\" has no \"%s\"", message, part);
}

static void bad_files(void **state)
{
	expect_refusal("{\"summary\": 1}", "no traceEvents");
	expect_refusal("{\"schemaVersion\": 1,", "before any traceEvents");
	expect_refusal("{\"traceEvents\": [{\"a\": 1} {\"a\": 2}]}", "offset 26");
	expect_refusal("{\n\"traceEvents\": [\n{\"a\" 1}]}", "line 3");
	expect_refusal("{\"traceEvents\": []} x", "no JSON");
	expect_refusal("{\"traceEvents\": [{\"name\": \"a\nb\"}]}", "no JSON");
	expect_refusal("{\"traceEvents\": [{\"ts\": 1.}]}", "no JSON");
}

static void a_byte_of_zero(void **state)
{
	static const char text[] = "{\"traceEvents\": [\0]}";

	assert_null(open_bytes(text, sizeof(text) - 1));
	assert_non_null(strstr(message, "offset 17"));
}

static void deep_values(void **state)
{
	size_t depth = 1000000;
	char *text = malloc(depth * 2 + 256);
	size_t bytes = (size_t)sprintf(text, "{\"traceEvents\": [{\"args\": {\"a\": ");
	struct trace *trace;

	memset(text + bytes, '[', depth);
	assert_null(open_bytes(text, bytes + depth));
	assert_non_null(strstr(message, "nested"));
	memset(text + bytes, '[', 300);
	memset(text + bytes + 300, ']', 300);
	sprintf(text + bytes + 600, "}, \"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1}]}");
	trace = open_text(text);
	assert_non_null(trace);
	assert_int_equal(
		strlen(trace_text(trace,
				  of_set(trace, trace->activity_attributes[0], "a")->value.text)),
		600);
	trace_close(trace);
	free(text);
}

/* A million threads with a call each, in no order: no lookup may be a linear search. */
static void many_threads(void **state)
{
	enum { COUNT = 1000000 };
	size_t room = (size_t)COUNT * 96 + 64, bytes;
	char *text = malloc(room);
	struct trace *trace;

	bytes = (size_t)sprintf(text, "{\"traceEvents\": [");
	for (int i = 0; i < COUNT; i++)
		bytes += (size_t)sprintf(text + bytes,
					 "%s{\"ph\":\"X\",\"cat\":\"Runtime\",\"pid\":1,\"tid\":%d,"
					 "\"ts\":%d,\"name\":\"%d\"}",
					 i ? "," : "", COUNT - i, i % 1000, i);
	bytes += (size_t)sprintf(text + bytes, "]}");
	trace = open_bytes(text, bytes);
	assert_non_null(trace);
	assert_int_equal(trace->threads_count, COUNT);
	assert_int_equal(trace->calls_count, COUNT);
	assert_int_equal(trace->threads[0].tid, 1);
	trace_close(trace);
	free(text);
}

/* ---- the file that PyTorch wrote ---- */

struct bytes {
	uint8_t *bytes;
	size_t size;
};

static struct bytes read_case(void)
{
	const char *source = getenv("SOURCE_DIR");
	struct bytes ret = {malloc(1 << 20), 0};
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/data/torch-small.json", source ? source : ".");
	file = fopen(path, "rb");
	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	ret.size = fread(ret.bytes, 1, 1 << 20, file);
	fclose(file);
	return ret;
}

/* Two gzip members in one file without anything behind them, which gzip allows. */
static struct bytes pack(const struct bytes *text)
{
	struct bytes ret = {malloc(text->size + 4096), 0};
	size_t half = text->size / 2;

	for (int part = 0; part < 2; part++) {
		z_stream stream = {0};

		assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
		stream.next_in = text->bytes + (part ? half : 0);
		stream.avail_in = (uInt)(part ? text->size - half : half);
		stream.next_out = ret.bytes + ret.size;
		stream.avail_out = (uInt)(text->size + 4096 - ret.size);
		assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
		ret.size += stream.total_out;
		deflateEnd(&stream);
	}
	return ret;
}

static void a_trace_of_pytorch(void **state)
{
	struct bytes text = read_case(), packed = pack(&text);
	struct bytes *forms[] = {&text, &packed};

	for (int form = 0; form < 2; form++) {
		struct trace *trace = open_bytes(forms[form]->bytes, forms[form]->size);
		uint32_t unresolved = 0;

		assert_non_null(trace);
		assert_int_equal(trace->activities_count, 111);
		assert_int_equal(trace->calls_count, 62);
		assert_int_equal(trace->waits_count, 14);
		for (uint32_t i = 0; i < trace->waits_count; i++) {
			assert_int_not_equal(trace->waits[i].type, TRACE_WAIT_UNKNOWN);
			assert_int_not_equal(trace->waits[i].call, TRACE_NONE);
			unresolved += trace->waits[i].known == TRACE_KNOWN_NOT;
		}
		assert_int_equal(unresolved, 14);
		assert_int_equal(trace->event_records_count, 0);
		assert_int_equal(trace->overheads_count, 2);
		assert_int_equal(trace->overheads[0].kind, 7 << 16);
		assert_int_equal(trace->sources[0].joined, 111);
		assert_false(trace->truncated);
		trace_close(trace);
	}
	free(text.bytes);
	free(packed.bytes);
}

static void collective_calls_belong_to_rccl(void **state)
{
	struct trace *trace = open_rows(
		CALL("ncclAllReduce", "1", "1", "") "," CALL("mscclRunAlgo", "3", "2", ""));

	assert_int_equal(trace->apis_count, 2);
	assert_int_equal(trace->apis[0].domain, RECORD_DOMAIN_RCCL);
	assert_int_equal(trace->apis[1].domain, RECORD_DOMAIN_RCCL);
	trace_close(trace);
}

/* A truncated file is read up to its end, wherever that is. */
static void cut_off_anywhere(void **state)
{
	struct bytes text = read_case(), packed = pack(&text);
	uint32_t most = 0;

	for (size_t size = 1500; size < text.size; size += 997) {
		struct trace *trace = open_bytes(text.bytes, size);

		assert_non_null(trace);
		assert_true(trace->truncated);
		assert_int_equal(trace->processes[0].state, TRACE_TRUNCATED);
		assert_true(has_message(trace, "cut off at byte", true));
		assert_true(trace->activities_count >= most);
		most = trace->activities_count;
		trace_close(trace);
	}
	assert_true(most > 100);
	for (size_t size = packed.size / 2; size < packed.size; size += 997) {
		struct trace *trace = open_bytes(packed.bytes, size);

		assert_non_null(trace);
		assert_true(trace->truncated);
		trace_close(trace);
	}
	packed.bytes[packed.size / 3] ^= 0xff;
	assert_null(open_bytes(packed.bytes, packed.size));
	assert_non_null(strstr(message, "gzip"));
	free(text.bytes);
	free(packed.bytes);
}

static void likely(void **state)
{
	static const struct {
		const char *text;
		bool is_likely;
	} cases[] = {{"\n {\"a\"", true}, {"[", true},	       {"", false},
		     {"  ", false},	  {"\x1f\x8b", false}, {"DAGTAP", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct read_file file = {"f", cases[i].text, strlen(cases[i].text)};

		assert_int_equal(kineto_is_likely(&file), cases[i].is_likely);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_and_its_call),
		cmocka_unit_test(graphs_and_replays),
		cmocka_unit_test(a_graph_nobody_names),
		cmocka_unit_test(rocm_calls),
		cmocka_unit_test(scopes_nest_by_time),
		cmocka_unit_test(waits_of_cuda),
		cmocka_unit_test(waits_of_hip),
		cmocka_unit_test(two_processes),
		cmocka_unit_test(no_correlation_is_nobodys),
		cmocka_unit_test(dimensions_of_another_form),
		cmocka_unit_test(times_as_they_are_written),
		cmocka_unit_test(odd_rows),
		cmocka_unit_test(nothing_to_read),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(a_byte_of_zero),
		cmocka_unit_test(deep_values),
		cmocka_unit_test(many_threads),
		cmocka_unit_test(a_trace_of_pytorch),
		cmocka_unit_test(collective_calls_belong_to_rccl),
		cmocka_unit_test(cut_off_anywhere),
		cmocka_unit_test(likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
