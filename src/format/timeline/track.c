/* Merges the scopes and calls of a thread into tracks of nested events. */
#include "format/timeline/track.h"

int track_lists_sort(const struct track_lists *lists, const struct rows *scopes,
		     const struct rows *calls)
{
	int err = rows_list_sort(scopes, lists->of[TRACK_SCOPES]);

	return err ? err : rows_list_sort(calls, lists->of[TRACK_CALLS]);
}

/* Reads the time of the table's next row into `heads`. */
static void look_at_head(struct track *track, enum track_table table)
{
	const struct rows_walk *walk = &track->walks[table];

	if (walk->row != ROWS_NONE)
		track->heads[table] = walk->rows->time_of(walk->rows->table, walk->row);
}

void track_begin(struct track *track, const struct track_lists *lists, const struct rows *scopes,
		 const struct rows *calls, struct rows_nest *nest)
{
	*track = (struct track){
		.lists = lists,
		.nest = nest,
		.walks = {[TRACK_SCOPES] = rows_walk_begin(scopes, lists->of[TRACK_SCOPES]),
			  [TRACK_CALLS] = rows_walk_begin(calls, lists->of[TRACK_CALLS])},
	};
	nest->depth = 0;
	look_at_head(track, TRACK_SCOPES);
	look_at_head(track, TRACK_CALLS);
}

static enum track_table next_table(const struct track *track)
{
	if (track->walks[TRACK_SCOPES].row == ROWS_NONE)
		return TRACK_CALLS;
	if (track->walks[TRACK_CALLS].row == ROWS_NONE)
		return TRACK_SCOPES;
	return rows_time_before(track->heads[TRACK_CALLS], track->heads[TRACK_SCOPES])
		       ? TRACK_CALLS
		       : TRACK_SCOPES;
}

int track_next(struct track *track, enum track_table *ret_table, uint32_t *ret_row)
{
	for (;;) {
		enum track_table table = next_table(track);
		struct rows_walk *walk = &track->walks[table];
		struct rows_time time = track->heads[table];
		uint32_t row;
		int fits;

		if (walk->row == ROWS_NONE)
			return 0;
		row = rows_walk_take(walk);
		look_at_head(track, table);
		fits = rows_nest_take(track->nest, time);
		if (fits) {
			*ret_table = table;
			*ret_row = row;
			return fits;
		}
		rows_run_add(walk->rows, &track->rest[table].main, row);
	}
}

void track_end(struct track *track)
{
	for (int table = 0; table < TRACK_TABLES; table++)
		*track->lists->of[table] = track->rest[table];
}
