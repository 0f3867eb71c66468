/* Counts and groups activities and calls (summary.h): shares the work among threads, and puts
 * together what they have made. */
#include "analyze/summary.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/summary_making.h"
#include "base/table.h"
#include "base/workers.h"

#define ROWS_PER_PIECE (1u << 17)
/* Rows that fit in the first cache of a CPU. */
#define ROWS_PER_BLOCK (1u << 8)

double summary_bytes_per_s(const struct summary_row *row)
{
	return row->tally.total_ns > 0
		       ? (double)row->timed_bytes * 1e9 / (double)row->tally.total_ns
		       : 0;
}

/* A table that is made in pieces, some neighbouring activities or calls each. The pieces are put
 * together in their order, so the table is the same for any number of threads. */
struct piecewise {
	struct making whole;
	struct making *pieces;
	uint32_t piece_count;
	uint32_t **numbers; /* by piece, by its row: the number of the row in the whole */
	/* for the durations of all pieces, by activity or call; NULL: each piece has its own */
	uint32_t *groups;
	int64_t *values;
	struct summary_paths paths;
	struct summary_work_time **times; /* by worker; NULL: they are not asked for */
	unsigned worker_count;
};

/* A walk through all activities, or all calls. */
struct walk {
	struct piecewise *tables;
	uint32_t table_count;
	bool is_of_calls; /* makes the tables by call, else the others */
	uint32_t rows_count;
	struct summary_counts *counts; /* NULL: the totals are not asked for */
};

static int make_block(const struct walk *walk, unsigned worker, uint32_t number, uint32_t first,
		      uint32_t end)
{
	int err = 0;

	for (uint32_t i = 0; i < walk->table_count && err == 0; i++) {
		const struct piecewise *table = &walk->tables[i];

		if ((table->whole.by == SUMMARY_BY_API) != walk->is_of_calls)
			continue;
		table->pieces[number].times = table->times ? table->times[worker] : NULL;
		err = making_add(&table->pieces[number], first, end);
	}
	if (walk->counts)
		summary_counts_add(walk->counts, worker, first, end);
	return err;
}

/* The tables take turns, some rows each, so that the rows come from memory once. */
static int make_piece(void *walk_of_tables, unsigned worker, uint32_t number)
{
	const struct walk *walk = walk_of_tables;
	uint64_t at = (uint64_t)number * ROWS_PER_PIECE, end = at + ROWS_PER_PIECE;
	int err = 0;

	if (end > walk->rows_count)
		end = walk->rows_count;
	for (; at < end && err == 0; at += ROWS_PER_BLOCK)
		err = make_block(walk, worker, number, (uint32_t)at,
				 (uint32_t)(end - at < ROWS_PER_BLOCK ? end : at + ROWS_PER_BLOCK));
	return err;
}

static int take_pieces(struct piecewise *table)
{
	int err = 0;

	for (uint32_t i = 0; i < table->piece_count && err == 0; i++) {
		table->numbers[i] =
			table_alloc(table->pieces[i].rows_count, sizeof(**table->numbers));
		err = table->numbers[i]
			      ? making_take(&table->whole, &table->pieces[i], table->numbers[i])
			      : -ENOMEM;
	}
	return err;
}

/* Describes the durations of all pieces together. */
static int finish_pieces(struct piecewise *table)
{
	struct making *whole = &table->whole;
	struct spread_piece *spreads = table_zeroed(table->piece_count, sizeof(*spreads));
	int err;

	if (!spreads)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->piece_count; i++) {
		struct making *piece = &table->pieces[i];

		spreads[i] =
			(struct spread_piece){piece->spread, table->numbers[i], piece->rows_count};
		piece->spread = (struct spread){0};
	}
	err = spread_finish_pieces(spreads, table->piece_count,
				   whole->rows ? &whole->rows->tally : NULL, sizeof(*whole->rows),
				   whole->rows_count);
	free(spreads);
	return err;
}

static int init_times(struct piecewise *table)
{
	table->worker_count = workers_count(WORKERS_ALL);
	table->times = calloc(table->worker_count, sizeof(*table->times));
	for (unsigned i = 0; table->times && i < table->worker_count; i++) {
		table->times[i] =
			table_zeroed(table->whole.trace->works_count, sizeof(**table->times));
		if (!table->times[i])
			return -ENOMEM;
	}
	return table->times ? 0 : -ENOMEM;
}

/* Adds the times of all workers up, in those of the first, and finds the occupancy. */
static int finish_times(struct piecewise *table)
{
	struct making *whole = &table->whole;
	struct summary_work_time *sum = table->times[0];

	for (unsigned i = 1; i < table->worker_count; i++) {
		for (uint32_t work = 0; work < whole->trace->works_count; work++) {
			const struct summary_work_time *time = &table->times[i][work];

			sum[work].ns += time->ns;
			if (time->last > sum[work].last)
				sum[work].last = time->last;
		}
	}
	return summary_find_occupancy(whole->trace, sum, &whole->keys, whole->rows,
				      whole->rows_count);
}

/* Few activities are copies, and pages of which a few bytes are used would be wasted. */
static int lend_room(struct piecewise *table, uint32_t rows)
{
	if (table->whole.by == SUMMARY_BY_COPY)
		return 0;
	table->groups = table_alloc(rows, sizeof(*table->groups));
	table->values = table_alloc(rows, sizeof(*table->values));
	if (!table->groups || !table->values)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->piece_count; i++) {
		size_t first = (size_t)i * ROWS_PER_PIECE;

		spread_borrow(&table->pieces[i].spread, table->groups + first,
			      table->values + first,
			      rows - first < ROWS_PER_PIECE ? rows - first : ROWS_PER_PIECE);
	}
	return 0;
}

static int init_table(struct piecewise *table, const struct trace *trace, enum summary_by by)
{
	uint32_t rows = by == SUMMARY_BY_API ? trace->calls_count : trace->activities_count;
	struct making empty = {.trace = trace, .by = by, .paths = &table->paths};

	table->whole = empty;
	table->piece_count = rows / ROWS_PER_PIECE + 1;
	table->pieces = table_zeroed(table->piece_count, sizeof(*table->pieces));
	table->numbers = calloc(table->piece_count, sizeof(*table->numbers));
	if (!table->pieces || !table->numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->piece_count; i++) {
		table->pieces[i] = empty;
		table->pieces[i].piece = i + 1;
	}
	if (lend_room(table, rows) < 0)
		return -ENOMEM;
	if (by == SUMMARY_BY_SCOPE && summary_paths_make(trace, &table->paths) < 0)
		return -ENOMEM;
	return by == SUMMARY_BY_KERNEL ? init_times(table) : 0;
}

static int finish_table(struct piecewise *table, struct summary_table *ret_table)
{
	int err = take_pieces(table);

	if (err == 0)
		err = finish_pieces(table);
	if (err == 0 && table->times)
		err = finish_times(table);
	return err == 0 ? making_finish(&table->whole, ret_table) : err;
}

static void release_table(struct piecewise *table)
{
	for (uint32_t i = 0; table->pieces && i < table->piece_count; i++)
		making_release(&table->pieces[i]);
	for (uint32_t i = 0; table->numbers && i < table->piece_count; i++)
		free(table->numbers[i]);
	for (unsigned i = 0; table->times && i < table->worker_count; i++)
		free(table->times[i]);
	free(table->pieces);
	free(table->numbers);
	free(table->groups);
	free(table->values);
	free(table->times);
	summary_paths_release(&table->paths);
	making_release(&table->whole);
}

static int walk_rows(struct walk walk)
{
	return workers_run(WORKERS_ALL, walk.rows_count / ROWS_PER_PIECE + 1, make_piece, &walk);
}

/* Makes the tables' pieces, in one walk through the activities and one through the calls; each only
 * if it is needed. */
static int make_pieces(const struct trace *trace, struct piecewise *tables, uint32_t count,
		       struct summary_counts *counts)
{
	bool has_calls = false, has_activities = counts;
	struct walk walk = {.tables = tables, .table_count = count};
	int err = 0;

	for (uint32_t i = 0; i < count; i++) {
		has_calls |= tables[i].whole.by == SUMMARY_BY_API;
		has_activities |= tables[i].whole.by != SUMMARY_BY_API;
	}
	if (has_activities) {
		walk.rows_count = trace->activities_count;
		walk.counts = counts;
		err = walk_rows(walk);
	}
	if (err == 0 && has_calls) {
		walk.is_of_calls = true;
		walk.rows_count = trace->calls_count;
		walk.counts = NULL;
		err = walk_rows(walk);
	}
	return err;
}

int summary_make_all(const struct trace *trace, const enum summary_by *by, uint32_t count,
		     struct summary_table *ret_tables, struct summary_totals *ret_totals)
{
	struct piecewise *tables = calloc((size_t)count + 1, sizeof(*tables));
	struct summary_counts counts;
	int err = tables ? 0 : -ENOMEM;
	uint32_t made = 0;

	summary_counts_init(&counts, trace);
	for (uint32_t i = 0; i < count && err == 0; i++)
		err = init_table(&tables[i], trace, by[i]);
	if (err == 0)
		err = make_pieces(trace, tables, count, ret_totals ? &counts : NULL);
	while (err == 0 && made < count) {
		err = finish_table(&tables[made], &ret_tables[made]);
		made += err == 0;
	}
	if (err == 0 && ret_totals)
		*ret_totals = summary_counts_sum(&counts);
	for (uint32_t i = 0; i < made && err < 0; i++)
		summary_release(&ret_tables[i]);
	for (uint32_t i = 0; tables && i < count; i++)
		release_table(&tables[i]);
	free(tables);
	return err;
}

int summary_make(const struct trace *trace, enum summary_by by, struct summary_table *ret_table)
{
	return summary_make_all(trace, &by, 1, ret_table, NULL);
}

/* With parts, the cells are few and shared, so one thread makes the table. */
int summary_make_by_part(const struct trace *trace, enum summary_by by,
			 const struct summary_parts *parts, struct summary_table *ret_table)
{
	struct summary_paths paths = {0};
	struct making making = {.trace = trace, .by = by, .parts = parts, .paths = &paths};
	int err = by == SUMMARY_BY_SCOPE ? summary_paths_make(trace, &paths) : 0;

	if (err == 0)
		err = making_add(&making, 0, trace->activities_count);
	if (err == 0)
		err = making_add_parts(&making);
	if (err == 0)
		err = spread_finish(&making.spread, making.rows ? &making.rows->tally : NULL,
				    sizeof(*making.rows), making.rows_count);
	if (err == 0)
		err = making_finish(&making, ret_table);
	making_release(&making);
	summary_paths_release(&paths);
	return err;
}
