/* Lists of rows by track, and the stack that tells whether an event nests. */
#include "format/timeline/track_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "trace/row_table.h"

int rows_init(struct rows *rows, size_t rows_count, size_t lists_count)
{
	rows->next = table_alloc(rows_count, sizeof(*rows->next));
	rows->lists = calloc(lists_count + 1, sizeof(*rows->lists));
	rows->lists_count = lists_count;
	if (!rows->next || !rows->lists) {
		rows_release(rows);
		return -ENOMEM;
	}
	return 0;
}

void rows_release(struct rows *rows)
{
	free(rows->next);
	free(rows->lists);
	rows->next = NULL;
	rows->lists = NULL;
}

static uint64_t begin_key(struct rows_time time)
{
	return (uint64_t)time.begin_ns ^ UINT64_C(1) << 63;
}

/* Inverted, so that later ends come first. */
static uint64_t end_key(struct rows_time time)
{
	return ~((uint64_t)time.end_ns ^ UINT64_C(1) << 63);
}

/* Sorts by begin, then by end, longest first. sort_rows is stable, so two keys are sorted by the
 * less significant one first. Few rows share their begin with a neighbour; without such rows one
 * pass by begin is enough. */
static int sort(const struct rows *rows, struct sort_row *order, uint32_t count)
{
	bool equal_begins = false;
	int err;

	for (uint32_t i = 0; i < count; i++)
		order[i].key = begin_key(rows->time_of(rows->table, order[i].index));
	err = sort_rows(order, count);
	for (uint32_t i = 1; i < count && !equal_begins; i++)
		equal_begins = order[i].key == order[i - 1].key;
	if (err || !equal_begins)
		return err;
	for (uint32_t i = 0; i < count; i++)
		order[i].key = end_key(rows->time_of(rows->table, order[i].index));
	err = sort_rows(order, count);
	for (uint32_t i = 0; i < count; i++)
		order[i].key = begin_key(rows->time_of(rows->table, order[i].index));
	return err ? err : sort_rows(order, count);
}

int rows_list_sort(const struct rows *rows, struct rows_list *list)
{
	uint32_t count = list->late.count;
	uint32_t row = list->late.head;
	struct sort_row *order;
	int err;

	if (count == 0)
		return 0;
	order = table_alloc(count, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++, row = rows->next[row])
		order[i].index = row;
	err = sort(rows, order, count);
	list->late.count = 0;
	for (uint32_t i = 0; i < count; i++)
		rows_run_add(rows, &list->late, order[i].index);
	free(order);
	return err;
}

int rows_nest_take(struct rows_nest *nest, struct rows_time time)
{
	while (nest->depth > 0 && nest->ends[nest->depth - 1] <= time.begin_ns)
		nest->depth--;
	if (nest->depth > 0 && nest->ends[nest->depth - 1] < time.end_ns)
		return 0;
	if (table_reserve((void **)&nest->ends, &nest->room, nest->depth + 1, sizeof(*nest->ends)) <
	    0)
		return -ENOMEM;
	nest->ends[nest->depth++] = time.end_ns;
	return 1;
}

void rows_nest_release(struct rows_nest *nest)
{
	free(nest->ends);
	*nest = (struct rows_nest){0};
}
