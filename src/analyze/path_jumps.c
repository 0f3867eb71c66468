/* Finds where paths go to other ranks (path_jumps.h). */
#include "analyze/path_jumps.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/collectives.h"
#include "analyze/tally.h"
#include "trace/row_table.h"

/* Whether each rank waits for all others. Not all_to_all_v, whose counts may be 0. */
static bool waits_for_all(enum collective_kind kind)
{
	return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_ALL_GATHER ||
	       kind == COLLECTIVE_REDUCE_SCATTER || kind == COLLECTIVE_ALL_TO_ALL;
}

static int add_jumps(const struct collectives *found, const struct collective_instance *instance,
		     struct path_jumps *jumps)
{
	const struct collective *late = &found->rows[instance->late];

	if (!waits_for_all(late->kind) || !late->bytes)
		return 0;
	jumps->unsure += !instance->is_sure;
	for (uint32_t i = instance->first; i < instance->first + instance->count; i++) {
		const struct collective *row = &found->rows[i];
		uint64_t error_ns = collective_start_error(found, i, instance->late);
		struct path_jump *jump;

		if ((uint64_t)tally_span(row->start_ns, late->start_ns) <= error_ns)
			continue;
		jump = trace_add(jumps, rows);
		if (!jump)
			return -ENOMEM;
		*jump = (struct path_jump){row->activity, late->activity, instance->alone_ns};
		if (error_ns > jumps->worst_error_ns)
			jumps->worst_error_ns = error_ns;
	}
	return 0;
}

/* By activity; of one that belongs to several collectives, the latest rank first. */
static int compare(const void *left, const void *right, void *context)
{
	const struct trace_activity *activities = context;
	const struct path_jump *a = left, *b = right;

	if (a->activity != b->activity)
		return a->activity < b->activity ? -1 : 1;
	if (activities[a->to].start_ns != activities[b->to].start_ns)
		return activities[a->to].start_ns > activities[b->to].start_ns ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static void sort(const struct trace *trace, struct path_jumps *jumps)
{
	uint32_t kept = 0;

	if (jumps->rows_count)
		qsort_r(jumps->rows, jumps->rows_count, sizeof(*jumps->rows), compare,
			trace->activities);
	for (uint32_t i = 0; i < jumps->rows_count; i++) {
		if (!kept || jumps->rows[kept - 1].activity != jumps->rows[i].activity)
			jumps->rows[kept++] = jumps->rows[i];
	}
	jumps->rows_count = kept;
}

int path_jumps_find(const struct dependencies *deps, struct path_jumps *ret_jumps)
{
	struct collectives found = {.trace = deps->trace};
	struct path_jumps jumps = {0};
	int err = 0;

	if (deps->has_rccl)
		err = collective_calls_find(deps, NULL, &found);
	if (err == 0)
		err = collective_instances_find(&found);
	for (uint32_t i = 0; i < found.instances_count && err == 0; i++)
		err = add_jumps(&found, &found.instances[i], &jumps);
	collectives_release(&found);
	if (err < 0) {
		path_jumps_release(&jumps);
		return err;
	}
	sort(deps->trace, &jumps);
	*ret_jumps = jumps;
	return 0;
}

void path_jumps_release(struct path_jumps *jumps)
{
	free(jumps->rows);
	*jumps = (struct path_jumps){0};
}

const struct path_jump *path_jumps_get(const struct path_jumps *jumps, uint32_t activity)
{
	uint32_t low = 0, high = jumps ? jumps->rows_count : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (jumps->rows[middle].activity < activity)
			low = middle + 1;
		else
			high = middle;
	}
	return jumps && low < jumps->rows_count && jumps->rows[low].activity == activity
		       ? &jumps->rows[low]
		       : NULL;
}
