/* Compares summaries of two traces (diff.h). */
#include "analyze/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int64_t diff_change_ns(const struct diff_row *row)
{
	return tally_span(row->a.total_ns, row->b.total_ns);
}

static uint64_t magnitude(int64_t ns)
{
	return ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
}

bool diff_is_notable(const struct diff_row *row, double percent)
{
	double change = (double)magnitude(diff_change_ns(row));

	if (row->a.count == 0 || row->b.count == 0)
		return true;
	return change * 100 >= percent * (double)magnitude(row->a.total_ns);
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct summary_row *)left)->name,
		      ((const struct summary_row *)right)->name);
}

static int by_change(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	uint64_t a_change = magnitude(diff_change_ns(a)), b_change = magnitude(diff_change_ns(b));

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

int diff_make(const struct trace *a, const struct trace *b, enum summary_by by,
	      struct diff_table *ret_table)
{
	struct summary_table of_a = {0}, of_b = {0};
	struct diff_table table = {0};
	int err = summary_make(a, by, &of_a);

	if (err == 0)
		err = summary_make(b, by, &of_b);
	if (err == 0) {
		table.rows = calloc((size_t)of_a.count + of_b.count + 1, sizeof(*table.rows));
		err = table.rows ? 0 : -ENOMEM;
	}
	if (err == 0) {
		sort_by_name(&of_a);
		sort_by_name(&of_b);
		table.count = meet(&of_a, &of_b, table.rows);
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
