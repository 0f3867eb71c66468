/* Writes the rows of a list on tracks on which they nest. */
#include "format/timeline/slices.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"

struct layout {
	struct rows_nest *nests; /* by subtrack */
	uint32_t count;
	uint32_t list;
	const struct slices_output *output;
};

static void close_until(struct layout *layout, uint32_t subtrack, int64_t ns)
{
	const struct slices_output *output = layout->output;
	struct rows_nest *nest = &layout->nests[subtrack];

	while (nest->depth > 0 && nest->ends[nest->depth - 1] <= ns) {
		nest->depth--;
		if (output->end_slice)
			output->end_slice(output->context, layout->list, subtrack,
					  nest->ends[nest->depth]);
	}
}

/* Finds the first track on which the time nests; the last one is new if no other will do. Returns
 * its number or -ENOMEM. */
static int64_t find_subtrack(struct layout *layout, struct rows_time time)
{
	for (uint32_t subtrack = 0;; subtrack++) {
		int fits = 0;

		if (subtrack == layout->count &&
		    !table_add((void **)&layout->nests, &layout->count, sizeof(*layout->nests)))
			return -ENOMEM;
		close_until(layout, subtrack, time.begin_ns);
		if (!layout->output->flat || layout->nests[subtrack].depth == 0)
			fits = rows_nest_take(&layout->nests[subtrack], time);
		if (fits)
			return fits < 0 ? fits : (int64_t)subtrack;
	}
}

static int put_slice(struct layout *layout, struct slice slice)
{
	uint32_t before = layout->count;
	int64_t subtrack = find_subtrack(layout, slice.time);

	if (subtrack < 0)
		return (int)subtrack;
	slice.subtrack = (uint32_t)subtrack;
	if (slice.subtrack == before)
		layout->output->begin_track(layout->output->context, &slice);
	layout->output->begin_slice(layout->output->context, &slice);
	return 0;
}

int slices_put(const struct rows *rows, size_t list, const struct slices_output *output)
{
	struct layout layout = {.list = (uint32_t)list, .output = output};
	int err = rows_list_sort(rows, &rows->lists[list]);
	struct rows_walk walk = rows_walk_begin(rows, &rows->lists[list]);

	while (walk.row != ROWS_NONE && !err) {
		uint32_t row = rows_walk_take(&walk);

		err = put_slice(&layout, (struct slice){.list = layout.list,
							.row = row,
							.ahead = walk.ahead,
							.time = rows->time_of(rows->table, row)});
	}
	for (uint32_t i = 0; i < layout.count; i++) {
		close_until(&layout, i, INT64_MAX);
		rows_nest_release(&layout.nests[i]);
	}
	free(layout.nests);
	return err;
}
