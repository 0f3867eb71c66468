/* Projects scopes onto GPUs and streams (projection.h). */
#include "format/timeline/projection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/table.h"

int projection_init(struct projection *projection, const struct trace *trace, uint32_t places)
{
	*projection = (struct projection){.trace = trace, .places = places};
	projection->last = table_zeroed(places, sizeof(*projection->last));
	return projection->last ? 0 : -ENOMEM;
}

/* The index of the row of WHAT at PLACE, or -ENOMEM. A new row has an empty extent. */
static int64_t find_row(struct projection *projection, uint32_t what, uint32_t place)
{
	struct projected *row;
	struct hash_probe probe;

	if (hash_map_reserve(&projection->map) < 0)
		return -ENOMEM;
	probe = hash_map_probe(&projection->map, hash_mix(what, place));
	while (hash_map_next(&projection->map, &probe)) {
		row = &projection->rows[probe.row];
		if (row->what == what && row->place == place)
			return probe.row;
	}
	row = table_add((void **)&projection->rows, &projection->count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = (struct projected){
		.what = what, .place = place, .begin_ns = INT64_MAX, .end_ns = INT64_MIN};
	hash_map_put(&projection->map, &probe, projection->count - 1);
	return projection->count - 1;
}

/* The same, but looks first at the row that was last looked up. */
static int64_t find(struct projection *projection, uint32_t what, uint32_t place)
{
	uint32_t last = projection->last[place];
	int64_t row;

	if (last && projection->rows[last - 1].what == what)
		return last - 1;
	row = find_row(projection, what, place);
	if (row >= 0)
		projection->last[place] = (uint32_t)row + 1;
	return row;
}

/* Extends a row to the given times; returns whether it grew. */
static bool widen(struct projected *row, int64_t begin_ns, int64_t end_ns)
{
	bool is_wider = begin_ns < row->begin_ns || end_ns > row->end_ns;

	if (begin_ns < row->begin_ns)
		row->begin_ns = begin_ns;
	if (end_ns > row->end_ns)
		row->end_ns = end_ns;
	return is_wider;
}

int projection_add(struct projection *projection, uint32_t what, uint32_t place,
		   struct rows_time time)
{
	int64_t row = find(projection, what, place);

	if (row < 0)
		return -ENOMEM;
	widen(&projection->rows[row], time.begin_ns, time.end_ns);
	return 0;
}

/* The scope around WHAT, or TRACE_NONE. */
static uint32_t around(const struct projection *projection, const struct projected *row)
{
	const struct trace *trace = projection->trace;
	uint32_t call;

	if (projected_is_scope(projection, row))
		return trace->scopes[row->what].parent;
	call = projected_launch(projection, row)->call;
	return call == TRACE_NONE ? TRACE_NONE : trace->calls[call].scope;
}

/* Each row extends its parents upwards until one does not grow, or until one has no parent looked
 * up yet. The latter comes later in the table, because all rows before I have been looked up, and
 * then passes its whole extent on. */
int projection_finish(struct projection *projection)
{
	memset(projection->last, 0, projection->places * sizeof(*projection->last));
	for (uint32_t i = 0; i < projection->count; i++) {
		const struct projected row = projection->rows[i];
		uint32_t scope = around(projection, &row);
		int64_t parent = scope == TRACE_NONE ? -1 : find(projection, scope, row.place);
		uint32_t at;

		if (parent == -ENOMEM)
			return -ENOMEM;
		at = (uint32_t)(parent + 1);
		projection->rows[i].parent = at;
		while (at && widen(&projection->rows[at - 1], row.begin_ns, row.end_ns))
			at = projection->rows[at - 1].parent;
	}
	return 0;
}

void projection_release(struct projection *projection)
{
	free(projection->rows);
	free(projection->last);
	hash_map_release(&projection->map);
	*projection = (struct projection){0};
}
