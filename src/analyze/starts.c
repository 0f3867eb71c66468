/* Sorts activities by start (starts.h). Threads share the work; the order is the same for any
 * number of them. */
#include "analyze/starts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/workers.h"
#include "trace/row_table.h"

#define BLOCK_ROWS 256u /* activities per entry of last_ends */

/* About how many rows a part has. A part and the working memory of its sort fit into the
 * processor's cache, and the sort needs little memory. */
#define PART_ROWS 16384u

#define RANGE_ROWS 65536u

/* What a thread finds in a range of rows. */
struct range {
	int64_t first_ns, last_ns; /* the first and the last start */
	uint32_t count;		   /* timed activities */
	uint32_t *places; /* by part: how many of its activities, then where the next one goes */
};

/* The span of starts is divided into parts of equal duration; each is sorted on its own. Threads
 * share the rows in ranges, and then the parts. */
struct parts {
	struct starts *starts;
	struct range *ranges;
	uint32_t range_count;
	unsigned threads; /* 1 for so few rows that starting threads takes longer */
	int64_t first_ns; /* the first start */
	unsigned shift;	  /* a part has 2^shift ns */
	uint32_t *stops;  /* by part: end of its range of order */
	int64_t *ends;	  /* by part: the last end of its activities */
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

static uint32_t range_end(const struct parts *parts, uint32_t number)
{
	uint64_t end = (number + 1ull) * RANGE_ROWS;
	uint32_t count = parts->starts->trace->activities_count;

	return end < count ? (uint32_t)end : count;
}

static int find_span(void *parts_of_starts, unsigned worker, uint32_t number)
{
	const struct parts *parts = parts_of_starts;
	struct range range = {.first_ns = INT64_MAX, .last_ns = INT64_MIN};

	for (uint32_t i = number * RANGE_ROWS; i < range_end(parts, number); i++) {
		const struct trace_activity *row = &parts->starts->trace->activities[i];

		if (!is_timed(row))
			continue;
		range.count++;
		range.first_ns = row->start_ns < range.first_ns ? row->start_ns : range.first_ns;
		range.last_ns = row->start_ns > range.last_ns ? row->start_ns : range.last_ns;
	}
	parts->ranges[number] = range;
	return 0;
}

static void choose_parts(struct parts *parts)
{
	struct range all = {.first_ns = INT64_MAX, .last_ns = INT64_MIN};
	uint64_t span_ns;

	workers_run(parts->threads, parts->range_count, find_span, parts);
	for (uint32_t i = 0; i < parts->range_count; i++) {
		const struct range *range = &parts->ranges[i];

		all.count += range->count;
		all.first_ns = range->first_ns < all.first_ns ? range->first_ns : all.first_ns;
		all.last_ns = range->last_ns > all.last_ns ? range->last_ns : all.last_ns;
	}
	span_ns = all.count ? (uint64_t)all.last_ns - (uint64_t)all.first_ns : 0;
	parts->first_ns = all.first_ns;
	while (span_ns >> parts->shift >= all.count / PART_ROWS + 2)
		parts->shift++;
	parts->count = (uint32_t)(span_ns >> parts->shift) + 1;
	parts->starts->count = all.count;
}

static int count_range(void *parts_of_starts, unsigned worker, uint32_t number)
{
	const struct parts *parts = parts_of_starts;
	uint32_t *counts = calloc(parts->count, sizeof(*counts));

	parts->ranges[number].places = counts;
	if (!counts)
		return -ENOMEM;
	for (uint32_t i = number * RANGE_ROWS; i < range_end(parts, number); i++) {
		const struct trace_activity *row = &parts->starts->trace->activities[i];

		if (is_timed(row))
			counts[part_of(parts, row)]++;
	}
	return 0;
}

static int place_range(void *parts_of_starts, unsigned worker, uint32_t number)
{
	const struct parts *parts = parts_of_starts;
	uint32_t *places = parts->ranges[number].places;

	for (uint32_t i = number * RANGE_ROWS; i < range_end(parts, number); i++) {
		const struct trace_activity *row = &parts->starts->trace->activities[i];

		if (is_timed(row))
			parts->starts->order[places[part_of(parts, row)]++] = i;
	}
	return 0;
}

/* Puts the activities of each part into its range of order, in row order (a counting sort). */
static int distribute(struct parts *parts)
{
	uint32_t next = 0;

	if (workers_run(parts->threads, parts->range_count, count_range, parts) < 0)
		return -ENOMEM;
	for (uint32_t part = 0; part < parts->count; part++) {
		for (uint32_t i = 0; i < parts->range_count; i++) {
			uint32_t here = parts->ranges[i].places[part];

			parts->ranges[i].places[part] = next;
			next += here;
		}
		parts->stops[part] = next;
	}
	return workers_run(parts->threads, parts->range_count, place_range, parts);
}

static uint32_t part_begin(const struct parts *parts, uint32_t part)
{
	return part ? parts->stops[part - 1] : 0;
}

/* Whether a block of last_ends ends with number AT of order. */
static bool is_block_end(const struct starts *starts, uint32_t at)
{
	return at % BLOCK_ROWS == BLOCK_ROWS - 1 || at + 1 == starts->count;
}

/* Sorts a part, and finds the last end of its activities up to the end of each block. */
static int sort_part(void *parts_of_starts, unsigned worker, uint32_t part)
{
	const struct parts *parts = parts_of_starts;
	struct starts *starts = parts->starts;
	const struct trace_activity *activities = starts->trace->activities;
	uint32_t first = part_begin(parts, part), count = parts->stops[part] - first;
	struct sort_row *rows = table_alloc(count, sizeof(*rows));
	int64_t last_ns = INT64_MIN;
	int err;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		rows[i] =
			(struct sort_row){since_first(parts, &activities[starts->order[first + i]]),
					  starts->order[first + i]};
	err = sort_rows(rows, count);
	for (uint32_t i = 0; i < count; i++) {
		int64_t end_ns = activities[rows[i].index].end_ns;

		last_ns = end_ns > last_ns ? end_ns : last_ns;
		starts->order[first + i] = rows[i].index;
		if (is_block_end(starts, first + i))
			starts->last_ends[(first + i) / BLOCK_ROWS] = last_ns;
	}
	parts->ends[part] = last_ns;
	free(rows);
	return err;
}

/* Lets last_ends count the activities of earlier parts, too. */
static void join_last_ends(const struct parts *parts)
{
	int64_t last_ns = INT64_MIN;

	for (uint32_t part = 0; part < parts->count; part++) {
		uint32_t stop = parts->stops[part];
		int64_t *ends = parts->starts->last_ends;

		for (uint32_t at = part_begin(parts, part) / BLOCK_ROWS;
		     at < stop / BLOCK_ROWS + (stop == parts->starts->count); at++)
			ends[at] = last_ns > ends[at] ? last_ns : ends[at];
		last_ns = parts->ends[part] > last_ns ? parts->ends[part] : last_ns;
	}
}

static int sort_all(struct parts *parts)
{
	struct starts *starts = parts->starts;
	int err = -ENOMEM;

	choose_parts(parts);
	starts->order = table_alloc(starts->count, sizeof(*starts->order));
	starts->last_ends = table_zeroed(starts->count / BLOCK_ROWS, sizeof(*starts->last_ends));
	parts->stops = table_alloc(parts->count, sizeof(*parts->stops));
	parts->ends = table_alloc(parts->count, sizeof(*parts->ends));
	if (starts->order && starts->last_ends && parts->stops && parts->ends)
		err = distribute(parts);
	if (err == 0)
		err = workers_run(parts->threads, parts->count, sort_part, parts);
	if (err == 0)
		join_last_ends(parts);
	return err;
}

int starts_init(struct starts *starts, const struct trace *trace)
{
	struct parts parts = {
		.starts = starts,
		.range_count = trace->activities_count / RANGE_ROWS + 1,
		.threads = trace->activities_count < RANGE_ROWS ? 1 : WORKERS_ALL,
	};
	int err = -ENOMEM;

	*starts = (struct starts){.trace = trace};
	parts.ranges = table_zeroed(parts.range_count, sizeof(*parts.ranges));
	if (parts.ranges)
		err = sort_all(&parts);
	for (uint32_t i = 0; parts.ranges && i < parts.range_count; i++)
		free(parts.ranges[i].places);
	free(parts.ranges);
	free(parts.stops);
	free(parts.ends);
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
