/* Finds the collectives of which several ranks are in the trace, and who was first and last. */
#include <errno.h>

#include "analyze/collectives.h"
#include "analyze/tally.h"
#include "trace/process_clocks.h"
#include "trace/row_table.h"

uint64_t collective_start_error(const struct collectives *collectives, uint32_t a, uint32_t b)
{
	const struct collective *one = &collectives->rows[a], *other = &collectives->rows[b];

	return process_clocks_uncertainty(collectives->trace, one->process, other->process,
					  one->start_ns);
}

/* Whether the times of all COUNT operations can be compared. */
static bool are_comparable(const struct trace *trace, const struct collective *rows, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		if (process_clocks_uncertainty(trace, rows[0].process, rows[i].process,
					       rows[0].start_ns) >= INT64_MAX)
			return false;
	}
	return true;
}

static bool is_one_operation(const struct collective *rows, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (rows[i].kind != rows[0].kind || rows[i].bytes != rows[0].bytes ||
		    rows[i].count != rows[0].count || rows[i].rank == rows[i - 1].rank)
			return false;
	return true;
}

/* Sets the instance's first and last, and the last but one. */
static void compare_starts(const struct collectives *collectives,
			   struct collective_instance *instance)
{
	const struct collective *rows = collectives->rows;
	uint32_t next = TRACE_NONE;

	instance->early = instance->late = instance->first;
	for (uint32_t i = instance->first + 1; i < instance->first + instance->count; i++) {
		if (rows[i].start_ns < rows[instance->early].start_ns)
			instance->early = i;
		if (rows[i].start_ns > rows[instance->late].start_ns) {
			next = instance->late;
			instance->late = i;
		} else if (next == TRACE_NONE || rows[i].start_ns > rows[next].start_ns) {
			next = i;
		}
	}
	instance->next = next;
}

/* Sets by how much the last rank was late, and how sure that is. */
static void compare_last(const struct collectives *collectives,
			 struct collective_instance *instance)
{
	const struct collective *rows = collectives->rows;
	int64_t late_ns = rows[instance->late].start_ns;

	instance->spread_ns = tally_span(rows[instance->early].start_ns, late_ns);
	instance->alone_ns = tally_span(rows[instance->next].start_ns, late_ns);
	instance->spread_error_ns =
		collective_start_error(collectives, instance->early, instance->late);
	instance->alone_error_ns =
		collective_start_error(collectives, instance->next, instance->late);
	instance->is_sure = true;
	for (uint32_t i = instance->first; i < instance->first + instance->count; i++) {
		if (i != instance->late &&
		    (uint64_t)tally_span(rows[i].start_ns, late_ns) <=
			    collective_start_error(collectives, i, instance->late))
			instance->is_sure = false;
	}
}

/* Makes an instance of the COUNT operations from FIRST on, which have one number. */
static int add_instance(struct collectives *collectives, uint32_t first, uint32_t count)
{
	const struct collective *rows = &collectives->rows[first];
	struct collective_instance *instance;

	for (uint32_t i = 0; i < count; i++)
		if (!rows[i].is_timed || rows[i].rank < 0)
			return 0;
	if (!is_one_operation(rows, count)) {
		collectives->mismatched++;
		return 0;
	}
	if (!are_comparable(collectives->trace, rows, count)) {
		collectives->foreign++;
		return 0;
	}
	instance = trace_add(collectives, instances);
	if (!instance)
		return -ENOMEM;
	*instance = (struct collective_instance){
		.first = first,
		.count = count,
		.cause.kind = PATH_KIND_COUNT,
	};
	compare_starts(collectives, instance);
	compare_last(collectives, instance);
	return 0;
}

int collective_instances_find(struct collectives *collectives)
{
	const struct collective *rows = collectives->rows;
	int err = 0;

	for (uint32_t i = 0, first; i < collectives->rows_count && err == 0;) {
		for (first = i++; i < collectives->rows_count &&
				  rows[i].communicator == rows[first].communicator &&
				  rows[i].number == rows[first].number;)
			i++;
		if (rows[first].number && i - first > 1)
			err = add_instance(collectives, first, i - first);
	}
	return err;
}
