/* Merges the scopes and calls of a thread into tracks of nested events. */
#include "format/timeline/track.h"

struct tracks tracks_open(const struct rows *scopes, struct rows_list *scope_list,
			  const struct rows *calls, struct rows_list *call_list,
			  struct rows_nest *nest)
{
	struct tracks tracks = {
		.rows = {[TRACK_SCOPES] = scopes, [TRACK_CALLS] = calls},
		.nest = nest,
		.error = rows_list_sort(scopes, scope_list),
	};

	if (calls && !tracks.error)
		tracks.error = rows_list_sort(calls, call_list);
	tracks.lists[TRACK_SCOPES] = *scope_list;
	if (calls)
		tracks.lists[TRACK_CALLS] = *call_list;
	return tracks;
}

/* Reads the time of the table's next row into `heads`. */
static void look_at_head(struct tracks *tracks, enum track_table table)
{
	const struct rows_walk *walk = &tracks->walks[table];

	if (walk->row != ROWS_NONE)
		tracks->heads[table] = walk->rows->time_of(walk->rows->table, walk->row);
}

bool tracks_begin(struct tracks *tracks)
{
	uint32_t count = 0;

	for (int table = 0; table < TRACK_TABLES; table++) {
		count += rows_list_count(&tracks->lists[table]);
		tracks->walks[table] = rows_walk_begin(tracks->rows[table], &tracks->lists[table]);
		tracks->lists[table] = (struct rows_list){.words = 0};
		look_at_head(tracks, table);
	}
	if (tracks->nest)
		tracks->nest->depth = 0;
	tracks->number++;
	return count > 0 && !tracks->error;
}

static enum track_table next_table(const struct tracks *tracks)
{
	if (tracks->walks[TRACK_SCOPES].row == ROWS_NONE)
		return TRACK_CALLS;
	if (tracks->walks[TRACK_CALLS].row == ROWS_NONE)
		return TRACK_SCOPES;
	return rows_time_before(tracks->heads[TRACK_CALLS], tracks->heads[TRACK_SCOPES])
		       ? TRACK_CALLS
		       : TRACK_SCOPES;
}

bool tracks_next(struct tracks *tracks)
{
	for (;;) {
		enum track_table table = next_table(tracks);
		struct rows_walk *walk = &tracks->walks[table];
		struct rows_time time = tracks->heads[table];
		int fits;

		if (walk->row == ROWS_NONE)
			return false;
		tracks->table = table;
		tracks->row = rows_walk_take(walk);
		look_at_head(tracks, table);
		fits = tracks->nest ? rows_nest_take(tracks->nest, time) : 1;
		if (fits < 0)
			tracks->error = fits;
		if (fits)
			return fits > 0;
		rows_run_add(walk->rows, &tracks->lists[table].main, tracks->row);
	}
}
