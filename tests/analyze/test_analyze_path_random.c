/*
 * Random programs on a machine without delays: the critical path must be as long as the longest
 * chain of kernels that wait for each other, which is found by trying every chain.
 *
 * Here the dependencies of a kernel are a set of all kernels before it, without joins, edges that
 * stand for several, or the streams' last work: a second, independent formulation of what streams
 * mean.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "analyze/path_report.h"
#include "analyze/path_window.h"

enum { STREAMS = 5, EVENTS = 4, KERNELS = 40, CALLS = 80, GRAPH_NODES = 6, START_NS = 1000 };

enum work {
	CALL_KERNEL,
	CALL_RECORD,
	CALL_WAIT,
	CALL_STREAM_SYNC,
	CALL_EVENT_SYNC,
	CALL_DEVICE_SYNC,
	CALL_GRAPH
};

static const enum trace_stream_kind kinds[STREAMS] = {
	TRACE_STREAM_NULL, TRACE_STREAM_BLOCKING, TRACE_STREAM_NONBLOCKING, TRACE_STREAM_BLOCKING,
	TRACE_STREAM_NONBLOCKING};

struct machine {
	uint64_t random;
	int64_t host_ns;
	uint64_t host;		   /* kernels that the host has waited for */
	uint64_t streams[STREAMS]; /* kernels that a stream's next work waits for */
	uint64_t events[EVENTS];
	uint32_t records[EVENTS]; /* the event's latest record, + 1 */
	uint64_t before[KERNELS]; /* kernels that each kernel waits for */
	int64_t longest[KERNELS];
	struct trace trace;
	struct trace_process process;
	struct trace_thread thread;
	struct trace_agent agent;
	struct trace_stream stream_rows[STREAMS];
	struct trace_event event_rows[EVENTS];
	struct trace_api api;
	struct trace_work work;
	struct trace_call calls[CALLS];
	struct trace_activity activities[KERNELS];
	struct trace_event_record event_records[CALLS];
	struct trace_wait waits[CALLS];
	struct trace_graph graphs[CALLS];
	struct trace_exec execs[CALLS];
	struct trace_launch launches[CALLS];
	struct trace_node nodes[KERNELS];
	struct trace_edge edges[KERNELS * GRAPH_NODES];
};

static uint32_t pick(struct machine *machine, uint32_t count)
{
	machine->random ^= machine->random << 13;
	machine->random ^= machine->random >> 7;
	machine->random ^= machine->random << 17;
	return (uint32_t)(machine->random >> 20) % count;
}

static void init(struct machine *machine, uint64_t seed)
{
	static const char *texts[] = {""};

	memset(machine, 0, sizeof(*machine));
	machine->random = seed * 0x9e3779b97f4a7c15ull + 1;
	machine->host_ns = START_NS;
	machine->agent.is_gpu = true;
	for (uint32_t i = 0; i < STREAMS; i++)
		machine->stream_rows[i] =
			(struct trace_stream){.ordinal = i, .agent = 0, .kind = kinds[i]};
	machine->trace = (struct trace){
		.strings = texts,
		.strings_count = 1,
		.processes = &machine->process,
		.processes_count = 1,
		.threads = &machine->thread,
		.threads_count = 1,
		.agents = &machine->agent,
		.agents_count = 1,
		.streams = machine->stream_rows,
		.streams_count = STREAMS,
		.events = machine->event_rows,
		.events_count = EVENTS,
		.apis = &machine->api,
		.apis_count = 1,
		.works = &machine->work,
		.works_count = 1,
		.calls = machine->calls,
		.activities = machine->activities,
		.event_records = machine->event_records,
		.waits = machine->waits,
		.graphs = machine->graphs,
		.execs = machine->execs,
		.launches = machine->launches,
		.nodes = machine->nodes,
		.edges = machine->edges,
	};
}

static struct trace_call *add_call(struct machine *machine, uint32_t stream)
{
	struct trace *trace = &machine->trace;
	struct trace_call *call = &machine->calls[trace->calls_count++];

	*call = (struct trace_call){
		.cid = trace->calls_count,
		.begin_ns = machine->host_ns,
		.end_ns = machine->host_ns,
		.parent = TRACE_NONE,
		.scope = TRACE_NONE,
		.stream = stream,
		.launch = TRACE_NONE,
		.activity_first = trace->activities_count,
	};
	return call;
}

static int64_t last_end(const struct machine *machine, uint64_t set)
{
	int64_t ns = START_NS;

	for (uint32_t i = 0; i < machine->trace.activities_count; i++) {
		if (set >> i & 1 && machine->activities[i].end_ns > ns)
			ns = machine->activities[i].end_ns;
	}
	return ns;
}

/* Returns the kernels that the next work on a stream waits for. */
static uint64_t stream_set(const struct machine *machine, uint32_t stream)
{
	uint64_t set = machine->streams[stream];

	if (kinds[stream] == TRACE_STREAM_BLOCKING)
		set |= machine->streams[0];
	for (uint32_t i = 1; stream == 0 && i < STREAMS; i++) {
		if (kinds[i] == TRACE_STREAM_BLOCKING)
			set |= machine->streams[i];
	}
	return set;
}

static uint32_t add_kernel(struct machine *machine, uint32_t stream, uint64_t before)
{
	struct trace *trace = &machine->trace;
	uint32_t at = trace->activities_count++;
	struct trace_call *call = &machine->calls[trace->calls_count - 1];
	int64_t start_ns = last_end(machine, before | machine->host);

	machine->before[at] = before | machine->host;
	machine->activities[at] = (struct trace_activity){
		.submit_ns = machine->host_ns,
		.start_ns = start_ns,
		.end_ns = start_ns + 1 + pick(machine, 50),
		.cid = call->cid,
		.call = trace->calls_count - 1,
		.ordinal = call->activity_count++,
		.stream = stream,
		.scope = TRACE_NONE,
		.launch = call->launch,
		.node = TRACE_NONE,
		.queue = TRACE_NONE,
	};
	return at;
}

static void run_kernel(struct machine *machine, uint32_t stream)
{
	uint64_t before = stream_set(machine, stream);

	add_call(machine, stream);
	machine->streams[stream] = before | UINT64_C(1) << add_kernel(machine, stream, before);
}

static void run_graph(struct machine *machine, uint32_t stream)
{
	struct trace *trace = &machine->trace;
	uint64_t before = stream_set(machine, stream), sets[GRAPH_NODES], all = before;
	uint32_t count = 1 + pick(machine, GRAPH_NODES), first = trace->nodes_count;
	uint32_t graph = trace->graphs_count++, edge_first = trace->edges_count;
	bool is_known = pick(machine, 4);

	trace->execs_count++;
	trace->launches_count++;
	machine->execs[graph].graph = is_known ? graph : TRACE_NONE;
	machine->launches[graph] = (struct trace_launch){.exec = graph, .stream = stream};
	add_call(machine, stream)->launch = graph;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at;

		sets[i] = before;
		/* Without known nodes the launch's work runs in sequence. */
		for (uint32_t from = 0; from < i; from++) {
			if (is_known ? pick(machine, 3) != 0 : from != i - 1)
				continue;
			sets[i] |= sets[from];
			machine->edges[trace->edges_count++] =
				(struct trace_edge){.from = first + from, .to = first + i};
		}
		at = add_kernel(machine, stream, sets[i]);
		machine->activities[at].node = is_known ? first + i : TRACE_NONE;
		machine->nodes[first + i] =
			(struct trace_node){.graph = graph, .index = i, .child = TRACE_NONE};
		sets[i] |= UINT64_C(1) << at;
		all |= sets[i];
	}
	trace->nodes_count += count;
	machine->graphs[graph] = (struct trace_graph){
		.node_first = first,
		.node_count = count,
		.edge_first = edge_first,
		.edge_count = trace->edges_count - edge_first,
		.parent = TRACE_NONE,
	};
	machine->streams[stream] = all;
}

static int compare_edges(const void *left, const void *right)
{
	const struct trace_edge *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static void record(struct machine *machine, uint32_t stream, uint32_t event)
{
	struct trace *trace = &machine->trace;
	const struct trace_call *call = add_call(machine, stream);

	machine->events[event] = machine->streams[stream] = stream_set(machine, stream);
	machine->event_records[trace->event_records_count++] = (struct trace_event_record){
		.call = trace->calls_count - 1,
		.cid = call->cid,
		.stream = stream,
		.event = event,
	};
	machine->records[event] = trace->event_records_count;
}

static void wait(struct machine *machine, enum trace_wait_type type, uint32_t stream,
		 uint32_t event)
{
	struct trace *trace = &machine->trace;
	struct trace_call *call = add_call(machine, stream);
	bool is_event = event != TRACE_NONE;
	uint64_t set = is_event ? machine->events[event] : 0;

	machine->waits[trace->waits_count++] = (struct trace_wait){
		.call = trace->calls_count - 1,
		.cid = call->cid,
		.type = type,
		.known = TRACE_KNOWN_ORDER,
		.stream = stream,
		.event = event,
		.producer = is_event ? machine->records[event] - 1 : TRACE_NONE,
	};
	if (type == TRACE_WAIT_STREAM_EVENT) {
		machine->streams[stream] = stream_set(machine, stream) | set;
		return;
	}
	if (type == TRACE_WAIT_STREAM)
		set = stream_set(machine, stream);
	for (uint32_t i = 0; type == TRACE_WAIT_DEVICE && i < STREAMS; i++)
		set |= machine->streams[i];
	machine->host |= set;
	if (last_end(machine, set) > machine->host_ns)
		machine->host_ns = call->end_ns = last_end(machine, set);
}

static void play(struct machine *machine)
{
	struct trace *trace = &machine->trace;

	run_kernel(machine, pick(machine, STREAMS));
	while (trace->calls_count < CALLS - 1 && trace->activities_count < KERNELS - GRAPH_NODES) {
		uint32_t stream = pick(machine, STREAMS), event = pick(machine, EVENTS);

		switch (pick(machine, 12)) {
		case CALL_RECORD:
			record(machine, stream, event);
			break;
		case CALL_WAIT:
		case CALL_WAIT + 6:
			if (machine->records[event])
				wait(machine, TRACE_WAIT_STREAM_EVENT, stream, event);
			break;
		case CALL_STREAM_SYNC:
			wait(machine, TRACE_WAIT_STREAM, stream, TRACE_NONE);
			break;
		case CALL_EVENT_SYNC:
			if (machine->records[event])
				wait(machine, TRACE_WAIT_EVENT, TRACE_NONE, event);
			break;
		case CALL_DEVICE_SYNC:
			wait(machine, TRACE_WAIT_DEVICE, TRACE_NONE, TRACE_NONE);
			break;
		case CALL_GRAPH:
			run_graph(machine, stream);
			break;
		default:
			run_kernel(machine, stream);
			break;
		}
	}
	qsort(machine->edges, trace->edges_count, sizeof(*machine->edges), compare_edges);
}

/* Tries every chain. */
static int64_t longest_to(struct machine *machine, uint32_t kernel)
{
	const struct trace_activity *row = &machine->activities[kernel];
	int64_t longest = 0;

	if (machine->longest[kernel])
		return machine->longest[kernel];
	for (uint32_t i = 0; i < kernel; i++) {
		if (machine->before[kernel] >> i & 1 && longest_to(machine, i) > longest)
			longest = longest_to(machine, i);
	}
	machine->longest[kernel] = longest + row->end_ns - row->start_ns;
	return machine->longest[kernel];
}

static void check(struct machine *machine, uint64_t seed)
{
	const struct path_query query = {.by = PATH_WINDOW_ALL};
	struct dependencies deps;
	struct path_windows windows;
	struct path_report report;
	struct path path;
	int64_t longest = 0;

	for (uint32_t i = 0; i < machine->trace.activities_count; i++) {
		if (longest_to(machine, i) > longest)
			longest = longest_to(machine, i);
	}
	assert_int_equal(dependencies_make(&machine->trace, &deps), 0);
	assert_int_equal(path_windows_find(&machine->trace, &query, &windows), 0);
	assert_int_equal(path_find(&deps, &windows.rows[0], &path), 0);
	path_report_init(&report, &deps);
	assert_int_equal(path_report_add(&report, &windows, 0, &path), 0);
	if (report.kind_ns[PATH_KERNEL] != longest || report.total_ns != longest)
		fail_msg("seed %lu: kernels %ld of %ld ns, and the longest way is %ld",
			 (unsigned long)seed, (long)report.kind_ns[PATH_KERNEL],
			 (long)report.total_ns, (long)longest);
	for (int kind = 0; kind < DEPENDENCY_KIND_COUNT; kind++)
		assert_int_equal(deps.contradicted[kind], 0);
	assert_int_equal(deps.unresolved_count, 0);
	assert_int_equal(deps.resolved_waits, machine->trace.waits_count);
	path_report_release(&report);
	path_release(&path);
	path_windows_release(&windows);
	dependencies_release(&deps);
}

static void the_path_is_the_longest_way(void **state)
{
	static struct machine machine;

	for (uint64_t seed = test_seed(), end = seed + 5000; seed < end; seed++) {
		init(&machine, seed);
		play(&machine);
		check(&machine, seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_path_is_the_longest_way)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
