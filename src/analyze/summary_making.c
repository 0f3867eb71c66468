/* Groups activities and calls, and makes the rows of a table (summary_making.h). */
#include "analyze/summary_making.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/row_table.h"

static struct summary_row *row_of(struct making *making, uint64_t key)
{
	__typeof__(*making->seen) *seen = &making->seen[(key ^ key >> 8) % MAKING_SEEN];
	uint32_t number;

	if (seen->number && seen->key == key)
		return &making->rows[seen->number - 1];
	number = numbers_get(&making->keys, 0, key);
	if (number == NUMBERS_NONE || (number == making->rows_count && !trace_add(making, rows)))
		return NULL;
	seen->key = key;
	seen->number = number + 1;
	return &making->rows[number];
}

static uint64_t key_of(const struct making *making, const struct trace_activity *row)
{
	const struct trace_work *work = trace_work_of(making->trace, row);
	uint32_t scope;

	switch (making->by) {
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

int making_add_parts(struct making *making)
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
	struct summary_work_time *time = making->times ? &making->times[at->work] : NULL;

	if (at->untimed != RECORD_UNTIMED_NO) {
		if (!making->parts)
			tally_add_untimed(&row->tally);
		return 0;
	}
	if (time && at->agent != TRACE_NONE) {
		time->ns += ns;
		time->last = activity + 1 > time->last ? activity + 1 : time->last;
	}
	if (making->parts)
		return add_to_cell(making, row, making->parts->of_activity[activity], ns);
	spread_add(&making->spread, (uint32_t)(row - making->rows), &row->tally, ns);
	return 0;
}

/* The number of the row that ACTIVITY belongs to, TRACE_NONE: to none; or -ENOMEM. */
static int64_t find_row(struct making *making, const struct trace_activity *activity)
{
	uint64_t key = key_of(making, activity);
	struct summary_row *row;

	if (key == SUMMARY_NO_KEY)
		return TRACE_NONE;
	row = row_of(making, key);
	return row ? row - making->rows : -ENOMEM;
}

/* find_row with the memory of work kinds: by kernel, the row depends on the work kind alone. */
static int64_t find_row_again(struct making *making, const struct trace_activity *activity)
{
	struct summary_work_time *time = making->times ? &making->times[activity->work] : NULL;
	int64_t number;

	if (time && time->piece == making->piece)
		return time->row;
	number = find_row(making, activity);
	if (time && number >= 0) {
		time->row = (uint32_t)number;
		time->piece = making->piece;
	}
	return number;
}

static int add_activities(struct making *making, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		const struct trace_activity *activity = &making->trace->activities[i];
		struct summary_row *row;
		uint64_t bytes;
		int64_t number;

		if (making->parts && making->parts->of_activity[i] == TRACE_NONE)
			continue;
		number = find_row_again(making, activity);
		if (number < 0)
			return -ENOMEM;
		if (number == TRACE_NONE)
			continue;
		row = &making->rows[number];
		bytes = trace_work_of(making->trace, activity)->bytes;
		row->bytes += bytes;
		row->activities++;
		if (activity->untimed == RECORD_UNTIMED_NO)
			row->timed_bytes += bytes;
		if (add_duration(making, i, row) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_calls(struct making *making, uint32_t first, uint32_t end)
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

int making_add(struct making *making, uint32_t first, uint32_t end)
{
	return making->by == SUMMARY_BY_API ? add_calls(making, first, end)
					    : add_activities(making, first, end);
}

int making_take(struct making *making, const struct making *piece, uint32_t *ret_numbers)
{
	for (uint32_t i = 0; i < piece->rows_count; i++) {
		const struct summary_row *from = &piece->rows[i];
		struct summary_row *row = row_of(making, piece->keys.pairs[i].low);

		if (!row)
			return -ENOMEM;
		ret_numbers[i] = (uint32_t)(row - making->rows);
		tally_merge(&row->tally, &from->tally);
		row->bytes += from->bytes;
		row->timed_bytes += from->timed_bytes;
		row->activities += from->activities;
	}
	return 0;
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

int making_finish(struct making *making, struct summary_table *ret_table)
{
	uint32_t count = making->rows ? making->rows_count : 0;

	for (uint32_t i = 0; i < count; i++) {
		making->rows[i].name = summary_row_name(making->trace, making->by,
							making->keys.pairs[i].low, making->paths);
		if (!making->rows[i].name)
			return -ENOMEM;
	}
	if (count)
		qsort(making->rows, count, sizeof(*making->rows), compare_rows);
	*ret_table = (struct summary_table){making->rows, count};
	making->rows = NULL;
	return 0;
}

void summary_release(struct summary_table *table)
{
	for (uint32_t i = 0; i < table->count; i++)
		free(table->rows[i].name);
	free(table->rows);
	*table = (struct summary_table){0};
}

void making_release(struct making *making)
{
	struct summary_table rows = {making->rows, making->rows ? making->rows_count : 0};

	summary_release(&rows);
	numbers_release(&making->keys);
	numbers_release(&making->cells);
	spread_release(&making->spread);
	free(making->cell_ns);
}
