/* Sums up the operations of each kind and size; see collectives.h. */
#include "analyze/collectives.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/tally.h"
#include "trace/row_table.h"

/* Orders operations of one row together, in the order of the rows. */
static int compare(const void *left, const void *right, void *context)
{
	const struct collective *rows = context;
	const struct collective *a = &rows[*(const uint32_t *)left];
	const struct collective *b = &rows[*(const uint32_t *)right];

	if (a->communicator != b->communicator)
		return a->communicator < b->communicator ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return (a > b) - (a < b);
}

static bool is_same(const struct collective *a, const struct collective *b)
{
	return a->communicator == b->communicator && a->kind == b->kind && a->bytes == b->bytes;
}

/* Makes the row of the COUNT operations ORDER. DURATIONS has room for as many. */
static int add_stats(struct collectives *collectives, const uint32_t *order, uint32_t count,
		     int64_t *durations)
{
	const struct collective *first = &collectives->rows[order[0]];
	struct collective_row *stats = trace_add(collectives, stats);
	uint32_t timed = 0;

	if (!stats)
		return -ENOMEM;
	*stats = (struct collective_row){
		.communicator = first->communicator,
		.kind = first->kind,
		.bytes = first->bytes,
		.count = count,
	};
	for (uint32_t i = 0; i < count; i++) {
		const struct collective *row = &collectives->rows[order[i]];

		if (row->is_timed)
			durations[timed++] = tally_span(row->start_ns, row->end_ns);
	}
	stats->untimed = count - timed;
	if (timed)
		distribution_make(durations, timed, &stats->duration);
	return 0;
}

/* Adds the instances that all ranks have to their rows. */
static void add_whole(struct collectives *collectives)
{
	for (uint32_t i = 0; i < collectives->instances_count; i++) {
		const struct collective_instance *instance = &collectives->instances[i];
		const struct collective *rows = &collectives->rows[instance->first];
		struct collective_row *stats = collectives->stats;
		uint32_t end = instance->first;

		if (instance->count != collectives->communicators[rows[0].communicator].ranks)
			continue;
		for (uint32_t k = end + 1; k < instance->first + instance->count; k++)
			if (collectives->rows[k].end_ns > collectives->rows[end].end_ns)
				end = k;
		while (stats->communicator != rows[0].communicator || stats->kind != rows[0].kind ||
		       stats->bytes != rows[0].bytes)
			stats++;
		stats->whole_count++;
		stats->whole_ns = tally_sum(stats->whole_ns,
					    tally_span(collectives->rows[instance->late].start_ns,
						       collectives->rows[end].end_ns));
		stats->whole_error_ns =
			rank_clock_sum(stats->whole_error_ns,
				       collective_start_error(collectives, instance->late, end));
	}
}

static int make_stats(struct collectives *collectives)
{
	uint32_t count = collectives->rows_count;
	uint32_t *order = table_alloc(count, sizeof(*order));
	int64_t *durations = table_alloc(count, sizeof(*durations));
	int err = order && durations ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && err == 0; i++)
		order[i] = i;
	if (err == 0 && count)
		qsort_r(order, count, sizeof(*order), compare, collectives->rows);
	for (uint32_t i = 0, first; i < count && err == 0;) {
		for (first = i++; i < count && is_same(&collectives->rows[order[first]],
						       &collectives->rows[order[i]]);)
			i++;
		err = add_stats(collectives, order + first, i - first, durations);
	}
	free(order);
	free(durations);
	if (err == 0)
		add_whole(collectives);
	return err;
}

int collectives_make(const struct dependencies *deps, const struct selection *selection,
		     struct collectives *ret_collectives)
{
	struct collectives collectives = {.trace = deps->trace};
	int err = collective_calls_find(deps, selection, &collectives);

	if (err == 0)
		err = collective_ranks_compare(deps, &collectives);
	if (err == 0)
		err = make_stats(&collectives);
	if (err < 0) {
		collectives_release(&collectives);
		return err;
	}
	*ret_collectives = collectives;
	return 0;
}
