/* Groups the scopes of a trace (scope_groups.h). */
#include "analyze/scope_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scope_instances.h"
#include "analyze/scope_match.h"
#include "analyze/tally.h"
#include "base/numbers.h"
#include "base/strtab.h"
#include "base/workers.h"
#include "trace/row_table.h"

#define ROWS_PER_PART (1u << 16)

/* Activities of scopes. */
struct scope_work {
	uint64_t activities;
	int64_t begin_ns, end_ns; /* end before begin: nothing timed */
};

/* The groups that are being made. */
struct making {
	const struct trace *trace;
	/* By scope: of the calls in the scope itself; with those in the scopes inside it. */
	struct scope_work *own_works, *works;
	uint32_t *group_of;	 /* by scope: its group, or TRACE_NONE */
	uint32_t *group_of_text; /* by text of a scope: its group, or TRACE_NONE */
	struct strtab names;	 /* of the groups */
	struct numbers numbers;	 /* numbers the names: the index of the group */
	uint32_t *first, *ends;	 /* by group: where its durations are in `values` */
	int64_t *values;	 /* durations, by group */
	struct scope_groups groups;
};

/* ---- the work of each scope ---- */

static const struct scope_work nothing = {.begin_ns = INT64_MAX, .end_ns = INT64_MIN};

static void add_work(struct scope_work *sum, const struct scope_work *more)
{
	sum->activities += more->activities;
	sum->begin_ns = more->begin_ns < sum->begin_ns ? more->begin_ns : sum->begin_ns;
	sum->end_ns = more->end_ns > sum->end_ns ? more->end_ns : sum->end_ns;
}

/* add_work for a sum that other threads add to. */
static void share_work(struct scope_work *sum, const struct scope_work *more)
{
	int64_t begin_ns = __atomic_load_n(&sum->begin_ns, __ATOMIC_RELAXED);
	int64_t end_ns = __atomic_load_n(&sum->end_ns, __ATOMIC_RELAXED);

	__atomic_fetch_add(&sum->activities, more->activities, __ATOMIC_RELAXED);
	while (more->begin_ns < begin_ns &&
	       !__atomic_compare_exchange_n(&sum->begin_ns, &begin_ns, more->begin_ns, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	while (more->end_ns > end_ns &&
	       !__atomic_compare_exchange_n(&sum->end_ns, &end_ns, more->end_ns, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Neighbours mostly are in one scope, and are added together. */
static int take_activities(void *making_of_groups, unsigned worker, uint32_t number)
{
	const struct making *making = making_of_groups;
	const struct trace *trace = making->trace;
	uint64_t first = (uint64_t)number * ROWS_PER_PART, end = first + ROWS_PER_PART;
	struct scope_work work = nothing;

	if (end > trace->activities_count)
		end = trace->activities_count;
	for (uint64_t i = first; i < end; i++) {
		const struct trace_activity *row = &trace->activities[i];

		work.activities++;
		if (row->untimed == RECORD_UNTIMED_NO && row->start_ns < work.begin_ns)
			work.begin_ns = row->start_ns;
		if (row->untimed == RECORD_UNTIMED_NO && row->end_ns > work.end_ns)
			work.end_ns = row->end_ns;
		if (i + 1 < end && row[1].scope == row->scope)
			continue;
		if (row->scope != TRACE_NONE)
			share_work(&making->own_works[row->scope], &work);
		work = nothing;
	}
	return 0;
}

/* Adds the work of each scope to it and to those around it. */
static void add_to_parents(struct making *making)
{
	const struct trace *trace = making->trace;

	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		uint32_t scope = making->own_works[i].activities ? i : TRACE_NONE;

		for (int depth = 0; scope != TRACE_NONE && depth < SCOPE_DEPTH_MAX; depth++) {
			add_work(&making->works[scope], &making->own_works[i]);
			scope = trace->scopes[scope].parent;
		}
	}
}

static void find_works(struct making *making)
{
	const struct trace *trace = making->trace;

	for (uint32_t i = 0; i < trace->scopes_count; i++)
		making->works[i] = making->own_works[i] = nothing;
	workers_run(WORKERS_ALL, trace->activities_count / ROWS_PER_PART + 1, take_activities,
		    making);
	add_to_parents(making);
}

/* ---- groups ---- */

/* The group of scopes with the text of ROW, or -ENOMEM. */
static int64_t find_group(struct making *making, const struct trace_scope *row)
{
	char name[SCOPE_GROUP_CHARS];
	struct scope_group *group;
	void *added;
	int64_t number;

	if (making->group_of_text[row->text] != TRACE_NONE)
		return making->group_of_text[row->text];
	scope_group_name(making->trace, row, name);
	number = numbers_row(&making->numbers, 0, strtab_intern_z(&making->names, name),
			     (void **)&making->groups.rows, &making->groups.count, sizeof(*group),
			     &added);
	if (number < 0 || making->names.failed)
		return -ENOMEM;
	group = &making->groups.rows[number];
	if (added && !(group->name = strdup(name)))
		return -ENOMEM;
	making->group_of_text[row->text] = (uint32_t)number;
	return number;
}

static int take_scopes(struct making *making)
{
	const struct trace *trace = making->trace;

	memset(making->group_of_text, 0xff, trace->strings_count * sizeof(*making->group_of_text));
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		int64_t group = TRACE_NONE;

		if (scope_is_interval(&trace->scopes[i])) {
			group = find_group(making, &trace->scopes[i]);
			if (group < 0)
				return -ENOMEM;
			making->groups.rows[group].scopes++;
			making->groups.rows[group].activities += making->works[i].activities;
		}
		making->group_of[i] = (uint32_t)group;
	}
	return 0;
}

/* Sets *RET_NS to the duration that is described, of the projection or of the host. False: the
 * scope has no projection. */
static bool get_duration(const struct making *making, uint32_t scope, bool is_projection,
			 int64_t *ret_ns)
{
	const struct trace_scope *row = &making->trace->scopes[scope];
	const struct scope_work *work = &making->works[scope];

	if (!is_projection)
		*ret_ns = tally_span(row->begin_ns, row->end_ns);
	else if (work->end_ns >= work->begin_ns)
		*ret_ns = tally_span(work->begin_ns, work->end_ns);
	else
		return false;
	return true;
}

/* Durations of all groups while they are described. */
struct describing {
	struct making *making;
	bool is_projection;
};

static int describe_group(void *describing_of_groups, unsigned worker, uint32_t group)
{
	const struct describing *describing = describing_of_groups;
	struct making *making = describing->making;
	struct scope_group *row = &making->groups.rows[group];

	distribution_make(&making->values[making->first[group]],
			  making->ends[group] - making->first[group],
			  describing->is_projection ? &row->projection : &row->host);
	return 0;
}

/* Each group has a part of VALUES, which has room for all its scopes. Threads share the groups. */
static void describe(struct making *making, bool is_projection)
{
	struct describing describing = {making, is_projection};
	struct scope_groups *groups = &making->groups;
	uint32_t at = 0;

	for (uint32_t i = 0; i < groups->count; i++) {
		making->first[i] = making->ends[i] = at;
		at += groups->rows[i].scopes;
	}
	for (uint32_t i = 0; i < making->trace->scopes_count; i++) {
		uint32_t group = making->group_of[i];
		int64_t ns;

		if (group != TRACE_NONE && get_duration(making, i, is_projection, &ns))
			making->values[making->ends[group]++] = ns;
	}
	workers_run(WORKERS_ALL, groups->count, describe_group, &describing);
}

static int compare_groups(const void *left, const void *right)
{
	const struct scope_group *a = left, *b = right;

	if (a->projection.total != b->projection.total)
		return a->projection.total > b->projection.total ? -1 : 1;
	if (a->host.total != b->host.total)
		return a->host.total > b->host.total ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int make(struct making *making)
{
	find_works(making);
	if (strtab_init(&making->names) < 0 || take_scopes(making) < 0)
		return -ENOMEM;
	making->first = table_alloc(making->groups.count, sizeof(*making->first));
	making->ends = table_alloc(making->groups.count, sizeof(*making->ends));
	if (!making->first || !making->ends)
		return -ENOMEM;
	describe(making, false);
	describe(making, true);
	if (making->groups.count)
		qsort(making->groups.rows, making->groups.count, sizeof(*making->groups.rows),
		      compare_groups);
	return 0;
}

int scope_groups_make(const struct trace *trace, struct scope_groups *ret_groups)
{
	struct making making = {
		.trace = trace,
		.own_works = table_alloc(trace->scopes_count, sizeof(*making.own_works)),
		.works = table_alloc(trace->scopes_count, sizeof(*making.works)),
		.group_of_text = table_alloc(trace->strings_count, sizeof(*making.group_of_text)),
		.group_of = table_alloc(trace->scopes_count, sizeof(*making.group_of)),
		.values = table_alloc(trace->scopes_count, sizeof(*making.values)),
	};
	int err = -ENOMEM;

	if (making.own_works && making.works && making.group_of && making.group_of_text &&
	    making.values)
		err = make(&making);
	free(making.own_works);
	free(making.works);
	free(making.group_of);
	free(making.group_of_text);
	free(making.values);
	free(making.first);
	free(making.ends);
	strtab_release(&making.names);
	numbers_release(&making.numbers);
	if (err < 0)
		scope_groups_release(&making.groups);
	else
		*ret_groups = making.groups;
	return err;
}

void scope_groups_release(struct scope_groups *groups)
{
	for (uint32_t i = 0; i < groups->count; i++)
		free(groups->rows[i].name);
	free(groups->rows);
	*groups = (struct scope_groups){0};
}
