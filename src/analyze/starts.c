/* Sorts activities by start (starts.h). */
#include "analyze/starts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "trace/row_table.h"

#define BLOCK_ROWS 256u /* activities per entry of last_ends */

/* About how many rows a part has. A part and the working memory of its sort fit into the
 * processor's cache, and the sort needs little memory. */
#define PART_ROWS 16384u

/* The span of starts is divided into parts of equal duration; each is sorted on its own. */
struct parts {
	int64_t first_ns; /* the first start */
	unsigned shift;	  /* a part has 2^shift ns */
	uint32_t *stops;  /* by part: end of its range of order, after distribute */
	uint32_t count;
};

static bool is_timed(const struct trace_activity *row)
{
	return row->untimed == RECORD_UNTIMED_NO;
}

/* Time since the first start. Unsigned, because the distance of two starts may exceed int64_t. */
static uint64_t since_first(const struct parts *parts, const struct trace_activity *row)
{
	return (uint64_t)row->start_ns - (uint64_t)parts->first_ns;
}

static uint32_t part_of(const struct parts *parts, const struct trace_activity *row)
{
	return (uint32_t)(since_first(parts, row) >> parts->shift);
}

static void choose_parts(const struct trace *trace, struct parts *parts, uint32_t *ret_count)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	uint32_t count = 0, most;
	uint64_t span_ns;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (!is_timed(row))
			continue;
		count++;
		first_ns = row->start_ns < first_ns ? row->start_ns : first_ns;
		last_ns = row->start_ns > last_ns ? row->start_ns : last_ns;
	}
	span_ns = count ? (uint64_t)last_ns - (uint64_t)first_ns : 0;
	most = count / PART_ROWS + 2;
	parts->first_ns = first_ns;
	for (parts->shift = 0; span_ns >> parts->shift >= most; parts->shift++)
		;
	parts->count = (uint32_t)(span_ns >> parts->shift) + 1;
	*ret_count = count;
}

/* Puts the activities of each part into its range of order, in row order (a counting sort). */
static void distribute(struct starts *starts, struct parts *parts)
{
	const struct trace *trace = starts->trace;
	uint32_t next = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		if (is_timed(&trace->activities[i]))
			parts->stops[part_of(parts, &trace->activities[i])]++;
	}
	for (uint32_t part = 0; part < parts->count; part++) {
		uint32_t here = parts->stops[part];

		parts->stops[part] = next;
		next += here;
	}
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		if (is_timed(&trace->activities[i]))
			starts->order[parts->stops[part_of(parts, &trace->activities[i])]++] = i;
	}
}

static int sort_parts(struct starts *starts, const struct parts *parts)
{
	struct sort_row *rows;
	uint32_t most = 0;
	int err = 0;

	for (uint32_t part = 0, first = 0; part < parts->count; first = parts->stops[part++])
		most = parts->stops[part] - first > most ? parts->stops[part] - first : most;
	rows = table_alloc(most, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (uint32_t part = 0, first = 0; part < parts->count && err == 0; part++) {
		uint32_t *order = starts->order + first, count = parts->stops[part] - first;

		for (uint32_t i = 0; i < count; i++)
			rows[i] = (struct sort_row){
				since_first(parts, &starts->trace->activities[order[i]]), order[i]};
		err = sort_rows(rows, count);
		for (uint32_t i = 0; i < count; i++)
			order[i] = rows[i].index;
		first += count;
	}
	free(rows);
	return err;
}

static void find_last_ends(struct starts *starts)
{
	int64_t last_ns = INT64_MIN;

	for (uint32_t i = 0; i < starts->count; i++) {
		int64_t end_ns = starts->trace->activities[starts->order[i]].end_ns;

		last_ns = end_ns > last_ns ? end_ns : last_ns;
		starts->last_ends[i / BLOCK_ROWS] = last_ns;
	}
}

int starts_init(struct starts *starts, const struct trace *trace)
{
	struct parts parts;
	int err = -ENOMEM;

	*starts = (struct starts){.trace = trace};
	choose_parts(trace, &parts, &starts->count);
	starts->order = table_alloc(starts->count, sizeof(*starts->order));
	starts->last_ends = table_alloc(starts->count / BLOCK_ROWS + 1, sizeof(*starts->last_ends));
	parts.stops = calloc(parts.count, sizeof(*parts.stops));
	if (starts->order && starts->last_ends && parts.stops) {
		distribute(starts, &parts);
		err = sort_parts(starts, &parts);
	}
	if (err == 0)
		find_last_ends(starts);
	free(parts.stops);
	return err;
}

void starts_release(struct starts *starts)
{
	free(starts->order);
	free(starts->last_ends);
	*starts = (struct starts){0};
}

void starts_find(const struct starts *starts, int64_t begin_ns, int64_t end_ns, uint32_t *ret_first,
		 uint32_t *ret_stop)
{
	uint32_t blocks = starts->count / BLOCK_ROWS + (starts->count % BLOCK_ROWS != 0);
	uint32_t low = 0, high = blocks;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (starts->last_ends[middle] <= begin_ns)
			low = middle + 1;
		else
			high = middle;
	}
	low = low == blocks ? starts->count : low * BLOCK_ROWS;
	*ret_first = low;
	for (high = starts->count; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (starts->trace->activities[starts->order[middle]].start_ns < end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_stop = low;
}
