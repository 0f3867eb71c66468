/* Compares the ranks of each collective: which came last, by how much, and because of what. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/collectives.h"
#include "analyze/tally.h"
#include "base/numbers.h"
#include "trace/row_table.h"

/* What a rank's critical path spent on one thing more than another rank's. */
struct difference {
	enum path_kind kind;
	trace_string name;
	int64_t ns;
};

struct comparison {
	const struct dependencies *deps;
	const struct trace *trace;
	struct collectives *collectives;
	/* By rank: when its previous operation on the communicator ended; INT64_MIN: had none. */
	int64_t *before_ns;
	struct numbers cause_keys; /* (rank and kind, name): index into collectives.causes */
};

/* ---- ranks ---- */

static int compare_rank(const struct collective_rank *rank, uint32_t communicator, int32_t number)
{
	if (rank->communicator != communicator)
		return rank->communicator < communicator ? -1 : 1;
	return (rank->rank > number) - (rank->rank < number);
}

static int compare_ranks(const void *left, const void *right)
{
	const struct collective_rank *b = right;

	return compare_rank(left, b->communicator, b->rank);
}

static uint32_t rank_of(const struct collectives *collectives, const struct collective *row)
{
	uint32_t low = 0, high = collectives->ranks_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_rank(&collectives->ranks[middle], row->communicator, row->rank) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Makes a row of each rank of INSTANCE that has none yet. */
static int add_ranks(struct collectives *collectives, const struct collective_instance *instance,
		     struct numbers *seen)
{
	for (uint32_t i = 0; i < instance->count; i++) {
		const struct collective *row = &collectives->rows[instance->first + i];
		struct collective_rank *rank;

		if (numbers_row(seen, row->communicator, (uint32_t)row->rank,
				(void **)&collectives->ranks, &collectives->ranks_count,
				sizeof(*rank), (void **)&rank) < 0)
			return -ENOMEM;
		if (rank)
			*rank = (struct collective_rank){
				.communicator = row->communicator,
				.rank = row->rank,
				.process = row->process,
				.agent = TRACE_NONE,
			};
	}
	return 0;
}

static int make_ranks(struct comparison *comparison)
{
	struct collectives *collectives = comparison->collectives;
	struct numbers seen = {0};
	int err = 0;

	for (uint32_t i = 0; i < collectives->instances_count && err == 0; i++)
		err = add_ranks(collectives, &collectives->instances[i], &seen);
	numbers_release(&seen);
	if (err < 0)
		return err;
	if (collectives->ranks_count)
		qsort(collectives->ranks, collectives->ranks_count, sizeof(*collectives->ranks),
		      compare_ranks);
	comparison->before_ns = table_alloc(collectives->ranks_count, sizeof(int64_t));
	if (!comparison->before_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < collectives->ranks_count; i++)
		comparison->before_ns[i] = INT64_MIN;
	return 0;
}

/* ---- causes ---- */

static trace_string name_of(const struct trace *trace, const struct path_step *step)
{
	if (step->kind == PATH_KERNEL)
		return trace_work_of(trace, &trace->activities[step->activity])->name;
	if (step->kind == PATH_CALL && step->call != TRACE_NONE)
		return trace->apis[trace->calls[step->call].api].name;
	return 0;
}

struct differences {
	struct numbers keys;
	struct difference *rows;
	uint32_t rows_count;
};

/* Adds SIGN times what the path before ROW spent. */
static int add_path(const struct comparison *comparison, const struct collective *row, int sign,
		    struct differences *differences)
{
	const struct trace *trace = comparison->trace;
	int64_t before_ns = comparison->before_ns[rank_of(comparison->collectives, row)];
	struct path_window window = {
		.begin_ns = before_ns == INT64_MIN ? trace->processes[row->process].start_ns
						   : before_ns,
		.end_ns = row->start_ns,
		.scope = TRACE_NONE,
		.launch = TRACE_NONE,
		.activity = row->activity,
		.call = TRACE_NONE,
	};
	struct path path;
	int err = path_find(comparison->deps, &window, &path);

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < path.count && err == 0; i++) {
		const struct path_step *step = &path.steps[i];
		struct difference *added;
		trace_string name = name_of(trace, step);
		int64_t at = numbers_row(&differences->keys, step->kind, name,
					 (void **)&differences->rows, &differences->rows_count,
					 sizeof(*added), (void **)&added);

		if (at < 0) {
			err = -ENOMEM;
			continue;
		}
		if (added)
			*added = (struct difference){(enum path_kind)step->kind, name, 0};
		differences->rows[at].ns = tally_sum(
			differences->rows[at].ns, sign * tally_span(step->begin_ns, step->end_ns));
	}
	path_release(&path);
	return err;
}

static int add_cause(struct comparison *comparison, uint32_t rank,
		     const struct difference *difference)
{
	struct collectives *collectives = comparison->collectives;
	struct collective_cause *added;
	int64_t at = numbers_row(&comparison->cause_keys,
				 (uint64_t)rank * PATH_KIND_COUNT + difference->kind,
				 difference->name, (void **)&collectives->causes,
				 &collectives->causes_count, sizeof(*added), (void **)&added);

	if (at < 0)
		return -ENOMEM;
	if (added)
		*added = (struct collective_cause){rank, difference->kind, difference->name, 0, 0};
	collectives->causes[at].ns = tally_sum(collectives->causes[at].ns, difference->ns);
	collectives->causes[at].count++;
	return 0;
}

/* Compares the path of the instance's last rank with that of its first one. */
static int explain(struct comparison *comparison, struct collective_instance *instance)
{
	const struct collective *rows = comparison->collectives->rows;
	uint32_t rank = rank_of(comparison->collectives, &rows[instance->late]);
	struct differences differences = {0};
	int err = add_path(comparison, &rows[instance->late], 1, &differences);

	if (err == 0)
		err = add_path(comparison, &rows[instance->early], -1, &differences);
	for (uint32_t i = 0; i < differences.rows_count && err == 0; i++) {
		const struct difference *row = &differences.rows[i];

		if (row->ns > instance->cause.ns)
			instance->cause =
				(struct collective_cause){rank, row->kind, row->name, 1, row->ns};
		err = add_cause(comparison, rank, row);
	}
	numbers_release(&differences.keys);
	free(differences.rows);
	return err;
}

/* ---- sums ---- */

static void add_to_ranks(struct comparison *comparison, const struct collective_instance *instance)
{
	struct collectives *collectives = comparison->collectives;
	int64_t first_ns = collectives->rows[instance->early].start_ns;

	for (uint32_t i = instance->first; i < instance->first + instance->count; i++) {
		const struct collective *row = &collectives->rows[i];
		uint32_t at = rank_of(collectives, row);
		struct collective_rank *rank = &collectives->ranks[at];
		int64_t late_ns = tally_span(first_ns, row->start_ns);

		rank->count++;
		rank->agent = comparison->trace->activities[row->activity].agent;
		rank->late_ns = tally_sum(rank->late_ns, late_ns);
		if (late_ns > rank->most_ns)
			rank->most_ns = late_ns;
		rank->late_error_ns =
			rank_clock_sum(rank->late_error_ns,
				       collective_start_error(collectives, i, instance->early));
		if (i == instance->late && instance->spread_ns) {
			rank->last++;
			rank->surely_last += instance->is_sure;
			rank->alone_ns = tally_sum(rank->alone_ns, instance->alone_ns);
		}
		comparison->before_ns[at] = row->end_ns;
	}
}

static int compare_causes(const void *left, const void *right)
{
	const struct collective_cause *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static void sort_causes(struct collectives *collectives)
{
	if (collectives->causes_count)
		qsort(collectives->causes, collectives->causes_count, sizeof(*collectives->causes),
		      compare_causes);
	for (uint32_t i = 0; i < collectives->causes_count; i++) {
		struct collective_rank *rank = &collectives->ranks[collectives->causes[i].rank];

		if (collectives->causes[i].ns <= 0)
			continue;
		if (rank->cause_count++ == 0)
			rank->cause_first = i;
	}
}

static int compare_spreads(const void *left, const void *right)
{
	const struct collective_instance *a = left, *b = right;

	if (a->spread_ns != b->spread_ns)
		return a->spread_ns < b->spread_ns ? 1 : -1;
	return (a->first > b->first) - (a->first < b->first);
}

int collective_ranks_compare(const struct dependencies *deps, struct collectives *collectives)
{
	struct comparison comparison = {
		.deps = deps,
		.trace = deps->trace,
		.collectives = collectives,
	};
	int err = collective_instances_find(collectives);

	if (err == 0)
		err = make_ranks(&comparison);
	for (uint32_t i = 0; i < collectives->instances_count && err == 0; i++) {
		struct collective_instance *instance = &collectives->instances[i];

		if (instance->spread_ns)
			err = explain(&comparison, instance);
		add_to_ranks(&comparison, instance);
	}
	free(comparison.before_ns);
	numbers_release(&comparison.cause_keys);
	if (err < 0)
		return err;
	sort_causes(collectives);
	if (collectives->instances_count)
		qsort(collectives->instances, collectives->instances_count,
		      sizeof(*collectives->instances), compare_spreads);
	return 0;
}
