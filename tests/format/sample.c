/* The tables of the sample trace: sample.h. */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "kept.h"

#define T(ns) (1000000 + (ns))
#define ARRAY(name, ...)                                                                           \
	static struct name name##_rows[] = {__VA_ARGS__};                                          \
	static const uint32_t name##_rows_count = sizeof(name##_rows) / sizeof(name##_rows[0])

enum string {
	S_EMPTY,
	S_EXE,
	S_COMMAND,
	S_MAIN,
	S_WORKER,
	S_GFX906,
	S_PRODUCT,
	S_UUID,
	S_LAUNCH,
	S_MEMCPY,
	S_MEMSET,
	S_EXEC,
	S_STREAM,
	S_BYTES,
	S_KERNEL_A,
	S_KERNEL_B,
	S_ORPHAN,
	S_FILL,
	S_STEP,
	S_LAYER,
	S_RANGE1,
	S_RANGE2,
	S_MARK,
	S_SOURCE,
	S_WITNESS,
	S_STATE,
	S_CAUSE,
	S_MESSAGE,
};

static const char *string_rows[] = {
	[S_EMPTY] = "",
	[S_EXE] = "/usr/bin/program",
	[S_COMMAND] = "program --size 4",
	[S_MAIN] = "program",
	[S_WORKER] = "worker",
	[S_GFX906] = "gfx906",
	[S_PRODUCT] = "Software GPU",
	[S_UUID] = "GPU-0123456789abcdef",
	[S_LAUNCH] = "hipGraphLaunch",
	[S_MEMCPY] = "hipMemcpyAsync",
	[S_MEMSET] = "hipMemset",
	[S_EXEC] = "graphExec",
	[S_STREAM] = "stream",
	[S_BYTES] = "sizeBytes",
	[S_KERNEL_A] = "void a<int, 4>(int*)",
	[S_KERNEL_B] = "b",
	[S_ORPHAN] = "orphan",
	[S_FILL] = "__amd_rocclr_fillBufferAligned",
	[S_STEP] = "step \"1\"",
	[S_LAYER] = "layer",
	[S_RANGE1] = "range 1",
	[S_RANGE2] = "range 2",
	[S_MARK] = "mark",
	[S_SOURCE] = "hsa.dispatch",
	[S_WITNESS] = "queue write index",
	[S_STATE] = "on",
	[S_CAUSE] = "no free chunk",
	[S_MESSAGE] = "chunk 7 is missing",
};

ARRAY(trace_process, {.pid = 100,
		      .parent_pid = 1,
		      .start_ns = T(0),
		      .end_ns = T(9000),
		      .start_realtime_ns = 1700000000000000000,
		      .exe = S_EXE,
		      .command = S_COMMAND});
ARRAY(trace_thread, {.process = 0, .tid = 100, .name = S_MAIN},
      {.process = 0, .tid = 101, .name = S_WORKER});
ARRAY(trace_agent, {.process = 0, .index = 0, .name = S_PRODUCT},
      {.process = 0,
       .index = 1,
       .is_gpu = true,
       .name = S_GFX906,
       .product = S_PRODUCT,
       .uuid = S_UUID,
       .compute_units = 60});
ARRAY(trace_queue, {.process = 0, .id = 1, .agent = 1}, {.process = 0, .id = 2, .agent = 1});
ARRAY(trace_stream, {.process = 0, .ordinal = 0, .agent = 1},
      {.process = 0, .ordinal = 1, .handle = 0x1000, .agent = 1});

/* The two ranges overlap without nesting; the layer is inside the step. */
ARRAY(trace_scope,
      {.id = 1,
       .parent = TRACE_NONE,
       .kind = RECORD_SCOPE_DAGTAP,
       .text = S_STEP,
       .begin_ns = T(900),
       .end_ns = T(3000)},
      {.id = 2,
       .parent = 0,
       .kind = RECORD_SCOPE_ROCTX,
       .text = S_LAYER,
       .begin_ns = T(950),
       .end_ns = T(2000)},
      {.id = 3,
       .parent = TRACE_NONE,
       .kind = RECORD_SCOPE_RANGE,
       .text = S_RANGE1,
       .begin_ns = T(1000),
       .end_ns = T(2000)},
      {.id = 4,
       .parent = TRACE_NONE,
       .kind = RECORD_SCOPE_RANGE,
       .text = S_RANGE2,
       .begin_ns = T(1500),
       .end_ns = T(9000),
       .open = true},
      {.id = 5,
       .parent = TRACE_NONE,
       .kind = RECORD_SCOPE_MARK,
       .text = S_MARK,
       .thread = 1,
       .begin_ns = T(1600),
       .end_ns = T(1600)});

ARRAY(trace_api,
      {.function = 1,
       .name = S_LAUNCH,
       .domain = RECORD_DOMAIN_HIP,
       .arg_first = 0,
       .arg_count = 2,
       .arg_words = 2},
      {.function = 2,
       .name = S_MEMCPY,
       .domain = RECORD_DOMAIN_HIP,
       .arg_first = 2,
       .arg_count = 1,
       .arg_words = 1},
      {.function = 3,
       .name = S_MEMSET,
       .domain = RECORD_DOMAIN_HIP,
       .arg_first = 2,
       .arg_count = 1,
       .arg_words = 1});
ARRAY(trace_api_arg, {.name = S_EXEC, .kind = 'h', .word = 0},
      {.name = S_STREAM, .kind = 'h', .word = 1}, {.name = S_BYTES, .kind = 's', .word = 0});

static uint64_t word_rows[] = {0x5000, 0x1000, 4096};

ARRAY(trace_call,
      {.api = 0,
       .parent = TRACE_NONE,
       .scope = 1,
       .stream = 1,
       .cid = 1,
       .begin_ns = T(1000),
       .end_ns = T(1100),
       .activities_expected = 3,
       .activity_first = 0,
       .activity_count = 3,
       .arg_first = 0,
       .launch = 0},
      {.api = 0,
       .parent = TRACE_NONE,
       .scope = 1,
       .stream = 1,
       .cid = 2,
       .begin_ns = T(1200),
       .end_ns = T(1300),
       .activities_expected = 3,
       .activity_first = 3,
       .activity_count = 3,
       .arg_first = 0,
       .launch = 1},
      {.api = 1,
       .parent = TRACE_NONE,
       .scope = 0,
       .stream = 0,
       .cid = 3,
       .begin_ns = T(2500),
       .end_ns = T(2600),
       .activities_expected = 1,
       .activity_first = 6,
       .activity_count = 1,
       .arg_first = 2,
       .launch = TRACE_NONE},
      {.thread = 1,
       .api = 2,
       .parent = TRACE_NONE,
       .scope = TRACE_NONE,
       .stream = TRACE_NONE,
       .cid = 4,
       .begin_ns = T(2500),
       .end_ns = T(2900),
       .result = 0,
       .arg_first = TRACE_NONE,
       .launch = TRACE_NONE},
      {.thread = 1,
       .api = 2,
       .parent = 3,
       .scope = TRACE_NONE,
       .stream = 0,
       .cid = 5,
       .begin_ns = T(2550),
       .end_ns = T(2900),
       .result = 1,
       .activities_expected = 1,
       .activity_first = 7,
       .activity_count = 1,
       .arg_first = 2,
       .launch = TRACE_NONE});

enum work { WORK_A, WORK_B, WORK_COPY, WORK_FILL, WORK_ORPHAN };

#define NO_AGENTS .dst_agent = TRACE_NONE, .src_agent = TRACE_NONE

ARRAY(trace_work,
      [WORK_A] = {.name = S_KERNEL_A, .grid = {1000, 1, 1}, .workgroup = {256, 1, 1}, NO_AGENTS},
      [WORK_B] = {.name = S_KERNEL_B, .grid = {1000, 1, 1}, .workgroup = {256, 1, 1}, NO_AGENTS},
      [WORK_COPY] = {.kind = TRACE_COPY,
		     .bytes = 4096,
		     .dst_agent = 1,
		     .src_agent = 0,
		     .direction = TRACE_H2D},
      [WORK_FILL] = {.kind = TRACE_MEMSET,
		     .name = S_FILL,
		     .blit = true,
		     .grid = {64, 1, 1},
		     .workgroup = {64, 1, 1},
		     .bytes = 4096,
		     NO_AGENTS},
      [WORK_ORPHAN] = {.name = S_ORPHAN, .grid = {1, 1, 1}, .workgroup = {1, 1, 1}, NO_AGENTS});

#define GRAPH_KERNEL(of_call, number, of_work, start, end)                                         \
	{                                                                                          \
		.work = (of_work), .agent = 1, .queue = 0, .stream = 1, .call = (of_call),         \
		.cid = (of_call) + 1, .ordinal = (number), .scope = 1,                             \
		.id = 3 * (of_call) + (number), .submit_ns = T(1050), .start_ns = T(start),        \
		.end_ns = T(end), .launch = (of_call), .node = (number),                           \
		.confidence = TRACE_CONFIDENCE_EXACT                                               \
	}

/*
 * On queue 1 the kernels of the first replay overlap: [1200 .. 1500], [1300 .. 1700], [1400 ..
 * 1450].
 */
ARRAY(trace_activity, GRAPH_KERNEL(0, 0, WORK_A, 1200, 1500),
      GRAPH_KERNEL(0, 1, WORK_B, 1300, 1700), GRAPH_KERNEL(0, 2, WORK_A, 1400, 1450),
      GRAPH_KERNEL(1, 0, WORK_A, 1700, 1800), GRAPH_KERNEL(1, 1, WORK_B, 1800, 1900),
      GRAPH_KERNEL(1, 2, WORK_A, 1900, 1900),
      {.work = WORK_COPY,
       .agent = 1,
       .queue = TRACE_NONE,
       .stream = 0,
       .call = 2,
       .cid = 3,
       .scope = 0,
       .submit_ns = T(2550),
       .start_ns = T(2700),
       .end_ns = T(2800),
       .launch = TRACE_NONE,
       .node = TRACE_NONE},
      {.work = WORK_FILL,
       .agent = 1,
       .queue = 1,
       .stream = 0,
       .thread = 1,
       .call = 4,
       .cid = 5,
       .scope = TRACE_NONE,
       .submit_ns = T(2600),
       .start_ns = T(2800),
       .end_ns = T(2850),
       .launch = TRACE_NONE,
       .node = TRACE_NONE},
      {.work = WORK_ORPHAN,
       .agent = 1,
       .queue = 1,
       .stream = TRACE_NONE,
       .thread = TRACE_NONE,
       .call = TRACE_NONE,
       .scope = TRACE_NONE,
       .untimed = RECORD_UNTIMED_SHUTDOWN,
       .submit_ns = T(5000),
       .launch = TRACE_NONE,
       .node = TRACE_NONE});

/* Ticks of 10 ns. */
static struct trace_ticks tick_rows[] = {{120, 150}, {130, 170}, {140, 145}, {170, 180}, {180, 190},
					 {190, 190}, {0, 0},	 {280, 285}, {0, 0}};

ARRAY(trace_graph,
      {.id = 7, .node_count = 3, .edge_count = 2, .parent = TRACE_NONE, .parent_node = TRACE_NONE});
ARRAY(trace_node,
      {.index = 0,
       .name = S_KERNEL_A,
       .grid = {1000, 1, 1},
       .workgroup = {256, 1, 1},
       .scope = TRACE_NONE,
       .child = TRACE_NONE},
      {.index = 1,
       .name = S_KERNEL_B,
       .grid = {1000, 1, 1},
       .workgroup = {256, 1, 1},
       .scope = 1,
       .child = TRACE_NONE},
      {.index = 2,
       .name = S_KERNEL_A,
       .grid = {1000, 1, 1},
       .workgroup = {256, 1, 1},
       .scope = TRACE_NONE,
       .child = TRACE_NONE});
ARRAY(trace_edge, {.from = 0, .to = 1}, {.from = 1, .to = 2});
ARRAY(trace_exec, {.id = 9, .graph = 0, .launch_count = 2});
ARRAY(trace_launch,
      {.exec = 0,
       .replay = 0,
       .call = 0,
       .stream = 1,
       .activities_expected = 3,
       .activity_count = 3,
       .exact = true},
      {.exec = 0,
       .replay = 1,
       .call = 1,
       .stream = 1,
       .activities_expected = 3,
       .activity_count = 3,
       .exact = true});
ARRAY(trace_source, {.name = S_SOURCE,
		     .witness = S_WITNESS,
		     .has_expected = true,
		     .expected = 9,
		     .received = 8,
		     .joined = 7,
		     .orphan_activities = 1,
		     .untimed = 1,
		     .drop_first = 0,
		     .drop_count = 1,
		     .state = S_STATE});
ARRAY(trace_drop, {.cause = S_CAUSE, .count = 1});
ARRAY(trace_message, {.damage = true, .text = S_MESSAGE});

#define PUT(array, name) .array = name##_rows, .array##_count = name##_rows_count

struct trace *sample_trace(void)
{
	static struct trace trace;

	trace = (struct trace){
		.strings = string_rows,
		.strings_count = sizeof(string_rows) / sizeof(string_rows[0]),
		PUT(processes, trace_process),
		PUT(threads, trace_thread),
		PUT(agents, trace_agent),
		PUT(queues, trace_queue),
		PUT(streams, trace_stream),
		PUT(scopes, trace_scope),
		PUT(apis, trace_api),
		PUT(api_args, trace_api_arg),
		PUT(calls, trace_call),
		PUT(works, trace_work),
		PUT(activities, trace_activity),
		PUT(graphs, trace_graph),
		PUT(nodes, trace_node),
		PUT(edges, trace_edge),
		PUT(execs, trace_exec),
		PUT(launches, trace_launch),
		PUT(sources, trace_source),
		PUT(drops, trace_drop),
		PUT(messages, trace_message),
		.ticks = tick_rows,
		.words = word_rows,
		.words_count = sizeof(word_rows) / sizeof(word_rows[0]),
		.command = S_COMMAND,
	};
	return &trace;
}

char *sample_write(const struct trace *trace, const struct format *format,
		   const struct format_options *options, size_t *ret_bytes)
{
	struct dagtap_error error = {.message = ""};
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_int_equal(format->write(trace, out, options, &error), 0);
	assert_string_equal(error.message, "");
	assert_int_equal(fclose(out), 0);
	if (ret_bytes)
		*ret_bytes = bytes;
	return keep(text, free);
}
