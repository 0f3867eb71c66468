/* The CSV writer: one table of the model as comma-separated values (docs/format/csv.md). The order
 * of columns is part of the format: put_*_row and the headers in `tables` must agree. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "format/format.h"
#include "format/words.h"
#include "trace/occupancy.h"
#include "wire/utf8.h"

struct csv {
	const struct trace *trace;
	FILE *out;
	bool in_row;
	struct words_path path, launch_path;
	uint32_t graph_process; /* Cache: the last process, and whether its graphs count blocks. */
	bool graph_in_blocks;
};

static void separate(struct csv *csv)
{
	if (csv->in_row)
		putc_unlocked(',', csv->out);
	csv->in_row = true;
}

static void end_row(struct csv *csv)
{
	putc_unlocked('\n', csv->out);
	csv->in_row = false;
}

/* The bytes of the first character of TEXT; 0 if it is not UTF-8, or a control character, which a
 * terminal would obey. Tab, CR and LF are kept. */
static size_t count_shown(const char *text)
{
	unsigned char first = (unsigned char)text[0];
	size_t bytes;

	if (first < 0x80)
		return (first >= ' ' && first != 0x7f) || strchr("\t\r\n", first);
	bytes = utf8_character(text, strnlen(text, 4));
	/* U+0080 to U+009F are control characters */
	return first == 0xc2 && (unsigned char)text[1] < 0xa0 ? 0 : bytes;
}

/* The bytes that U+FFFD replaces: a control character of two bytes, or one byte. */
static size_t count_hidden(const char *text)
{
	return utf8_character(text, strnlen(text, 4)) == 2 ? 2 : 1;
}

/* Writes the first character of TEXT, with '"' doubled, and returns its bytes. */
static size_t put_character(FILE *out, const char *text)
{
	size_t bytes = count_shown(text);

	if (!bytes) {
		fputs_unlocked(UTF8_REPLACEMENT, out);
		return count_hidden(text);
	}
	if (*text == '"')
		fputs_unlocked("\"", out);
	fwrite_unlocked(text, 1, bytes, out);
	return bytes;
}

/* True if the text needs neither quoting nor replacement, which most texts do not. */
static bool is_plain(const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte < ' ' || byte >= 0x7f || byte == '"' || byte == ',')
			return false;
	}
	return true;
}

/* Writes a text field. A spreadsheet would evaluate a text that begins like a formula; a "'"
 * before it prevents that, and the spreadsheet does not show the "'". */
static void put_text(struct csv *csv, const char *text)
{
	bool is_formula = *text && strchr("=+-@\t\r", *text);
	bool is_quoted = text[strcspn(text, ",\"\t\r\n")] != '\0';

	separate(csv);
	if (is_quoted)
		putc_unlocked('"', csv->out);
	if (is_formula)
		putc_unlocked('\'', csv->out);
	if (is_plain(text)) {
		fputs_unlocked(text, csv->out);
	} else {
		while (*text)
			text += put_character(csv->out, text);
	}
	if (is_quoted)
		putc_unlocked('"', csv->out);
}

static void put_string(struct csv *csv, trace_string string)
{
	put_text(csv, trace_text(csv->trace, string));
}

static void put_nothing(struct csv *csv)
{
	separate(csv);
}

static void put_u64(struct csv *csv, uint64_t value)
{
	char digits[24];
	char *at = digits + sizeof(digits) - 1;

	separate(csv);
	*at = '\0';
	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	fputs_unlocked(at, csv->out);
}

static void put_i64(struct csv *csv, int64_t value)
{
	if (value >= 0) {
		put_u64(csv, (uint64_t)value);
		return;
	}
	separate(csv);
	fprintf(csv->out, "%" PRId64, value);
}

static void put_bool(struct csv *csv, bool value)
{
	put_u64(csv, value);
}

/* Writes an empty field for 0, which means unknown. */
static void put_known(struct csv *csv, uint64_t value)
{
	if (value)
		put_u64(csv, value);
	else
		put_nothing(csv);
}

/* Writes an empty field for TRACE_NONE, which means unknown. */
static void put_known_count(struct csv *csv, uint32_t count)
{
	if (count == TRACE_NONE)
		put_nothing(csv);
	else
		put_u64(csv, count);
}

static void put_dim(struct csv *csv, const uint32_t dim[3])
{
	for (int i = 0; i < 3; i++)
		put_known(csv, dim[i]);
}

static void put_grid(struct csv *csv, const uint64_t grid[3], const uint32_t workgroup[3],
		     bool in_blocks)
{
	for (int i = 0; i < 3; i++)
		put_known(csv, in_blocks ? words_blocks(grid[i], workgroup[i]) : grid[i]);
}

static void put_grid_unit(struct csv *csv, const uint64_t grid[3], bool in_blocks)
{
	if (grid[0])
		put_text(csv, in_blocks ? "blocks" : "work_items");
	else
		put_nothing(csv);
}

static void put_pid(struct csv *csv, uint32_t process)
{
	put_u64(csv, csv->trace->processes[process].pid);
}

static void put_tid(struct csv *csv, uint32_t thread)
{
	if (thread == TRACE_NONE)
		put_nothing(csv);
	else
		put_u64(csv, csv->trace->threads[thread].tid);
}

static void put_device(struct csv *csv, uint32_t agent)
{
	if (agent == TRACE_NONE)
		put_nothing(csv);
	else if (csv->trace->agents[agent].is_gpu)
		put_u64(csv, csv->trace->agents[agent].gpu_ordinal);
	else
		put_text(csv, "cpu");
}

static void put_queue(struct csv *csv, uint32_t queue)
{
	if (queue == TRACE_NONE)
		put_nothing(csv);
	else
		put_u64(csv, csv->trace->queues[queue].id);
}

static void put_stream(struct csv *csv, uint32_t stream)
{
	if (stream == TRACE_NONE)
		put_nothing(csv);
	else
		put_u64(csv, csv->trace->streams[stream].ordinal);
}

static void put_handle(struct csv *csv, uint32_t stream)
{
	if (stream == TRACE_NONE)
		put_nothing(csv);
	else
		put_u64(csv, csv->trace->streams[stream].handle);
}

/* Two fields: the path, then the id. */
static void put_scope_by(struct csv *csv, struct words_path *path, uint32_t scope)
{
	if (scope == TRACE_NONE) {
		put_nothing(csv);
		put_nothing(csv);
		return;
	}
	put_text(csv, words_path_get(path, csv->trace, scope));
	put_u64(csv, csv->trace->scopes[scope].id);
}

static void put_scope(struct csv *csv, uint32_t scope)
{
	put_scope_by(csv, &csv->path, scope);
}

static void put_graph(struct csv *csv, uint32_t graph)
{
	if (graph == TRACE_NONE)
		put_nothing(csv);
	else
		put_u64(csv, csv->trace->graphs[graph].id);
}

static void put_node(struct csv *csv, uint32_t node)
{
	if (node == TRACE_NONE)
		put_nothing(csv);
	else
		put_u64(csv, csv->trace->nodes[node].index);
}

/* Two fields: the exec's id, then the replay. */
static void put_launch(struct csv *csv, uint32_t launch)
{
	const struct trace *trace = csv->trace;

	if (launch == TRACE_NONE) {
		put_nothing(csv);
		put_nothing(csv);
		return;
	}
	put_u64(csv, trace->execs[trace->launches[launch].exec].id);
	put_u64(csv, trace->launches[launch].replay);
}

/* Two fields: the correlation id, then the function's name. */
static void put_call(struct csv *csv, uint32_t call)
{
	const struct trace *trace = csv->trace;

	if (call == TRACE_NONE) {
		put_nothing(csv);
		put_nothing(csv);
		return;
	}
	put_u64(csv, trace->calls[call].cid);
	put_string(csv, trace->apis[trace->calls[call].api].name);
}

static void put_activity_times(struct csv *csv, const struct trace_activity *activity)
{
	struct trace_ticks ticks = {0};

	if (csv->trace->ticks)
		ticks = csv->trace->ticks[activity - csv->trace->activities];
	if (activity->untimed == RECORD_UNTIMED_NO) {
		put_i64(csv, activity->start_ns);
		put_i64(csv, activity->end_ns);
		put_i64(csv, words_span_ns(activity->start_ns, activity->end_ns));
	} else {
		put_nothing(csv);
		put_nothing(csv);
		put_nothing(csv);
	}
	put_known(csv, (uint64_t)activity->submit_ns);
	put_known(csv, ticks.start);
	put_known(csv, ticks.end);
}

/* Scalar registers, theoretical occupancy, and what limits it. */
static void put_occupancy(struct csv *csv, const struct trace_activity *activity,
			  const struct trace_work *work)
{
	const struct trace *trace = csv->trace;
	struct occupancy occupancy = {0};
	char text[OCCUPANCY_TEXT_CHARS];

	if (activity->agent != TRACE_NONE)
		occupancy =
			occupancy_of(trace_text(trace, trace->agents[activity->agent].name), work);
	put_known(csv, work->scalar_registers);
	if (occupancy.waves_most) {
		snprintf(text, sizeof(text), "%.4f", occupancy_value(&occupancy));
		put_text(csv, text);
		put_text(csv, occupancy_limits_text(occupancy.limits, text));
	} else {
		put_nothing(csv);
		put_nothing(csv);
	}
}

static void put_activity(struct csv *csv, uint32_t row)
{
	const struct trace_activity *activity = &csv->trace->activities[row];
	const struct trace_work *work = trace_work_of(csv->trace, activity);
	bool in_blocks = words_counts_blocks(csv->trace, activity);

	put_pid(csv, activity->process);
	put_device(csv, activity->agent);
	put_queue(csv, activity->queue);
	put_stream(csv, activity->stream);
	put_tid(csv, activity->thread);
	put_text(csv, words_kind(work->kind));
	put_string(csv, work->name);
	put_activity_times(csv, activity);
	put_grid(csv, work->grid, work->workgroup, in_blocks);
	put_dim(csv, work->workgroup);
	put_known(csv, work->bytes);
	put_text(csv, words_direction(work->direction));
	put_bool(csv, work->blit);
	put_call(csv, activity->call);
	put_u64(csv, activity->ordinal);
	put_scope(csv, trace_scope_of(csv->trace, activity));
	put_graph(csv, words_activity_graph(csv->trace, activity));
	put_launch(csv, activity->launch);
	put_node(csv, activity->node);
	put_text(csv, words_confidence(activity->confidence));
	put_text(csv, words_untimed(activity->untimed));
	put_known(csv, work->registers);
	put_known(csv, work->group_bytes);
	put_known(csv, work->private_bytes);
	put_handle(csv, activity->stream);
	put_grid_unit(csv, work->grid, in_blocks);
	put_scope_by(csv, &csv->launch_path, activity->scope);
	put_occupancy(csv, activity, work);
}

/* All arguments in one field, cut off at 2 KiB: "dst=0x7f00 sizeBytes=4096". */
static void put_args(struct csv *csv, const struct trace_call *call)
{
	char line[2048];
	char value[WORDS_ARG_CHARS];
	struct words_arg arg;
	size_t used = 0;

	line[0] = '\0';
	for (uint32_t i = 0; words_call_arg(csv->trace, call, i, &arg) && used < sizeof(line); i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s=%s", i ? " " : "",
					 arg.name, words_arg_text(&arg, value));
	put_text(csv, line);
}

static void put_call_row(struct csv *csv, uint32_t row)
{
	const struct trace *trace = csv->trace;
	const struct trace_call *call = &trace->calls[row];

	put_pid(csv, call->process);
	put_tid(csv, call->thread);
	put_call(csv, row);
	put_known(csv, call->parent == TRACE_NONE ? 0 : trace->calls[call->parent].cid);
	put_i64(csv, call->begin_ns);
	put_i64(csv, call->end_ns);
	put_i64(csv, words_span_ns(call->begin_ns, call->end_ns));
	put_i64(csv, call->result);
	put_stream(csv, call->stream);
	put_u64(csv, call->activity_count);
	put_known_count(csv, call->activities_expected);
	put_scope(csv, call->scope);
	put_graph(csv, call->launch == TRACE_NONE
			       ? TRACE_NONE
			       : trace->execs[trace->launches[call->launch].exec].graph);
	put_launch(csv, call->launch);
	put_args(csv, call);
}

static void put_scope_row(struct csv *csv, uint32_t row)
{
	const struct trace_scope *scope = &csv->trace->scopes[row];

	put_pid(csv, scope->process);
	put_tid(csv, scope->thread);
	put_text(csv, words_scope_kind(scope->kind));
	put_scope(csv, row);
	put_known(csv, scope->parent == TRACE_NONE ? 0 : csv->trace->scopes[scope->parent].id);
	put_string(csv, scope->text);
	if (scope->untimed) {
		for (int i = 0; i < 3; i++)
			put_nothing(csv);
	} else {
		put_i64(csv, scope->begin_ns);
		put_i64(csv, scope->end_ns);
		put_i64(csv, words_span_ns(scope->begin_ns, scope->end_ns));
	}
	put_bool(csv, scope->open);
}

/* Caches the last process, because the graphs of a process follow each other. */
static bool graph_counts_blocks(struct csv *csv, const struct trace_graph *graph)
{
	if (csv->graph_process != graph->process) {
		csv->graph_process = graph->process;
		csv->graph_in_blocks = words_process_counts_blocks(csv->trace, graph->process);
	}
	return csv->graph_in_blocks;
}

static void put_node_row(struct csv *csv, uint32_t row)
{
	const struct trace *trace = csv->trace;
	const struct trace_node *node = &trace->nodes[row];
	const struct trace_graph *graph = &trace->graphs[node->graph];
	bool in_blocks = graph_counts_blocks(csv, graph);

	put_pid(csv, graph->process);
	put_graph(csv, node->graph);
	put_graph(csv, graph->parent);
	put_u64(csv, node->index);
	put_text(csv, words_node_type(node->type));
	put_text(csv, node->type == RECORD_NODE_KERNEL ? trace_text(trace, node->name) : "");
	put_grid(csv, node->grid, node->workgroup, in_blocks);
	put_dim(csv, node->workgroup);
	put_known(csv, node->bytes);
	put_text(csv, words_direction(node->direction));
	put_scope(csv, node->scope);
	put_graph(csv, node->child);
	put_grid_unit(csv, node->grid, in_blocks);
}

/* Two fields as put_call; if the call has no row, the correlation id alone. */
static void put_caller(struct csv *csv, uint32_t call, uint64_t cid)
{
	if (call != TRACE_NONE) {
		put_call(csv, call);
		return;
	}
	put_known(csv, cid);
	put_nothing(csv);
}

/* Three fields: the handle, how many events had it before, whether another process made the
 * event. */
static void put_event(struct csv *csv, uint32_t row)
{
	if (row == TRACE_NONE) {
		for (int i = 0; i < 3; i++)
			put_nothing(csv);
		return;
	}
	put_u64(csv, csv->trace->events[row].handle);
	put_u64(csv, csv->trace->events[row].generation);
	put_bool(csv, csv->trace->events[row].is_foreign);
}

/* Four fields for the node that recorded an event: graph, exec, replay, index of the node. Empty
 * if no node did. */
static void put_recorder(struct csv *csv, const struct trace_event_record *record)
{
	const struct trace *trace = csv->trace;

	if (record->node == TRACE_NONE || record->call == TRACE_NONE) {
		for (int i = 0; i < 4; i++)
			put_nothing(csv);
		return;
	}
	put_graph(csv, trace->nodes[record->node].graph);
	put_launch(csv, trace->calls[record->call].launch);
	put_node(csv, record->node);
}

static void put_event_row(struct csv *csv, uint32_t row)
{
	const struct trace_event_record *record = &csv->trace->event_records[row];

	put_pid(csv, record->process);
	put_caller(csv, record->call, record->cid);
	put_event(csv, record->event);
	put_stream(csv, record->stream);
	put_known(csv, record->order);
	put_known(csv, (uint64_t)record->device_ns);
	put_recorder(csv, record);
}

static void put_wait_row(struct csv *csv, uint32_t row)
{
	const struct trace_wait *wait = &csv->trace->waits[row];

	put_pid(csv, wait->process);
	put_caller(csv, wait->call, wait->cid);
	put_text(csv, words_wait_type(wait->type));
	put_i64(csv, wait->begin_ns);
	put_i64(csv, wait->end_ns);
	put_i64(csv, words_span_ns(wait->begin_ns, wait->end_ns));
	put_i64(csv, wait->result);
	put_stream(csv, wait->stream);
	put_event(csv, wait->event);
	put_text(csv, words_known(wait->known));
	put_known(csv, wait->order);
	if (wait->producer == TRACE_NONE) {
		for (int i = 0; i < 6; i++)
			put_nothing(csv);
		return;
	}
	put_known(csv, csv->trace->event_records[wait->producer].cid);
	put_stream(csv, csv->trace->event_records[wait->producer].stream);
	put_recorder(csv, &csv->trace->event_records[wait->producer]);
}

static void put_memory_row(struct csv *csv, uint32_t row)
{
	const struct trace_memory_operation *operation = &csv->trace->memory_operations[row];

	put_pid(csv, operation->process);
	put_caller(csv, operation->call, operation->cid);
	put_device(csv, operation->agent);
	put_text(csv, operation->is_release ? "release" : operation->result ? "fail" : "allocate");
	put_known(csv, (uint64_t)operation->ns);
	put_known(csv, operation->address);
	put_known(csv, operation->bytes);
	put_text(csv, words_memory_kind(operation->kind));
	put_stream(csv, operation->stream);
	put_scope(csv, operation->scope);
}

static uint32_t count_activities(const struct trace *trace)
{
	return trace->activities_count;
}

static uint32_t count_calls(const struct trace *trace)
{
	return trace->calls_count;
}

static uint32_t count_scopes(const struct trace *trace)
{
	return trace->scopes_count;
}

static uint32_t count_nodes(const struct trace *trace)
{
	return trace->nodes_count;
}

static uint32_t count_events(const struct trace *trace)
{
	return trace->event_records_count;
}

static uint32_t count_waits(const struct trace *trace)
{
	return trace->waits_count;
}

static uint32_t count_memory(const struct trace *trace)
{
	return trace->memory_operations_count;
}

struct table {
	const char *header;
	uint32_t (*count)(const struct trace *trace);
	void (*put_row)(struct csv *csv, uint32_t row);
};

static const struct format_table table_names[] = {
	{"activities", "one row a kernel, copy or memset"},
	{"calls", "one row an API call"},
	{"scopes", "one row a scope, range or mark"},
	{"graph_nodes", "one row a node of each graph"},
	{"events", "one row each time that an event was recorded"},
	{"waits", "one row a wait of the host or a stream"},
	{"memory", "one row an allocation of memory, or a release"},
	{0},
};

/* In the order of table_names; write_csv indexes both alike. */
static const struct table tables[] = {
	{"process,device,queue,stream,thread,kind,name,start_ns,end_ns,duration_ns,submit_ns,"
	 "start_tick,end_tick,grid_x,grid_y,grid_z,workgroup_x,workgroup_y,workgroup_z,bytes,"
	 "direction,blit,cid,api,ordinal,scope,scope_id,graph,exec,replay,node,confidence,untimed,"
	 "registers,group_bytes,private_bytes,stream_handle,grid_unit,launch_scope,"
	 "launch_scope_id,scalar_registers,occupancy,occupancy_limit",
	 count_activities, put_activity},
	{"process,thread,cid,api,parent_cid,begin_ns,end_ns,duration_ns,result,stream,activities,"
	 "activities_expected,scope,scope_id,graph,exec,replay,args",
	 count_calls, put_call_row},
	{"process,thread,kind,scope,scope_id,parent_id,text,begin_ns,end_ns,duration_ns,open",
	 count_scopes, put_scope_row},
	{"process,graph,parent_graph,node,type,name,grid_x,grid_y,grid_z,workgroup_x,workgroup_y,"
	 "workgroup_z,bytes,direction,scope,scope_id,child_graph,grid_unit",
	 count_nodes, put_node_row},
	{"process,cid,api,event,generation,foreign,stream,order,device_ns,graph,exec,replay,node",
	 count_events, put_event_row},
	{"process,cid,api,type,begin_ns,end_ns,duration_ns,result,stream,event,generation,foreign,"
	 "known,order,producer_cid,producer_stream,producer_graph,producer_exec,producer_replay,"
	 "producer_node",
	 count_waits, put_wait_row},
	{"process,cid,api,device,operation,ns,address,bytes,kind,stream,scope,scope_id",
	 count_memory, put_memory_row},
};

static int write_csv(const struct trace *trace, FILE *out, const struct format_options *options,
		     struct dagtap_error *error)
{
	struct csv csv = {.trace = trace,
			  .out = out,
			  .path.scope = TRACE_NONE,
			  .launch_path.scope = TRACE_NONE,
			  .graph_process = TRACE_NONE};
	const struct format_table *name = table_names;
	const struct table *table;

	if (options && options->table)
		name = format_find_table(&format_csv, options->table);
	if (!name)
		return dagtap_error_set(error, -EINVAL, "csv has no table \"%s\"", options->table);
	table = &tables[name - table_names];
	errno = 0;
	fprintf(out, "%s\n", table->header);
	for (uint32_t row = 0; row < table->count(trace); row++) {
		table->put_row(&csv, row);
		end_row(&csv);
		if (ferror_unlocked(out))
			break;
	}
	if (ferror_unlocked(out))
		return dagtap_error_set(error, errno ? -errno : -EIO, "csv: %s",
					strerror(errno ? errno : EIO));
	return 0;
}

const struct format format_csv = {
	.name = "csv",
	.extension = ".csv",
	.help = "comma-separated values, one table a file (docs/format/csv.md)",
	.tables = table_names,
	.write = write_csv,
};
