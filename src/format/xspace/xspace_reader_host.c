/* Reads the planes of the host, thread by thread: API calls (events with a correlation id) and
 * scopes (all other events), and nests them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/xspace/xspace_reader_load.h"
#include "trace/load/scope_text.h"
#include "trace/row_table.h"

#define THREAD_LINE    "Host Threads/"
#define NO_THREAD_LINE "No thread"
#define TRACK_WORD     " lane "

struct host {
	struct xread_plane *plane;
	bool has_ranges;	  /* the plane has NVTX's ranges, which need not nest */
	uint32_t process, thread; /* of the current line */
	trace_string line_name;	  /* name of the line to which lines named "... lane N" belong */
	struct import_interval *intervals; /* of that line and its further lines; owned */
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

	if (process && load->import.trace->processes_count > 1)
		text = process + strlen(": ");
	slash = load->is_ours ? strrchr(text, '/') : strchr(text, '/');
	if (!slash || slash[1] < '0' || slash[1] > '9')
		return split;
	if (strncmp(text, THREAD_LINE, strlen(THREAD_LINE)) != 0 && !load->is_ours)
		return split;
	split.key = strtoull(slash + 1, NULL, 10);
	split.text = 0;
	if (strncmp(text, THREAD_LINE, strlen(THREAD_LINE)) != 0)
		split.text = strtab_intern(load->import.strings, text, (size_t)(slash - text));
	return split;
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
	int64_t thread;

	host->process = xread_line_process(load, line);
	host->thread = TRACE_NONE;
	if (load->is_ours &&
	    !strncmp(xread_string(load, line->name), NO_THREAD_LINE, strlen(NO_THREAD_LINE)))
		return 0;
	thread = import_thread(&load->import, host->process, (struct import_id){.value = name.key},
			       name.text);
	host->thread = (uint32_t)thread;
	return thread < 0 ? (int)thread : 0;
}

static int add_interval(struct host *host, uint32_t row, bool is_call)
{
	struct import_interval *interval =
		table_add((void **)&host->intervals, &host->intervals_count, sizeof(*interval));

	if (!interval)
		return -ENOMEM;
	*interval = (struct import_interval){
		.begin_ns = host->event.begin_ns,
		.end_ns = host->event.end_ns,
		.thread = host->thread,
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
		graph = import_graph(&load->import, process, graph_id);
	if (graph >= 0)
		exec = import_exec(&load->import, process, exec_id, (uint32_t)graph);
	if (exec >= 0)
		launch = import_launch(&load->import, (uint32_t)exec, cid);
	if (launch >= 0 && xread_has_number(event, XSPACE_STAT_REPLAY))
		load->import.trace->launches[launch].replay =
			xread_number_of(event, XSPACE_STAT_REPLAY);
	return launch;
}

static int add_call(struct xread_load *load, struct host *host)
{
	const struct xread_event *event = &host->event;
	uint64_t cid = xread_number_of(event, XSPACE_STAT_CORRELATION_ID);
	uint32_t process = xread_origin_of(load, host->process, &cid);
	int64_t api = import_api(&load->import, process, event->name);
	int64_t scope = xread_scope_of(load, event, process);
	int64_t launch = launch_of(load, event, process, cid);
	struct trace_call *row;

	if (api < 0 || scope < 0 || launch < 0)
		return -ENOMEM;
	row = import_call(&load->import);
	if (!row)
		return -ENOMEM;
	row->cid = cid;
	row->begin_ns = event->begin_ns;
	row->end_ns = event->end_ns;
	row->process = process;
	row->thread = host->thread;
	row->scope = (uint32_t)scope;
	row->launch = (uint32_t)launch;
	row->activities_expected = xread_text_of(event, XSPACE_STAT_ORPHAN) != 0;
	row->result = (int32_t)xread_number_of(event, XSPACE_STAT_RESULT);
	row->api = (uint32_t)api;
	if (import_set_call(&load->import, xread_attribute_set(load, event)) < 0)
		return -ENOMEM;
	return add_interval(host, load->import.trace->calls_count - 1, true);
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
	row->attribute_first = load->import.trace->scope_attributes_count;
	for (uint32_t i = 0; i < event->attribute_count; i++) {
		struct trace_scope_attribute *attribute;

		if (!is_attribute(load, event->attributes[i].key))
			continue;
		attribute = trace_add(load->import.trace, scope_attributes);
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

	if (id && (row < 0 || load->import.trace->scopes[row].untimed))
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
		load->import.trace->scopes[scope].parent = (uint32_t)parent;
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
	row = &load->import.trace->scopes[number];
	row->process = host->process;
	row->untimed = false;
	row->kind = scope_kind(load, host);
	row->text = event->name;
	row->name = strtab_intern(load->import.strings, parts.name, parts.name_bytes);
	row->thread = host->thread;
	row->begin_ns = event->begin_ns;
	row->end_ns = event->end_ns;
	row->open = xread_number_of(event, XSPACE_STAT_SCOPE_OPEN) != 0;
	if (add_attributes(load, event, row) < 0 || set_parent(load, host, number) < 0)
		return -ENOMEM;
	return add_interval(host, (uint32_t)number, false);
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
	int err = import_nest(&load->import, &host->intervals, host->intervals_count);

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
		result = import_nest(&load->import, &host.intervals, host.intervals_count);
	free(host.intervals);
	return result;
}
