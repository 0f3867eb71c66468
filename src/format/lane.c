/* Merges the scopes and calls of a thread into tracks of nested events. */
#include "format/lane.h"

int lane_lists_sort(const struct lane_lists *lists, const struct rows *scopes,
		    const struct rows *calls)
{
	int error = rows_list_sort(scopes, lists->of[LANE_SCOPES]);

	return error ? error : rows_list_sort(calls, lists->of[LANE_CALLS]);
}

/* Reads the time of the table's next row into `heads`. */
static void look_at_head(struct lane *lane, enum lane_table table)
{
	const struct rows_walk *walk = &lane->walks[table];

	if (walk->row != ROWS_NONE)
		lane->heads[table] = walk->rows->time_of(walk->rows->table, walk->row);
}

void lane_begin(struct lane *lane, const struct lane_lists *lists, const struct rows *scopes,
		const struct rows *calls, struct rows_nest *nest)
{
	*lane = (struct lane){
		.lists = lists,
		.nest = nest,
		.walks = {[LANE_SCOPES] = rows_walk_begin(scopes, lists->of[LANE_SCOPES]),
			  [LANE_CALLS] = rows_walk_begin(calls, lists->of[LANE_CALLS])},
	};
	nest->depth = 0;
	look_at_head(lane, LANE_SCOPES);
	look_at_head(lane, LANE_CALLS);
}

static enum lane_table next_table(const struct lane *lane)
{
	if (lane->walks[LANE_SCOPES].row == ROWS_NONE)
		return LANE_CALLS;
	if (lane->walks[LANE_CALLS].row == ROWS_NONE)
		return LANE_SCOPES;
	return rows_time_before(lane->heads[LANE_CALLS], lane->heads[LANE_SCOPES]) ? LANE_CALLS
										   : LANE_SCOPES;
}

int lane_next(struct lane *lane, enum lane_table *ret_table, uint32_t *ret_row)
{
	for (;;) {
		enum lane_table table = next_table(lane);
		struct rows_walk *walk = &lane->walks[table];
		struct rows_time time = lane->heads[table];
		uint32_t row;
		int fits;

		if (walk->row == ROWS_NONE)
			return 0;
		row = rows_walk_take(walk);
		look_at_head(lane, table);
		fits = rows_nest_take(lane->nest, time);
		if (fits) {
			*ret_table = table;
			*ret_row = row;
			return fits;
		}
		rows_run_add(walk->rows, &lane->rest[table].main, row);
	}
}

void lane_end(struct lane *lane)
{
	for (int table = 0; table < LANE_TABLES; table++)
		*lane->lists->of[table] = lane->rest[table];
}
