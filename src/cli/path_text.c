/* Prints the result of `dagtap path` as text. */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/tally.h"
#include "cli/cli_columns.h"
#include "cli/cmd_path.h"
#include "cli/human.h"
#include "cli/kernel_names.h"
#include "cli/path_names.h"
#include "format/words.h"

static double percent(int64_t part, int64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void put_name(struct columns *columns, const char *text)
{
	columns_put(columns, "%s", kernel_names_text(text));
}

static int print_columns(const struct path_result *result, struct columns *columns, uint32_t count)
{
	uint32_t rows = path_rows_shown(result, count);

	if (columns_print(columns) < 0)
		return cli_fail("out of memory");
	if (result->is_csv)
		return CLI_OK;
	if (rows < count)
		printf("... %u more (--limit 0 shows all)\n", count - rows);
	putchar('\n');
	return CLI_OK;
}

static const char *activity_stream(const struct path_result *result, uint32_t activity,
				   char *buffer)
{
	const struct trace_activity *row = &result->trace->activities[activity];

	return path_stream_text(result->trace, row->stream, row->agent, buffer);
}

/* ---- totals ---- */

static void print_window(const struct path_result *result)
{
	const struct path_windows *windows = &result->windows;
	char text[HUMAN_CHARS];

	printf("window    ");
	switch (result->query.by) {
	case PATH_WINDOW_SCOPE:
		printf("scope \"%s\"", result->query.text);
		break;
	case PATH_WINDOW_STEP:
		printf("step %" PRIu64, result->query.number);
		break;
	case PATH_WINDOW_REPLAY:
		printf("graph %" PRIu64 " replay %" PRIu64, result->query.graph,
		       result->query.number);
		break;
	case PATH_WINDOW_RANGE:
		printf("%" PRId64 " to %" PRId64 " ns", windows->rows[0].begin_ns,
		       windows->rows[0].end_ns);
		break;
	case PATH_WINDOW_ALL:
		printf("everything");
		break;
	}
	if (windows->count > 1)
		printf(", %s times", human_count(windows->count, text));
	printf(": %s\n", human_ns((double)result->report.total_ns, text));
}

static void print_kinds(const struct path_result *result)
{
	const struct path_report *report = &result->report;
	char text[HUMAN_CHARS];

	puts("critical path");
	for (int kind = 0; kind < PATH_KIND_COUNT; kind++) {
		if (report->kind_ns[kind] == 0)
			continue;
		printf("  %10s %5.1f %%  %s", human_ns((double)report->kind_ns[kind], text),
		       percent(report->kind_ns[kind], report->total_ns),
		       path_kind_text((enum path_kind)kind));
		if (report->busy_ns[kind])
			printf("; %s of it while the GPU did other work",
			       human_ns((double)report->busy_ns[kind], text));
		putchar('\n');
	}
	if (report->collective_ns)
		printf("  of the kernels' time %s is in collectives: it may be time of waiting for "
		       "GPUs and processes that are not in FILE\n",
		       human_ns((double)report->collective_ns, text));
	putchar('\n');
}

static int print_works(const struct path_result *result)
{
	static const char *const heads[] = {"count", "on the path", "?%", "?slack", "<what", NULL};
	const struct path_report *report = &result->report;
	struct columns columns;
	char text[HUMAN_CHARS];

	if (report->works_count == 0)
		return CLI_OK;
	columns_init(&columns, heads);
	for (uint32_t i = 0; i < path_rows_shown(result, report->works_count); i++) {
		const struct path_work *row = &report->works[i];

		columns_put(&columns, "%s", human_count(row->count, text));
		columns_put(&columns, "%s", human_ns((double)row->total_ns, text));
		columns_put_share(&columns, percent(row->total_ns, report->total_ns) / 100);
		columns_put(&columns, "%s", human_ns((double)row->slack_ns, text));
		columns_put(&columns, "%s%s",
			    kernel_names_text(path_activity_text(result->trace, row->activity)),
			    row->is_collective ? " (collective)" : "");
	}
	return print_columns(result, &columns, report->works_count);
}

/* ---- waits ---- */

static void put_from(struct columns *columns, const struct path_result *result, uint32_t from)
{
	const struct trace_activity *row = &result->trace->activities[from];
	char stream[PATH_TEXT_CHARS];

	columns_put(columns, "%s", activity_stream(result, from, stream));
	put_name(columns, path_activity_text(result->trace, from));
	put_name(columns, path_scope_text(result->trace, trace_scope_of(result->trace, row)));
}

static void put_known(struct columns *columns, const struct path_result *result, uint32_t via,
		      enum dependency_kind kind)
{
	const char *known = via == TRACE_NONE ? "" : words_known(result->trace->waits[via].known);

	if (kind == DEPENDENCY_NONE)
		columns_put(columns, "%s", "");
	else
		columns_put(columns, "%s%s%s", dependency_kind_key(kind), *known ? ", by " : "",
			    known);
}

static void put_waiter(struct columns *columns, const struct path_result *result, uint32_t activity)
{
	char stream[PATH_TEXT_CHARS];

	columns_put(columns, "%s: %s", activity_stream(result, activity, stream),
		    kernel_names_text(path_activity_text(result->trace, activity)));
}

static int print_waits(const struct path_result *result)
{
	static const char *const heads[] = {"?count", "held up", "<waited", "~for",
					    "<what",  "~scope",	 "~known",  NULL};
	const struct path_report *report = &result->report;
	const struct trace *trace = result->trace;
	struct columns columns;
	char text[HUMAN_CHARS];

	if (report->waits_count == 0)
		return CLI_OK;
	columns_init(&columns, heads);
	for (uint32_t i = 0; i < path_rows_shown(result, report->waits_count); i++) {
		const struct path_wait *row = &report->waits[i];

		columns_put(&columns, "%s", human_count(row->count, text));
		columns_put(&columns, "%s", human_ns((double)row->total_ns, text));
		if (row->activity == TRACE_NONE)
			columns_put(
				&columns, "%s",
				trace_text(trace, trace->apis[trace->calls[row->call].api].name));
		else
			put_waiter(&columns, result, row->activity);
		put_from(&columns, result, row->from);
		put_known(&columns, result, row->via, (enum dependency_kind)row->cause);
	}
	puts("waits on the path");
	return print_columns(result, &columns, report->waits_count);
}

/* ---- the path ---- */

/* Adjacent segments of host time are one row, which is named after the last call in it. */
static void put_last_call(struct columns *columns, const struct trace *trace,
			  const struct path_segment *row)
{
	if (row->call == TRACE_NONE || row->kind == PATH_UNKNOWN)
		columns_put(columns, "%s", "");
	else
		columns_put(columns, "%s%s", row->count > 1 ? "until " : "",
			    trace_text(trace, trace->apis[trace->calls[row->call].api].name));
}

static void put_segment(struct columns *columns, const struct path_result *result,
			const struct path_segment *row)
{
	const struct trace *trace = result->trace;
	char stream[PATH_TEXT_CHARS];
	int64_t at_ns = tally_span(result->windows.rows[row->window].begin_ns, row->begin_ns);

	columns_put_ns(columns, (double)at_ns);
	columns_put_ns(columns, (double)tally_span(row->begin_ns, row->end_ns));
	if (row->gap_ns || columns->is_csv)
		columns_put_ns(columns, (double)row->gap_ns);
	else
		columns_put(columns, "%s", "");
	columns_put_count(columns, row->count);
	if (row->activity != TRACE_NONE) {
		columns_put(columns, "%s", activity_stream(result, row->activity, stream));
		put_name(columns, path_activity_text(trace, row->activity));
	} else {
		columns_put(columns, "%s", row->kind == PATH_UNKNOWN ? "" : "host");
		put_last_call(columns, trace, row);
	}
	put_known(columns, result, row->via, (enum dependency_kind)row->cause);
}

static int print_segments(const struct path_result *result)
{
	static const char *const heads[] = {"at",     "took",  "?gap first", "?count",
					    "~where", "<what", "~after",     NULL};
	const struct path_report *report = &result->report;
	struct columns columns;

	columns_init(&columns, heads);
	columns.is_csv = result->is_csv;
	for (uint32_t i = 0; i < path_rows_shown(result, report->segments_count); i++)
		put_segment(&columns, result, &report->segments[i]);
	if (!result->is_csv)
		puts("the path");
	return print_columns(result, &columns, report->segments_count);
}

/* ---- ranks ---- */

/* The file of a merged rank, or the process. */
static void put_rank(struct columns *columns, const struct trace *trace, uint32_t process)
{
	const struct trace_process *row = &trace->processes[process];

	if (trace->clocks_count)
		columns_put(columns, "%s", trace_text(trace, trace->clocks[row->clock].name));
	else
		columns_put(columns, "process %u", row->pid);
}

static int print_ranks(const struct path_result *result)
{
	static const char *const heads[] = {"<rank",   "on the path", "?%",
					    "last at", "held up",     NULL};
	const struct path_report *report = &result->report;
	struct columns columns;

	if (result->jumps.rows_count == 0)
		return CLI_OK;
	columns_init(&columns, heads);
	for (uint32_t i = 0; i < path_rows_shown(result, report->processes_count); i++) {
		const struct path_process *row = &report->processes[i];

		put_rank(&columns, result->trace, i);
		columns_put_ns(&columns, (double)row->total_ns);
		columns_put_share(&columns, percent(row->total_ns, report->total_ns) / 100);
		columns_put_count(&columns, row->last);
		columns_put_ns(&columns, (double)row->held_up_ns);
	}
	puts("ranks on the path, and collectives for which it waited for them");
	return print_columns(result, &columns, report->processes_count);
}

/* ---- idle ---- */

static void put_resource(struct columns *columns, const struct idle_resource *resource)
{
	static const enum idle_cause order[] = {IDLE_HOST,   IDLE_LAUNCH, IDLE_EVENT,
						IDLE_LEGACY, IDLE_COPY,	  IDLE_GRAPH,
						IDLE_QUEUE,  IDLE_END,	  IDLE_UNKNOWN};
	char text[HUMAN_CHARS];

	columns_put(columns, "%.1f", percent(resource->busy_ns, resource->window_ns));
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		columns_put(columns, "%s",
			    resource->cause_ns[order[i]]
				    ? human_ns((double)resource->cause_ns[order[i]], text)
				    : "-");
}

static int print_resources(const struct path_result *result)
{
	static const char *const heads[] = {"<idle",  "busy %",	 "host",     "launch",
					    "?event", "?legacy", "?copy",    "?graph",
					    "?queue", "?at end", "?unknown", NULL};
	const struct trace *trace = result->trace;
	struct columns columns;
	char text[PATH_TEXT_CHARS];
	uint32_t count = 0;

	columns_init(&columns, heads);
	for (uint32_t i = 0; i < trace->agents_count; i++) {
		if (idle_agent(&result->idle, i)->window_ns == 0)
			continue;
		columns_put(&columns, "%s", path_stream_text(trace, TRACE_NONE, i, text));
		put_resource(&columns, idle_agent(&result->idle, i));
	}
	for (uint32_t i = 0; i < trace->streams_count; i++) {
		if (idle_stream(&result->idle, i)->window_ns == 0 ||
		    (result->limit && count++ >= result->limit))
			continue;
		columns_put(&columns, "%s", path_stream_text(trace, i, TRACE_NONE, text));
		put_resource(&columns, idle_stream(&result->idle, i));
	}
	return print_columns(result, &columns, count);
}

static int print_idle_waits(const struct path_result *result)
{
	static const char *const heads[] = {"?count", "idle",	"<stream", "~for",
					    "<what",  "~scope", "~known",  NULL};
	const struct idle *idle = &result->idle;
	struct columns columns;
	char text[HUMAN_CHARS], stream[PATH_TEXT_CHARS];

	if (idle->waits_count == 0)
		return CLI_OK;
	columns_init(&columns, heads);
	for (uint32_t i = 0; i < path_rows_shown(result, idle->waits_count); i++) {
		const struct idle_wait *row = &idle->waits[i];

		columns_put(&columns, "%s", human_count(row->count, text));
		columns_put(&columns, "%s", human_ns((double)row->total_ns, text));
		columns_put(&columns, "%s",
			    path_stream_text(result->trace, row->stream, TRACE_NONE, stream));
		put_from(&columns, result, row->from);
		put_known(&columns, result, row->via, (enum dependency_kind)row->kind);
	}
	puts("streams that were idle because of others");
	return print_columns(result, &columns, idle->waits_count);
}

static void print_communication(const struct path_result *result)
{
	char a[HUMAN_CHARS], b[HUMAN_CHARS], c[HUMAN_CHARS], gpu[PATH_TEXT_CHARS];
	bool any = false;

	for (uint32_t i = 0; i < result->trace->agents_count; i++) {
		const struct idle_resource *resource = idle_agent(&result->idle, i);

		if (resource->communication_ns == 0)
			continue;
		any = true;
		printf("%s: communication %s, of it %s hidden behind kernels, %s exposed\n",
		       path_stream_text(result->trace, TRACE_NONE, i, gpu),
		       human_ns((double)resource->communication_ns, a),
		       human_ns(
			       (double)tally_span(resource->exposed_ns, resource->communication_ns),
			       b),
		       human_ns((double)resource->exposed_ns, c));
	}
	if (any)
		putchar('\n');
}

/* ---- the dependencies that the result is based on ---- */

static void print_note(const char *what, uint64_t count, const char *meaning)
{
	char text[HUMAN_CHARS];

	if (count)
		printf("note      %s: %s (%s)\n", what, human_count(count, text), meaning);
}

static void print_doubts(const struct path_result *result)
{
	const struct dependencies *deps = result->deps;
	uint64_t counts[DEPENDENCY_DOUBT_COUNT] = {0};
	char text[64];

	for (uint32_t i = 0; i < deps->unresolved_count; i++)
		counts[deps->unresolved[i].doubt]++;
	for (int i = 0; i < DEPENDENCY_DOUBT_COUNT; i++)
		print_note("unresolved waits", counts[i],
			   dependency_doubt_text((enum dependency_doubt)i));
	print_note("work of replays whose node is not known", deps->nodes_unknown,
		   "it stands in the order of its launch");
	print_note("streams of unknown kind", deps->streams_unknown,
		   "whether they join the legacy default stream is not known");
	print_note("collectives whose last rank is not sure", result->jumps.unsure,
		   "the uncertainty of the clocks is larger than the difference");
	if (result->jumps.worst_error_ns)
		printf("note      where the path goes to another rank, the times are right to %s\n",
		       human_ns((double)result->jumps.worst_error_ns, text));
	for (int kind = 0; kind < DEPENDENCY_KIND_COUNT; kind++) {
		snprintf(text, sizeof(text), "edges that the times contradict, %s",
			 dependency_kind_key((enum dependency_kind)kind));
		print_note(text, deps->contradicted[kind],
			   "something began before what it depends on was over");
	}
}

int path_print_text(const struct path_result *result)
{
	int (*const parts[])(const struct path_result *) = {
		print_works,	print_ranks,	 print_waits,
		print_segments, print_resources, print_idle_waits,
	};
	int code = CLI_OK;

	if (result->is_csv)
		return print_segments(result);
	print_window(result);
	print_kinds(result);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && code == CLI_OK; i++)
		code = parts[i](result);
	if (code == CLI_OK) {
		print_communication(result);
		print_doubts(result);
	}
	return code;
}
