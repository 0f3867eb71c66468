/* Counts and groups activities and calls (summary.h). */
#include "analyze/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/spread.h"
#include "analyze/summary_rows.h"
#include "base/numbers.h"
#include "base/workers.h"
#include "trace/row_table.h"

#define ROWS_PER_PIECE (1u << 17)

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
	struct spread spread; /* of the rows' durations */
	const struct summary_paths *paths;
	struct summary_work_time *times; /* by work kind; NULL: they are not asked for */
	uint32_t *numbers; /* of a piece: by row, the number of the row in the table */
};

static struct summary_row *row_of(struct making *making, uint64_t key)
{
	uint32_t number = numbers_get(&making->keys, 0, key);

	if (number == NUMBERS_NONE)
		return NULL;
	return number < making->rows_count ? &making->rows[number] : trace_add(making, rows);
}

static uint64_t key_of(const struct making *making, const struct trace_activity *row,
		       enum summary_by by)
{
	const struct trace_work *work = trace_work_of(making->trace, row);
	uint32_t scope;

	switch (by) {
	case SUMMARY_BY_KERNEL:
		return work->kind == TRACE_KERNEL ? work->name : SUMMARY_NO_KEY;
	case SUMMARY_BY_COPY:
		if (work->kind == TRACE_KERNEL)
			return SUMMARY_NO_KEY;
		return work->kind == TRACE_MEMSET ? UINT32_MAX : work->direction;
	case SUMMARY_BY_STREAM:
		return row->stream;
	case SUMMARY_BY_GRAPH:
		return row->launch == TRACE_NONE ? SUMMARY_NO_KEY
						 : summary_graph_key(making->trace, row->launch);
	case SUMMARY_BY_NODE:
		return row->launch == TRACE_NONE ? SUMMARY_NO_KEY
						 : summary_node_key(making->trace, row);
	case SUMMARY_BY_SCOPE:
		scope = trace_scope_of(making->trace, row);
		return scope == TRACE_NONE ? TRACE_NONE : making->paths->of_scope[scope];
	case SUMMARY_BY_API:
		break;
	}
	return SUMMARY_NO_KEY;
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

		if (key == SUMMARY_NO_KEY ||
		    (making->parts && making->parts->of_activity[i] == TRACE_NONE))
			continue;
		row = row_of(making, key);
		if (!row)
			return -ENOMEM;
		row->bytes += trace_work_of(making->trace, activity)->bytes;
		row->activities++;
		if (activity->untimed == RECORD_UNTIMED_NO)
			row->timed_bytes += trace_work_of(making->trace, activity)->bytes;
		if (making->times)
			summary_add_time(making->trace, making->times, i);
		if (add_duration(making, i, row) < 0)
			return -ENOMEM;
	}
	return 0;
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
	struct making *making;
	enum summary_by by;
	uint32_t rows_count; /* activities or calls */
	struct making *pieces;
	uint32_t piece_count;
	struct summary_work_time **times; /* by worker; NULL: they are not asked for */
	unsigned worker_count;
};

static int make_piece(void *piecewise_of_table, unsigned worker, uint32_t number)
{
	const struct piecewise *piecewise = piecewise_of_table;
	struct making *piece = &piecewise->pieces[number];
	uint64_t end = (number + 1ull) * ROWS_PER_PIECE;
	uint32_t first = number * ROWS_PER_PIECE;

	if (end > piecewise->rows_count)
		end = piecewise->rows_count;
	*piece = (struct making){
		.trace = piecewise->making->trace,
		.paths = piecewise->making->paths,
		.times = piecewise->times ? piecewise->times[worker] : NULL,
	};
	return piecewise->by == SUMMARY_BY_API
		       ? group_calls(piece, first, (uint32_t)end)
		       : group_activities(piece, piecewise->by, first, (uint32_t)end);
}

/* Adds the rows of a piece to the table, but for the durations. */
static int take_piece(struct making *making, struct making *piece)
{
	piece->numbers = table_alloc(piece->rows_count, sizeof(*piece->numbers));
	if (!piece->numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < piece->rows_count; i++) {
		const struct summary_row *from = &piece->rows[i];
		struct summary_row *row = row_of(making, piece->keys.pairs[i].low);

		if (!row)
			return -ENOMEM;
		piece->numbers[i] = (uint32_t)(row - making->rows);
		tally_merge(&row->tally, &from->tally);
		row->bytes += from->bytes;
		row->timed_bytes += from->timed_bytes;
		row->activities += from->activities;
	}
	return 0;
}

/* Describes the durations of all pieces together. */
static int finish_pieces(const struct piecewise *piecewise)
{
	struct making *making = piecewise->making;
	struct spread_piece *spreads = table_zeroed(piecewise->piece_count, sizeof(*spreads));
	int err;

	if (!spreads)
		return -ENOMEM;
	for (uint32_t i = 0; i < piecewise->piece_count; i++) {
		struct making *piece = &piecewise->pieces[i];

		spreads[i] =
			(struct spread_piece){piece->spread, piece->numbers, piece->rows_count};
		piece->spread = (struct spread){0};
	}
	err = spread_finish_pieces(spreads, piecewise->piece_count,
				   making->rows ? &making->rows->tally : NULL,
				   sizeof(*making->rows), making->rows_count);
	free(spreads);
	return err;
}

static void release_piece(struct making *piece)
{
	numbers_release(&piece->keys);
	free(piece->rows);
	free(piece->numbers);
	spread_release(&piece->spread);
}

static int init_times(struct piecewise *piecewise)
{
	piecewise->times = calloc(piecewise->worker_count, sizeof(*piecewise->times));
	for (unsigned i = 0; piecewise->times && i < piecewise->worker_count; i++) {
		piecewise->times[i] = table_zeroed(piecewise->making->trace->works_count,
						   sizeof(**piecewise->times));
		if (!piecewise->times[i])
			return -ENOMEM;
	}
	return piecewise->times ? 0 : -ENOMEM;
}

/* Adds the times of all workers up, in those of the first, and finds the occupancy. */
static int finish_times(const struct piecewise *piecewise)
{
	struct making *making = piecewise->making;
	struct summary_work_time *sum = piecewise->times[0];

	for (unsigned i = 1; i < piecewise->worker_count; i++) {
		for (uint32_t work = 0; work < making->trace->works_count; work++) {
			const struct summary_work_time *time = &piecewise->times[i][work];

			sum[work].ns += time->ns;
			if (time->last > sum[work].last)
				sum[work].last = time->last;
		}
	}
	return summary_find_occupancy(making->trace, sum, &making->keys, making->rows,
				      making->rows_count);
}

static void release_pieces(struct piecewise *piecewise)
{
	for (uint32_t i = 0; piecewise->pieces && i < piecewise->piece_count; i++)
		release_piece(&piecewise->pieces[i]);
	for (unsigned i = 0; piecewise->times && i < piecewise->worker_count; i++)
		free(piecewise->times[i]);
	free(piecewise->pieces);
	free(piecewise->times);
}

static int group_in_pieces(struct making *making, enum summary_by by)
{
	const struct trace *trace = making->trace;
	struct piecewise piecewise = {
		.making = making,
		.by = by,
		.rows_count = by == SUMMARY_BY_API ? trace->calls_count : trace->activities_count,
		.worker_count = workers_count(WORKERS_ALL),
	};
	int err;

	piecewise.piece_count = piecewise.rows_count / ROWS_PER_PIECE + 1;
	piecewise.pieces = table_zeroed(piecewise.piece_count, sizeof(*piecewise.pieces));
	err = piecewise.pieces ? 0 : -ENOMEM;
	if (err == 0 && by == SUMMARY_BY_KERNEL)
		err = init_times(&piecewise);
	if (err == 0)
		err = workers_run(WORKERS_ALL, piecewise.piece_count, make_piece, &piecewise);
	for (uint32_t i = 0; i < piecewise.piece_count && err == 0; i++)
		err = take_piece(making, &piecewise.pieces[i]);
	if (err == 0)
		err = finish_pieces(&piecewise);
	if (err == 0 && piecewise.times)
		err = finish_times(&piecewise);
	release_pieces(&piecewise);
	return err;
}

/* With parts, the cells are few and shared, so one thread makes the table. */
static int group_by_part(struct making *making, enum summary_by by)
{
	int err = group_activities(making, by, 0, making->trace->activities_count);

	if (err == 0)
		err = describe_parts(making);
	if (err == 0)
		err = spread_finish(&making->spread, making->rows ? &making->rows->tally : NULL,
				    sizeof(*making->rows), making->rows_count);
	return err;
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
	struct summary_paths paths = {0};
	struct making making = {.trace = trace, .parts = parts, .paths = &paths};
	struct summary_table table;
	int err = by == SUMMARY_BY_SCOPE ? summary_paths_make(trace, &paths) : 0;

	if (err == 0)
		err = parts && by != SUMMARY_BY_API ? group_by_part(&making, by)
						    : group_in_pieces(&making, by);
	table.rows = making.rows;
	table.count = making.rows ? making.rows_count : 0;
	for (uint32_t i = 0; i < table.count && err == 0; i++) {
		table.rows[i].name = summary_row_name(trace, by, making.keys.pairs[i].low, &paths);
		if (!table.rows[i].name)
			err = -ENOMEM;
	}
	summary_paths_release(&paths);
	numbers_release(&making.keys);
	numbers_release(&making.cells);
	spread_release(&making.spread);
	free(making.cell_ns);
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
