/* Adds edges, joins and lists to struct dependencies (dependency_store.h). */
#include "analyze/dependency_store.h"

#include <errno.h>

#include "trace/row_table.h"

static int64_t end_of(const struct dependencies *deps, uint32_t from)
{
	uint32_t joins = dependencies_first_join(deps);

	return from < joins ? deps->trace->activities[from].end_ns
			    : deps->joins[from - joins].end_ns;
}

void store_push(struct dependencies *deps, struct dependency edge)
{
	struct dependency *row = table_add((void **)&deps->edges, &deps->edges_count, sizeof(*row));

	if (!row) {
		deps->error = -ENOMEM;
		return;
	}
	*row = edge;
	deps->counts[edge.kind]++;
}

void store_undo(struct dependencies *deps, uint32_t opened)
{
	/* The entries are used again. table_add computes the allocated size from the count, so a
	 * smaller count loses no memory. */
	while (deps->edges_count > opened)
		deps->counts[deps->edges[--deps->edges_count].kind]--;
}

/* Counts the edges since OPENED whose source ended after NS, the start of the activity or the end
 * of the call. Programmatic edges allow that. */
static void count_contradicted(struct dependencies *deps, uint32_t opened, int64_t ns)
{
	for (uint32_t i = opened; i < deps->edges_count; i++) {
		if (deps->edges[i].kind != DEPENDENCY_PROGRAMMATIC)
			deps->contradicted[deps->edges[i].kind] +=
				end_of(deps, deps->edges[i].from) > ns;
	}
}

/* Makes a list of the edges since OPENED and returns it. */
static uint32_t close_list(struct dependencies *deps, uint32_t opened)
{
	if (opened == deps->edges_count)
		return 0;
	deps->edges[deps->edges_count - 1].is_last = true;
	return opened + 1;
}

static uint32_t add_join(struct dependencies *deps, uint32_t opened, uint32_t activity)
{
	struct dependency_join *join =
		table_add((void **)&deps->joins, &deps->joins_count, sizeof(*join));
	uint32_t ref = dependencies_first_join(deps) + deps->joins_count - 1;

	if (!join || ref < deps->joins_count || ref == TRACE_NONE) {
		deps->error = join ? -E2BIG : -ENOMEM;
		return STORE_NOTHING;
	}
	*join = (struct dependency_join){
		.end_ns = INT64_MIN,
		.list = close_list(deps, opened),
		.activity = activity,
	};
	for (uint32_t i = opened; i < deps->edges_count; i++) {
		int64_t end_ns = end_of(deps, deps->edges[i].from);

		if (end_ns > join->end_ns)
			join->end_ns = end_ns;
	}
	return ref;
}

uint32_t store_close_activity(struct dependencies *deps, uint32_t opened, uint32_t activity)
{
	const struct trace_activity *row = &deps->trace->activities[activity];

	if (row->untimed != RECORD_UNTIMED_NO)
		return add_join(deps, opened, activity);
	count_contradicted(deps, opened, row->start_ns);
	deps->lists[activity] = close_list(deps, opened);
	return activity;
}

uint32_t store_close_join(struct dependencies *deps, uint32_t opened)
{
	return add_join(deps, opened, TRACE_NONE);
}

void store_close_call(struct dependencies *deps, uint32_t opened, uint32_t call)
{
	struct dependency_host *host;

	if (opened == deps->edges_count)
		return;
	host = table_add((void **)&deps->hosts, &deps->hosts_count, sizeof(*host));
	if (!host) {
		deps->error = -ENOMEM;
		return;
	}
	count_contradicted(deps, opened, deps->trace->calls[call].end_ns);
	*host = (struct dependency_host){call, close_list(deps, opened)};
}

void store_unresolved(struct dependencies *deps, uint32_t wait, enum dependency_doubt doubt)
{
	struct dependency_unresolved *row =
		table_add((void **)&deps->unresolved, &deps->unresolved_count, sizeof(*row));

	if (row)
		*row = (struct dependency_unresolved){wait, doubt};
	else
		deps->error = -ENOMEM;
}
