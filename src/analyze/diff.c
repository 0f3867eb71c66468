/* Compares summaries of two traces (diff.h). */
#include "analyze/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scope_instances.h"
#include "analyze/scope_match.h"
#include "analyze/welch.h"
#include "base/table.h"

static uint64_t magnitude(int64_t ns)
{
	return ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
}

bool diff_is_notable(const struct diff_row *row, double percent)
{
	double change = (double)magnitude(row->change_ns);

	if (row->a_activities == 0 || row->b_activities == 0)
		return true;
	return change * 100 >= percent * (double)magnitude(row->base_ns);
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct summary_row *)left)->name,
		      ((const struct summary_row *)right)->name);
}

static int by_change(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	uint64_t a_change = magnitude(a->change_ns), b_change = magnitude(b->change_ns);

	if (a_change != b_change)
		return a_change > b_change ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void sort_by_name(struct summary_table *table)
{
	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows), by_name);
}

/* Takes the values of FROM; its name moves to the new row. take_b moves the name only if A had no
 * such row. */
static void take_a(struct diff_row *row, struct summary_row *from)
{
	row->name = from->name;
	row->a = from->tally;
	row->a_bytes = from->bytes;
	row->a_activities = from->activities;
	from->name = NULL;
}

static void take_b(struct diff_row *row, struct summary_row *from)
{
	if (!row->name) {
		row->name = from->name;
		from->name = NULL;
	}
	row->b = from->tally;
	row->b_bytes = from->bytes;
	row->b_activities = from->activities;
}

/* Merges the two tables, which are sorted by name and have each name at most once. Returns the
 * number of rows. */
static uint32_t meet(struct summary_table *a, struct summary_table *b, struct diff_row *rows)
{
	uint32_t at_a = 0, at_b = 0, count = 0;

	while (at_a < a->count || at_b < b->count) {
		struct diff_row *row = &rows[count++];
		int order = 0;

		if (at_b == b->count)
			order = -1;
		else if (at_a == a->count)
			order = 1;
		else
			order = by_name(&a->rows[at_a], &b->rows[at_b]);
		if (order <= 0)
			take_a(row, &a->rows[at_a++]);
		if (order >= 0)
			take_b(row, &b->rows[at_b++]);
	}
	return count;
}

/* ---- instances ---- */

/* Sets in OF_ACTIVITY the instance of the scope. Returns how many there are, or -ENOMEM. */
static int64_t find_instances(const struct trace *trace, const char *scope, uint32_t *of_activity)
{
	bool *is_meant = table_zeroed(trace->scopes_count, sizeof(*is_meant));
	struct scope_instances instances = {0};
	int64_t count = -ENOMEM;

	for (uint32_t i = 0; i < trace->scopes_count && is_meant; i++)
		is_meant[i] = scope_is_interval(&trace->scopes[i]) &&
			      scope_matches(trace, &trace->scopes[i], scope);
	if (is_meant && scope_instances_find(trace, is_meant, &instances) == 0) {
		count = instances.count;
		for (uint32_t i = 0; i < trace->activities_count; i++)
			of_activity[i] = scope_instances_of(&instances, trace->activities[i].scope);
	}
	free(is_meant);
	scope_instances_release(&instances);
	return count;
}

/* Summarizes one trace as QUERY says. */
static int summarize(const struct trace *trace, const struct diff_query *query,
		     struct summary_table *ret_table, uint32_t *ret_parts)
{
	uint32_t *of_activity;
	int64_t count = trace->launches_count;
	int err = -ENOMEM;

	if (!query->scope && !query->is_by_replay)
		return summary_make(trace, query->by, ret_table);
	of_activity = table_alloc(trace->activities_count, sizeof(*of_activity));
	if (!of_activity)
		return -ENOMEM;
	if (query->scope)
		count = find_instances(trace, query->scope, of_activity);
	for (uint32_t i = 0; i < trace->activities_count && query->is_by_replay; i++)
		of_activity[i] = trace->activities[i].launch;
	if (count >= 0) {
		*ret_parts = (uint32_t)count;
		err = summary_make_by_part(
			trace, query->by,
			&(struct summary_parts){.of_activity = of_activity, .count = *ret_parts},
			ret_table);
	}
	free(of_activity);
	return err;
}

/* ---- what has changed ---- */

static struct welch_sample sample_of(const struct tally *tally)
{
	return (struct welch_sample){
		.count = tally->timed,
		.mean = tally_mean(tally),
		.stddev = tally->stddev_ns,
	};
}

/* Whether B differs from A by the least percentage that counts. */
static bool differs(double a, double b)
{
	return a != b && fabs(b - a) * 100 >= DIFF_LEAST_PERCENT * fabs(a);
}

static void judge(const struct diff_table *table, struct diff_row *row, uint32_t compared)
{
	struct welch_sample a = sample_of(&row->a), b = sample_of(&row->b);
	double a_parts = table->a_parts ? table->a_parts : 1;
	double b_parts = table->b_parts ? table->b_parts : 1;

	row->base_ns = table->a_parts ? llround(a.mean) : row->a.total_ns;
	row->change_ns = table->a_parts ? llround(b.mean - a.mean)
					: tally_span(row->a.total_ns, row->b.total_ns);
	row->probability = welch_probability(&a, &b);
	row->has_changed =
		row->a_activities == 0 || row->b_activities == 0 ||
		differs((double)row->a_activities / a_parts, (double)row->b_activities / b_parts) ||
		(differs(a.mean, b.mean) &&
		 !(row->probability >= DIFF_PROBABILITY / (compared ? compared : 1)));
}

static void judge_all(struct diff_table *table)
{
	uint32_t compared = 0;

	for (uint32_t i = 0; i < table->count; i++)
		compared += table->rows[i].a_activities && table->rows[i].b_activities;
	for (uint32_t i = 0; i < table->count; i++) {
		struct diff_row *row = &table->rows[i];

		judge(table, row, compared);
		table->changed += row->has_changed;
		table->base_ns = tally_sum(table->base_ns, row->base_ns);
		if (row->has_changed)
			continue;
		table->unchanged_base_ns = tally_sum(table->unchanged_base_ns, row->base_ns);
		table->unchanged_change_ns = tally_sum(table->unchanged_change_ns, row->change_ns);
	}
}

int diff_make(const struct trace *a, const struct trace *b, const struct diff_query *query,
	      struct diff_table *ret_table)
{
	struct summary_table of_a = {0}, of_b = {0};
	struct diff_table table = {0};
	int err = summarize(a, query, &of_a, &table.a_parts);

	if (err == 0)
		err = summarize(b, query, &of_b, &table.b_parts);
	if (err == 0) {
		table.rows = table_zeroed((uint64_t)of_a.count + of_b.count, sizeof(*table.rows));
		err = table.rows ? 0 : -ENOMEM;
	}
	if (err == 0) {
		sort_by_name(&of_a);
		sort_by_name(&of_b);
		table.count = meet(&of_a, &of_b, table.rows);
		judge_all(&table);
		qsort(table.rows, table.count, sizeof(*table.rows), by_change);
		*ret_table = table;
	}
	summary_release(&of_a);
	summary_release(&of_b);
	return err;
}

void diff_release(struct diff_table *table)
{
	for (uint32_t i = 0; i < table->count; i++)
		free(table->rows[i].name);
	free(table->rows);
	*table = (struct diff_table){0};
}
