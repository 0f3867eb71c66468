/* Compares instances of a scope (scope_compare.h). */
#include "analyze/scope_compare.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/tally.h"
#include "base/numbers.h"
#include "base/table.h"

struct comparing {
	const struct trace *trace;
	const struct scope_stats *stats;
	enum scope_compare_by by;
	struct numbers keys; /* numbers the keys of parts: the index of the part */
	struct scope_parts parts;
};

int64_t scope_part_difference(const struct scope_part *part)
{
	return tally_span(part->ns[0], part->ns[1]);
}

/* The key of an activity's part; false: it is in none. */
static bool key_of(const struct comparing *comparing, const struct trace_activity *row,
		   uint64_t *ret_high, uint64_t *ret_low)
{
	const struct trace_work *work = trace_work_of(comparing->trace, row);

	if (comparing->by == SCOPE_BY_NODE) {
		*ret_high = 0;
		*ret_low = row->node;
		return row->node != TRACE_NONE;
	}
	*ret_high = work->kind;
	*ret_low = work->kind == TRACE_KERNEL ? work->name
		   : work->kind == TRACE_COPY ? work->direction
					      : 0;
	return true;
}

static int take_activity(struct comparing *comparing, int side, uint32_t activity)
{
	const struct trace_activity *row = &comparing->trace->activities[activity];
	struct scope_parts *parts = &comparing->parts;
	uint64_t high, low;
	int64_t number;
	void *added;

	if (row->untimed != RECORD_UNTIMED_NO || !key_of(comparing, row, &high, &low))
		return 0;
	number = numbers_row(&comparing->keys, high, low, (void **)&parts->rows, &parts->count,
			     sizeof(*parts->rows), &added);
	if (number < 0)
		return -ENOMEM;
	if (added)
		parts->rows[number].activity = activity;
	parts->rows[number].count[side]++;
	parts->rows[number].ns[side] =
		tally_sum(parts->rows[number].ns[side], tally_span(row->start_ns, row->end_ns));
	return 0;
}

static int take_instance(struct comparing *comparing, int side, uint32_t instance)
{
	const struct scope_stats *stats = comparing->stats;

	for (uint32_t i = stats->first[instance]; i < stats->first[instance + 1]; i++) {
		if (take_activity(comparing, side, stats->activities[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int take_idle(struct comparing *comparing, uint32_t base, uint32_t instance)
{
	const struct scope_instance *rows = comparing->stats->rows;
	struct scope_parts *parts = &comparing->parts;

	for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
		struct scope_part *part =
			table_add((void **)&parts->rows, &parts->count, sizeof(*part));

		if (!part)
			return -ENOMEM;
		*part = (struct scope_part){
			.kind = SCOPE_PART_IDLE,
			.activity = TRACE_NONE,
			.cause = (enum idle_cause)cause,
			.ns = {rows[base].cause_ns[cause], rows[instance].cause_ns[cause]},
		};
	}
	return 0;
}

static bool is_same(const struct scope_part *part)
{
	return part->count[0] == part->count[1] && part->ns[0] == part->ns[1];
}

static int64_t size_of(const struct scope_part *part)
{
	int64_t ns = scope_part_difference(part);

	return ns < 0 ? tally_span(ns, 0) : ns;
}

static int compare_parts(const void *left, const void *right)
{
	const struct scope_part *a = left, *b = right;

	if (size_of(a) != size_of(b))
		return size_of(a) > size_of(b) ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	return (a->activity > b->activity) - (a->activity < b->activity);
}

static void sort_parts(struct scope_parts *parts)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < parts->count; i++) {
		if (!is_same(&parts->rows[i]))
			parts->rows[kept++] = parts->rows[i];
	}
	parts->count = kept;
	if (kept)
		qsort(parts->rows, kept, sizeof(*parts->rows), compare_parts);
}

int scope_compare(const struct trace *trace, const struct scope_stats *stats, uint32_t base,
		  uint32_t instance, enum scope_compare_by by, struct scope_parts *ret_parts)
{
	struct comparing comparing = {.trace = trace, .stats = stats, .by = by};
	int err = take_instance(&comparing, 0, base);

	if (err == 0)
		err = take_instance(&comparing, 1, instance);
	if (err == 0 && by == SCOPE_BY_WORK)
		err = take_idle(&comparing, base, instance);
	numbers_release(&comparing.keys);
	if (err < 0) {
		free(comparing.parts.rows);
		return err;
	}
	sort_parts(&comparing.parts);
	*ret_parts = comparing.parts;
	return 0;
}
