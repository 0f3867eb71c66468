/* What the rows of Kineto's JSON become, as PyTorch writes them. */
#include "kineto_opened.h"

static void expect_places(const struct trace *trace)
{
	assert_int_equal(trace->processes_count, 1);
	assert_int_equal(trace->processes[0].pid, 7);
	read_expect_text(trace, trace->processes[0].exe, "python3");
	read_expect_text(trace, trace->processes[0].host, "node7");
	assert_true(trace->processes[0].start_realtime_ns == KINETO_BASE + 10250);
	read_expect_text(trace, trace->threads[0].name, "worker");
	assert_int_equal(trace->agents_count, 1);
	read_expect_text(trace, trace->agents[0].name, "NVIDIA H200");
	assert_int_equal(trace->agents[0].compute_units, 132);
	assert_int_equal(trace->agents[0].wave_size, 32);
	assert_int_equal(trace->streams[0].ordinal, 3);
	assert_int_equal(trace->streams[0].agent, 0);
}

static void expect_kernel(const struct trace *trace)
{
	const struct trace_activity *kernel = &trace->activities[0];
	const struct trace_work *work = trace_work_of(trace, kernel);
	uint32_t set = trace->activity_attributes[0];

	assert_int_equal(kernel->call, 0);
	/* The time is exact to the ns: 4293868439749.373 us need more digits than a double has. */
	assert_true(kernel->start_ns == (int64_t)KINETO_BASE + 4293868439749373);
	assert_true(kernel->end_ns == kernel->start_ns + 2000);
	assert_int_equal(kernel->submit_ns, trace->calls[0].begin_ns);
	read_expect_text(trace, work->name, "gemm");
	assert_int_equal(work->grid[0], 8 * 64);
	assert_int_equal(work->grid[1], 2);
	assert_int_equal(work->workgroup[0], 64);
	assert_int_equal(work->group_bytes, 6528);
	assert_int_equal(work->registers, 80);
	assert_true(read_attribute(trace, set, "blocks per SM")->value.float64 == 1.939394);
	assert_int_equal(read_attribute(trace, set, "context")->value.int64, 1);
	read_expect_text(trace, read_attribute(trace, set, "occupancy")->value.text,
			 "{\"a\":[1, \"x\\\"y\"], \"b\":null}");
	assert_null(read_attribute(trace, set, "grid"));
	assert_null(read_attribute(trace, set, "correlation"));
}

static void a_kernel_and_its_call(void **state)
{
	struct trace *trace = kineto_open_members(
		"'deviceProperties': [{'id': 0, 'name': 'NVIDIA H200', 'totalGlobalMem': "
		"150109880320, 'numSms': 132, 'warpSize': 32}],\n'host_name': 'node7', ",
		KINETO_ROWS(CALL("cudaLaunchKernel", "10.250", "5", ", 'cbid': 211"),
			    WORK("kernel", "gemm", "4293868439749.373", "5",
				 ", 'grid': [8, 2, 1], 'block': [64, 1, 1], 'shared memory': 6528, "
				 "'registers per thread': 80, 'blocks per SM': 1.939394, "
				 "'occupancy': {'a': [1, 'x\\\"y'], 'b': null}"),
			    "{'ph': 'M', 'name': 'thread_name', 'pid': 7, 'tid': 8, "
			    "'args': {'name': 'thread 8 (worker)'}}",
			    "{'ph': 'M', 'name': 'process_name', 'pid': 7, 'tid': 0, "
			    "'args': {'name': 'python3'}}"),
		", 'baseTimeNanoseconds': 1790857026000000000");

	expect_places(trace);
	expect_kernel(trace);
	assert_int_equal(trace->calls[0].cid, 5);
	assert_true(trace->calls[0].end_ns == (int64_t)KINETO_BASE + 11750);
	assert_int_equal(trace->calls[0].activity_count, 1);
	assert_int_equal(trace->apis[trace->calls[0].api].domain, RECORD_DOMAIN_CUDA);
	assert_int_equal(read_attribute(trace, trace->call_attributes[0], "cbid")->value.int64,
			 211);
}

/* Two launches with three activities each. */
static void graphs_and_replays(void **state)
{
	struct trace *trace = kineto_open_rows(
		CALL("cudaGraphLaunch", "20", "9", ""), CALL("cudaGraphLaunch", "10", "6", ""),
		WORK("kernel", "b", "31", "9", ", 'graph id': 4, 'graph node id': 12"),
		WORK("kernel", "a", "30", "9", ", 'graph id': 4, 'graph node id': 11"),
		WORK("kernel", "a", "15", "6", ", 'graph id': 4, 'graph node id': 11"),
		WORK("gpu_memset", "Memset (Device)", "18", "6",
		     ", 'graph id': 4, 'graph node id': 13, 'bytes': 64"),
		WORK("kernel", "b", "16", "6", ", 'graph id': 4, 'graph node id': 12"));
	const struct trace_node *nodes = trace->nodes;

	assert_int_equal(trace->graphs_count, 1);
	assert_int_equal(trace->graphs[0].id, 4);
	assert_int_equal(trace->graphs[0].node_count, 3);
	assert_int_equal(trace->nodes_count, 3);
	read_expect_text(trace, nodes[0].name, "a");
	read_expect_text(trace, nodes[1].name, "b");
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
}

/*
 * ROCm before it wrote graph ids: the activities of a launch share its correlation id, and nothing
 * else identifies the graph.
 */
static void a_graph_nobody_names(void **state)
{
	struct trace *trace =
		kineto_open_rows(CALL("hipGraphLaunch", "10", "6", ""),
				 WORK("kernel", "a", "15", "6", ", 'kind': 'Dispatch Task'"),
				 WORK("kernel", "b", "16", "6", ", 'kind': 'Dispatch Task'"));

	assert_int_equal(trace->apis[0].domain, RECORD_DOMAIN_HIP);
	assert_int_equal(trace->graphs_count, 0);
	assert_int_equal(trace->launches_count, 1);
	assert_int_equal(trace->launches[0].activity_count, 2);
	assert_int_equal(trace->execs[0].graph, TRACE_NONE);
	assert_int_equal(trace->activities[0].node, TRACE_NONE);
	assert_int_equal(trace->activities[0].confidence, TRACE_CONFIDENCE_UNKNOWN);
	assert_true(read_has_message(trace, "1 of 1 graph launches", false));
	assert_true(read_has_message(trace, "2 of 2 kernels", false));
}

/* ROCm puts the facts of a launch on the call; handles have 64 bits. */
static void rocm_calls(void **state)
{
	struct trace *trace = kineto_open_rows(
		CALL("hipLaunchKernel", "1", "5",
		     ", 'cid': 3, 'grid': [8, 1, 1], 'block': [64, 1, 1], 'shared memory': 0"),
		"{'ph': 'X', 'cat': 'gpu_memcpy', 'name': 'Memcpy DtoH (Device -> Host)', 'pid': "
		"1, 'tid': 2, 'ts': 3, 'dur': 1, 'args': {'device': 1, 'stream': "
		"9223372036854775810, 'correlation': 5, 'kind': 'DtoH', 'bytes': 4096, "
		"'hsa_queue': 18446744073709551615}}");
	const struct trace_work *work = trace_work_of(trace, &trace->activities[0]);
	uint32_t set = trace->activity_attributes[0];

	read_expect_text(trace,
			 read_attribute(trace, trace->call_attributes[0], "grid")->value.text,
			 "[8, 1, 1]");
	assert_int_equal(read_attribute(trace, trace->call_attributes[0], "cid")->value.int64, 3);
	assert_int_equal(work->kind, TRACE_COPY);
	assert_int_equal(work->direction, TRACE_D2H);
	assert_int_equal(work->bytes, 4096);
	assert_int_equal(trace->agents[work->src_agent].gpu_ordinal, 1);
	assert_int_equal(work->dst_agent, TRACE_NONE);
	assert_true(trace->streams[0].handle == UINT64_C(9223372036854775810));
	assert_int_equal(read_attribute(trace, set, "hsa_queue")->kind, RECORD_ATTRIBUTE_UINT64);
	assert_true(read_attribute(trace, set, "hsa_queue")->value.uint64 == UINT64_MAX);
	read_expect_text(trace, read_attribute(trace, set, "kind")->value.text, "DtoH");
}

static void scopes_nest_by_time(void **state)
{
	struct trace *trace =
		kineto_open_rows(CALL("cudaLaunchKernel", "22", "5", ""),
				 SCOPE("cpu_op", "aten::mm", "21", "10", "2"),
				 SCOPE("python_function", "m.py(3): f", "15", "50", "0"),
				 SCOPE("user_annotation", "ProfilerStep#12", "10", "100", "1"),
				 SCOPE("cpu_op", "aten::add", "40", "5", "3"),
				 WORK("kernel", "k", "30", "5", ", 'External id': 2"),
				 WORK("kernel", "orphan", "60", "77", ", 'External id': 3"),
				 WORK("kernel", "unnamed", "70", "78", ", 'External id': 99"));
	const struct trace_scope *rows = trace->scopes;

	assert_int_equal(trace->scopes_count, 4);
	read_expect_text(trace, rows[0].name, "ProfilerStep#12");
	assert_int_equal(rows[0].kind, RECORD_SCOPE_STEP);
	assert_int_equal(read_attribute_in(trace, rows[0].attribute_first, rows[0].attribute_count,
					   RECORD_STEP_KEY)
				 ->value.int64,
			 12);
	assert_int_equal(rows[0].parent, TRACE_NONE);
	read_expect_text(trace, rows[1].name, "m.py(3): f");
	assert_int_equal(rows[1].parent, 0);
	read_expect_text(
		trace,
		read_attribute_in(trace, rows[1].attribute_first, rows[1].attribute_count, "cat")
			->value.text,
		"python_function");
	read_expect_text(trace, rows[2].name, "aten::mm");
	assert_int_equal(rows[2].parent, 1);
	assert_int_equal(rows[3].parent, 1);
	assert_int_equal(trace->calls[0].scope, 2);
	assert_int_equal(trace->activities[0].scope, 2);
	assert_int_equal(trace->activities[1].call, TRACE_NONE);
	assert_int_equal(trace->activities[1].scope, 3);
	assert_int_equal(trace->activities[2].scope, TRACE_NONE);
	assert_true(read_has_message(trace, "left out: 1 External ids", false));
	assert_int_equal(trace->sources[0].received, 3);
	assert_int_equal(trace->sources[0].joined, 1);
	assert_int_equal(trace->sources[0].orphan_activities, 2);
	assert_false(trace->sources[0].has_expected);
}

#define SYNC(name, ts, stream, args)                                                               \
	"{'ph': 'X', 'cat': 'cuda_sync', 'name': '" name "', 'pid': 0, 'tid': 1, 'ts': " ts        \
	", 'dur': 4, 'args': {'cuda_sync_kind': '" name "', 'stream': " stream                     \
	", 'device': 0, 'context': 1" args "}}"
#define EVENT_ARGS(stream, record, event, cid)                                                     \
	", 'wait_on_stream': " stream ", 'wait_on_cuda_event_record_corr_id': " record             \
	", 'wait_on_cuda_event_id': " event ", 'correlation': " cid

static void waits_of_cuda(void **state)
{
	struct trace *trace = kineto_open_rows(
		CALL("cudaEventRecord", "1", "100", ""),
		CALL("cudaStreamWaitEvent", "3", "101", ""),
		SYNC("Stream Wait Event", "3.5", "4", EVENT_ARGS("7", "100", "42", "101")),
		SYNC("Event Sync", "9", "-1", EVENT_ARGS("-1", "-1", "42", "102")),
		SYNC("Stream Sync", "20", "7", ", 'correlation': 103"),
		SYNC("Context Sync", "30", "-1", ", 'correlation': 104"));
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
	assert_true(waits[3].end_ns == (int64_t)KINETO_BASE + 34000);
	assert_int_equal(trace->events_count, 1);
	assert_int_equal(trace->event_records_count, 1);
	assert_true(read_has_message(trace, "1 of 2 waits for events are unresolved", false));
}

/*
 * The keys that Kineto's pull request for ROCm puts on calls. A cuda_sync row of the same wait adds
 * no second wait.
 */
static void waits_of_hip(void **state)
{
	struct trace *trace = kineto_open_rows(
		WORK("kernel", "k", "1", "50", ""),
		CALL("hipEventRecord", "2", "7", ", 'hip_event': '0x7f00', 'hip_stream': 3"),
		CALL("hipStreamWaitEvent", "4", "8",
		     ", 'hip_event': '0x7f00', 'wait_on_stream': 3, "
		     "'wait_on_hip_event_record_corr_id': 7, 'hip_stream': 140700"),
		CALL("hipEventSynchronize", "6", "9",
		     ", 'wait_on_hip_event_id': '0x7f00', 'wait_on_hip_event_record_corr_id': -1"),
		SYNC("Event Sync", "6", "-1", EVENT_ARGS("-1", "-1", "-1", "9")));

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
}

/*
 * The streams of HIP's waits: of those that wait for a stream, or let one wait. The null stream of
 * the others, which has work here, is none.
 */
static void streams_of_hip_waits(void **state)
{
	struct trace *trace = kineto_open_rows(
		WORK("kernel", "k", "1", "50", ""),
		"{'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 0, 'ts': 1, 'dur': 2, "
		"'args': {'device': 0, 'context': 1, 'stream': 0, 'correlation': 51}}",
		CALL("hipStreamWaitEvent", "4", "8", ", 'hip_event': '0x7f00', 'hip_stream': 3"),
		CALL("hipStreamSynchronize", "6", "9", ", 'hip_stream': 0"),
		CALL("hipEventSynchronize", "8", "10", ", 'hip_event': '0x7f00', 'hip_stream': 0"),
		CALL("hipDeviceSynchronize", "9", "11",
		     ", 'sync_type': 'device_synchronize', 'hip_stream': 0"));
	const struct trace_wait *waits = trace->waits;

	assert_int_equal(trace->waits_count, 4);
	assert_int_equal(waits[0].type, TRACE_WAIT_STREAM_EVENT);
	assert_int_equal(waits[0].stream, trace->activities[0].stream);
	assert_int_equal(waits[1].type, TRACE_WAIT_STREAM);
	assert_int_equal(waits[1].stream, trace->activities[1].stream);
	assert_int_equal(waits[2].type, TRACE_WAIT_EVENT);
	assert_int_equal(waits[2].stream, TRACE_NONE);
	assert_int_equal(waits[3].type, TRACE_WAIT_DEVICE);
	assert_int_equal(waits[3].stream, TRACE_NONE);
}

/*
 * Calls of two processes have the same stream numbers; correlation ids say whose the activities
 * are.
 */
static void two_processes(void **state)
{
	struct trace *trace = kineto_open_rows(
		CALL("cudaLaunchKernel", "1", "5", ""),
		"{'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 9, 'tid': "
		"9, 'ts': 1, 'dur': 1, 'args': {'correlation': 6}}",
		WORK("kernel", "k", "3", "6", ""), WORK("kernel", "k", "3", "5", ""));

	assert_int_equal(trace->processes_count, 2);
	assert_int_equal(trace->streams_count, 2);
	assert_int_equal(trace->agents_count, 2);
	assert_int_equal(trace->activities[0].process, 0);
	assert_int_equal(trace->activities[0].cid, 5);
	assert_int_equal(trace->activities[1].process, 1);
	assert_int_equal(trace->streams[trace->activities[1].stream].process, 1);
	assert_int_equal(trace->agents[trace->activities[1].agent].process, 1);
}

/* 0 is not a correlation id: a call without one has no activities. */
static void no_correlation_is_nobodys(void **state)
{
	struct trace *trace =
		kineto_open_rows(CALL("cudaLaunchKernel", "1", "5", ""),
				 "{'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaFree', 'pid': 9, "
				 "'tid': 9, 'ts': 1, 'dur': 1, 'args': {'correlation': 0}}",
				 WORK("kernel", "k", "3", "0", ""));

	assert_int_equal(trace->processes_count, 2);
	assert_int_equal(trace->activities[0].process, 0);
}

#define SHAPED(name, id, grid, block)                                                              \
	WORK("kernel", name, id, id, ", 'grid': " grid ", 'block': " block)

/*
 * A grid that is not three numbers becomes an attribute; the row does not get the previous row's
 * grid.
 */
static void dimensions_of_another_form(void **state)
{
	struct trace *trace = kineto_open_rows(SHAPED("a", "1", "[8, 2, 1]", "[64, 1, 1]"),
					       SHAPED("b", "2", "16", "[32, 1, 1]"),
					       SHAPED("c", "3", "[4, 4]", "[32, 1, 1]"));

	assert_int_equal(trace->activities_count, 3);
	for (uint32_t i = 1; i < 3; i++) {
		const struct trace_work *work = trace_work_of(trace, &trace->activities[i]);
		uint32_t set = trace->activity_attributes[i];

		assert_int_equal(work->grid[0], 0);
		assert_int_equal(work->workgroup[0], 0);
		assert_non_null(read_attribute(trace, set, "grid"));
		read_expect_text(trace, read_attribute(trace, set, "block")->value.text,
				 "[32, 1, 1]");
	}
	assert_int_equal(read_attribute(trace, trace->activity_attributes[1], "grid")->value.int64,
			 16);
}

static void times_as_they_are_written(void **state)
{
	struct trace *trace = kineto_open_rows(
		"{'ph':'X','cat':'kernel','name':'a','pid':0,'ts':1.5e3,'dur':25e-2}",
		"{'ph':'X','cat':'kernel','name':'b','pid':0,'ts':2000,'dur':-1}",
		"{'ph':'X','cat':'kernel','name':'c','pid':0,'ts':3000.0019999}",
		"{'ph':'X','cat':'kernel','name':'d','pid':0,'ts':1e300,'dur':1}",
		"{'ph':'X','cat':'kernel','name':'e','pid':0,'dur':1}",
		"{'ph':'X','cat':'kernel','name':'f','pid':0,'ts':4000."
		"00000000000000000000000000000000000001,'dur':0}");

	assert_int_equal(trace->activities_count, 4);
	assert_true(trace->activities[0].start_ns == (int64_t)KINETO_BASE + 1500000);
	assert_true(trace->activities[0].end_ns == (int64_t)KINETO_BASE + 1500250);
	assert_true(trace->activities[1].end_ns == (int64_t)KINETO_BASE + 1999000);
	assert_true(trace->activities[2].start_ns == (int64_t)KINETO_BASE + 3000001);
	assert_true(trace->activities[3].start_ns == (int64_t)KINETO_BASE + 4000000);
	assert_true(read_has_message(trace, "1 rows end before they begin", false));
	assert_true(read_has_message(trace, "left out: 2 rows without a time", false));
}

/* Keys in any order, repeated, of any type; empty rows; values that are not rows. */
static void odd_rows(void **state)
{
	struct trace *trace = kineto_open_rows(
		"[], 1, null, 'x', {}", "{'args': 3}",
		"{'args': {'correlation': [1]}, 'ts': 5, 'dur': 1, 'tid': 1, 'name': 'k', 'cat': "
		"'kernel', 'ph': 'X', 'name': 'k\\u0000z\\ud83d\\ude00'}",
		"{'ph': 'X', 'cat': 'cpu_op', 'name': '\xff\xfe', 'ts': 1, 'pid': 'text', 'tid': "
		"'Thread A'}",
		"{'ph': 'i', 's': 't', 'cat': 'user_annotation', 'name': 'mark', 'ts': 1, 'pid': "
		"'text', 'tid': 'Thread A'}",
		"{'ph': 'i', 's': 't', 'cat': 'cpu_instant_event', 'name': '[memory]', 'ts': 1, "
		"'pid': 1, 'tid': 1}",
		"{'ph': 'B', 'cat': 'kernel', 'name': 'k', 'ts': 5}",
		"{'ph': 's', 'cat': 'fwdbwd', 'name': 'fwdbwd', 'id': 1, 'ts': 5}",
		"{'ph': 's', 'cat': 'ac2g', 'name': 'ac2g', 'id': 1, 'ts': 5}");

	assert_int_equal(trace->activities_count, 1);
	read_expect_text(trace, trace_work_of(trace, &trace->activities[0])->name, "k");
	read_expect_text(trace, trace->threads[0].name, "Thread A");
	read_expect_text(trace, trace->scopes[0].name, "\xff\xfe");
	assert_int_equal(trace->scopes_count, 2);
	read_expect_text(trace, trace->scopes[1].name, "mark");
	assert_int_equal(trace->scopes[1].kind, RECORD_SCOPE_MARK);
	assert_true(read_has_message(trace, "left out: 4 counters", false));
	assert_true(read_has_message(trace, "left out: 1 arrows", false));
}

static void collective_calls_belong_to_rccl(void **state)
{
	struct trace *trace = kineto_open_rows(CALL("ncclAllReduce", "1", "1", ""),
					       CALL("mscclRunAlgo", "3", "2", ""));

	assert_int_equal(trace->apis_count, 2);
	assert_int_equal(trace->apis[0].domain, RECORD_DOMAIN_RCCL);
	assert_int_equal(trace->apis[1].domain, RECORD_DOMAIN_RCCL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(a_kernel_and_its_call),
		KEPT_CASE(graphs_and_replays),
		KEPT_CASE(a_graph_nobody_names),
		KEPT_CASE(rocm_calls),
		KEPT_CASE(scopes_nest_by_time),
		KEPT_CASE(waits_of_cuda),
		KEPT_CASE(waits_of_hip),
		KEPT_CASE(streams_of_hip_waits),
		KEPT_CASE(two_processes),
		KEPT_CASE(no_correlation_is_nobodys),
		KEPT_CASE(dimensions_of_another_form),
		KEPT_CASE(times_as_they_are_written),
		KEPT_CASE(odd_rows),
		KEPT_CASE(collective_calls_belong_to_rccl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
