/* Lays out slices on tracks on which they nest. */
#include "format/perfetto/perfetto_lanes.h"

#include <errno.h>
#include <stdlib.h>

struct lane {
	int64_t *ends; /* ends of the open slices, outermost first */
	size_t depth;
	size_t room;
};

struct lanes {
	struct lane *lanes;
	uint32_t count;
	const struct lanes_output *output;
};

static int compare_times(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Order: by group, begin, the longest first, index. */
static int compare_slices(const void *left, const void *right)
{
	const struct slice *a = left;
	const struct slice *b = right;
	int order;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	order = compare_times(a->begin_ns, b->begin_ns);
	if (order == 0)
		order = compare_times(b->end_ns, a->end_ns);
	if (order == 0)
		order = (a->index > b->index) - (a->index < b->index);
	return order;
}

static int64_t last_end(const struct slice *slice)
{
	return slice->end_ns < slice->begin_ns ? slice->begin_ns : slice->end_ns;
}

static void close_until(struct lanes *lanes, uint32_t group, uint32_t number, int64_t ns)
{
	struct lane *lane = &lanes->lanes[number];

	while (lane->depth > 0 && lane->ends[lane->depth - 1] <= ns) {
		lane->depth--;
		lanes->output->end(lanes->output->context, group, number, lane->ends[lane->depth]);
	}
}

static void close_all(struct lanes *lanes, uint32_t group)
{
	for (uint32_t i = 0; i < lanes->count; i++)
		close_until(lanes, group, i, INT64_MAX);
}

static bool fits(const struct lanes *lanes, const struct lane *lane, const struct slice *slice)
{
	if (lane->depth == 0)
		return true;
	return !lanes->output->flat && lane->ends[lane->depth - 1] >= last_end(slice);
}

static int add_lane(struct lanes *lanes)
{
	struct lane *grown = realloc(lanes->lanes, (lanes->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	lanes->lanes = grown;
	lanes->lanes[lanes->count++] = (struct lane){0};
	return 0;
}

static int push(struct lane *lane, int64_t end_ns)
{
	if (lane->depth == lane->room) {
		size_t room = lane->room ? 2 * lane->room : 16;
		int64_t *ends = realloc(lane->ends, room * sizeof(*ends));

		if (!ends)
			return -ENOMEM;
		lane->ends = ends;
		lane->room = room;
	}
	lane->ends[lane->depth++] = end_ns;
	return 0;
}

static int put_slice(struct lanes *lanes, const struct slice *slice)
{
	uint32_t number = 0;

	for (; number < lanes->count; number++) {
		close_until(lanes, slice->group, number, slice->begin_ns);
		if (fits(lanes, &lanes->lanes[number], slice))
			break;
	}
	if (number == lanes->count && add_lane(lanes) < 0)
		return -ENOMEM;
	if (push(&lanes->lanes[number], last_end(slice)) < 0)
		return -ENOMEM;
	lanes->output->begin(lanes->output->context, slice, number);
	return 0;
}

int lanes_put(struct slice *slices, size_t count, const struct lanes_output *output)
{
	struct lanes lanes = {.output = output};
	int error = 0;

	if (count > 0)
		qsort(slices, count, sizeof(*slices), compare_slices);
	for (size_t i = 0; i < count && !error; i++) {
		if (i > 0 && slices[i].group != slices[i - 1].group)
			close_all(&lanes, slices[i - 1].group);
		error = put_slice(&lanes, &slices[i]);
	}
	if (count > 0)
		close_all(&lanes, slices[count - 1].group);
	for (uint32_t i = 0; i < lanes.count; i++)
		free(lanes.lanes[i].ends);
	free(lanes.lanes);
	return error;
}
