/* Reads the planes of the host, thread by thread: API calls (events with a correlation id) and
 * scopes (all other events), and nests them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/xspace/xspace_reader_load.h"
#include "trace/row_table.h"
#include "trace/scope_text.h"

#define THREAD_LINE    "Host Threads/"
#define NO_THREAD_LINE "No thread"
#define TRACK_WORD     " lane "

/* An event of a line, for nesting. */
struct interval {
	int64_t begin_ns, end_ns;
	uint32_t row; /* index into trace.calls or trace.scopes */
	bool is_call;
};

struct host {
	struct xread_plane *plane;
	bool has_ranges;	    /* the plane has NVTX's ranges, which need not nest */
	uint32_t process, thread;   /* of the current line */
	trace_string line_name;	    /* name of the line to which lines named "... lane N" belong */
	struct interval *intervals; /* of that line and its further lines; owned */
	uint32_t intervals_count;
	struct xread_event event;
};

/* The thread that a line's name states: "Host Threads/858", with "/NVTX" after it on the plane of
 * NVTX's ranges. In dagtap's files the thread's own name may replace "Host Threads", a prefix such
 * as "exe pid 650:" may stand before it, and " ranges" after it. Other lines have only an id,
 * which may be a hash. */
struct thread_name {
	uint64_t key;
	trace_string text;
};

static struct thread_name split_name(struct xread_load *load, const struct xread_line *line)
{
	struct thread_name split = {.key = (uint64_t)line->id, .text = line->name};
	const char *text = xread_string(load, line->name);
	const char *process = load->is_ours ? strstr(text, ": ") : NULL;
	const char *slash;

	if (process && load->trace->processes_count > 1)
		text = process + strlen(": ");
	slash = load->is_ours ? strrchr(text, '/') : strchr(text, '/');
	if (!slash || slash[1] < '0' || slash[1] > '9')
		return split;
	if (strncmp(text, THREAD_LINE, strlen(THREAD_LINE)) != 0 && !load->is_ours)
		return split;
	split.key = strtoull(slash + 1, NULL, 10);
	split.text = 0;
	if (strncmp(text, THREAD_LINE, strlen(THREAD_LINE)) != 0)
		split.text = strtab_intern(load->strings, text, (size_t)(slash - text));
	return split;
}

/* Folds an id that may be a 64-bit hash into 32 bits; a tid stays unchanged. */
static uint32_t tid_of(uint64_t key)
{
	return (uint32_t)(key ^ key >> 32);
}

/* True if the line continues the line before: "python3 lane 2" after "python3" has what did not
 * nest there. */
static bool is_further_track(const struct xread_load *load, const struct host *host,
			     const struct xread_line *line)
{
	const char *before = xread_string(load, host->line_name);
	const char *name = xread_string(load, line->name);
	size_t chars = strlen(before);

	return chars && !strncmp(name, before, chars) &&
	       !strncmp(name + chars, TRACK_WORD, strlen(TRACK_WORD));
}

static int find_thread(struct xread_load *load, struct host *host, const struct xread_line *line)
{
	struct thread_name name = split_name(load, line);
	uint32_t known = load->threads.count;
	uint32_t number;
	struct trace_thread *row;

	host->process = xread_line_process(load, line);
	host->thread = TRACE_NONE;
	if (load->is_ours &&
	    !strncmp(xread_string(load, line->name), NO_THREAD_LINE, strlen(NO_THREAD_LINE)))
		return 0;
	number = numbers_get(&load->threads, host->process, name.key);
	if (number == NUMBERS_NONE)
		return -ENOMEM;
	host->thread = number;
	if (number != known)
		return 0;
	row = trace_add(load->trace, threads);
	if (!row)
		return -ENOMEM;
	*row = (struct trace_thread){
		.process = host->process,
		.tid = tid_of(name.key),
		.name = name.text,
	};
	return 0;
}

static int add_interval(struct host *host, uint32_t row, bool is_call)
{
	struct interval *interval =
		table_add((void **)&host->intervals, &host->intervals_count, sizeof(*interval));

	if (!interval)
		return -ENOMEM;
	*interval = (struct interval){
		.begin_ns = host->event.begin_ns,
		.end_ns = host->event.end_ns,
		.row = row,
		.is_call = is_call,
	};
	return 0;
}

/* The launch of a call that launches a graph, if the file states it for calls; TRACE_NONE
 * otherwise, or -ENOMEM. */
static int64_t launch_of(struct xread_load *load, const struct xread_event *event, uint32_t process,
			 uint64_t cid)
{
	uint64_t graph_id = xread_number_of(event, XSPACE_STAT_GRAPH_ID);
	uint64_t exec_id = xread_number_of(event, XSPACE_STAT_GRAPH_EXEC_ID);
	int64_t graph = TRACE_NONE, exec = -ENOMEM, launch = -ENOMEM;

	if (!xread_has_exec(load, event))
		return TRACE_NONE;
	if (graph_id)
		graph = read_graph(load->trace, &load->graphs, process, graph_id);
	if (graph >= 0)
		exec = xread_exec(load, process, exec_id, (uint32_t)graph);
	if (exec >= 0)
		launch = read_graph_launch(load->trace, &load->launches, (uint32_t)exec, cid);
	if (launch >= 0 && xread_has_number(event, XSPACE_STAT_REPLAY))
		load->trace->launches[launch].replay = xread_number_of(event, XSPACE_STAT_REPLAY);
	return launch;
}

static int add_call(struct xread_load *load, struct host *host)
{
	const struct xread_event *event = &host->event;
	uint64_t cid = xread_number_of(event, XSPACE_STAT_CORRELATION_ID);
	uint32_t process = xread_origin_of(load, host->process, &cid);
	int64_t api = xread_api(load, process, event->name);
	int64_t scope = xread_scope_of(load, event, process);
	int64_t launch = launch_of(load, event, process, cid);
	struct trace_call *row;

	if (api < 0 || scope < 0 || launch < 0)
		return -ENOMEM;
	row = trace_add(load->trace, calls);
	if (!row)
		return -ENOMEM;
	*row = (struct trace_call){
		.cid = cid,
		.begin_ns = event->begin_ns,
		.end_ns = event->end_ns,
		.process = process,
		.thread = host->thread,
		.parent = TRACE_NONE,
		.scope = (uint32_t)scope,
		.stream = TRACE_NONE,
		.launch = (uint32_t)launch,
		.activities_expected = xread_text_of(event, XSPACE_STAT_ORPHAN) != 0,
		.result = (int32_t)xread_number_of(event, XSPACE_STAT_RESULT),
		.api = (uint16_t)api,
	};
	if (xread_keep_set(load, event, load->trace->calls_count, &load->call_sets) < 0)
		return -ENOMEM;
	return add_interval(host, load->trace->calls_count - 1, true);
}

static enum record_scope_kind scope_kind(const struct xread_load *load, const struct host *host)
{
	static const struct {
		const char *text;
		enum record_scope_kind kind;
	} words[] = {
		{"roctx", RECORD_SCOPE_ROCTX}, {"range", RECORD_SCOPE_RANGE},
		{"mark", RECORD_SCOPE_MARK},   {"step", RECORD_SCOPE_STEP},
		{"nvtx", RECORD_SCOPE_NVTX},
	};
	const struct xread_event *event = &host->event;
	const char *text = xread_string(load, xread_text_of(event, XSPACE_STAT_SCOPE_KIND));

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(text, words[i].text))
			return words[i].kind;
	}
	if (host->has_ranges)
		return RECORD_SCOPE_RANGE;
	if (xread_has_number(event, XSPACE_STAT_ROOT))
		return RECORD_SCOPE_STEP;
	if (!load->is_ours && event->begin_ns == event->end_ns)
		return RECORD_SCOPE_MARK;
	return RECORD_SCOPE_DAGTAP;
}

/* False for stats that the model's row states itself. */
static bool is_attribute(const struct xread_load *load, trace_string key)
{
	static const enum xspace_stat others[] = {XSPACE_STAT_ROOT, XSPACE_STAT_SCOPE_KIND,
						  XSPACE_STAT_SCOPE_OPEN, XSPACE_STAT_SCOPE_PARENT};
	const char *text = xread_string(load, key);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strcmp(text, xspace_stat_name(others[i])))
			return false;
	}
	return true;
}

static int add_attributes(struct xread_load *load, const struct xread_event *event,
			  struct trace_scope *row)
{
	row->attribute_first = load->trace->scope_attributes_count;
	for (uint32_t i = 0; i < event->attribute_count; i++) {
		struct trace_scope_attribute *attribute;

		if (!is_attribute(load, event->attributes[i].key))
			continue;
		attribute = trace_add(load->trace, scope_attributes);
		if (!attribute)
			return -ENOMEM;
		*attribute = event->attributes[i];
		row->attribute_count++;
	}
	return 0;
}

/* The row for a scope's event. If the event names no scope, or one that another event already was,
 * it is a scope of its own with a number of the reader's. */
static int64_t new_scope(struct xread_load *load, const struct host *host)
{
	uint64_t id = xread_number_of(&host->event, XSPACE_STAT_SCOPE_RANGE_ID);
	int64_t row = id ? xread_scope(load, host->process, id) : -1;
	uint32_t known = load->scopes.count;

	if (id && (row < 0 || load->trace->scopes[row].untimed))
		return row;
	do
		row = xread_scope(load, host->process, XSPACE_SCOPE_NUMBERED | load->next_scope++);
	while (row >= 0 && row != known);
	return row;
}

/* Sets the parent that the event states because the scope tree does not have it. */
static int set_parent(struct xread_load *load, const struct host *host, int64_t scope)
{
	uint64_t id = xread_number_of(&host->event, XSPACE_STAT_SCOPE_PARENT);
	int64_t parent = id ? xread_scope(load, host->process, id) : TRACE_NONE;

	if (id && parent >= 0)
		load->trace->scopes[scope].parent = (uint32_t)parent;
	return parent < 0 ? -ENOMEM : 0;
}

static int add_scope(struct xread_load *load, struct host *host)
{
	const struct xread_event *event = &host->event;
	const char *text = xread_string(load, event->name);
	int64_t number = new_scope(load, host);
	struct scope_text parts;
	struct trace_scope *row;

	if (number < 0)
		return -ENOMEM;
	scope_text_split(text, strlen(text), &parts);
	row = &load->trace->scopes[number];
	row->process = host->process;
	row->untimed = false;
	row->kind = scope_kind(load, host);
	row->text = event->name;
	row->name = strtab_intern(load->strings, parts.name, parts.name_bytes);
	row->thread = host->thread;
	row->begin_ns = event->begin_ns;
	row->end_ns = event->end_ns;
	row->open = xread_number_of(event, XSPACE_STAT_SCOPE_OPEN) != 0;
	if (add_attributes(load, event, row) < 0 || set_parent(load, host, number) < 0)
		return -ENOMEM;
	return add_interval(host, (uint32_t)number, false);
}

/* Order: by begin, the longest first, scopes before calls, row. */
static int by_nesting(const void *left, const void *right)
{
	const struct interval *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	if (a->is_call != b->is_call)
		return a->is_call ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

/* False for marks, which have no length, and ranges, which need not nest: neither can be a parent
 * by time. */
static bool can_hold(const struct trace_scope *scope)
{
	return scope->kind != RECORD_SCOPE_MARK && scope->kind != RECORD_SCOPE_RANGE;
}

static bool holds(const struct trace_scope *scope, const struct trace_call *call)
{
	return scope->thread == call->thread && scope->begin_ns <= call->begin_ns &&
	       scope->end_ns >= call->end_ns;
}

/* Joins a call with SCOPE, the innermost scope open on its thread, if that has no id in the file.
 * A call without a scope gets SCOPE. If the file states the call's scope, the outermost scope
 * around it gets as parent the innermost scope that was open during all calls under it. */
static void nest_call(struct xread_load *load, struct trace_call *call, uint32_t scope)
{
	struct trace_scope *rows = load->trace->scopes;
	uint32_t root;

	if (scope == TRACE_NONE || !xspace_scope_is_numbered(rows[scope].id))
		return;
	if (call->scope == TRACE_NONE) {
		call->scope = scope;
		return;
	}
	root = xread_root(load, call->scope);
	if (root == TRACE_NONE || !rows[root].untimed)
		return;
	if (rows[root].thread == TRACE_NONE) {
		rows[root].thread = call->thread;
		rows[root].parent = scope;
	}
	while (rows[root].parent != TRACE_NONE && !holds(&rows[rows[root].parent], call))
		rows[root].parent = rows[rows[root].parent].parent;
}

/* The stack of open intervals. An interval that does not hold the next one is removed. */
struct nesting {
	uint32_t *held_by; /* by interval: the one around it */
	uint32_t top;
};

static void nest_one(struct xread_load *load, struct host *host, struct nesting *nesting,
		     uint32_t index)
{
	const struct interval *rows = host->intervals, *row = &rows[index];
	uint32_t call = TRACE_NONE, scope = TRACE_NONE;

	while (nesting->top != TRACE_NONE && rows[nesting->top].end_ns < row->end_ns)
		nesting->top = nesting->held_by[nesting->top];
	nesting->held_by[index] = nesting->top;
	if (nesting->top != TRACE_NONE) {
		const struct interval *top = &rows[nesting->top];

		call = top->is_call ? top->row : TRACE_NONE;
		scope = top->is_call ? load->trace->calls[top->row].scope : top->row;
	}
	if (row->is_call) {
		load->trace->calls[row->row].parent = call;
		nest_call(load, &load->trace->calls[row->row], scope);
	} else if (xspace_scope_is_numbered(load->trace->scopes[row->row].id)) {
		load->trace->scopes[row->row].parent = scope;
	}
	if (row->is_call || can_hold(&load->trace->scopes[row->row]))
		nesting->top = index;
}

static int nest(struct xread_load *load, struct host *host)
{
	struct nesting nesting = {.top = TRACE_NONE};
	uint32_t count = host->intervals_count;

	if (count == 0)
		return 0;
	nesting.held_by = malloc(count * sizeof(*nesting.held_by));
	if (!nesting.held_by)
		return -ENOMEM;
	qsort(host->intervals, count, sizeof(*host->intervals), by_nesting);
	for (uint32_t i = 0; i < count; i++)
		nest_one(load, host, &nesting, i);
	free(nesting.held_by);
	return 0;
}

static int read_line(struct xread_load *load, struct host *host, struct xread_line *line)
{
	int got, err = 0;

	while (err == 0 && (got = xread_event_next(load, line, &host->event)) != 0) {
		if (got < 0)
			return got;
		if (host->event.is_aggregated)
			load->left_out[XREAD_LEFT_OUT_AGGREGATED]++;
		else if (xread_number_of(&host->event, XSPACE_STAT_CORRELATION_ID))
			err = add_call(load, host);
		else
			err = add_scope(load, host);
	}
	return err;
}

/* Nests the line before, which is now complete with its further lines, and starts the next one. */
static int begin_thread(struct xread_load *load, struct host *host, const struct xread_line *line)
{
	int err = nest(load, host);

	host->intervals_count = 0;
	host->line_name = line->name;
	return err == 0 ? find_thread(load, host, line) : err;
}

int xread_host(struct xread_load *load, struct xread_plane *plane)
{
	const char *name = xread_string(load, plane->name);
	struct host host = {
		.plane = plane,
		.has_ranges = !strcmp(name, XSPACE_PLANE_NVTX),
		.process = plane->process,
	};
	struct xread_line line;
	int got, result = 0;

	plane->rest = plane->body;
	while (result == 0 && (got = xread_line_next(load, plane, &line)) != 0) {
		result = got < 0 ? got : 0;
		if (result == 0 && !is_further_track(load, &host, &line))
			result = begin_thread(load, &host, &line);
		if (result == 0)
			result = read_line(load, &host, &line);
	}
	if (result == 0)
		result = nest(load, &host);
	free(host.intervals);
	return result;
}
