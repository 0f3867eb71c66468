/* The real HIP runtime on the software GPU under the tool: compares every recorded wait with the
 * program's own output of what it waited for. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hip_recording.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"

static uint64_t handle_of(const struct trace *trace, uint32_t stream)
{
	assert_int_not_equal(stream, TRACE_NONE);
	return trace->streams[stream].handle;
}

/* Parses a printed pointer; "(nil)" gives 0. */
static uint64_t pointer(const char *text)
{
	return strtoull(text, NULL, 16);
}

static void check_waiter(const struct trace *trace, const struct trace_wait *wait, const char *who,
			 const char *what)
{
	if (strcmp(who, "host") != 0) {
		assert_int_equal(wait->type, TRACE_WAIT_STREAM_EVENT);
		assert_int_equal(handle_of(trace, wait->stream), pointer(who));
	} else if (strcmp(what, "all") != 0) {
		assert_int_equal(wait->type, TRACE_WAIT_EVENT);
		assert_int_equal(wait->stream, TRACE_NONE);
	}
}

static void check_record(const struct trace *trace, const struct trace_wait *wait, uint32_t number,
			 uint64_t stream)
{
	assert_int_equal(wait->producer, number - 1);
	assert_int_equal(wait->known, TRACE_KNOWN_ORDER);
	assert_int_equal(handle_of(trace, trace->event_records[number - 1].stream), stream);
	assert_int_equal(trace->event_records[number - 1].event, wait->event);
}

/* Checks " by node N of replay R", which the line has if a graph recorded the event. */
static void check_node(const struct trace *trace, const struct trace_wait *wait, const char *line)
{
	const struct trace_event_record *record = &trace->event_records[wait->producer];
	const char *by = strstr(line, " by node ");
	const struct trace_launch *launch;
	unsigned node, replay;

	if (!by) {
		assert_int_equal(record->node, TRACE_NONE);
		return;
	}
	assert_int_equal(sscanf(by, " by node %u of replay %u", &node, &replay), 2);
	assert_int_not_equal(record->node, TRACE_NONE);
	assert_int_equal(trace->nodes[record->node].type, RECORD_NODE_EVENT_RECORD);
	assert_int_equal(trace->nodes[record->node].index, node);
	assert_int_not_equal(trace->calls[record->call].launch, TRACE_NONE);
	launch = &trace->launches[trace->calls[record->call].launch];
	assert_int_equal(launch->replay, replay);
	assert_int_equal(launch->stream, record->stream);
}

/* Checks one line: "wait N by WHO for nothing
 *
 * record R on STREAM[ by node N of replay R]
 *
 * all [on STREAM]". */
static void check_line(const struct trace *trace, uint32_t number, const char *line)
{
	const struct trace_wait *wait = &trace->waits[number - 1];
	char who[32], what[16], on[32] = "";
	unsigned record;

	assert_true(number <= trace->waits_count);
	assert_int_equal(sscanf(line, "wait %*u by %31s for %15s", who, what), 2);
	check_waiter(trace, wait, who, what);
	if (!strcmp(what, "record")) {
		assert_int_equal(sscanf(line, "wait %*u by %*s for record %u on %31s", &record, on),
				 2);
		check_record(trace, wait, record, pointer(on));
		check_node(trace, wait, line);
		return;
	}
	assert_int_equal(wait->producer, TRACE_NONE);
	if (!strcmp(what, "nothing")) {
		/* The event was created while the tool was active and was not recorded yet, so
		 * the wait is known to be for nothing. */
		assert_int_equal(wait->known, TRACE_KNOWN_ORDER);
	} else if (sscanf(line, "wait %*u by host for all on %31s", on) == 1) {
		assert_int_equal(wait->type, TRACE_WAIT_STREAM);
		assert_int_equal(handle_of(trace, wait->stream), pointer(on));
	} else {
		assert_int_equal(wait->type, TRACE_WAIT_DEVICE);
	}
}

/* Compares the output with the trace and frees it; returns how many waits the program printed. */
static uint32_t check_output(const struct trace *trace, char *output)
{
	uint32_t count = 0;

	for (char *line = strtok(output, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned number;

		if (sscanf(line, "wait %u", &number) != 1)
			continue;
		assert_int_equal(number, ++count);
		check_line(trace, number, line);
	}
	free(output);
	assert_int_equal(trace->waits_count, count);
	assert_true(ledger_is_closed(trace));
	return count;
}

static uint32_t count_kind(const struct trace *trace, enum trace_stream_kind kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->streams_count; i++)
		count += trace->streams[i].kind == kind;
	return count;
}

/* Waits between streams, by the host and for whole streams, in a program of the examples. */
static void streams_and_events(void **state)
{
	char *output;
	struct trace *trace = recording_load(
		(const char *const[]){"examples/streams-and-events", "100", "--print-waits", NULL},
		&output);

	assert_int_equal(check_output(trace, output), 203);
	assert_int_equal(trace->event_records_count, 200);
	assert_int_equal(trace->events_count, 2);
	assert_int_equal(count_kind(trace, TRACE_STREAM_NONBLOCKING), 2);
	trace_close(trace);
}

/* A wait inside a capture becomes an edge of the graph, not a wait of the stream. */
static void capture_wait_becomes_graph_edge(void **state)
{
	enum {
		WIDTH = 4,
		DIAMONDS = 3,
		BY_EVENTS = 2 * WIDTH * DIAMONDS,
		/* each waits for the previous kernel of its branch */
		IN_BRANCHES = WIDTH * (DIAMONDS - 1),
		IN_MAIN = 2 * DIAMONDS - 1,
	};
	char *output;
	struct trace *trace = recording_load((const char *const[]){"examples/graph-forkjoin", "4",
								   "3", "5", "--print-waits", NULL},
					     &output);

	assert_int_equal(check_output(trace, output), 1);
	assert_int_equal(trace->waits[0].type, TRACE_WAIT_STREAM);
	assert_int_equal(trace->event_records_count, 0);
	assert_int_equal(trace->events_count, 0);
	assert_int_equal(trace->graphs_count, 1);
	assert_int_equal(trace->edges_count, BY_EVENTS + IN_BRANCHES + IN_MAIN);
	trace_close(trace);
}

/* A capture that records an event does not change what earlier records and waits refer to. */
static void a_capture_forgets_no_record(void **state)
{
	char *output;
	struct trace *trace = recording_load(
		(const char *const[]){"tests/hip-waits", "captured", "--print-waits", NULL},
		&output);

	assert_int_equal(check_output(trace, output), 4);
	assert_int_equal(trace->event_records_count, 2);
	trace_close(trace);
}

/* A wait names the graph node and the replay that recorded the event. */
static void graph_node_records_the_event(void **state)
{
	char *output;
	struct trace *trace = recording_load(
		(const char *const[]){"tests/hip-waits", "graphs", "--print-waits", NULL}, &output);

	assert_int_equal(check_output(trace, output), 11);
	assert_int_equal(trace->event_records_count, 6);
	assert_int_equal(trace->events_count, 2);
	trace_close(trace);
}

static bool has_line(const char *output, const char *line)
{
	return strstr(output, line) != NULL;
}

/* Handles of destroyed events and streams are used again for new ones; the waits must not be
 * mixed up. */
static void handles_are_used_again(void **state)
{
	char *output;
	struct trace *trace = recording_load(
		(const char *const[]){"tests/hip-waits", "handles", "--print-waits", NULL},
		&output);
	bool is_event_reused = has_line(output, "event handle used again: 1");

	assert_int_equal(check_output(trace, output), 12);
	assert_int_equal(trace->event_records_count, 6);
	assert_int_equal(trace->events_count, 3);
	assert_int_equal(trace->events[2].generation, is_event_reused);
	assert_int_equal(trace->streams[0].kind, TRACE_STREAM_NULL);
	assert_int_equal(count_kind(trace, TRACE_STREAM_BLOCKING), 1);
	assert_int_equal(count_kind(trace, TRACE_STREAM_NONBLOCKING), 2);
	assert_int_equal(count_kind(trace, TRACE_STREAM_PER_THREAD), 1);
	assert_int_equal(trace->streams_count, 5);
	trace_close(trace);
}

/* One event that two threads record and wait for in turn: each wait refers to the newest record. */
static void two_threads_record_and_wait(void **state)
{
	char *output;
	struct trace *trace = recording_load(
		(const char *const[]){"tests/hip-waits", "threads", "--print-waits", NULL},
		&output);

	assert_int_equal(check_output(trace, output), 101);
	assert_int_equal(trace->event_records_count, 100);
	trace_close(trace);
}

/* The events of hipExtLaunchKernel carry the kernel's start and end times. */
static void events_of_a_launch_have_its_times(void **state)
{
	enum { LAUNCHES = 50 };
	char *output;
	struct trace *trace =
		recording_load((const char *const[]){"examples/ext-launch", "50", NULL}, &output);

	assert_int_equal(trace->event_records_count, 2 * LAUNCHES);
	assert_int_equal(trace->waits_count, LAUNCHES);
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		const struct trace_event_record *start = &trace->event_records[2 * i];
		const struct trace_event_record *stop = start + 1;
		const struct trace_call *call = &trace->calls[start->call];
		const struct trace_activity *kernel = &trace->activities[call->activity_first];

		assert_int_equal(start->call, stop->call);
		assert_int_equal(call->activity_count, 1);
		assert_true(kernel->start_ns && kernel->start_ns < kernel->end_ns);
		assert_int_equal(start->device_ns, kernel->start_ns);
		assert_int_equal(stop->device_ns, kernel->end_ns);
		assert_int_equal(trace->waits[i].producer, 2 * i + 1);
	}
	free(output);
	trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_and_events),
		cmocka_unit_test(capture_wait_becomes_graph_edge),
		cmocka_unit_test(a_capture_forgets_no_record),
		cmocka_unit_test(graph_node_records_the_event),
		cmocka_unit_test(handles_are_used_again),
		cmocka_unit_test(two_threads_record_and_wait),
		cmocka_unit_test(events_of_a_launch_have_its_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
