/* Counts and groups activities and calls (summary.h). */
#include "analyze/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/spread.h"
#include "base/numbers.h"
#include "base/workers.h"
#include "trace/occupancy.h"
#include "trace/row_table.h"

#define ROWS_PER_PIECE (1u << 17)
#define PATH_DEPTH_MAX 256 /* nested scopes of a path that are shown */

const char *summary_direction_text(enum trace_copy_direction direction)
{
	static const char *const texts[] = {
		[TRACE_COPY_UNKNOWN] = "copy",	       [TRACE_H2H] = "copy host to host",
		[TRACE_H2D] = "copy host to device",   [TRACE_D2H] = "copy device to host",
		[TRACE_D2D] = "copy device to device", [TRACE_P2P] = "copy device to peer",
	};

	return texts[direction];
}

/* The table that is being made. */
struct making {
	const struct trace *trace;
	struct numbers keys;	  /* numbers the keys of rows */
	struct summary_row *rows; /* by number */
	uint32_t rows_count;
	const struct summary_parts *parts; /* NULL: each activity is described alone */
	struct numbers cells;		   /* numbers pairs of row and part */
	int64_t *cell_ns;
	uint32_t cell_ns_count;
	struct spread spread;	     /* of the rows' durations */
	uint32_t *paths;	     /* by scope: the number of its path */
	struct numbers path_numbers; /* numbers pairs of parent's path and text of the scope */
};

#define NO_KEY UINT64_MAX /* the activity is in no row */

static struct summary_row *row_of(struct making *making, uint64_t key)
{
	uint32_t number = numbers_get(&making->keys, 0, key);

	if (number == NUMBERS_NONE)
		return NULL;
	return number < making->rows_count ? &making->rows[number] : trace_add(making, rows);
}

static uint64_t launch_graph(const struct trace *trace, uint32_t launch)
{
	uint32_t graph = trace->execs[trace->launches[launch].exec].graph;

	return graph == TRACE_NONE ? NO_KEY - 1 : graph;
}

/* Bit of the key of activities whose node is not known; the lower bits are the graph. */
#define NO_NODE (UINT64_C(1) << 32)

static uint64_t node_key(const struct trace *trace, const struct trace_activity *row)
{
	if (row->node != TRACE_NONE)
		return row->node;
	return NO_NODE | (uint32_t)launch_graph(trace, row->launch);
}

static uint64_t key_of(const struct making *making, const struct trace_activity *row,
		       enum summary_by by)
{
	const struct trace_work *work = trace_work_of(making->trace, row);
	uint32_t scope;

	switch (by) {
	case SUMMARY_BY_KERNEL:
		return work->kind == TRACE_KERNEL ? work->name : NO_KEY;
	case SUMMARY_BY_COPY:
		if (work->kind == TRACE_KERNEL)
			return NO_KEY;
		return work->kind == TRACE_MEMSET ? UINT32_MAX : work->direction;
	case SUMMARY_BY_STREAM:
		return row->stream;
	case SUMMARY_BY_GRAPH:
		return row->launch == TRACE_NONE ? NO_KEY
						 : launch_graph(making->trace, row->launch);
	case SUMMARY_BY_NODE:
		return row->launch == TRACE_NONE ? NO_KEY : node_key(making->trace, row);
	case SUMMARY_BY_SCOPE:
		scope = trace_scope_of(making->trace, row);
		return scope == TRACE_NONE ? TRACE_NONE : making->paths[scope];
	case SUMMARY_BY_API:
		break;
	}
	return NO_KEY;
}

/* Adds the duration of an activity to the part of ROW that it is in. */
static int add_to_cell(struct making *making, const struct summary_row *row, uint32_t part,
		       int64_t ns)
{
	int64_t *added;
	int64_t cell = numbers_row(&making->cells, (uint64_t)(row - making->rows), part,
				   (void **)&making->cell_ns, &making->cell_ns_count,
				   sizeof(*making->cell_ns), (void **)&added);

	if (cell < 0)
		return -ENOMEM;
	making->cell_ns[cell] = tally_sum(making->cell_ns[cell], ns);
	return 0;
}

/* Describes the parts of all rows, those without activities too. 0 or -ENOMEM. */
static int describe_parts(struct making *making)
{
	uint32_t parts = making->parts->count;
	uint32_t *cells = table_zeroed(making->rows_count, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	for (uint32_t i = 0; i < making->cell_ns_count; i++) {
		uint32_t row = (uint32_t)making->cells.pairs[i].high;

		cells[row]++;
		spread_add(&making->spread, row, &making->rows[row].tally, making->cell_ns[i]);
	}
	for (uint32_t row = 0; row < making->rows_count; row++) {
		for (uint32_t i = cells[row]; i < parts; i++)
			spread_add(&making->spread, row, &making->rows[row].tally, 0);
	}
	free(cells);
	return 0;
}

static int add_duration(struct making *making, uint32_t activity, struct summary_row *row)
{
	const struct trace_activity *at = &making->trace->activities[activity];
	int64_t ns = tally_span(at->start_ns, at->end_ns);

	if (at->untimed != RECORD_UNTIMED_NO) {
		if (!making->parts)
			tally_add_untimed(&row->tally);
		return 0;
	}
	if (making->parts)
		return add_to_cell(making, row, making->parts->of_activity[activity], ns);
	spread_add(&making->spread, (uint32_t)(row - making->rows), &row->tally, ns);
	return 0;
}

static int group_activities(struct making *making, enum summary_by by, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		const struct trace_activity *activity = &making->trace->activities[i];
		uint64_t key = key_of(making, activity, by);
		struct summary_row *row;

		if (key == NO_KEY || (making->parts && making->parts->of_activity[i] == TRACE_NONE))
			continue;
		row = row_of(making, key);
		if (!row)
			return -ENOMEM;
		row->bytes += trace_work_of(making->trace, activity)->bytes;
		row->activities++;
		if (activity->untimed == RECORD_UNTIMED_NO)
			row->timed_bytes += trace_work_of(making->trace, activity)->bytes;
		if (add_duration(making, i, row) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The time of a work kind, and a GPU on which it ran. */
struct work_time {
	int64_t ns;
	uint32_t agent;
};

/* Adds the occupancy of a work kind to the row of its kernel. KNOWN_NS and MOST_NS are those of the
 * row: the time with known occupancy, and of its longest work kind. */
static void add_occupancy(struct summary_row *row, const struct occupancy *occupancy, int64_t ns,
			  int64_t *known_ns, int64_t *most_ns)
{
	*known_ns = tally_sum(*known_ns, ns);
	row->occupancy +=
		(occupancy_value(occupancy) - row->occupancy) * (double)ns / (double)*known_ns;
	if (ns > *most_ns) {
		*most_ns = ns;
		row->occupancy_limits = occupancy->limits;
	}
}

static struct work_time *time_works(const struct trace *trace)
{
	struct work_time *times = calloc((size_t)trace->works_count + 1, sizeof(*times));

	for (uint32_t i = 0; times && i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (row->untimed != RECORD_UNTIMED_NO || row->agent == TRACE_NONE)
			continue;
		times[row->work].agent = row->agent;
		times[row->work].ns =
			tally_sum(times[row->work].ns, tally_span(row->start_ns, row->end_ns));
	}
	return times;
}

/* Sets the occupancy of each kernel's row. Returns 0 or -ENOMEM. */
static int find_occupancy(struct making *making)
{
	const struct trace *trace = making->trace;
	struct work_time *times = time_works(trace);
	int64_t(*row_ns)[2] = calloc((size_t)making->rows_count + 1, sizeof(*row_ns));
	int err = times && row_ns ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < trace->works_count && err == 0; i++) {
		struct occupancy occupancy;
		uint32_t number;

		if (times[i].ns <= 0 || trace->works[i].kind != TRACE_KERNEL)
			continue;
		occupancy = occupancy_of(trace_text(trace, trace->agents[times[i].agent].name),
					 &trace->works[i]);
		number = numbers_get(&making->keys, 0, trace->works[i].name);
		if (occupancy.waves_most && number < making->rows_count)
			add_occupancy(&making->rows[number], &occupancy, times[i].ns,
				      &row_ns[number][0], &row_ns[number][1]);
	}
	free(times);
	free(row_ns);
	return err;
}

double summary_bytes_per_s(const struct summary_row *row)
{
	return row->tally.total_ns > 0
		       ? (double)row->timed_bytes * 1e9 / (double)row->tally.total_ns
		       : 0;
}

static int group_calls(struct making *making, uint32_t first, uint32_t end)
{
	const struct trace *trace = making->trace;

	for (uint32_t i = first; i < end; i++) {
		const struct trace_call *call = &trace->calls[i];
		struct summary_row *row = row_of(making, trace->apis[call->api].name);

		if (!row)
			return -ENOMEM;
		row->activities++;
		spread_add(&making->spread, (uint32_t)(row - making->rows), &row->tally,
			   tally_span(call->begin_ns, call->end_ns));
	}
	return 0;
}

/* A table that is made in pieces, some neighbouring activities or calls each. The pieces are put
 * together in their order, so the table is the same for any number of threads. */
struct piecewise {
	const struct making *making;
	enum summary_by by;
	uint32_t rows_count; /* activities or calls */
	struct making *pieces;
};

static int make_piece(void *piecewise_of_table, unsigned worker, uint32_t number)
{
	const struct piecewise *piecewise = piecewise_of_table;
	struct making *piece = &piecewise->pieces[number];
	uint64_t end = (number + 1ull) * ROWS_PER_PIECE;
	uint32_t first = number * ROWS_PER_PIECE;

	if (end > piecewise->rows_count)
		end = piecewise->rows_count;
	*piece = (struct making){.trace = piecewise->making->trace,
				 .paths = piecewise->making->paths};
	return piecewise->by == SUMMARY_BY_API
		       ? group_calls(piece, first, (uint32_t)end)
		       : group_activities(piece, piecewise->by, first, (uint32_t)end);
}

static int take_piece(struct making *making, struct making *piece)
{
	uint32_t *numbers = table_alloc(piece->rows_count, sizeof(*numbers));
	int err = numbers ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < piece->rows_count && err == 0; i++) {
		const struct summary_row *from = &piece->rows[i];
		struct summary_row *row = row_of(making, piece->keys.pairs[i].low);

		if (!row) {
			err = -ENOMEM;
			break;
		}
		numbers[i] = (uint32_t)(row - making->rows);
		tally_merge(&row->tally, &from->tally);
		row->bytes += from->bytes;
		row->timed_bytes += from->timed_bytes;
		row->activities += from->activities;
	}
	if (err == 0)
		spread_append(&making->spread, &piece->spread, numbers);
	free(numbers);
	return err;
}

static void release_piece(struct making *piece)
{
	numbers_release(&piece->keys);
	free(piece->rows);
	spread_release(&piece->spread);
}

static int group_in_pieces(struct making *making, enum summary_by by)
{
	const struct trace *trace = making->trace;
	struct piecewise piecewise = {
		.making = making,
		.by = by,
		.rows_count = by == SUMMARY_BY_API ? trace->calls_count : trace->activities_count,
	};
	uint32_t count = piecewise.rows_count / ROWS_PER_PIECE + 1;
	int err;

	piecewise.pieces = table_zeroed(count, sizeof(*piecewise.pieces));
	if (!piecewise.pieces)
		return -ENOMEM;
	err = workers_run(WORKERS_ALL, count, make_piece, &piecewise);
	for (uint32_t i = 0; i < count; i++) {
		if (err == 0)
			err = take_piece(making, &piecewise.pieces[i]);
		release_piece(&piecewise.pieces[i]);
	}
	free(piecewise.pieces);
	return err;
}

/* With parts, the cells are few and shared, so one thread makes the table. */
static int group_by_part(struct making *making, enum summary_by by)
{
	int err = group_activities(making, by, 0, making->trace->activities_count);

	return err == 0 ? describe_parts(making) : err;
}

/* Numbers the path of a scope: scopes with the same text below the same path have the same path.
 * The parent of a scope may come after it in the array if another thread opened it, so the function
 * goes up to the first scope that has a number. */
static int number_path(struct making *making, uint32_t scope)
{
	const struct trace *trace = making->trace;
	uint32_t chain[PATH_DEPTH_MAX];
	uint32_t depth = 0, parent;

	while (scope != TRACE_NONE && making->paths[scope] == TRACE_NONE &&
	       depth < PATH_DEPTH_MAX) {
		chain[depth++] = scope;
		scope = trace->scopes[scope].parent;
	}
	parent = scope == TRACE_NONE ? TRACE_NONE : making->paths[scope];
	while (depth) {
		uint32_t at = chain[--depth];

		parent = numbers_get(&making->path_numbers, parent, trace->scopes[at].text);
		if (parent == NUMBERS_NONE)
			return -ENOMEM;
		making->paths[at] = parent;
	}
	return 0;
}

static int number_paths(struct making *making)
{
	uint32_t count = making->trace->scopes_count;

	making->paths = malloc(((size_t)count + 1) * sizeof(*making->paths));
	if (!making->paths)
		return -ENOMEM;
	memset(making->paths, 0xff, ((size_t)count + 1) * sizeof(*making->paths));
	for (uint32_t i = 0; i < count; i++) {
		if (number_path(making, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

static char *path_text(const struct making *making, uint32_t path)
{
	uint32_t chain[PATH_DEPTH_MAX];
	uint32_t depth = 0;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	while (path != TRACE_NONE && depth < PATH_DEPTH_MAX) {
		chain[depth++] = path;
		path = (uint32_t)making->path_numbers.pairs[path].high;
	}
	while (depth) {
		trace_string part = (uint32_t)making->path_numbers.pairs[chain[--depth]].low;

		fprintf(out, "%s%s", trace_text(making->trace, part), depth ? "/" : "");
	}
	return fclose(out) == 0 ? text : NULL;
}

static char *stream_text(const struct trace *trace, uint32_t stream)
{
	const struct trace_stream *row = &trace->streams[stream];
	const struct trace_process *process = &trace->processes[row->process];
	char gpu[32] = "GPU ?", *text;

	if (row->agent != TRACE_NONE)
		snprintf(gpu, sizeof(gpu), "GPU %u", trace->agents[row->agent].gpu_ordinal);
	if (asprintf(&text, "process %u %s stream %u%s", process->pid, gpu, row->ordinal,
		     row->ordinal ? "" : " (null)") < 0)
		return NULL;
	return text;
}

static char *graph_text(const struct trace *trace, uint64_t graph)
{
	char *text;

	if (graph == NO_KEY - 1)
		return strdup("(graph not recorded)");
	if (asprintf(&text, "process %u graph %" PRIu64,
		     trace->processes[trace->graphs[graph].process].pid,
		     trace->graphs[graph].id) < 0)
		return NULL;
	return text;
}

/* The name of a node's row. It has no pid, so that recordings of a program that makes the same
 * graphs have the same names, and `dagtap diff` matches them. */
static char *node_text(const struct trace *trace, uint64_t key)
{
	const struct trace_node *node = key < NO_NODE ? &trace->nodes[key] : NULL;
	uint32_t graph = node ? node->graph : (uint32_t)key;
	char process[32] = "", *text;
	int length;

	if (graph == (uint32_t)(NO_KEY - 1))
		return strdup("(graph not recorded)");
	if (trace->processes_count > 1)
		snprintf(process, sizeof(process), "process %u ", trace->graphs[graph].process + 1);
	if (node)
		length = asprintf(&text, "%sgraph %" PRIu64 " node %u: %s", process,
				  trace->graphs[graph].id, node->index,
				  trace_text(trace, node->name));
	else
		length = asprintf(&text, "%sgraph %" PRIu64 " (node not known)", process,
				  trace->graphs[graph].id);
	return length < 0 ? NULL : text;
}

static char *row_name(const struct making *making, uint64_t key, enum summary_by by)
{
	const struct trace *trace = making->trace;

	switch (by) {
	case SUMMARY_BY_KERNEL:
		return strdup(key ? trace_text(trace, (uint32_t)key) : "(unknown kernel)");
	case SUMMARY_BY_COPY:
		return strdup(key == UINT32_MAX ? "memset" : summary_direction_text(key));
	case SUMMARY_BY_STREAM:
		return key == TRACE_NONE ? strdup("(no stream known)")
					 : stream_text(trace, (uint32_t)key);
	case SUMMARY_BY_GRAPH:
		return graph_text(trace, key);
	case SUMMARY_BY_NODE:
		return node_text(trace, key);
	case SUMMARY_BY_SCOPE:
		return key == TRACE_NONE ? strdup("(no scope)") : path_text(making, (uint32_t)key);
	case SUMMARY_BY_API:
		return strdup(trace_text(trace, (uint32_t)key));
	}
	return NULL;
}

static int compare_rows(const void *left, const void *right)
{
	const struct summary_row *a = left, *b = right;

	if (a->tally.total_ns != b->tally.total_ns)
		return a->tally.total_ns > b->tally.total_ns ? -1 : 1;
	if (a->tally.count != b->tally.count)
		return a->tally.count > b->tally.count ? -1 : 1;
	return strcmp(a->name, b->name);
}

int summary_make(const struct trace *trace, enum summary_by by, struct summary_table *ret_table)
{
	return summary_make_by_part(trace, by, NULL, ret_table);
}

int summary_make_by_part(const struct trace *trace, enum summary_by by,
			 const struct summary_parts *parts, struct summary_table *ret_table)
{
	struct making making = {.trace = trace, .parts = parts};
	struct summary_table table = {0};
	int err = by == SUMMARY_BY_SCOPE ? number_paths(&making) : 0, spread_err;

	if (err == 0)
		err = parts && by != SUMMARY_BY_API ? group_by_part(&making, by)
						    : group_in_pieces(&making, by);
	if (err == 0 && by == SUMMARY_BY_KERNEL && !parts)
		err = find_occupancy(&making);
	table.rows = making.rows;
	table.count = making.rows ? making.rows_count : 0;
	spread_err = spread_finish(&making.spread, table.rows ? &table.rows->tally : NULL,
				   sizeof(*table.rows), table.count);
	err = err ? err : spread_err;
	for (uint32_t i = 0; i < table.count && err == 0; i++) {
		table.rows[i].name = row_name(&making, making.keys.pairs[i].low, by);
		if (!table.rows[i].name)
			err = -ENOMEM;
	}
	numbers_release(&making.keys);
	numbers_release(&making.path_numbers);
	numbers_release(&making.cells);
	free(making.cell_ns);
	free(making.paths);
	if (err < 0) {
		summary_release(&table);
		return err;
	}
	if (table.count)
		qsort(table.rows, table.count, sizeof(*table.rows), compare_rows);
	*ret_table = table;
	return 0;
}

void summary_release(struct summary_table *table)
{
	for (uint32_t i = 0; i < table->count; i++)
		free(table->rows[i].name);
	free(table->rows);
	*table = (struct summary_table){0};
}
