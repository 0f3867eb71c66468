/* Sorting by several keys, one after the other (see row_order.h). */
#include "format/import/row_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "trace/row_table.h"

static bool is_in_place(const struct sort_row *order, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (order[i].index != i)
			return false;
	}
	return true;
}

static int move_rows(const struct order_table *table, const struct sort_row *order)
{
	const char *rows = *table->rows;
	char *sorted = table_alloc(table->count, table->row_bytes);

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->count; i++)
		memcpy(sorted + i * table->row_bytes, rows + order[i].index * table->row_bytes,
		       table->row_bytes);
	free(*table->rows);
	*table->rows = sorted;
	return 0;
}

/* Sorts COUNT entries of ORDER by *KEY; each run of equal keys is then sorted by the next key.
 * Recursion is at most as deep as there are keys. */
static int sort_from(const struct order_table *table, order_key *const *key, struct sort_row *order,
		     uint32_t count)
{
	const char *rows = *table->rows;
	uint32_t end;
	int err;

	for (uint32_t i = 0; i < count; i++)
		order[i].key = (*key)(rows + order[i].index * table->row_bytes);
	err = sort_rows(order, count);
	if (!key[1])
		return err;
	for (uint32_t begin = 0; begin < count && err == 0; begin = end) {
		for (end = begin + 1; end < count && order[end].key == order[begin].key;)
			end++;
		if (end - begin > 1)
			err = sort_from(table, key + 1, order + begin, end - begin);
	}
	return err;
}

static int find_order(const struct order_table *table, struct sort_row *order)
{
	for (uint32_t i = 0; i < table->count; i++)
		order[i].index = i;
	return table->keys[0] ? sort_from(table, table->keys, order, table->count) : 0;
}

/* Moves the rows into ORDER unless they are in it. RET_PLACE as in order_rows. */
static int place_rows(const struct order_table *table, const struct sort_row *order,
		      uint32_t **ret_place)
{
	uint32_t *place = NULL;

	if (!is_in_place(order, table->count)) {
		place = table_alloc(table->count, sizeof(*place));
		if (!place || move_rows(table, order) < 0) {
			free(place);
			return -ENOMEM;
		}
		for (uint32_t i = 0; i < table->count; i++)
			place[order[i].index] = i;
	}
	*ret_place = place;
	return 0;
}

int order_rows(const struct order_table *table, uint32_t **ret_place)
{
	struct sort_row *order = table_alloc(table->count, sizeof(*order));
	int err = order ? find_order(table, order) : -ENOMEM;

	if (err == 0)
		err = place_rows(table, order, ret_place);
	free(order);
	return err;
}
